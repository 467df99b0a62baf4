// SPDX-License-Identifier: Apache-2.0
//! `benchlab serve`: its pages show the same values as the other commands, and other sites cannot
//! read or use them.

use crate::project::{Project, wait_until};
use lab_bisect::{Bisection, BisectionCommit, BisectionFile, BisectionRequest, CommandText};
use lab_stats::bisection::BisectedMetric;
use rusqlite::Connection;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A running `benchlab serve`. It exits when this value is dropped.
struct Served {
    process: Child,
    /// The address as `127.0.0.1:PORT`.
    host: String,
    token: String,
}

/// The server's response.
struct Response {
    status: u16,
    head: String,
    body: String,
}

impl Served {
    fn start(project: &Project) -> Served {
        let mut command = project.command(&["serve", "--port", "0"]);
        let mut process = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let lines = BufReader::new(process.stderr.take().expect("its errors")).lines();
        let url = lines
            .map_while(Result::ok)
            .find_map(|line| Some(line.trim().strip_prefix("http://")?.to_owned()));
        let url = url.expect("serve prints its address");
        let (host, token) = url.split_once("/?token=").expect("with a token");
        Served {
            process,
            host: host.to_owned(),
            token: token.to_owned(),
        }
    }

    /// Sends a raw request head and body.
    fn send(&self, request: &str) -> Response {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        stream.write_all(request.as_bytes()).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").expect("an answer");
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok());
        Response {
            status: status.expect("a status"),
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    fn get_with(&self, path: &str, fields: &str) -> Response {
        let host = &self.host;
        self.send(&format!(
            "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{fields}\r\n"
        ))
    }

    fn get(&self, path: &str) -> Response {
        self.get_with(path, "")
    }

    /// Returns the page at a path, which must exist.
    fn page(&self, path: &str) -> String {
        let response = self.get(path);
        assert_eq!(response.status, 200, "{path}: {}", response.body);
        response.body
    }

    /// Returns the cookie of a browser that has opened the address with the token.
    fn cookie(&self) -> String {
        let response = self.get(&format!("/?token={}", self.token));
        assert_eq!(response.status, 303);
        let line = response
            .head
            .lines()
            .find_map(|l| l.strip_prefix("set-cookie: "));
        let line = line.expect("a cookie");
        assert!(
            line.contains("httponly") && line.contains("samesite=strict"),
            "{line}"
        );
        let pair = line.split(';').next().expect("a pair");
        format!("Cookie: {pair}\r\n")
    }

    fn delete(&self, form: &str, fields: &str) -> Response {
        let (host, length) = (&self.host, form.len());
        self.send(&format!(
            "POST /delete HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n\
             Content-Type: application/x-www-form-urlencoded\r\n{fields}\r\n{form}"
        ))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Creates a project with two runs of six blocks. Returns the project and the names of the runs,
/// the earlier run first.
fn project_with_two_runs() -> (Project, [String; 2]) {
    let project = Project::noop(&[]);
    for seed in ["7", "8"] {
        let words = [
            "run",
            "t",
            "--quick",
            "--no-control",
            "--blocks",
            "6",
            "--pairs",
            "1",
        ];
        project
            .call(&[&words[..], &["--seed", seed]].concat())
            .expect(0);
    }
    let mut names: Vec<String> = project.files().iter().map(|path| name(path)).collect();
    names.sort_by_key(|name| name.trim_end_matches(".lab").replace('.', "-"));
    (project, names.try_into().expect("two runs"))
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_str().unwrap().to_owned()
}

fn file(project: &Project, name: &str) -> PathBuf {
    project.join("runs").join(format!("{name}.lab"))
}

/// Returns the text of a page between tags, with single spaces.
fn text(page: &str) -> String {
    let parts = page
        .split('<')
        .map(|part| part.split_once('>').map_or(part, |(_, text)| text));
    let text = parts.collect::<Vec<_>>().join(" ");
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
        .replace("&quot;", "\"");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn pages_show_the_same_as_the_other_commands() {
    let (project, [a, b]) = project_with_two_runs();
    let served = Served::start(&project);
    // A busy machine does not compute the results while the list waits for them.
    for name in [&a, &b] {
        served.page(&format!("/runs/{name}/summary"));
    }
    let list = served.page("/");
    for part in [
        "2 runs",
        "Tried out",
        "honest, second",
        &format!("/runs/{}", a.replace('-', "%2D")),
    ] {
        assert!(list.contains(part), "{part} is not in {list}");
    }
    // The list shows the same result as the report and the terminal.
    let report = served.page(&format!("/runs/{a}"));
    let answer = list.split("class=\"finding").nth(2).expect("two answers");
    let answer = text(
        &answer[answer.find('>').unwrap()..answer.find("<span").or(answer.find("</p")).unwrap()],
    );
    let answer = answer.trim_start_matches('>').trim();
    assert!(
        answer.len() > 10 && text(&report).contains(answer),
        "{answer}"
    );

    // The main part of the page equals the main part of the page that `report` writes.
    let path = file(&project, &a);
    let alone = project
        .call(&["report", path.to_str().unwrap(), "--format", "html"])
        .stdout;
    let main =
        |page: &str| page[page.find("<main").unwrap()..page.find("</main").unwrap()].to_owned();
    let reported = main(&alone).replace(path.to_str().unwrap(), "FILE");
    assert_eq!(main(&report).replace(&format!("{a}.lab"), "FILE"), reported);
    let csv = project
        .call(&["report", path.to_str().unwrap(), "--format", "csv"])
        .stdout;
    assert_eq!(served.page(&format!("/runs/{a}/export/csv")), csv);
    assert!(
        served
            .get(&format!("/runs/{a}/export/xlsx"))
            .body
            .starts_with("PK")
    );
    // A comparison has a timeline, but no call stacks.
    assert!(
        served
            .page(&format!("/runs/{a}/export/perfetto"))
            .starts_with('{')
    );
    assert!(report.contains("/export/perfetto") && !report.contains("/export/folded"));
    for format in ["svg", "folded", "speedscope"] {
        let response = served.get(&format!("/runs/{a}/export/{format}"));
        assert_eq!(response.status, 404, "{format}: {}", response.body);
    }

    let compare = [
        "diff",
        path.to_str().unwrap(),
        file(&project, &b).to_str().unwrap(),
    ]
    .map(str::to_owned);
    let comparison = project.call(&compare.each_ref().map(String::as_str));
    let pair = text(&served.page(&format!("/diff?run={b}&run={a}")));
    let title = comparison.stdout.lines().next().expect("a heading").trim();
    assert!(pair.contains(title), "{title} is not in {pair}");
    assert_eq!(served.get(&format!("/diff?run={a}")).status, 400);

    assert!(served.page("/history").contains("/history/t"));
    // On a busy machine, a run may have no comparison. The pages and the command say so alike.
    let words = ["history", "t", "--subjects", "second", "--format", "html"];
    let reported = main(&project.call(&words).expect(0).stdout);
    assert!(
        text(&reported).contains("second, ratio to honest"),
        "{reported}"
    );
    assert_eq!(main(&served.page("/history/t?subject=second")), reported);
    assert_eq!(served.get("/history/nothing").status, 404);

    for (words, found) in [
        ("does HOLD", 2),
        ("second", 2),
        ("absent", 0),
        (&a[..15], 1),
    ] {
        let page = served.page(&format!("/?q={}", words.replace(' ', "+")));
        assert_eq!(
            page.matches("<li>").count(),
            if a[..15] == b[..15] && found == 1 {
                2
            } else {
                found
            },
            "{words}"
        );
    }
}

/// A search finds words of results that no page has shown yet.
#[test]
fn a_search_includes_all_results() {
    let (project, [a, _]) = project_with_two_runs();
    let line = Served::start(&project).page(&format!("/runs/{a}/summary"));
    // The number of warnings is not searched.
    let answer = text(line.split("<span").next().expect("an answer"));
    let served = Served::start(&project);
    let mut words: Vec<&str> = answer.split(|c: char| !c.is_alphanumeric()).collect();
    words.retain(|word| !word.is_empty());
    let search = format!("/?q={}", words.join("+"));
    // On a busy machine, a search takes multiple requests.
    let mut page = served.page(&search);
    while page.contains("not been analyzed yet") {
        page = served.page(&search);
    }
    assert!(page.contains(&a.replace('-', "%2D")), "{answer}: {page}");
    let nothing = served.page("/?q=absent");
    assert!(nothing.contains("0 of 2 runs with “absent”."), "{nothing}");
}

#[test]
fn other_sites_are_rejected() {
    let (project, [a, _]) = project_with_two_runs();
    let served = Served::start(&project);
    for path in [
        "/",
        "/nothing",
        "/style.css",
        &format!("/runs/{a}"),
        &format!("/runs/{a}/file"),
    ] {
        let response = served.get_with(path, "Origin: http://evil.example\r\n");
        for part in [
            "content-security-policy: default-src 'none'; style-src 'self'; script-src 'self';",
            "x-content-type-options: nosniff",
            "cross-origin-resource-policy: same-origin",
            "cache-control: no-store",
        ] {
            assert!(
                response.head.contains(part),
                "{path} has no {part}: {}",
                response.head
            );
        }
        assert!(
            !response.head.contains("access-control"),
            "{}",
            response.head
        );
    }
    let hosts = [
        "Host: evil.example\r\n",
        "Host: evil.example:80\r\n",
        "Host: localhost.evil.example\r\n",
    ];
    for host in hosts {
        let request = format!("GET / HTTP/1.1\r\n{host}Connection: close\r\n\r\n");
        let response = served.send(&request);
        assert_eq!(response.status, 421, "{host}");
        assert!(!response.body.contains(&a));
    }
    let two = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        served.host
    );
    assert_eq!(served.send(&two).status, 400);
    assert_eq!(served.send("GET / HTTP/1.0\r\n\r\n").status, 400);
    let put = format!(
        "PUT / HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        served.host
    );
    assert_eq!(served.send(&put).status, 405);
}

#[test]
fn no_name_leads_out_of_the_directory() {
    let (project, [a, _]) = project_with_two_runs();
    fs::copy(file(&project, &a), project.join("outside.lab")).unwrap();
    let served = Served::start(&project);
    for name in [
        "..%2Foutside",
        "%2e%2e%2foutside",
        "..%5Coutside",
        "..",
        "%2e%2e",
        "%00",
        "outside",
        "..%2F..%2F..%2F..%2Fetc%2Fpasswd",
        &format!(".%2F{a}"),
        &format!("{a}.lab"),
        &format!("{a}%00"),
    ] {
        for below in ["", "/file", "/export/csv", "/summary", "/live"] {
            let status = served.get(&format!("/runs/{name}{below}")).status;
            let is_page = below == "/summary" && status == 200;
            assert!(
                matches!(status, 400 | 404) || is_page,
                "{name}{below}: {status}"
            );
        }
    }
    let cookie = served.cookie();
    let form = format!("token={}&run=..%2Foutside", served.token);
    assert_eq!(served.delete(&form, &cookie).status, 404);
    assert!(project.join("outside.lab").exists());
}

#[test]
fn deleting_requires_the_token() {
    let (project, [a, b]) = project_with_two_runs();
    let served = Served::start(&project);
    let (cookie, token) = (served.cookie(), served.token.clone());
    let form = format!("token={token}&run={a}");
    let right = |cookie: &str, more: &str| format!("{cookie}{more}");
    for (form, fields, reason) in [
        (form.clone(), String::new(), "no cookie"),
        (
            format!("run={a}"),
            right(&cookie, ""),
            "no token in the form",
        ),
        (
            form.clone(),
            right("Cookie: benchlab_1=x\r\n", ""),
            "another cookie",
        ),
        (
            form.clone(),
            right(&cookie, "Origin: http://evil.example\r\n"),
            "another site",
        ),
        (form.clone(), right(&cookie, "Origin: null\r\n"), "no site"),
        (
            form.clone(),
            right(&cookie, "Sec-Fetch-Site: cross-site\r\n"),
            "another site's page",
        ),
    ] {
        assert_eq!(served.delete(&form, &fields).status, 403, "{reason}");
        assert!(file(&project, &a).exists(), "{reason}");
    }
    assert_eq!(served.get("/?token=wrong").status, 403);
    assert_eq!(served.get(&format!("/delete?run={a}")).status, 403);
    assert!(
        !served.page("/").contains(&token),
        "a page must not contain the token"
    );

    let question = served.get_with(&format!("/delete?run={a}"), &cookie);
    assert!(
        question.status == 200 && question.body.contains("Delete 1 run?"),
        "{}",
        question.body
    );
    let same_origin = format!(
        "{cookie}Origin: http://{}\r\nSec-Fetch-Site: same-origin\r\n",
        served.host
    );
    assert_eq!(served.delete(&form, &same_origin).status, 303);
    let remaining = project.files();
    assert_eq!(
        remaining.iter().map(|path| name(path)).collect::<Vec<_>>(),
        [b]
    );
    assert!(
        !project.join("runs").join(format!("{a}.html")).exists(),
        "its page is there"
    );
}

#[test]
fn hostile_names_are_escaped_on_pages() {
    let (project, [a, b]) = project_with_two_runs();
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}\u{1b}[31m";
    let db = Connection::open(file(&project, &a)).unwrap();
    let plan: String = db
        .query_row("SELECT value FROM meta WHERE key = 'plan'", [], |r| {
            r.get(0)
        })
        .unwrap();
    let mut plan: serde_json::Value = serde_json::from_str(&plan).unwrap();
    for key in ["title", "question", "experiment"] {
        plan[key] = evil.into();
    }
    plan["subjects"][0]["name"] = evil.into();
    plan["cases"][0]["name"] = evil.into();
    db.execute(
        "UPDATE meta SET value = ? WHERE key = 'plan'",
        [plan.to_string()],
    )
    .unwrap();
    drop(db);
    let evil_name = "runs/a\"><b onclick=alert(3)>.lab";
    fs::rename(file(&project, &a), project.join(evil_name)).unwrap();
    let broken = |name: &str, sql: &str| {
        let to = project.join("runs").join(format!("{name}.lab"));
        fs::copy(file(&project, &b), &to).unwrap();
        Connection::open(to).unwrap().execute_batch(sql).unwrap();
    };
    broken(
        "blob",
        "UPDATE meta SET value = x'ff00ff' WHERE key = 'plan'",
    );
    broken("nowhere", "UPDATE sample SET subject = 99");
    broken(
        "endless",
        "ALTER TABLE sample RENAME TO kept;
         CREATE VIEW sample AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n",
    );
    broken(
        "computed",
        "ALTER TABLE interim_analysis ADD COLUMN more GENERATED ALWAYS AS (zeroblob(1000000000))",
    );
    fs::write(project.join("runs/text.lab"), "no run").unwrap();
    fs::create_dir(project.join("runs/folder.lab")).unwrap();
    let pipe = project.join("runs/pipe.lab");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );

    let served = Served::start(&project);
    let list = served.page("/");
    for name in [
        "blob", "nowhere", "endless", "computed", "text", "folder", "pipe",
    ] {
        let response = served.get(&format!("/runs/{name}"));
        assert_eq!(response.status, 422, "{name}: {}", response.body);
        assert!(
            list.contains(&format!("/runs/{name}\"")),
            "{name} is not listed"
        );
    }
    let links = list.match_indices("href=\"/runs/a%22");
    let link = links
        .map(|(at, _)| list[at + 6..].split('"').next().unwrap().to_owned())
        .next();
    let link = link.expect("the hostile name is listed");
    let pages = [list, served.page(&link), served.page("/history")];
    for page in &pages {
        let active = page.match_indices("<script").count();
        assert_eq!(active, 1, "the page must contain only its own script");
        for part in ["<img", "<b onclick", "\u{202e}", "\u{1b}"] {
            assert!(!page.contains(part), "{part:?}");
        }
        assert!(page.contains("&lt;script&gt;alert(1)"));
    }
    let head = served.get(&format!("{link}/export/csv")).head;
    assert!(
        head.contains("content-disposition: attachment; filename=\"a-"),
        "{head}"
    );
    // The valid run is still shown.
    served.page(&format!("/runs/{b}"));
}

#[test]
fn a_run_is_followed_until_its_end() {
    let project = Project::noop(&[]);
    fs::create_dir(project.join("runs")).unwrap();
    let served = Served::start(&project);
    let words = [
        "run",
        "t",
        "--quick",
        "--no-control",
        "--blocks",
        "2000",
        "--pairs",
        "4",
        "--seed",
        "7",
    ];
    let mut running = project.start(&words);
    wait_until("a run file", || !project.files().is_empty());
    let name = name(&project.file());
    let mut stream = TcpStream::connect(&served.host).unwrap();
    let request = format!(
        "GET /runs/{name}/live HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        served.host
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut events = Vec::new();
    let mut stopped = false;
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if let Some(event) = line.strip_prefix("event: ") {
            events.push(event.to_owned());
        }
        // The first events of a run that has just started may have nothing to show yet.
        if !stopped && events.iter().any(|e| e == "report") && events.len() >= 3 {
            let form = format!("token={}&run={name}", served.token);
            assert_eq!(
                served.delete(&form, &served.cookie()).status,
                409,
                "a run that is being measured must not be deleted"
            );
            assert_eq!(served.get(&format!("/runs/{name}/file")).status, 409);
            assert!(served.page("/").contains("measuring now"));
            let pid = running.id().to_string();
            assert!(
                Command::new("kill")
                    .args(["-INT", &pid])
                    .status()
                    .unwrap()
                    .success()
            );
            stopped = true;
        }
    }
    assert_eq!(running.wait().unwrap().code(), Some(130));
    assert!(events.iter().any(|e| e == "progress"), "{events:?}");
    assert_eq!(
        events.last().map(String::as_str),
        Some("ended"),
        "{events:?}"
    );
    let list = served.page("/");
    assert!(!list.contains("measuring now"));
}

/// Saves a bisection without results.
fn save_bisection(folder: &Path) {
    let commit = |id: &str, subject: &str| BisectionCommit {
        id: id.repeat(40),
        short: id.repeat(7),
        subject: subject.into(),
    };
    let bisection = Bisection {
        request: BisectionRequest {
            name: "prog<script>".into(),
            folder: "/nowhere".into(),
            good: "v1".into(),
            bad: "HEAD".into(),
            command: CommandText::Line("./prog <b>".into()),
            setup: None,
            prepare: None,
            cleanup: None,
            input: None,
            metric: BisectedMetric::Wall,
            margin: 0.02,
            alpha: 0.05,
            budget_ns: 1,
            time_limit_ns: 1,
            redo: 0,
            seed: 7,
        },
        benchlab_version: "0.1.0".into(),
        started_unix_s: 1.8e9,
        host: "a host".into(),
        commits: vec![
            commit("a", "Begin"),
            commit("b", "Go <on>"),
            commit("c", "End"),
        ],
        steps: Vec::new(),
    };
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    let file = BisectionFile::create(folder).unwrap();
    file.save(&bisection).unwrap();
}

#[test]
fn bisections_are_listed_and_shown() {
    let project = Project::noop(&[]);
    save_bisection(&project.join("runs/20270115-080000-prog.bisect"));
    let broken = project.join("runs/20270116-080000-broken.bisect");
    fs::create_dir(&broken).unwrap();
    fs::write(broken.join("bisection.json"), "{}").unwrap();
    let served = Served::start(&project);
    assert!(served.page("/").contains("href=\"/bisections\""));
    let list = served.page("/bisections");
    assert!(list.contains("2 bisections, the latest first."), "{list}");
    assert!(
        list.contains("20270115-080000-prog") && list.contains("2027-01-15 08:00 UTC"),
        "{list}"
    );
    assert!(list.contains("is not the state of a bisection"), "{list}");
    assert!(
        !list.contains("<script>alert") && !list.contains("prog<script>"),
        "{list}"
    );
    let page = served.page("/bisections/20270115%2D080000%2Dprog");
    assert!(page.contains("./prog &lt;b&gt;"), "{page}");
    for path in [
        "/bisections/nothing",
        "/bisections/..%2F..%2Fetc",
        "/bisections/..",
    ] {
        assert_eq!(served.get(path).status, 404, "{path}");
    }
}
