// SPDX-License-Identifier: Apache-2.0
//! Requests that users can configure, options that are rejected, and data that is stored.

use super::{Behavior, TestDirectory, Web, sums};
use crate::project::{self, wait_until};
use std::fs;
use std::process::Command;

#[test]
fn invalid_options_show_valid_ones() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    for (options, says) in [
        (&["--rate", "0"][..], "a number of requests per second"),
        (
            &["--stages", "1:2"],
            "expected FROM:TO:TIME, such as 0:1000:5s",
        ),
        (
            &["--rate", "5", "--stages", "1:2:3s"],
            "cannot be used with",
        ),
        (&["--stages", "0:0:1s"], "no stage sends a request"),
        (&["--even"], "add --rate or --stages"),
        (
            &["--pipeline", "2", "--no-keep-alive"],
            "use only one of these options",
        ),
        (&["--threads", "5"], "each thread needs a connection"),
        (&["--family", "5"], "expected 4, 6, or 4,6"),
        (&["--method", "G T"], "is not a valid method"),
        (&["--header", "no-colon"], "has no colon"),
        (
            &["--header", "Content-Length: 5"],
            "benchlab computes it from the body",
        ),
        (&["--expect-status", "99"], "is not a valid status"),
        (&["--expect-json", "a.b"], "has no `=`"),
        (
            &["--method", "HEAD", "--expect-body", "x"],
            "the response to HEAD has no body that --expect-body",
        ),
        (&["--method", "HEAD", "--expect-json", "a=1"], "send GET"),
        (
            &["--fail-if", "p98>1ms"],
            "unknown name `p98`; known names: p50",
        ),
        (
            &["--sweep", "rate=1,2"],
            "a load can sweep only its connections",
        ),
        (
            &["--sweep", "connections=1,x"],
            "`x` is not a number from 1",
        ),
        (&["--weights", "1,2"], "--weights has 2 numbers for 1 URL:"),
        (&["--body-file", "/none"], "--body-file /none: No such file"),
        (&["--requests", "/none"], "/none: "),
        (&["--as", "a/b"], "--as a/b: expected at most 40 letters"),
        (
            &["--export", "x.pdf"],
            "expected a file name with one of the extensions",
        ),
        (&["--server-pid", "0"], "invalid value '0'"),
    ] {
        directory.load(&[&url], options).expect(2).says(&[says]);
    }
    directory.0.call(&["load"]).expect(2).says(&["<URL>"]);
    for url in ["http://[fe80::1%eth0]:80/", "http://[fe80::1%25eth0]/"] {
        directory
            .load(&[url], &[])
            .expect(2)
            .says(&["has the zone `eth0`", "ip -6 address show dev eth0"]);
    }
    directory
        .load(&["127.0.0.1:80"], &[])
        .expect(2)
        .says(&["did you mean `http://127.0.0.1:80`?"]);
    directory
        .load(&["ftp://127.0.0.1/"], &[])
        .expect(2)
        .says(&["unsupported scheme `ftp` in `ftp://127.0.0.1/`"]);
    assert_eq!((directory.0.files().len(), web.requests()), (0, 0));
}

#[test]
fn public_hosts_are_not_loaded() {
    let directory = TestDirectory::new();
    let stranger = "http://192.0.2.1:8080/";
    directory
        .load(&[stranger], &[])
        .expect(2)
        .says(&["If you have permission, pass `--i-may-load 192.0.2.1`"]);
    directory
        .load(&[stranger], &["--i-may-load", "192.0.2.2"])
        .expect(2);
}

#[test]
fn secrets_are_sent_but_not_stored() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = format!("http://me:hunter2@{}/", web.address);
    let json = directory.0.join("r.json");
    let export = [
        "--header",
        "X-Token: sesame",
        "--export",
        json.to_str().unwrap(),
    ];
    let outcome = directory.load(&[&url], &export);
    outcome.expect(0);
    let sent = &web.received()[0];
    // me:hunter2
    assert!(
        sent.contains("Authorization: Basic bWU6aHVudGVyMg==") && sent.contains("X-Token: sesame"),
        "{sent}"
    );
    let files = [
        directory.0.file(),
        directory.0.file().with_extension("html"),
        json,
    ];
    let contents: Vec<u8> = files.iter().flat_map(|f| fs::read(f).unwrap()).collect();
    let all_text =
        String::from_utf8_lossy(&contents).into_owned() + &outcome.stdout + &outcome.stderr;
    for secret in ["hunter2", "bWU6aHVudGVyMg", "sesame"] {
        assert!(!all_text.contains(secret), "{secret} is kept");
    }
}

#[test]
fn multiple_urls_have_weights() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let urls = [web.url("/a"), web.url("/b")];
    let more = [
        "--weights",
        "3,1",
        "--body",
        "x=1",
        "--rate",
        "60",
        "--even",
    ];
    directory.load(&[&urls[0], &urls[1]], &more).expect(0);
    let received = web.received();
    assert!(
        received
            .iter()
            .all(|s| s.starts_with("POST /") && s.ends_with("\r\n\r\nx=1")),
        "{received:?}"
    );
    let count = |path: &str| received[1..].iter().filter(|s| s.starts_with(path)).count();
    assert_eq!((count("POST /a"), count("POST /b")), (45, 15));
    let plan = directory.0.load().plan().unwrap().clone();
    let planned = &plan.load().unwrap().requests[0];
    assert_eq!(planned.iter().map(|a| a.weight).collect::<Vec<_>>(), [3, 1]);
}

#[test]
fn requests_are_read_from_a_file() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let file = directory.0.join("requests.http");
    fs::write(
        &file,
        "GET /one\n\n###\nPUT /two\nX-A: b\n\n{\"three\": 4}\n",
    )
    .unwrap();
    let file = file.to_str().unwrap();
    directory
        .load(
            &[&web.url("/")],
            &["--requests", file, "--header", "X-All: yes"],
        )
        .expect(0);
    let received = web.received();
    assert!(
        received.iter().all(|s| s.contains("X-All: yes\r\n")),
        "{received:?}"
    );
    assert!(received.iter().any(|s| s.starts_with("GET /one ")));
    let put = received
        .iter()
        .find(|s| s.starts_with("PUT /two "))
        .expect("a PUT");
    assert!(
        put.contains("X-A: b\r\n") && put.ends_with("\r\n\r\n{\"three\": 4}"),
        "{put}"
    );
    fs::write(directory.0.join("requests.http"), "GET /one\nGOT\n").unwrap();
    directory
        .load(&[&web.url("/")], &["--requests", file])
        .expect(2)
        .says(&["requests.http:2: "]);
}

#[test]
fn conditions_determine_the_exit_code_of_a_load() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Slow(2)));
    let url = web.url("/");
    let load = |conditions: &[&str]| {
        let options: Vec<&str> = conditions.iter().flat_map(|c| ["--fail-if", *c]).collect();
        directory.load(&[&url], &options)
    };
    load(&["p50>30s", "errors>0"]).expect(0);
    load(&["errors>0", "p50>1ms"])
        .expect(3)
        .says(&["gate failed: p50 is ", "limit 1 ms"]);
    load(&["server_cpu>1ms"])
        .expect(4)
        .says(&["gate inconclusive: ", "--server-pid"]);
    directory
        .load(
            &[&url],
            &["--fail-if", "server_cpu>1ms", "--inconclusive", "warn"],
        )
        .expect(0)
        .says(&["gate inconclusive: "]);
    load(&["p50>1ms", "server_cpu>1ms"])
        .expect(3)
        .says(&["gate inconclusive: "]);
}

#[test]
fn the_resource_usage_of_a_servers_process_is_recorded() {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let own_pid = std::process::id().to_string();
    directory
        .load(&[&url], &["--server-pid", &own_pid])
        .expect(0);
    let slices = directory.slices();
    // A busy machine may not give the server a core during one of the slices.
    let cpu_ns: Option<u64> = slices.iter().map(|s| s.server_cpu_ns).sum();
    assert!(cpu_ns.is_some_and(|ns| ns > 0), "{slices:#?}");
    assert!(
        slices
            .iter()
            .all(|s| s.server_bytes > Some(500_000) && s.server_threads > Some(1))
    );
    let directory = TestDirectory::new();
    let mut ended_process = Command::new("true").spawn().unwrap();
    ended_process.wait().unwrap();
    let outcome = directory.load(&[&url], &["--server-pid", &ended_process.id().to_string()]);
    outcome
        .expect(0)
        .says(&["there is no such process on this machine"]);
    assert!(directory.slices().iter().all(|s| s.server_cpu_ns.is_none()));
    let directory = TestDirectory::new();
    let mut ends = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = ends.id().to_string();
    let words = ["load", &url, "--for", "10s", "--rate", "50", "-c", "2"];
    let more = ["--timeout", "60s", "--server-pid", &pid];
    let lab = directory.0.start(&[&words[..], &more].concat());
    wait_until("a slice", || directory.0.has_blocks(1));
    ends.kill().unwrap();
    ends.wait().unwrap();
    let outcome = project::outcome(lab.wait_with_output().unwrap());
    outcome
        .expect(0)
        .says(&[&format!("the server's process {pid} has exited")]);
    assert_eq!(sums(&directory.0.load()).1, []);
}

#[test]
fn ipv6_is_loaded() {
    let Ok(web) = Web::bind("[::1]:0", 0, Behavior::Honest) else {
        eprintln!("this host has no ::1");
        return;
    };
    let directory = TestDirectory::new();
    directory.load(&[&web.url("/")], &[]).expect(0);
    assert_eq!(sums(&directory.0.load()).1, []);
    directory
        .load(&[&web.url("/")], &["--family", "4"])
        .expect(2)
        .says(&["has no IPv4 address"]);
}
