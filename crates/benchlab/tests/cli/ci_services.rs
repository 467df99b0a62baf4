// SPDX-License-Identifier: Apache-2.0
//! Formats and templates for CI services. The tests run the steps of `action.yml` and
//! `ci/gitlab.yml` as a CI runner does.

use crate::project::{BENCHLAB, Outcome, outcome};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .expect("the project")
}

/// Returns the path of a file that another tool wrote.
fn file(name: &str) -> String {
    let path = root().join("crates/lab-import/tests/files").join(name);
    path.to_str().expect("UTF-8").to_owned()
}

/// A directory with the files that a CI runner provides.
struct Runner(TempDir);

impl Runner {
    fn new() -> Runner {
        let runner = Runner(tempfile::tempdir().expect("a directory"));
        for name in ["home", "temp", "bin"] {
            fs::create_dir(runner.path(name)).unwrap();
        }
        runner
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// Returns a command with the environment variables of GitHub's runner, and with the
    /// directories that earlier steps added to PATH.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let added = self
            .read("path")
            .lines()
            .rev()
            .collect::<Vec<_>>()
            .join(":");
        let path = std::env::var("PATH").unwrap();
        command
            .env(
                "PATH",
                format!("{added}:{}:{path}", self.path("bin").display()),
            )
            .env("HOME", self.path("home"))
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_OUTPUT", self.path("output"))
            .env("GITHUB_PATH", self.path("path"))
            .env("GITHUB_STEP_SUMMARY", self.path("summary"))
            .env("RUNNER_TEMP", self.path("temp"))
            .env("RUNNER_OS", "Linux")
            .env("RUNNER_ARCH", "X64")
            .env_remove("BENCHLAB_PROJECT")
            .current_dir(self.0.path())
            .stdin(Stdio::null());
        command
    }

    /// Runs a step as `shell: bash` is defined: `bash --noprofile --norc -eo pipefail FILE`.
    fn step(&self, script: &str, variables: &[(&str, &str)]) -> Outcome {
        fs::write(self.path("step.sh"), script).unwrap();
        let mut command = self.command("bash");
        command.args(["--noprofile", "--norc", "-eo", "pipefail", "step.sh"]);
        outcome(command.envs(variables.iter().copied()).output().unwrap())
    }

    /// Creates a `cargo` that installs the tested benchlab and records its arguments.
    fn provide_cargo(&self) {
        let script = format!(
            "#!/bin/sh\necho \"$@\" >> '{}'\nmkdir -p \"$4/bin\"\nln -s '{BENCHLAB}' \"$4/bin/benchlab\"\n",
            self.path("cargo-calls").display()
        );
        let cargo = self.path("bin/cargo");
        fs::write(&cargo, script).unwrap();
        fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Returns the scripts of the steps in `action.yml`, each with the step's name.
fn scripts() -> Vec<(String, String)> {
    let text = fs::read_to_string(root().join("action.yml")).unwrap();
    let mut steps = Vec::new();
    let (mut name, mut script): (String, Option<String>) = Default::default();
    for line in text.lines().chain(["end:"]) {
        let body = line.strip_prefix("        ").filter(|_| script.is_some());
        match (body, &mut script) {
            (Some(body), Some(script)) => *script += &format!("{body}\n"),
            _ => {
                steps.extend(script.take().map(|script| (name.clone(), script)));
                if let Some(title) = line.strip_prefix("    - name: ") {
                    name = title.to_owned();
                } else if line == "      run: |" {
                    script = Some(String::new());
                }
            }
        }
    }
    steps
}

/// Returns the value of a step's output, which may have multiple lines.
fn output(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(value) = line.strip_prefix(&format!("{name}=")) {
            return Some(value.to_owned());
        }
        if let Some(delimiter) = line.strip_prefix(&format!("{name}<<")) {
            let value: Vec<&str> = lines.take_while(|line| *line != delimiter).collect();
            return Some(value.join("\n"));
        }
    }
    None
}

#[test]
fn the_action_installs_runs_and_keeps_the_comment() {
    let runner = Runner::new();
    runner.provide_cargo();
    let steps = scripts();
    let names: Vec<&str> = steps.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Compute the key of the cache",
            "Install benchlab",
            "Run benchlab"
        ]
    );
    let source = root().to_str().unwrap().to_owned();
    let source = [("BENCHLAB_SOURCE", source.as_str())];
    runner.step(&steps[0].1, &source).expect(0);
    let key = output(&runner.read("output"), "key").expect("a key");
    assert!(
        key.starts_with("benchlab-Linux-X64-") && key.len() == 35,
        "{key}"
    );
    for _ in 0..2 {
        runner.step(&steps[1].1, &source).expect(0);
    }
    let calls = runner.read("cargo-calls");
    assert_eq!(
        calls.lines().count(),
        1,
        "a cached benchlab must not be built again: {calls}"
    );
    assert!(calls.starts_with("install --locked --root "), "{calls}");
    let arguments = format!(
        "diff {}\n{}\n",
        file("hyperfine-old.json"),
        file("hyperfine-new.json")
    );
    let run = runner.step(&steps[2].1, &[("BENCHLAB_ARGUMENTS", &arguments)]);
    run.expect(0).shows(&[
        "::group::benchlab: report",
        "::stop-commands::",
        "::endgroup::",
    ]);
    let outputs = runner.read("output");
    assert_eq!(output(&outputs, "exit-code").as_deref(), Some("0"));
    let comment = output(&outputs, "comment").expect("a comment");
    assert!(comment.starts_with("<!-- benchlab -->\n# "), "{comment}");
    assert!(comment.contains("second / first"), "{comment}");
    assert!(runner.read("summary").contains("second / first"));
}

#[test]
fn the_key_of_the_cache_depends_on_all_sources() {
    let runner = Runner::new();
    let source = runner.path("source");
    let key = || {
        fs::write(runner.path("output"), "").unwrap();
        let variables = [("BENCHLAB_SOURCE", source.to_str().unwrap())];
        runner.step(&scripts()[0].1, &variables).expect(0);
        output(&runner.read("output"), "key").expect("a key")
    };
    let files = [
        "Cargo.toml",
        "Cargo.lock",
        "crates/a/src/main.rs",
        "crates/a/src/starter.c",
        "crates/a/data/a list.csv",
        "experiments/toolchains.toml",
        "kits/c/kit.h",
    ];
    for name in files {
        fs::create_dir_all(source.join(name).parent().unwrap()).unwrap();
        fs::write(source.join(name), "1").unwrap();
    }
    let mut keys = vec![key()];
    assert_eq!(key(), keys[0]);
    for name in files {
        fs::write(source.join(name), "2").unwrap();
        keys.push(key());
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), files.len() + 1);
}

/// The token of a workflow for a pull request from a fork may not write comments.
#[test]
fn the_example_does_not_comment_on_pull_requests_from_forks() {
    let text = fs::read_to_string(root().join("ci/examples/github.yml")).unwrap();
    let (step, _) = text
        .split_once("        uses: actions/github-script@v7")
        .unwrap();
    let condition = step.lines().last().unwrap();
    let is_own = "github.event.pull_request.head.repo.full_name == github.repository";
    assert!(condition.contains(is_own), "{condition}");
}

#[test]
fn the_action_fails_if_benchlab_fails_and_the_comment_says_so() {
    let runner = Runner::new();
    symlink(BENCHLAB, runner.path("bin/benchlab")).unwrap();
    let script = &scripts()[2].1;
    let run = runner.step(
        script,
        &[("BENCHLAB_ARGUMENTS", "diff missing.json missing.json")],
    );
    run.expect(2).says(&["missing.json"]);
    let outputs = runner.read("output");
    assert_eq!(output(&outputs, "exit-code").as_deref(), Some("2"));
    assert!(
        output(&outputs, "comment")
            .unwrap()
            .contains("wrote no report")
    );
}

#[test]
fn the_gitlab_job_writes_its_artifacts() {
    let runner = Runner::new();
    symlink(BENCHLAB, runner.path("bin/benchlab")).unwrap();
    let text = fs::read_to_string(root().join("ci/gitlab.yml")).unwrap();
    let (_, script) = text.split_once("  script:\n").unwrap();
    let lines = script.lines().map_while(|line| line.strip_prefix("    - "));
    let script: Vec<&str> = lines.collect();
    assert_eq!(script.len(), 2);
    let arguments = format!(
        "diff {}\n{}\n",
        file("hyperfine-old.json"),
        file("hyperfine-new.json")
    );
    // GitLab's runner joins the lines into one script. Without Bash in the image, sh runs it.
    let variables = [
        ("BENCHLAB_ARGUMENTS", arguments.as_str()),
        ("GITLAB_CI", "true"),
        ("GITHUB_ACTIONS", ""),
    ];
    fs::write(runner.path("step.sh"), script.join("\n")).unwrap();
    let mut sh = runner.command("sh");
    sh.args(["-e", "step.sh"]).envs(variables);
    outcome(sh.output().unwrap()).expect(0);
    let (_, artifacts) = text.split_once("  artifacts:\n").unwrap();
    let named = artifacts.lines().filter_map(|line| {
        let line = line.trim();
        line.strip_prefix("- ")
            .or(line.split_once(": ").map(|(_, value)| value))
    });
    let files: Vec<&str> = named.filter(|name| name.contains('.')).collect();
    assert_eq!(files.len(), 5, "{files:?}");
    for name in files {
        assert!(!runner.read(name).is_empty(), "{name}");
    }
    let quality: Value = serde_json::from_str(&runner.read("gl-code-quality-report.json")).unwrap();
    assert!(quality.is_array());
    assert!(runner.read("benchlab.xml").starts_with("<?xml"));
    assert!(runner.read("metrics.txt").ends_with("# EOF\n"));
}

#[test]
fn names_in_the_log_of_a_runner_are_not_commands() {
    let runner = Runner::new();
    let name = "::error file=x::%0Aboo\\n::set-output name=a::b ##[error]x <script>`|";
    let content = format!(r#"{{"results":[{{"command":"{name}","times":[1,2,3,4,5,6,7]}}]}}"#);
    fs::write(runner.path("a.json"), content).unwrap();
    let mut command = runner.command(BENCHLAB);
    let run = outcome(
        command
            .args(["report", "a.json", "--format", "github"])
            .output()
            .unwrap(),
    );
    run.expect(0);
    // A runner obeys commands at the start of a line, except between `::stop-commands::` and the
    // token.
    let mut stopped: Option<&str> = None;
    for line in run.stdout.lines() {
        match stopped {
            Some(token) if line == format!("::{token}::") => stopped = None,
            Some(_) => {}
            None => {
                let line = line.trim_start();
                stopped = line.strip_prefix("::stop-commands::");
                let is_own = [
                    "::group::benchlab",
                    "::endgroup::",
                    "::stop-commands::",
                    "::warning title=",
                ];
                assert!(is_own.iter().any(|own| line.starts_with(own)), "{line}");
                assert!(!line.contains("##["), "{line}");
            }
        }
    }
    assert_eq!(stopped, None);
    assert!(!runner.read("summary").contains("<script>"));
}

#[test]
fn an_export_can_name_its_format() {
    let runner = Runner::new();
    let (old, new) = (file("hyperfine-old.json"), file("hyperfine-new.json"));
    let diff = |exports: &[&str]| {
        let mut command = runner.command(BENCHLAB);
        command.args(["diff", &old, &new]);
        for export in exports {
            command.args(["--export", export]);
        }
        outcome(command.output().unwrap())
    };
    diff(&[
        "junit:tests",
        "bencher:b.json",
        "c.json",
        "d.bench",
        "benchstat:e",
        "./sarif:f.md",
    ])
    .expect(0);
    assert!(runner.read("tests").starts_with("<?xml"));
    let json = |name: &str| serde_json::from_str::<Value>(&runner.read(name)).unwrap();
    assert!(json("b.json").get("rows").is_none() && json("c.json").get("rows").is_some());
    assert_eq!(runner.read("d.bench"), runner.read("e"));
    assert!(runner.read("sarif:f.md").starts_with("# "));
    diff(&["nothing:x"])
        .expect(2)
        .says(&["--export nothing:x", "FORMAT:PATH"]);
    diff(&["junit:"])
        .expect(2)
        .says(&["expected a path after `junit:`"]);
    diff(&["perfetto:x"])
        .expect(1)
        .says(&["this report has no timeline"]);
}

#[test]
fn colors_can_be_forced_and_disabled() {
    let runner = Runner::new();
    let old = file("hyperfine-old.json");
    let colored = |variables: &[(&str, &str)]| {
        let mut command = runner.command(BENCHLAB);
        command
            .args(["report", &old])
            .envs(variables.iter().copied());
        outcome(command.output().unwrap())
            .expect(0)
            .stdout
            .contains('\u{1b}')
    };
    assert!(!colored(&[]));
    assert!(colored(&[("FORCE_COLOR", "1")]));
    assert!(colored(&[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&[("CLICOLOR_FORCE", "0")]));
    assert!(!colored(&[("FORCE_COLOR", "")]));
    assert!(!colored(&[("NO_COLOR", "1"), ("FORCE_COLOR", "1")]));
}

#[test]
fn progress_is_a_group_in_the_log() {
    let runner = Runner::new();
    let mut command = runner.command(BENCHLAB);
    command.args([
        "compare", "true", "true", "--blocks", "2", "--pairs", "1", "--runs", ".",
    ]);
    command.args([
        "--export",
        "perfetto:trace.json",
        "--export",
        "benchstat:samples",
    ]);
    let run = outcome(command.output().unwrap());
    let lines: Vec<&str> = run.stderr.lines().collect();
    let begin = lines
        .iter()
        .position(|line| *line == "::group::benchlab: measuring");
    let end = lines.iter().position(|line| *line == "::endgroup::");
    assert!(begin.is_some() && begin < end, "{run:#?}");
    let trace: Value = serde_json::from_str(&runner.read("trace.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let names: Vec<&str> = events
        .iter()
        .filter_map(|event| event["name"].as_str())
        .collect();
    assert!(
        names.contains(&"block 0") && names.contains(&"block 1"),
        "{names:?}"
    );
    let samples = runner.read("samples");
    let times = samples
        .lines()
        .filter(|line| line.ends_with(" ns/op") && !line.contains("-ns/op"));
    assert!(
        times.count() >= 4,
        "expected two blocks of two commands: {samples}"
    );
}
