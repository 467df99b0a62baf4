// SPDX-License-Identifier: Apache-2.0
//! Servers as subjects: their responses are verified before they are loaded.
//!
//! A failure is shown with a transcript, and the honest servers are measured to the end.

use crate::compare::assert_none_running;
use crate::project::{Project, blocks_of, outcome, rows, subject, wait_until};
use lab_model::{AgentId, ErrorKind, LoadCount, Plan, PointId, Run, Slice, SubjectId};
use lab_stats::load::peaks::{Peak, Peaks};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::sleep;
use std::time::{Duration, Instant};

const HEAD: &str = r#"
[experiment]
title = "Tried out"
question = "Does it serve?"
baseline = "honest"

[server]
workers = 3
missing = "/nothing"
files = { "some.bin" = 1000 }
"#;

const CASES: &str = r#"
[[case]]
name = "json"
work = "a constant"
unit = "request"
sweep.connections = [1, 4, 8]
factor.keep_alive = ["yes", "no"]
factor.load = ["closed", "50%", "300/s"]
thin = { keep_alive = [4], load = [4] }
[[case.request]]
request = "GET /api"
text = '{"greeting":"Hello World!"}'

[[case]]
name = "built"
work = "built for each request"
unit = "request"
sweep.connections = [4]
[[case.request]]
request = "GET /api/built?number=17"
json = '{ "number" : 17.0 }'
[[case.request]]
request = "GET /api/built?number=4"
json = '{"number":4}'
[[case.request]]
request = "GET /api/built?number=x"
status = 400

[[case]]
name = "echo"
work = "parsed and written"
unit = "request"
sweep.connections = [4]
[[case.request]]
request = "POST /api/echo"
body = "value.json"
echo = true
[[case.request]]
request = "POST /api/echo"
body = "torn.json"
status = 400

[[case]]
name = "file"
work = "from a folder"
unit = "request"
sweep.connections = [4]
[[case.request]]
request = "GET /files/some.bin"
file = "some.bin"
"#;

/// One host finds the peak throughput of the servers. Then all hosts offer the same fractions of
/// that peak.
#[test]
fn hosts_share_the_blocks_of_servers() {
    let project = project(&["honest"]);
    let words =
        "--on local:2 --cases json --set connections=4 --set keep_alive=yes --set load=closed,50%";
    let words: Vec<&str> = words.split(' ').collect();
    let outcome = project.run_blocks("6", "1", &words);
    outcome.expect(0);
    let file = project.file();
    let words = ["report", file.to_str().expect("UTF-8"), "--full"];
    project
        .call(&words)
        .expect(0)
        .shows(&["The hosts that measured the blocks."]);
    let run = project.load();
    let plan = run.plan().expect("a plan");
    assert_eq!(run.failures, []);
    let mut blocks: Vec<_> = run.complete_blocks().collect();
    blocks.sort_by_key(|block| block.number);
    assert_eq!(blocks.len(), 6);
    assert_eq!(
        (blocks[0].agent, blocks[1].agent),
        (Some(AgentId(0)), Some(AgentId(0)))
    );
    assert!(
        blocks[2..]
            .iter()
            .any(|block| block.agent == Some(AgentId(1)))
    );
    assert!(offered_at_half_peak(&run, plan, 1) > 0);
}

fn project(variants: &[&str]) -> Project {
    project_with(CASES, variants)
}

fn project_with(cases: &str, variants: &[&str]) -> Project {
    let subjects = variants.iter().map(|v| subject(v, &["web.py", v]));
    // A server that always computes never becomes steady.
    let head = HEAD.replace("workers = 3", "workers = 3\nwarm_up_s = 10");
    let project = Project::with_text(&(head + cases + &subjects.collect::<String>()));
    let write = |name: &str, text: &str| {
        std::fs::write(project.join("experiments/t").join(name), text).unwrap();
    };
    write("value.json", r#"{ "a": [1, 2.5, "\u0041", null, true] }"#);
    write("torn.json", r#"{ "a": [1, "#);
    project
}

/// Up to eight connections to each of two servers stay open at the same time.
#[test]
fn connections_beyond_the_limit_on_open_files_are_reported_before_the_run() {
    let words = [&blocks_of("1", "1")[..], &["--cases", "json"]].concat();
    project(&["honest", "other"])
        .call_with_files(75, &words)
        .expect(1)
        .says(&["16 connections need as many open files", "ulimit -n 80"]);
}

fn measure(project: &Project, more: &[&str]) -> Run {
    project.run_blocks("1", "1", more).expect(0);
    project.load()
}

fn slices<'r>(run: &'r Run, subject: &str) -> Vec<&'r Slice> {
    let plan = run.plan().expect("a plan");
    let id = plan.subjects.find_id(|s| s.name == subject);
    let all = run.complete_blocks().flat_map(|block| &block.slices);
    all.filter(|slice| Some(slice.subject) == id).collect()
}

#[test]
fn the_cost_of_a_request_is_counted() {
    let project = project(&["honest"]);
    let words = "explain t --cases json --set connections=4 --set keep_alive=yes --set load=closed --format json";
    let words: Vec<&str> = words.split(' ').collect();
    let outcome = project.call(&words);
    let document: serde_json::Value =
        serde_json::from_str(&outcome.expect(0).stdout).expect("JSON");
    let rows = document["rows"].as_array().expect("rows");
    let value = |metric: &str| {
        let row = rows.iter().find(|row| row["metric"]["id"] == metric);
        row.unwrap_or_else(|| panic!("no {metric}: {rows:?}"))["value"]["value"]
            .as_f64()
            .expect("a number")
    };
    // The bytes of one request and its response. Only a few requests are in progress at the ends of
    // the measured period.
    let sent = value("sent_bytes");
    assert!((100.0..1000.0).contains(&sent), "{sent}");
    assert!(value("received_bytes") > 20.0);
    assert!(value("system_calls") >= 2.0);
    assert!(value("allocations") > 1.0);
    assert!(value("mean_cpu") > 0.0 && value("memory") > 1e6);
    let peak = project.call(&["explain", "t", "--cases", "json", "--set", "load=50%"]);
    assert!(peak.expect(2).stderr.contains("load=closed"));
}

#[test]
fn a_server_with_different_work_is_not_measured() {
    let faults = [
        ("no-date", "the response has no `Date`"),
        ("frozen-date", "`Date`"),
        (
            "html",
            "Content-Type is `text/html` instead of `application/json`",
        ),
        (
            "prepared",
            "GET /api/built?number=4: the JSON value differs from the expected one",
        ),
        (
            "raw-echo",
            "the body is identical to the request's body, so the server did not parse it",
        ),
        ("takes-all", "POST /api/echo: status 200 instead of 400"),
        ("other-file", "the body is not the file some.bin"),
        (
            "closes",
            "the server closes the connection without being asked to",
        ),
        (
            "stays-open",
            "the connection stays open after `Connection: close`",
        ),
        ("talking-head", "a response is not HTTP/1.1"),
        ("finds-all", "GET /nothing: status 200 instead of 404"),
        ("no-allow", "DELETE /api: `Allow` is ``"),
        ("whole-only", "cannot send a byte of a request"),
        ("drops-pipelined", "no response within 20 s"),
        (
            "few-connections",
            "open connections: no response within 20 s",
        ),
    ];
    let names: Vec<&str> = faults.iter().map(|(name, _)| *name).collect();
    let project = project(&[&["honest", "second"], &names[..]].concat());
    // All proofs belong to one case, and each is warmed up separately.
    let file = project.join("experiments/t/experiment.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let of_others = text.split("[[case]]").skip(2);
    let requests = of_others.flat_map(|case| case.split("[[case.request]]").skip(1));
    let requests: String = requests
        .map(|r| "[[case.request]]".to_owned() + r)
        .collect();
    let json = text.split("\n[[case]]\nname = \"built\"").next().unwrap();
    std::fs::write(&file, json.to_owned() + &requests).unwrap();
    let run = measure(&project, &["--set", "load=closed"]);
    let plan = run.plan().unwrap();
    let unproven = run.failures.iter().filter(|f| f.kind == "proof").count();
    assert_eq!(unproven, faults.len(), "{:#?}", run.failures);
    for (name, reason) in faults {
        let id = plan.subjects.find_id(|s| s.name == name);
        let failures: Vec<_> = run
            .failures
            .iter()
            .filter(|f| Some(f.subject) == id)
            .collect();
        let [failure] = failures[..] else {
            panic!("{name} fails once: {failures:#?}");
        };
        assert_eq!(failure.kind, "proof", "{name}: {failure:#?}");
        assert!(
            failure.message.contains(reason),
            "{name}: {}",
            failure.message
        );
        let sent = failure.log.iter().any(|line| line.starts_with("> "));
        assert!(sent, "{name}: no transcript in {:#?}", failure.log);
        assert_eq!(
            slices(&run, name),
            Vec::<&Slice>::new(),
            "{name} was measured"
        );
    }
    assert!(!slices(&run, "honest").is_empty());
}

#[test]
fn honest_servers_are_loaded_at_every_point_and_at_fractions_of_their_peak() {
    let project = project(&["honest", "slow"]);
    let run = measure(&project, &["--set", "connections=all"]);
    assert_no_failures(&run);
    let plan = run.plan().unwrap();
    for name in ["honest", "slow"] {
        let slices = slices(&run, name);
        assert_eq!(
            slices.len(),
            2 * plan.points.len(),
            "two passes over every point"
        );
        for slice in &slices {
            let label = plan.label(slice.point);
            assert_eq!(
                (slice.offered, &slice.errors),
                (slice.served, &Vec::new()),
                "{label}"
            );
            let worked = slice.server_cpu_ns.is_some_and(|ns| ns > 0);
            assert!(worked || slice.served == 0, "{label}");
            assert!(
                slice.server_bytes.is_some_and(|bytes| bytes > 1_000_000),
                "{label}"
            );
            let connects = if plan.keeps_alive(slice.point) {
                0..=plan.connections(slice.point) as u64
            } else {
                slice.served..=u64::MAX
            };
            assert!(
                connects.contains(&slice.counts[LoadCount::Connects]),
                "{label}: {}",
                slice.counts[LoadCount::Connects]
            );
        }
        // In a single short turn, a busy machine may serve no request. With random arrivals, none
        // may be due.
        let closed = plan.points.ids().filter(|&point| !plan.is_open(point));
        for point in closed {
            let of_point = slices.iter().filter(|slice| slice.point == point);
            let served: u64 = of_point.map(|slice| slice.served).sum();
            assert!(served > 0, "{name} at {}", plan.label(point));
        }
        assert_halves_of_peak(&run, &slices);
        let at_rate = slices.iter().filter(|s| plan.rate(s.point).is_some());
        let sum = |(due, ns), s: &&Slice| (due + s.offered, ns + s.wall_ns);
        let (due, ns): (u64, u64) = at_rate.fold((0, 0), sum);
        let rate = due as f64 * 1e9 / ns as f64;
        assert!((200.0..400.0).contains(&rate), "{name}: {rate}");
    }
    let settings = |key: &str| {
        let of_key = run.settings.iter().filter(|s| s.key == key);
        of_key.map(|s| s.value.clone()).collect::<Vec<_>>()
    };
    assert_eq!(settings("loops"), ["1", "1"]);
    assert_eq!(settings("server cores").len(), 2);
    let proven = settings("verified responses");
    let proven: Vec<u32> = proven.iter().map(|n| n.parse().unwrap()).collect();
    // Eight concurrent connections send two requests each; the other proofs send more.
    assert!(proven.iter().all(|&n| n > 2 * 16), "{proven:?}");
}

/// Asserts that the rate at half of the peak is half of the highest rate in the first block.
#[track_caller]
fn assert_halves_of_peak(run: &Run, slices: &[&Slice]) {
    let plan = run.plan().unwrap();
    let sums = |of: fn(&Slice) -> (u64, u64), point: PointId| {
        let of_point = slices.iter().filter(|s| s.point == point);
        let sum = |(n, ns): (u64, u64), (more, in_ns)| (n + more, ns + in_ns);
        let (count, ns) = of_point.map(|s| of(s)).fold((0, 0), sum);
        (count as f64, ns as f64 / 1e9)
    };
    let halves = plan
        .points
        .ids()
        .filter(|&p| plan.fraction_of_peak(p).is_some());
    let mut half_points = 0;
    for half in halves {
        let peak = plan
            .peak_points(half)
            .map(|p| sums(|s| (s.served, s.served_in_ns()), p))
            .fold(0.0, |max, (served, s)| f64::max(max, served / s));
        let (offered, s) = sums(|s| (s.offered, s.wall_ns), half);
        let due = peak / 2.0 * s;
        // Arrivals are random, so this allows six standard deviations, some arrivals more for the skewness of
        // small Poisson counts, and a tenth for the error of the peak itself. The probability of a larger
        // difference is below 1e-7 for any expected number.
        let room = 6.0 * due.sqrt() + 0.1 * due + 4.0;
        assert!((offered - due).abs() < room, "{offered} of {due}");
        half_points += 1;
    }
    assert_eq!(
        half_points, 6,
        "each number of connections, with and without keep-alive"
    );
}

#[track_caller]
fn assert_no_failures(run: &Run) {
    assert!(run.failures.is_empty(), "{:#?}", run.failures);
}

/// The first two of six blocks determine the peak. Loads at a fraction of the peak start in the
/// second block.
#[test]
fn fractions_of_a_peak_are_offered_once_blocks_have_determined_it() {
    let project = project(&["honest"]);
    let words = "--cases json --set connections=4 --set keep_alive=yes";
    let words: Vec<&str> = words.split(' ').collect();
    project.run_blocks("6", "1", &words).expect(0);
    let run = project.load();
    let plan = run.plan().unwrap();
    for (number, block) in run.complete_blocks().enumerate() {
        let points = |is: &dyn Fn(PointId) -> bool| block.slices.iter().any(|s| is(s.point));
        let offered = points(&|p| plan.fraction_of_peak(p).is_some());
        assert_eq!(offered, number > 0, "block {number}");
        assert!(points(&|p| plan.rate(p).is_some()) && points(&|p| !plan.is_open(p)));
    }
}

#[test]
fn a_server_that_changes_or_dies_under_load_is_detected() {
    let project = project(&["honest", "second", "turns", "dies", "elsewhere"]);
    let run = measure(&project, &["--cases", "json", "--set", "load=closed"]);
    let plan = run.plan().unwrap();
    let failure = |name: &str| {
        let id = plan.subjects.find_id(|s| s.name == name);
        run.failures.iter().find(|f| Some(f.subject) == id)
    };
    let dead = failure("dies").expect("it died");
    assert!(["crash", "load"].contains(&dead.kind.as_str()), "{dead:#?}");
    let elsewhere = failure("elsewhere").expect("the subject failed");
    assert!(
        elsewhere
            .message
            .contains("a subject must listen only on this machine")
    );
    assert!(
        failure("turns").is_none(),
        "a wrong response is counted, and the server does not fail"
    );
    let wrong: u64 = slices(&run, "turns")
        .iter()
        .flat_map(|s| &s.errors)
        .map(|(_, n)| n)
        .sum();
    assert!(wrong > 0);
    let kinds = slices(&run, "turns");
    let mut kinds = kinds.iter().flat_map(|s| &s.errors).map(|(kind, _)| *kind);
    assert!(kinds.all(|kind| kind == ErrorKind::Body));
    assert!(slices(&run, "honest").iter().all(|s| s.errors.is_empty()));
}

#[test]
fn a_server_has_no_turn_while_it_still_computes_by_itself() {
    let project = project(&[]);
    let marker = project.join("begun");
    let compiles = ["web.py", "compiles", marker.to_str().unwrap()];
    project.append(&subject("honest", &compiles));
    let more = "--cases json --set load=closed --set connections=4 --set keep_alive=yes";
    let mut words = blocks_of("1", "1").to_vec();
    words.extend(more.split(' '));
    let child = project.start(&words);
    wait_until("a slice is in the run file", || has_slices(&project));
    let compiled = marker.with_extension("done").exists();
    outcome(child.wait_with_output().unwrap()).expect(0);
    assert!(compiled, "the server had an earlier turn");
    let log = rows(&project.file(), "SELECT line FROM log");
    assert!(log.iter().any(|line| line.contains("compiled")), "{log:#?}");
}

/// If a server closes no connection during its warm-up, its JIT compiler compiles again in the
/// blocks, after the first connections are closed.
#[test]
fn each_round_of_a_warm_up_opens_new_connections() {
    let cases = CASES.replace("[1, 4, 8]", "[1, 4, 50]");
    let project = project_with(&cases, &["honest"]);
    let marker = project.join("connections");
    let counts = ["web.py", "counts", marker.to_str().unwrap()];
    project.append(&subject("counts", &counts));
    let more = "--cases json --set load=closed --set connections=50 --set keep_alive=yes";
    let words: Vec<&str> = more.split(' ').collect();
    let run = measure(&project, &words);
    let plan = run.plan().expect("a plan");
    let id = plan.subjects.find_id(|s| s.name == "counts").unwrap();
    let pilot = run.pilots.iter().find(|pilot| pilot.subject == id);
    let rounds = pilot.unwrap().batches.len();
    let mut settings = run.settings.iter().filter(|s| s.subject == id);
    let verified = settings.find(|s| s.key == "verified responses").unwrap();
    let verified: u64 = verified.value.parse().unwrap();
    // For each connection, the server writes the number of its responses until then. The responses before the
    // warm-up are those that were verified.
    let text = std::fs::read_to_string(&marker).unwrap();
    let responses = text.lines().map(|line| line.parse::<u64>().unwrap());
    let late = responses.filter(|responses| *responses >= verified).count();
    assert!(
        rounds > 1 && late >= 10 * rounds,
        "{late} in {rounds} rounds"
    );
}

fn has_slices(project: &Project) -> bool {
    let files = project.files();
    let has = |file, sql: &str| !rows(file, sql).is_empty();
    files.first().is_some_and(|file| {
        has(file, "SELECT 1 FROM sqlite_master WHERE name = 'slice'")
            && has(file, "SELECT 1 FROM slice")
    })
}

#[test]
fn a_server_that_computes_after_its_turn_is_stopped() {
    let project = project(&[]);
    let marker = |name: &str| project.join(name).display().to_string();
    for variant in ["honest", "restless"] {
        // This additional argument identifies the server's process.
        project.append(&subject(variant, &["web.py", variant, &marker(variant)]));
    }
    let mut words = blocks_of("1", "1").to_vec();
    words.extend(["--cases", "json", "--set", "load=closed"]);
    let mut child = project.start(&words);
    let mut were_stopped = [false; 2];
    while child.try_wait().unwrap().is_none() {
        for (was_stopped, variant) in were_stopped.iter_mut().zip(["honest", "restless"]) {
            *was_stopped |= is_stopped(&marker(variant));
        }
        sleep(Duration::from_millis(2));
    }
    outcome(child.wait_with_output().unwrap()).expect(0);
    assert_eq!(were_stopped, [false, true]);
}

/// Returns true if a process with `word` on its command line is stopped by a signal.
fn is_stopped(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let text = |folder: &Path, name: &str| std::fs::read_to_string(folder.join(name));
    processes.map(|entry| entry.path()).any(|folder| {
        text(&folder, "cmdline").is_ok_and(|words| words.split('\0').any(|w| w == word))
            && text(&folder, "status").is_ok_and(|s| s.contains("State:\tT (stopped)"))
    })
}

#[test]
fn a_turn_that_another_process_disturbs_is_repeated() {
    let project = project(&["honest", "second"]);
    let over = Arc::new(AtomicBool::new(false));
    let until = over.clone();
    let disturber = std::thread::spawn(move || {
        while !until.load(Relaxed) {
            let busy = Instant::now() + Duration::from_millis(4);
            while Instant::now() < busy {}
            sleep(Duration::from_millis(16));
        }
    });
    let words = blocks_of("1", "1");
    let redone = &words[..words.len() - 2];
    let outcome = project.call(&[redone, &["--cases", "json", "--set", "load=closed"]].concat());
    over.store(true, Relaxed);
    disturber.join().unwrap();
    outcome.expect(0);
    let run = project.load();
    let block = run.complete_blocks().next().expect("a block");
    let again =
        "SELECT 1 FROM slice JOIN block b ON b.id = block WHERE redone AND b.state = 'complete'";
    assert_eq!(
        rows(&project.file(), again).len(),
        block.redone_visits() as usize
    );
    assert!(block.redone_visits() > 0);
    // Two passes of two servers: the visits that count.
    let plan = run.plan().unwrap();
    assert_eq!(block.slices.len(), 2 * 2 * plan.points.len());
    assert!(block.redone_visits() as usize <= block.slices.len() / 4);
    let report = std::fs::read_to_string(project.file().with_extension("html")).unwrap();
    let sentence = format!(
        "In addition to the {} turns that count, {} repeated",
        block.slices.len(),
        match block.redone_visits() {
            1 => "one was".to_owned(),
            n => format!("{n} were"),
        }
    );
    assert!(report.contains(&sentence), "{sentence}");
}

#[test]
fn options_for_servers_are_rejected_elsewhere_and_vice_versa() {
    let assert_refused = |text: String, reason: &str| {
        let project = Project::with_text(&(text + &subject("honest", &["web.py", "honest"])));
        project.run_blocks("1", "1", &[]).expect(2).says(&[reason]);
    };
    let without_server = HEAD.split("[server]").next().unwrap().to_owned() + CASES;
    assert_refused(without_server, "a request needs `[server]`");
    let case = "[[case]]\nname = \"a\"\nwork = \"w\"\nunit = \"request\"\n";
    let with = |more: &str| format!("{HEAD}{case}{more}");
    assert_refused(
        with("sweep.connections = [1]\n"),
        "needs a `[[case.request]]`",
    );
    let get = "[[case.request]]\nrequest = \"GET /api\"\n";
    assert_refused(with(get), "a case for servers needs `sweep.connections`");
    let swept = |more: &str| with(&format!("sweep.connections = [1]\n{more}{get}"));
    assert_refused(
        swept("factor.load = [\"closed\", \"fast\"]\n"),
        "`fast` is not valid for servers",
    );
    assert_refused(swept("") + "json = '{'\n", "not JSON");
    assert_refused(
        swept("") + "file = \"none.bin\"\n",
        "`none.bin` is not among `server.files`",
    );
    assert_refused(
        swept("") + "body = \"none.json\"\n",
        "`none.json`: No such file",
    );
    assert_refused(
        swept("") + "text = 'a'\njson = '1'\n",
        "one of `text`, `json`, `file` and `echo`",
    );
    assert_refused(
        swept("").replace("GET /api", "get api"),
        "`request` must be a method and a path",
    );
    assert_refused(
        swept("factor.n = [\"1\", \"2\"]\n"),
        "a factor that the first request's path contains as `{n}`",
    );
    assert_refused(
        swept("").replace("/api", "/api?n={n}"),
        "expected a factor of this case in braces",
    );
    assert_refused(
        swept("") + "headers = [\"Host: elsewhere\"]\n",
        "a header must be a name and a value",
    );
    assert_refused(
        HEAD.replace("workers = 3", "workers = 3\nwarm_up_s = 0") + case,
        "`warm_up_s` must be from 1 to 1024",
    );
    assert_refused(
        HEAD.replace("workers = 3", "workers = 3\nmetrics = [\"answers\"]") + case,
        "there is no [[metric]] `answers`",
    );
    assert_refused(
        HEAD.replace("some.bin", "../some.bin") + case + "sweep.connections = [1]\n" + get,
        "a name without a directory",
    );
}

#[test]
fn a_fraction_of_a_peak_needs_the_load_that_finds_it() {
    let project = project(&["honest"]);
    let outcome = project.run_blocks("1", "1", &["--cases", "json", "--set", "load=50%"]);
    outcome
        .expect(2)
        .says(&["also request `load=closed` with the same number of connections"]);
}

#[test]
fn nothing_remains_after_ctrl_c_and_the_run_is_resumed() {
    let project = project(&["honest"]);
    // This additional argument identifies the server's process.
    let marker = project.path().display().to_string();
    project.append(&subject("marked", &["web.py", "marked", &marker]));
    let more = "--cases json --set load=closed,300/s --set connections=4 --set keep_alive=yes";
    let mut words = blocks_of("5", "1").to_vec();
    words.extend(more.split(' '));
    let child = project.start(&words);
    wait_until("a slice is in the run file", || has_slices(&project));
    let stopped = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(stopped.unwrap().success());
    let outcome = outcome(child.wait_with_output().unwrap());
    outcome
        .expect(130)
        .says(&["continue with `benchlab resume"]);
    assert_none_running(&marker);
    let file = project.file();
    let resumed = project.call(&["resume", file.to_str().unwrap()]);
    resumed.expect(0);
    let run = project.load();
    assert_eq!(run.complete_blocks().count(), 5);
    assert_no_failures(&run);
}

/// Three blocks determine the peaks. A run that is stopped after the first block and resumed uses
/// the peaks from all three blocks.
#[test]
fn peaks_are_found_across_an_interruption() {
    let project = project(&["honest"]);
    let words = "--cases json --set connections=4 --set keep_alive=yes";
    let mut words: Vec<&str> = words.split(' ').collect();
    words.splice(0..0, blocks_of("9", "1"));
    let child = project.start(&words);
    wait_until("a block is complete", || {
        has_slices(&project) && complete_blocks(&project) > 0
    });
    let stopped = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(stopped.unwrap().success());
    outcome(child.wait_with_output().unwrap()).expect(130);
    let before = complete_blocks(&project);
    let file = project.file();
    project.call(&["resume", file.to_str().unwrap()]).expect(0);
    let run = project.load();
    let plan = run.plan().unwrap();
    assert!((1..9).contains(&before), "{before} blocks before it");
    assert_eq!(run.complete_blocks().count(), 9);
    assert!(offered_at_half_peak(&run, plan, 2) > 0);
}

/// Asserts that half of the first server's peak was offered in all blocks from number `from` on,
/// but in no earlier block.
///
/// Returns the number of requests.
fn offered_at_half_peak(run: &Run, plan: &Plan, from: u32) -> u64 {
    let half = plan
        .points
        .ids()
        .find(|&p| plan.fraction_of_peak(p).is_some());
    let half = half.unwrap();
    let Some(Peak::Rate(peak)) = Peaks::from_blocks(plan, run).peak(plan, SubjectId(0), half)
    else {
        panic!("no peak")
    };
    let (mut offered, mut s) = (0, 0.0);
    for block in run.complete_blocks() {
        let of_half: Vec<&Slice> = block.slices.iter().filter(|s| s.point == half).collect();
        assert_eq!(
            of_half.is_empty(),
            block.number < from,
            "block {}",
            block.number
        );
        offered += of_half.iter().map(|s| s.offered).sum::<u64>();
        s += of_half.iter().map(|s| s.wall_ns as f64 / 1e9).sum::<f64>();
    }
    // Arrivals are random, so this allows six standard deviations, and some arrivals more for the skewness of
    // small Poisson counts.
    let due = peak / 2.0 * s;
    assert!(
        (offered as f64 - due).abs() < 6.0 * due.sqrt() + 4.0,
        "{offered} of {due}"
    );
    offered
}

fn complete_blocks(project: &Project) -> usize {
    rows(
        &project.file(),
        "SELECT 1 FROM block WHERE state = 'complete'",
    )
    .len()
}
