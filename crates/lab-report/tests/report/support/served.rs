// SPDX-License-Identifier: Apache-2.0
//! Runs of servers that benchlab starts, as in the experiment `rest`.
//!
//! A simple model of each server, and of the generator on its own core, generates the runs slice by
//! slice. The runs are analyzed like any other run.

use super::load::bucket;
use super::{Noise, host};
use lab_model::*;
use lab_stats::normal;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The length of a server's turn, in ns.
const VISIT_NS: u64 = 50_000_000;

/// The generator's CPU time for a request, in ns.
const GENERATOR_NS: f64 = 5_900.0;
/// The generator's CPU time for opening a connection, in ns.
const OPENING_NS: f64 = 14_000.0;

/// The time to wake up the server and the generator when each waits for the other, in ns.
const WAKING_NS: f64 = 26_000.0;

/// The model of a server.
#[derive(Clone, Copy)]
pub struct Server {
    name: &'static str,
    language: &'static str,
    driver: &'static str,
    /// The CPU time of a request with a constant response, in µs.
    cpu_us: f64,
    /// The CPU time for the additional work of a case, as a multiple of the baseline's CPU time for this work.
    weight: f64,
    /// The resident memory without connections, in MiB, and the additional memory per connection, in KiB.
    memory: (f64, f64),
    /// The numbers of threads, workers and event loops.
    threads: [u32; 3],
    /// The startup time, from the start of the process until it is ready, and the time of the first request, both
    /// in ms.
    start_ms: (f64, f64),
    /// The coherency: the cost of keeping each pair of connections consistent.
    coherency: f64,
    /// The ratio of the slowest requests' time to the median time.
    tail: f64,
}

const fn server(
    name: &'static str,
    [language, driver]: [&'static str; 2],
    [cpu_us, weight, coherency, tail]: [f64; 4],
    memory: (f64, f64),
    threads: [u32; 3],
    start_ms: (f64, f64),
) -> Server {
    Server {
        name,
        language,
        driver,
        cpu_us,
        weight,
        memory,
        threads,
        start_ms,
        coherency,
        tail,
    }
}

const JAX: [&str; 4] = [
    "Grizzly 4.0.2, Jersey 3.1.9",
    "Jetty 12.0.14, Jersey 3.1.9",
    "Tomcat 10.1.31, Jersey 3.1.9",
    "Undertow 2.3.18, RESTEasy 6.2.11",
];

/// The servers of the experiment. The first is the baseline, the second its copy.
pub const SERVERS: [Server; 15] = [
    server(
        "ada-server",
        ["Ada", "appserver HTTP, profile server"],
        [7.4, 1.0, 1e-8, 3.0],
        (2.1, 1.9),
        [10, 8, 1],
        (1.9, 0.21),
    ),
    server(
        "ada-server-control",
        ["Ada", "appserver HTTP, profile server"],
        [7.4, 1.0, 1e-8, 3.0],
        (2.1, 1.9),
        [10, 8, 1],
        (1.9, 0.21),
    ),
    server(
        "ada-embedded",
        ["Ada", "appserver HTTP, profile embedded"],
        [7.0, 1.02, 1e-8, 2.5],
        (0.6, 0.5),
        [1, 0, 1],
        (1.4, 0.16),
    ),
    server(
        "ada-rest",
        ["Ada", "appserver HTTP, profile rest"],
        [7.51, 1.05, 1e-8, 3.0],
        (2.4, 1.9),
        [10, 8, 1],
        (2.0, 0.24),
    ),
    server(
        "c",
        ["C", "epoll"],
        [6.1, 0.9, 0.0, 2.0],
        (0.9, 0.4),
        [1, 0, 1],
        (1.1, 0.12),
    ),
    server(
        "go",
        ["Go", "net/http 1.24"],
        [15.2, 1.6, 4e-8, 5.0],
        (7.2, 14.0),
        [7, 0, 1],
        (3.6, 0.42),
    ),
    server(
        "rust",
        ["Rust", "axum 0.8, tokio"],
        [8.1, 0.98, 1e-8, 2.5],
        (3.4, 3.1),
        [3, 0, 1],
        (1.8, 0.3),
    ),
    server(
        "java-grizzly",
        ["Java", JAX[0]],
        [24.0, 1.5, 2e-7, 9.0],
        (190.0, 22.0),
        [31, 8, 2],
        (810.0, 140.0),
    ),
    server(
        "java-jetty",
        ["Java", JAX[1]],
        [27.5, 1.6, 3e-7, 9.0],
        (221.0, 31.0),
        [29, 8, 2],
        (920.0, 170.0),
    ),
    server(
        "java-tomcat",
        ["Java", JAX[2]],
        [26.1, 1.7, 2e-7, 8.0],
        (205.0, 24.0),
        [24, 8, 1],
        (870.0, 150.0),
    ),
    server(
        "java-undertow",
        ["Java", JAX[3]],
        [22.8, 1.4, 1e-7, 8.0],
        (176.0, 17.0),
        [27, 8, 1],
        (760.0, 130.0),
    ),
    server(
        "java-jdk",
        ["Java", "jdk.httpserver 17"],
        [19.9, 1.8, 8e-7, 12.0],
        (91.0, 12.0),
        [23, 8, 1],
        (240.0, 48.0),
    ),
    server(
        "node",
        ["JavaScript", "node:http 22"],
        [33.0, 2.2, 6e-8, 7.0],
        (61.0, 9.0),
        [11, 0, 1],
        (48.0, 6.0),
    ),
    server(
        "python",
        ["Python", "uvicorn 0.32, Starlette 0.41"],
        [148.0, 4.0, 1e-7, 6.0],
        (36.0, 11.0),
        [1, 0, 1],
        (310.0, 9.0),
    ),
    server(
        "ada-aws",
        ["Ada", "Ada Web Server 24"],
        [31.0, 1.9, 9e-7, 14.0],
        (11.0, 42.0),
        [14, 8, 1],
        (6.0, 1.1),
    ),
];

/// The dimensions of a generated run.
#[derive(Clone, Debug)]
pub struct RunSize {
    /// The number of blocks.
    pub blocks: u32,
    /// The number of servers.
    pub servers: usize,
    /// The number of cases.
    pub cases: usize,
    /// The numbers of connections of the sweep. Cases with a new connection for each request use
    /// every third number.
    pub connections: Vec<u32>,
    /// The number of mirrored passes.
    pub passes: u32,
}

impl Default for RunSize {
    /// Returns the size of the whole experiment.
    fn default() -> RunSize {
        RunSize {
            blocks: 12,
            servers: SERVERS.len(),
            cases: CASES.len(),
            connections: vec![1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
            passes: 2,
        }
    }
}

/// Returns a small size, which is analyzed quickly.
pub fn small(blocks: u32) -> RunSize {
    RunSize {
        blocks,
        servers: 6,
        cases: 2,
        connections: vec![1, 8, 64, 512],
        ..RunSize::default()
    }
}

/// The cases: name, work, request, additional CPU time of the server in µs, and the number of bytes in the response.
const CASES: [(&str, &str, &str, f64, u64); 5] = [
    (
        "json",
        "GET /api: a constant JSON document",
        "GET /api",
        0.0,
        170,
    ),
    (
        "json_built",
        "GET /api/built?number=17: a document of two values, serialized for each request",
        "GET /api/built?number=17",
        0.4,
        182,
    ),
    (
        "route",
        "GET /api/hello/{name}: a name that is decoded, validated and escaped",
        "GET /api/hello/Ada%20%22Countess%22%20Lovelace",
        0.7,
        190,
    ),
    (
        "echo",
        "POST /api/echo: a JSON document of 1 KB, parsed, and serialized anew",
        "POST /api/echo",
        9.5,
        1_190,
    ),
    (
        "static_64k",
        "GET /files/64k.bin: a file of 64 KiB",
        "GET /files/64k.bin",
        11.0,
        65_700,
    ),
];

/// Creates a run of REST servers with the given numbers of servers and blocks.
pub fn run(size: &RunSize) -> Run {
    let servers = &SERVERS[..size.servers];
    let plan = plan(size, servers);
    let mut noise = Noise(0x51ce_9e37_79b9_7f4a);
    let blocks = (0..size.blocks).map(|n| block(&plan, servers, size.passes, n, &mut noise));
    let blocks: Vec<Block> = blocks.collect();
    Run {
        name: "20261121-101500-rest.lab".into(),
        benchlab_version: "0.1.0".into(),
        started_unix_s: 1_795_256_100.0,
        host: Host {
            findings: Vec::new(),
            ..host()
        },
        pilots: pilots(&plan, servers),
        blocks,
        ending: Some(Ending::Blocks),
        settings: settings(&plan, servers),
        lab_cost: Some((61_000_000_000, 48 << 20)),
        content: plan.into(),
        ..Run::default()
    }
}

/// Removes a server's slices from a run, because the server failed the verification.
pub fn failing(mut run: Run, name: &str) -> Run {
    let plan = run.plan().expect("a plan");
    let position = plan.subjects.find_id(|s| s.name == name);
    let subject = position.expect("a server has this name");
    for block in &mut run.blocks {
        block.slices.retain(|slice| slice.subject != subject);
        block.processes.retain(|process| process.subject != subject);
    }
    run.pilots.retain(|pilot| pilot.subject != subject);
    run.settings.retain(|setting| setting.subject != subject);
    run.failures.push(Failure {
        subject,
        point: None,
        block: None,
        kind: "proof".into(),
        message: "DELETE /api: status 404 in place of 405".into(),
        log: [
            "> GET /nothing HTTP/1.1",
            "> Host: 127.0.0.1",
            "< 404 [(\"date\", \"Sat, 21 Nov 2026 10:15:03 GMT\"), (\"content-length\", \"0\")]",
            "> DELETE /api HTTP/1.1",
            "> Host: 127.0.0.1",
            "< 404 [(\"date\", \"Sat, 21 Nov 2026 10:15:03 GMT\"), (\"content-length\", \"0\")]",
        ]
        .map(String::from)
        .into(),
    });
    run
}

/// Creates a run in which every external name tries to break the report.
pub fn hostile() -> Run {
    let mut run = failing(self::run(&small(12)), "go");
    let plan = run.plan_mut().expect("a plan");
    plan.title = "</title><script>t</script>".into();
    plan.subjects[SubjectId(2)].name = "<script>alert(1)</script> \x1b[31m \u{202e}abc".into();
    plan.subjects[SubjectId(3)].name = format!("a name that goes on {}", "x".repeat(90));
    plan.subjects[SubjectId(4)].driver = "\"><img src=x onerror=alert(2)>|`*_".into();
    plan.subjects[SubjectId(4)].language = "<b>".into();
    plan.cases[CaseId(1)].name = "</h3><script>case</script>".into();
    let failure = &mut run.failures[0];
    failure.message = "</p><script>f</script>".into();
    failure.log.push("< </pre><script>log</script>\x07".into());
    for setting in &mut run.settings {
        if setting.key == "loops" {
            setting.value = "<i>1</i>".into();
        }
    }
    run
}

fn plan(size: &RunSize, servers: &[Server]) -> Plan {
    let cases = &CASES[..size.cases];
    let subject = |(id, server): (usize, &Server)| Subject {
        name: server.name.into(),
        language: server.language.into(),
        driver: server.driver.into(),
        reference: server.name == "c",
        control_of: (id == 1).then_some(SubjectId(0)),
        program: vec![format!("build/rest/{}/subject", server.name)],
        ..Subject::default()
    };
    let case = |(name, work, ..): &(&str, &str, &str, f64, u64)| Case {
        name: name.to_string(),
        work: work.to_string(),
        unit: "request".into(),
        sweep: Some("connections".into()),
        ..Case::default()
    };
    let example = |(name, _, request, ..): &(&str, &str, &str, f64, u64)| {
        let (method, path) = request.split_once(' ').expect("a method and a path");
        vec![Example {
            method: method.into(),
            path: path.into(),
            status: 200,
            answer: match *name {
                "json" => RequiredBody::Text("{\"greeting\":\"Hello World!\"}".into()),
                "static_64k" => RequiredBody::File("64k.bin".into()),
                _ => RequiredBody::Json("{}".into()),
            },
            ..Example::default()
        }]
    };
    let mut plan = Plan {
        experiment: "rest".into(),
        title: "REST over HTTP/1.1".into(),
        question: "What does a web server serve, what do its users feel, what does it consume?"
            .into(),
        subjects: servers.iter().enumerate().map(subject).collect(),
        cases: cases.iter().map(case).collect(),
        points: points(size),
        measure: Measure {
            pairs: 1,
            turn_ns: VISIT_NS,
            max_blocks: size.blocks,
            alpha: 0.05,
            margin: 0.02,
            time_limit_ns: 10_000_000_000,
            ..Measure::default()
        },
        seed: 7,
        work: Work::Servers(Servers {
            load: LoadSpec {
                keep_alive: true,
                pipeline: 1,
                threads: 1,
                timeout_ns: 10_000_000_000,
                stretch_ns: VISIT_NS,
                ..LoadSpec::default()
            },
            serving: Serving {
                workers: 8,
                missing: "/nothing".into(),
                files: vec![ServedFile {
                    name: "64k.bin".into(),
                    bytes: 65_536,
                }],
                examples: cases.iter().map(example).collect(),
                metrics: Vec::new(),
                ..Serving::default()
            },
        }),
        ..Plan::default()
    };
    plan.read_loads().expect("points of load");
    plan
}

fn points(size: &RunSize) -> IdVec<PointId, Point> {
    let mut points = IdVec::new();
    for case in (0..size.cases).map(CaseId::from_index) {
        for keep_alive in ["yes", "no"] {
            for load in ["closed", "50%", "75%", "5000/s"] {
                for (i, n) in size.connections.iter().enumerate() {
                    let thinned = keep_alive == "no" && i % 3 != 0 || load != "closed" && *n != 64;
                    let params = [
                        ("connections", n.to_string()),
                        ("keep_alive", keep_alive.into()),
                        ("load", load.into()),
                    ];
                    points.extend((!thinned).then(|| {
                        Point {
                            case,
                            params: params
                                .map(|(key, value): (&str, String)| (key.to_string(), value))
                                .into(),
                            x: Some(f64::from(*n)),
                            ..Point::default()
                        }
                    }));
                }
            }
        }
    }
    points
}

fn pilots(plan: &Plan, servers: &[Server]) -> Vec<Pilot> {
    let mut pilots = Vec::new();
    for (subject, server) in (0..).map(SubjectId).zip(servers) {
        for case in plan.cases.ids() {
            let is_of_case = |&point: &PointId| {
                plan.points[point].case == case && !plan.is_open(point) && plan.keeps_alive(point)
            };
            let point = plan.points.ids().filter(is_of_case);
            let point = point.min_by_key(|&point| plan.connections(point).abs_diff(64));
            pilots.push(Pilot {
                subject,
                point: point.expect("a point"),
                operations: 1_000,
                warmup_batches: 20,
                class: match (server.language, case) {
                    ("Java", CaseId(3)) => WarmUp::NoSteadyState,
                    ("Java" | "JavaScript", _) => WarmUp::Warming,
                    _ => WarmUp::Flat,
                },
                cold_ns: (server.start_ms.1 * 1e6) as u64,
                batches: Vec::new(),
                ages: Vec::new(),
            });
        }
    }
    pilots
}

fn settings(plan: &Plan, servers: &[Server]) -> Vec<Setting> {
    let mut settings = Vec::new();
    for (subject, server) in plan.subjects.ids().zip(servers) {
        let [_, workers, loops] = server.threads.map(|n| n.to_string());
        let values = [
            ("runtime", server.language.to_string()),
            ("library", server.driver.to_string()),
            ("workers", workers),
            ("loops", loops),
            ("server cores", "1".into()),
            ("generator cores", "1".into()),
            ("verified responses", "166".into()),
        ];
        settings.extend(values.map(|(key, value)| Setting {
            subject,
            point: None,
            key: key.into(),
            value,
        }));
    }
    settings
}

fn block(plan: &Plan, servers: &[Server], passes: u32, number: u32, noise: &mut Noise) -> Block {
    let speed = noise.factor(0.05);
    let mut slices = Vec::new();
    for point in plan.points.ids() {
        // The random speed of a fresh process.
        let luck: IdVec<SubjectId, f64> = servers.iter().map(|_| noise.factor(0.03)).collect();
        for pass in 0..passes {
            for (subject, server) in (0..).map(SubjectId).zip(servers) {
                let speed = speed * luck[subject] * noise.factor(0.02);
                let mut slice = slice(plan, server, point, speed, noise);
                (slice.point, slice.subject, slice.pass) = (point, subject, pass);
                slices.push(slice);
            }
        }
    }
    let process = |(subject, server): (SubjectId, &Server)| ProcessStart {
        subject,
        startup_ns: (server.start_ms.0 * 1e6 * noise.factor(0.06)) as u64,
        startup_cpu_ns: 900_000,
    };
    Block {
        number,
        core: number % 2,
        state: BlockState::Complete,
        started_unix_s: 1_795_256_100.0 + 160.0 * f64::from(number),
        duration_ns: 160_000_000_000,
        processes: (0..).map(SubjectId).zip(servers).map(process).collect(),
        slices,
        redone_readings: number % 3,
        ..Block::default()
    }
}

/// Returns the CPU time of a request in the server and in the generator, both in ns, and the
/// server's rate at full speed, in requests per second.
fn closed(plan: &Plan, server: &Server, point: PointId, connections: f64) -> (f64, f64, f64) {
    let (_, _, _, work_us, bytes) = CASES[plan.points[point].case.index()];
    let alone = 1.0 + 0.45 / connections;
    let mut cpu = (server.cpu_us * alone + work_us * server.weight) * 1e3;
    let mut generator = GENERATOR_NS * alone + bytes as f64 * 0.11;
    if !plan.keeps_alive(point) {
        cpu += 21_000.0 + 0.4e3 * server.cpu_us;
        generator += OPENING_NS;
    }
    let narrow = cpu.max(generator);
    let step = 1.0 + server.coherency * connections * (connections - 1.0);
    let rate = 1e9 / (narrow * step + (WAKING_NS + cpu.min(generator)) / connections);
    (cpu, generator, rate)
}

fn slice(plan: &Plan, server: &Server, point: PointId, speed: f64, noise: &mut Noise) -> Slice {
    let connections = plan.connections(point) as f64;
    let (cpu, generator, max) = closed(plan, server, point, connections);
    let part = plan.fraction_of_peak(point);
    // The offered rate is based on the peak of the first block; the machine's speed varies.
    let peak = plan
        .peak_points(point)
        .map(|p| closed(plan, server, p, plan.connections(p) as f64).2);
    let peak = peak.fold(0.0, f64::max);
    let part = part.or(plan.rate(point).map(|rate| rate / max));
    let rate = match (plan.rate(point), part) {
        (Some(rate), _) => rate,
        (None, Some(part)) => part * peak,
        (None, None) => max / speed,
    };
    let length = VISIT_NS as f64 * noise.factor(0.002);
    let served = (rate * length / 1e9).round().max(1.0) as u64;
    let busy = part.unwrap_or(1.0);
    let median = match part {
        // The queue grows with the load.
        Some(part) => (cpu + generator) * (0.7 + 0.9 * part / (1.02 - part)) * speed + WAKING_NS,
        None => connections / rate * 0.92e9,
    };
    let service = times(median, server.tail, served);
    let failed = u64::from(server.name == "node" && connections > 500.0 && noise.factor(1.0) > 1.8);
    let (_, _, _, _, bytes) = CASES[plan.points[point].case.index()];
    let generator_ns = generator * served as f64;
    Slice {
        wall_ns: length as u64,
        offered: served + failed,
        served,
        errors: (failed > 0)
            .then_some((ErrorKind::Reset, failed))
            .into_iter()
            .collect(),
        counts: LoadCounts::from([
            (
                LoadCount::Connects,
                if plan.keeps_alive(point) { 0 } else { served },
            ),
            (LoadCount::ReceivedBytes, served * bytes),
        ]),
        cpu_ns: (generator_ns * speed).min(length) as u64,
        busiest_cpu_ns: (generator_ns * speed).min(length) as u64,
        server_cpu_ns: Some((cpu * speed * (1.0 + 0.25 * (1.0 - busy)) * served as f64) as u64),
        server_bytes: Some(
            ((server.memory.0 * 1024.0 + server.memory.1 * connections)
                * 1024.0
                * noise.factor(0.012)) as u64,
        ),
        server_threads: Some(server.threads[0]),
        response: match part {
            Some(_) => times(median + 24_000.0, server.tail, served),
            None => service.clone(),
        },
        send_delay: match part {
            Some(_) => Counts(vec![
                (bucket(31_000.0), served - served / 10),
                (bucket(140_000.0), served / 10),
            ])
            .into(),
            None => SliceTimes::default(),
        },
        service,
        ..Slice::default()
    }
}

/// Returns log-normally distributed times with a long tail.
fn times(median_ns: f64, tail: f64, served: u64) -> SliceTimes {
    let steps = served.clamp(1, 160);
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for step in 0..steps {
        let part = (step as f64 + 0.5) / steps as f64;
        let mut ns = median_ns * spread(part);
        if part > 0.9 {
            ns *= 1.0 + (tail - 1.0) * ((part - 0.9) / 0.1).powi(4);
        }
        let count = served / steps + u64::from(step < served % steps);
        *counts.entry(bucket(ns)).or_default() += count;
    }
    counts.retain(|_, count| *count > 0);
    Counts(counts.into_iter().collect()).into()
}

/// Returns the quantile of a log-normal distribution with median 1 at `part`.
///
/// The quantiles are precomputed in steps, since computing each one would take longer than the analysis.
fn spread(part: f64) -> f64 {
    const STEPS: usize = 4096;
    static SPREAD: LazyLock<Vec<f64>> = LazyLock::new(|| {
        let part = |step| (step as f64 + 0.5) / STEPS as f64;
        let time = |step| (-0.22 * normal::upper_quantile(part(step))).exp();
        (0..STEPS).map(time).collect()
    });
    SPREAD[(part * STEPS as f64) as usize]
}
