// SPDX-License-Identifier: Apache-2.0
//! `benchlab.toml`: named entries, `benchlab ci`, `benchlab init`, waivers.

use crate::project::{BENCHLAB, Outcome, outcome};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A user's repository, with its own home directory.
struct Repository(TempDir);

impl Repository {
    fn new(config: &str) -> Repository {
        let folder = TempDir::new().expect("a folder");
        fs::create_dir_all(folder.path().join("home")).unwrap();
        fs::create_dir_all(folder.path().join("work")).unwrap();
        let repository = Repository(folder);
        if !config.is_empty() {
            repository.write("benchlab.toml", config);
        }
        repository
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("work")
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    fn script(&self, text: &str) {
        self.write("prog", &format!("#!/bin/sh\n{text}\n"));
        let path = self.path().join("prog");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn git(&self, words: &[&str]) {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=a", "-c", "user.email=a@b.example"]);
        let output = git.args(words).current_dir(self.path()).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    /// Makes a base commit on `main` and a head commit on `change`.
    fn change(&self, base: &str, head: &str) {
        self.git(&["init", "--quiet", "--initial-branch=main"]);
        self.script(base);
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message=Write it"]);
        self.git(&["checkout", "--quiet", "-b", "change"]);
        self.script(head);
        self.write("note", "changed");
        self.git(&["add", "."]);
        self.git(&["commit", "--quiet", "--message=Change it"]);
    }

    fn call_in(&self, folder: &Path, words: &[&str]) -> Outcome {
        let mut command = Command::new(BENCHLAB);
        command.args(words).current_dir(folder).stdin(Stdio::null());
        for variable in [
            "BENCHLAB_PROJECT",
            "XDG_DATA_HOME",
            "XDG_CONFIG_HOME",
            "GITHUB_BASE_REF",
            "CI_MERGE_REQUEST_TARGET_BRANCH_SHA",
            "CI_MERGE_REQUEST_DIFF_BASE_SHA",
        ] {
            command.env_remove(variable);
        }
        command.env("HOME", self.0.path().join("home"));
        outcome(command.output().expect("benchlab starts"))
    }

    fn call(&self, words: &[&str]) -> Outcome {
        self.call_in(&self.path(), words)
    }
}

const WAITS: &str = r#"
[ci]
base = "main"

[compare.wait]
command = "./prog"
ci = true
blocks = 6
pairs = 1
"#;

/// Returns `WAITS` with a valid key in place of the unknown key `pairs`.
fn waits() -> String {
    WAITS.replace("pairs = 1\n", "margin = \"5%\"\n")
}

#[test]
fn an_unknown_key_is_shown_with_its_line_and_the_nearest_one() {
    let repository = Repository::new(WAITS);
    repository
        .call(&["compare", "wait"])
        .expect(2)
        .says(&["benchlab.toml:9:1", "unknown key `pairs`"]);
    repository.write("benchlab.toml", "[compare.wait]\ncomand = 'x'\n");
    repository
        .call(&["compare", "wait"])
        .expect(2)
        .says(&["benchlab.toml:2:1", "did you mean `command`?"]);
    repository.write(
        "benchlab.toml",
        "[compare.wait]\ncommand = 'x'\nfor = '3 minutes'\n",
    );
    repository
        .call(&["compare", "wait"])
        .expect(2)
        .says(&["benchlab.toml:3:7", "expected a time such as 500ms"]);
    repository.write(
        "benchlab.toml",
        "[compare.wait]\ncommand = 'true'\nfail-if = ['tiem>+5%']\n",
    );
    repository
        .call(&["compare", "wait"])
        .expect(2)
        .says(&["unknown name `tiem`; known names: time"]);
}

#[test]
fn a_path_after_a_name_need_not_be_utf_8() {
    let repository = Repository::new("[compare.one]\ncommand = 'true'\nblocks = 6\n");
    let path = OsStr::from_bytes(b"r\xe9sultat.json");
    let mut command = Command::new(BENCHLAB);
    command.args(["compare", "one", "--export"]).arg(path);
    command.args(["--runs", "runs"]);
    command.current_dir(repository.path()).stdin(Stdio::null());
    command.env("HOME", repository.0.path().join("home"));
    outcome(command.output().expect("benchlab starts")).expect(0);
    assert!(repository.path().join(path).is_file());
}

#[test]
fn a_name_stands_for_its_options_and_options_take_precedence() {
    let repository = Repository::new(
        "[compare.both]\ncommand = ['true', 'sleep 0.3']\nname = ['fast', 'slow']\nblocks = 6\n",
    );
    fs::create_dir(repository.path().join("inner")).unwrap();
    let out = repository.call_in(
        &repository.path().join("inner"),
        &["compare", "both", "--export", "a.json"],
    );
    out.expect(0);
    assert!(out.stdout.contains("slow"), "{}", out.stdout);
    let json = fs::read_to_string(repository.path().join("inner/a.json"))
        .expect("a path is relative to the current directory");
    assert!(json.contains("\"subject\": \"slow\""), "{json}");
    let inner = repository.path().join("inner");
    repository
        .call_in(&inner, &["compare", "both", "--export", "jsonl:lines"])
        .expect(0);
    assert!(
        inner.join("lines").is_file(),
        "a path with a format is relative to the current directory, too"
    );
    repository
        .call(&["compare", "both", "--fail-if", "time>+5%", "--blocks=7"])
        .expect(3)
        .says(&["gate failed: slow takes ", "fast's time", "limit 1.05"]);
    let history = repository.call(&["history", "both", "--format", "csv"]);
    history.expect(0).shows(&["both"]);
}

#[test]
fn a_slower_change_fails_and_an_empty_one_passes() {
    let repository = Repository::new(&waits());
    repository.change("exec sleep 0.002", "exec sleep 0.4");
    let out = repository.call(&[
        "ci",
        "--format",
        "markdown",
        "--export",
        "all.json",
        "--export",
        "junit:tests",
    ]);
    out.expect(3);
    for text in [
        "**failed: wait",
        "base",
        "head",
        "slower",
        "gate failed: head takes",
    ] {
        let text = text.trim_start_matches('*');
        assert!(out.stdout.contains(text), "{text} in {}", out.stdout);
    }
    let json: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(repository.path().join("all.json")).unwrap())
            .unwrap();
    let tests =
        fs::read_to_string(repository.path().join("tests")).expect("an export can name its format");
    assert!(
        tests.starts_with("<?xml") && tests.contains("gate failed: head takes"),
        "{tests}"
    );
    let gate = &json["gates"][0];
    assert_eq!(gate["decision"], "failed");
    assert_eq!(gate["condition"], "any>+5%");
    assert!(gate["value"]["low"].as_f64().unwrap() > 1.05, "{gate}");
    // The base is slow, so the change can only be faster.
    repository.git(&["checkout", "--quiet", "main"]);
    let repository = Repository::new(&waits());
    repository.change("exec sleep 0.4", "exec sleep 0.002");
    repository.call(&["ci"]).expect(0);
    let dry = repository.call(&["ci", "--dry-run"]);
    dry.expect(0).shows(&["benchlab compare '--margin=5%'"]);
    dry.shows(&["--control --gate"]);
    repository
        .call(&["ci", "weit"])
        .expect(2)
        .says(&["no entry `weit`", "did you mean `wait`?"]);
}

/// Entries of two sections can have the same name. The mark of one entry does not count for the
/// other.
#[test]
fn ci_measures_each_marked_entry_once() {
    let config = |load: &str| {
        format!(
            "[compare.web]\ncommand = [\"./a\", \"./b\"]\nci = true\n\n\
             [load.web]\nurl = [\"http://127.0.0.1:8080/\"]\n{load}"
        )
    };
    let commands = |load: &str, names: &[&str]| {
        let words = [&["ci", "--dry-run"], names].concat();
        let out = Repository::new(&config(load)).call(&words);
        let out = out.expect(0).stdout.clone();
        let verb = |line: &str| line.split(' ').nth(1).unwrap_or_default().to_owned();
        out.lines().map(verb).collect::<Vec<String>>()
    };
    assert_eq!(commands("", &[]), ["compare"]);
    assert_eq!(commands("ci = true\n", &[]), ["compare", "load"]);
    assert_eq!(commands("", &["web", "web"]), ["compare", "load"]);
}

#[test]
fn a_clone_without_the_base_gets_advice_to_fetch_it() {
    let repository = Repository::new(&waits());
    repository.change("exec true", "exec true");
    let clone = repository.0.path().join("clone");
    let url = format!("file://{}", repository.path().display());
    let mut git = Command::new("git");
    git.args(["clone", "--quiet", "--depth=1", "--branch=change", &url]);
    assert!(git.arg(&clone).output().unwrap().status.success());
    repository
        .call_in(&clone, &["ci"])
        .expect(2)
        .says(&["this clone is shallow", "fetch-depth: 0"]);
    repository
        .call(&["ci", "--base", "nothing"])
        .expect(2)
        .says(&["is not a revision of this clone"]);
}

/// A runner checks out a commit without creating a branch, here with enough history.
#[test]
fn the_base_of_a_shallow_clone_without_a_branch_is_the_remote_branch() {
    let repository = Repository::new(&waits());
    repository.change("exec true", "exec true");
    let clone = repository.0.path().join("clone");
    let url = format!("file://{}", repository.path().display());
    let git = |folder: &Path, words: &[&str]| {
        let output = Command::new("git").args(words).current_dir(folder).output();
        let output = output.unwrap();
        assert!(output.status.success(), "{output:?}");
    };
    repository.git(&["checkout", "--quiet", "main"]);
    repository.git(&["merge", "--quiet", "change"]);
    repository.write("note", "changed again");
    repository.git(&["commit", "--quiet", "--all", "--message=Change it again"]);
    let options = ["clone", "--quiet", "--depth=2", "--branch=main", &url];
    git(repository.0.path(), &[&options[..], &["clone"]].concat());
    git(&clone, &["checkout", "--quiet", "--detach"]);
    git(&clone, &["branch", "--quiet", "-D", "main"]);
    repository.call_in(&clone, &["ci", "--dry-run"]).expect(0);
}

/// On the base branch, the working tree is compared with HEAD, and HEAD with its parent.
#[test]
fn an_entry_with_builds_never_compares_head_with_itself() {
    let config = waits() + "\n[compare.built]\ncommand = \"./prog\"\nci = true\nbuilds = 5\n";
    let repository = Repository::new(&config);
    repository.change("exec true", "exec true");
    repository.git(&["checkout", "--quiet", "main"]);
    repository.git(&["merge", "--quiet", "change"]);
    repository.write("note", "not committed");
    let dry = repository.call(&["ci", "--dry-run"]);
    let commit = |name: &str| {
        let mut git = Command::new("git");
        let output = git.args(["rev-parse", name]).current_dir(repository.path());
        let output = output.output().unwrap().stdout;
        String::from_utf8(output).unwrap().trim().to_owned()
    };
    let (head, parent) = (commit("HEAD"), commit("HEAD~1"));
    let commands = dry.expect(0).stdout.replace('\'', "");
    for revisions in [
        format!("--rev={head} --rev=."),
        format!("--rev={parent} --rev=HEAD"),
    ] {
        assert!(commands.contains(&revisions), "{revisions}: {commands}");
    }
}

#[test]
fn a_file_is_proposed_once_and_is_valid() {
    let repository = Repository::new("");
    repository.write("go.mod", "module example.org/shop/parse\n\ngo 1.22\n");
    repository.write("main.go", "package main\n\nfunc main() {}\n");
    let out = repository.call(&["init"]);
    out.expect(0).shows(&["benchlab compare parse"]);
    let text = fs::read_to_string(repository.path().join("benchlab.toml")).unwrap();
    assert!(
        text.contains("go build -o") && !text.starts_with("#:"),
        "{text}"
    );
    repository
        .call(&["init"])
        .expect(2)
        .says(&["is not overwritten"]);
    repository.git(&["init", "--quiet", "--initial-branch=main"]);
    repository.git(&["add", "."]);
    repository.git(&["commit", "--quiet", "--message=Write it"]);
    repository.write("main.go", "package main\n\nfunc main() { println() }\n");
    let dry = repository.call(&["ci", "--dry-run"]);
    dry.expect(0).shows(&["--fail-if=time>+3%"]);
}

#[test]
fn decisions_are_kept_with_audits_and_logs() {
    let repository = Repository::new("");
    machine(&repository.path());
    let line =
        "127.0.0.1 - - [01/May/2026:10:00:00 +0000] \"GET /a HTTP/1.1\" 500 10 \"-\" \"-\"\n";
    repository.write("access.log", &line.repeat(50));
    let report = |name: &str| {
        let runs = fs::read_dir(repository.path().join(name))
            .unwrap()
            .flatten();
        let file = runs.map(|entry| entry.path());
        let file = file
            .into_iter()
            .find(|path| path.extension().is_some_and(|e| e == "lab"));
        repository.call(&[
            "report",
            file.unwrap().to_str().unwrap(),
            "--format",
            "json",
        ])
    };
    let audit = [
        "audit",
        "host",
        "--root",
        ".",
        "--runs",
        "audits",
        "--fail-if",
    ];
    repository
        .call(&[&audit[..], &["bad(net-somaxconn)>0"]].concat())
        .expect(3);
    let logs = ["logs", "access.log", "--runs", "logs", "--fail-if"];
    repository
        .call(&[&logs[..], &["errors>1%"]].concat())
        .expect(3);
    for name in ["audits", "logs"] {
        let report = report(name);
        report.expect(0);
        let json: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
        let gates = json["gates"].as_array().expect("gates");
        assert_eq!(gates.len(), 1, "{gates:?}");
        assert_eq!(gates[0]["decision"], "failed");
        let sentence = gates[0]["sentence"].as_str().unwrap();
        assert!(sentence.starts_with("gate failed: "), "{sentence}");
    }
}

/// Writes a copy of another machine's files, in which an audit finds a problem.
fn machine(folder: &Path) {
    let file = folder.join("proc/sys/net/core/somaxconn");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, "128\n").unwrap();
}

/// Options on the command line replace those of an entry, for every kind of audit.
#[test]
fn options_of_an_audit_can_be_given_again() {
    let repository = Repository::new("[audit.machine]\nkind = \"host\"\nrules = \"absent\"\n");
    machine(&repository.path());
    fs::create_dir(repository.path().join("own")).unwrap();
    let words = [
        "audit", "machine", "--no-run", "--rules", "own", "--root", ".",
    ];
    let audit = repository.call(&words);
    audit.expect(0);
    assert!(audit.stdout.contains("net-somaxconn"), "{}", audit.stdout);
}

#[test]
fn waivers_accept_findings_until_their_date() {
    let repository = Repository::new("");
    machine(&repository.path());
    let audit = |more: &[&str]| {
        let words = [
            "audit",
            "host",
            "--root",
            ".",
            "--no-run",
            "--fail-if",
            "bad(net-somaxconn)>0",
        ];
        repository.call(&[&words[..], more].concat())
    };
    audit(&[])
        .expect(3)
        .says(&["gate failed: 1 finding is bad (net-somaxconn"]);
    let waive = [
        "--waive",
        "net-somaxconn",
        "--reason",
        "a small server",
        "--until",
    ];
    let accepted = audit(&[&waive[..], &["2999-12-31", "--full"]].concat());
    accepted.expect(0);
    for text in ["1 accepted", "a small server", "2999-12-31", "gate passed"] {
        assert!(
            accepted.stdout.contains(text),
            "{text} in {}",
            accepted.stdout
        );
    }
    let expired = audit(&[&waive[..], &["2020-01-31", "--full"]].concat());
    expired.expect(3);
    assert!(
        expired.stdout.contains("ended on 2020-01-31"),
        "{}",
        expired.stdout
    );
    audit(&[&waive[..], &["soon"]].concat())
        .expect(2)
        .says(&["expected a date such as"]);
    audit(&["--waive", "net-x", "--reason", "r", "--until", "2999-12-31"])
        .expect(2)
        .says(&["no such rule"]);
    repository.write(
        "benchlab.toml",
        "[[waiver]]\nrule = 'net-somaxconn'\nreason = 'a small server'\nuntil = '2999-12-31'\n\
         [audit.copy]\nkind = 'host'\nfail-if = ['bad(net-somaxconn)>0']\n",
    );
    audit(&[]).expect(0);
    repository
        .call(&["audit", "copy", "--root", ".", "--no-run"])
        .expect(0);
    repository
        .call(&[
            "audit", "copy", "--root", ".", "--no-run", "--format", "sarif", "--output", "a.sarif",
        ])
        .expect(0);
    let log: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(repository.path().join("a.sarif")).unwrap())
            .unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    let waived = results
        .iter()
        .find(|result| result["ruleId"] == "net-somaxconn")
        .unwrap();
    let justification = waived["suppressions"][0]["justification"].as_str();
    assert_eq!(justification, Some("a small server (until 2999-12-31)"));
    repository
        .call(&["audit", "hots"])
        .expect(2)
        .says(&["unknown audit `hots`", "did you mean `host`?"]);
}
