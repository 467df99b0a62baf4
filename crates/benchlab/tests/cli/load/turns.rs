// SPDX-License-Identifier: Apache-2.0
//! Multiple points or servers take turns: sweeps, address families, two servers.

use super::{Behavior, TestDirectory, Web, sums};
use crate::project::Outcome;
use lab_model::{PlannedRequest, SubjectId};
use serde_json::Value;
use std::collections::BTreeSet;

impl TestDirectory {
    fn compare(&self, words: &[&str]) -> Outcome {
        self.0.call(&[&["load"], words].concat())
    }

    fn json(&self) -> Value {
        let file = self.0.file();
        let output = self
            .0
            .call(&["report", file.to_str().unwrap(), "--format", "json"]);
        serde_json::from_str(&output.expect(0).stdout).expect("JSON")
    }
}

#[test]
fn a_sweep_visits_every_point_in_every_block_and_is_fitted() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Slow(1)));
    let sweep = ["--sweep", "connections=1,2,4,8"];
    directory.load(&[&web.url("/")], &sweep).expect(0);
    let run = directory.0.load();
    assert_eq!(run.complete_blocks().count(), 10);
    let mut orders = BTreeSet::new();
    for block in run.complete_blocks() {
        let mut order: Vec<u32> = block.slices.iter().map(|s| s.point.0).collect();
        orders.insert(order.clone());
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3]);
    }
    assert!(orders.len() > 1, "the order must be random");
    let (served, errors) = sums(&run);
    assert_eq!((web.requests() as u64, errors.len()), (served + 1, 0));
    let json = directory.json().to_string();
    assert!(json.contains("contention"), "{json}");
}

#[test]
fn two_servers_take_mirrored_turns_and_the_slower_one_is_named() {
    let (directory, fast, slow) = (
        TestDirectory::new(),
        Web::new(Behavior::Honest),
        Web::new(Behavior::Slow(40)),
    );
    let (a, b) = (fast.url("/"), slow.url("/"));
    let short = ["--for", "4s", "--connections", "2", "--seed", "3", "--gate"];
    let short = [&short[..], &["--timeout", "60s"]].concat();
    let outcome = directory.compare(&[&[&a[..], &b], &short[..]].concat());
    outcome.expect(3);
    let run = directory.0.load();
    let plan = run.plan().unwrap();
    let origins = [&fast, &slow].map(|web| format!("http://{}", web.address));
    assert_eq!(
        [0, 1].map(|s| plan.subjects[SubjectId(s)].name.clone()),
        origins
    );
    for block in run.complete_blocks() {
        let order: Vec<(u32, SubjectId)> =
            block.slices.iter().map(|s| (s.pass, s.subject)).collect();
        let mut mirrored: Vec<_> = order.iter().rev().map(|(pass, s)| (1 - pass, *s)).collect();
        assert_eq!(order.len(), 4);
        assert_eq!(order, std::mem::take(&mut mirrored));
    }
    assert_eq!(sums(&run).1, []);
    let requests = fast.requests() + slow.requests();
    assert_eq!(requests as u64, sums(&run).0 + 2);
    let json = directory.json().to_string();
    assert!(json.contains("\"verdict\":\"slower\""), "{json}");
    // In the reverse order, nothing is slower.
    let directory = TestDirectory::new();
    let names = ["--name", "old", "--name", "new"];
    let outcome = directory.compare(&[&[&b[..], &a], &names[..], &short[..]].concat());
    assert!([Some(0), Some(4)].contains(&outcome.code), "{outcome:?}");
    assert_eq!(
        directory.0.load().plan().unwrap().clone().subjects[SubjectId(1)].name,
        "new"
    );
}

#[test]
fn a_server_that_dies_does_not_count_as_fast() {
    let (directory, a, b) = (
        TestDirectory::new(),
        Web::new(Behavior::Honest),
        Web::after(10, Behavior::Dies),
    );
    let (a, b) = (a.url("/"), b.url("/"));
    let outcome = directory.compare(&[
        &a,
        &b,
        "--for",
        "2s",
        "--connections",
        "2",
        "--timeout",
        "60s",
        "--gate",
    ]);
    assert!([Some(3), Some(4)].contains(&outcome.code), "{outcome:?}");
    let (_, errors) = sums(&directory.0.load());
    assert!(!errors.is_empty());
    assert!(outcome.stdout.contains("connect"), "{}", outcome.stdout);
}

/// The connections to a server stay open during the turns of the other server.
#[test]
fn connections_beyond_the_limit_on_open_files_are_reported_before_the_load() {
    let (directory, web, other) = (
        TestDirectory::new(),
        Web::new(Behavior::Honest),
        Web::new(Behavior::Honest),
    );
    let urls = ["load", &web.url("/"), &other.url("/"), "--for=1s"];
    for options in [&["-c=100"][..], &["-c=200", "--on", "local:2"]] {
        directory
            .0
            .call_with_files(200, &[&urls[..], options].concat())
            .expect(1)
            .says(&["200 connections need as many open files", "ulimit -n 264"]);
    }
    assert_eq!((web.requests(), other.requests()), (0, 0));
    assert!(directory.0.files().is_empty());
}

#[test]
fn address_families_take_turns() {
    let v4 = Web::new(Behavior::Honest);
    let port = v4.address.port();
    let Ok(v6) = Web::bind(&format!("[::1]:{port}"), 0, Behavior::Honest) else {
        eprintln!("this host has no ::1, or the port is taken there");
        return;
    };
    let directory = TestDirectory::new();
    let url = format!("http://localhost:{port}/");
    let outcome = directory.load(&[&url], &["--family", "4,6"]);
    if outcome.stderr.contains("has no IPv6 address") {
        eprintln!("localhost has no IPv6 address here");
        return;
    }
    outcome.expect(0);
    let run = directory.0.load();
    let plan = run.plan().unwrap();
    let names: Vec<&str> = plan.subjects.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["IPv4", "IPv6"]);
    assert!(outcome.stdout.contains("IPv6"), "{}", outcome.stdout);
    assert_eq!(sums(&run).1, []);
    let of = |subject| {
        directory
            .slices()
            .iter()
            .filter(|s| s.subject == SubjectId(subject))
            .map(|s| s.served)
            .sum::<u64>()
    };
    assert_eq!(
        [v4.requests() as u64, v6.requests() as u64],
        [of(0) + 1, of(1) + 1]
    );
}

#[test]
fn options_that_contradict_the_servers_are_errors_with_advice() {
    let (directory, web, other) = (
        TestDirectory::new(),
        Web::new(Behavior::Honest),
        Web::new(Behavior::Honest),
    );
    let (url, other) = (&*web.url("/"), &*other.url("/"));
    let wrong: [(&[&str], &str); 10] = [
        (
            &["load", url, other, "--server-pid", "1,2,3"],
            "3 processes for 2 servers",
        ),
        (
            &["load", url, other, "--server-pid", "1"],
            "specify one for each, in order",
        ),
        (
            &[
                "load",
                url,
                "http://localhost:1/",
                "--server-host",
                "local:1",
            ],
            "load them in separate runs",
        ),
        (&["load", url, "--gate"], "for one server use --fail-if"),
        (
            &["load", url, other, "--family", "4,6"],
            "compares IPv4 and IPv6 to one server",
        ),
        (
            &["load", url, "-n", "a", "-n", "b"],
            "--name is given 2 times for 1 server",
        ),
        (
            &["load", url, url, "--in-turns", "--weights", "1,2"],
            "omit one of them",
        ),
        (
            &["load", url, other, "-n", "a", "-n", "a"],
            "two servers cannot have the same name",
        ),
        (
            &["compare", url, "true"],
            "`benchlab load URL URL` compares servers",
        ),
        (&["compare", "a.lab", "b.lab"], "`benchlab diff RUN RUN`"),
    ];
    for (args, says) in wrong {
        directory.0.call(args).expect(2).says(&[says]);
    }
    assert_eq!(web.requests(), 0);
}

/// The URLs of one server are requested in a mix, unless they take turns. A comparison can have
/// multiple URLs per server.
#[test]
fn urls_are_grouped_by_their_server() {
    let (web, other) = (Web::new(Behavior::Honest), Web::new(Behavior::Honest));
    let (a, b, c) = (&*web.url("/a"), &*web.url("/b"), &*other.url("/c"));
    let short = ["--for", "1s", "--connections", "2", "--redo", "0"];
    let requests = |urls: &[&str]| {
        let directory = TestDirectory::new();
        directory.compare(&[urls, &short].concat()).expect(0);
        let plan = directory.0.load().plan().expect("a plan").clone();
        let names: Vec<String> = plan.subjects.iter().map(|s| s.name.clone()).collect();
        let requests = &plan.load().expect("a load").requests;
        let paths = requests.iter().map(|of| {
            let url = |request: &PlannedRequest| request.url.rsplit('/').next().map(String::from);
            of.iter().filter_map(url).collect::<Vec<_>>().concat()
        });
        (names, paths.collect::<Vec<_>>())
    };
    let [first, second] = [&web, &other].map(|web| format!("http://{}", web.address));
    let owned = |words: &[&str]| words.iter().map(|w| w.to_string()).collect::<Vec<_>>();
    assert_eq!(requests(&[a, b]), (owned(&[&first]), owned(&["ab"])));
    assert_eq!(
        requests(&[a, b, "--in-turns"]),
        (owned(&[a, b]), owned(&["a", "b"]))
    );
    assert_eq!(
        requests(&[a, c, b, "--name", "new"]),
        (owned(&["new", &second]), owned(&["ab", "c"]))
    );
}

/// The server sends 20 responses per second over one connection, but 200 requests per second are
/// due.
#[test]
fn a_server_that_falls_behind_is_overloaded_and_has_no_percentiles() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Slow(50)));
    let rate = ["--rate", "200", "--connections", "1", "--timeout", "1s"];
    let outcome = directory.0.call(
        &[
            &["load", &web.url("/"), "--for", "2s", "--redo", "0"],
            &rate[..],
        ]
        .concat(),
    );
    outcome.expect(0);
    assert!(outcome.stdout.contains("overloaded"), "{}", outcome.stdout);
    let json = directory.json();
    let metrics = distinct_values(&json, |row| row["metric"]["id"].as_str());
    assert!(
        metrics.contains("backlog") && metrics.contains("throughput"),
        "{metrics:?}"
    );
    let percentiles = ["p50", "p90", "p99"].map(|id| metrics.contains(id));
    assert_eq!(percentiles, [false; 3], "{metrics:?}");
    // Response times that grow without bound exceed any maximum, and are not known to be below one.
    for (gate, code) in [("p99>50ms", 3), ("p50>10m", 3), ("p99<50ms", 4)] {
        let args = [
            "load",
            &web.url("/"),
            "--for",
            "2s",
            "--redo",
            "0",
            "--fail-if",
            gate,
        ];
        directory
            .0
            .call(&[&args[..], &rate[..]].concat())
            .expect(code)
            .says(&["overloaded"]);
    }
}

/// If responses take microseconds, the generator's own delay can exceed a tenth of the response
/// time.
#[test]
fn differences_that_the_generator_hides_are_not_equivalent() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let (a, b) = (web.url("/a"), web.url("/b"));
    let rate = [
        "--rate",
        "300",
        "--connections",
        "2",
        "--for",
        "8s",
        "--margin",
        "90%",
    ];
    directory
        .compare(&[&[&a[..], &b, "--in-turns"], &rate[..]].concat())
        .expect(0);
    let json = directory.json();
    let is_late = json.to_string().contains("generator-late");
    let equivalent = distinct_values(&json, |row| {
        let id = row["metric"]["id"].as_str()?;
        (row["verdict"] == "equivalent" && id == "p50").then_some(id)
    });
    // Two copies of a server are equivalent within such a margin, unless the generator hides the difference. On a busy
    // machine, the comparison may also be inconclusive.
    assert!(equivalent.is_empty() || !is_late, "{json}");
}

/// Returns the distinct values of the rows of a report.
fn distinct_values<'j>(
    json: &'j Value,
    value_of: impl Fn(&'j Value) -> Option<&'j str>,
) -> BTreeSet<&'j str> {
    json["rows"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(value_of)
        .collect()
}
