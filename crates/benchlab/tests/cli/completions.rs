// SPDX-License-Identifier: Apache-2.0
//! Shell completion of names that benchlab knows.

use crate::project::{BENCHLAB, Project};
use std::fs;
use std::path::Path;
use std::process::Command;

const CONFIG: &str = r#"
[compare.parse]
command = ["true", "true"]
[compare."$(evil)"]
command = ["true", "true"]
[load.checkout]
url = ["http://127.0.0.1/"]
[logs.web]
log = "access.log"
[audit.machine]
kind = "host"
"#;

/// Returns the candidates that a shell's script receives for the last word of `words`, without
/// options.
fn complete_in(shell: &str, folder: &Path, words: &[&str]) -> Vec<String> {
    let mut command = Command::new(BENCHLAB);
    command.current_dir(folder).env_remove("BENCHLAB_PROJECT");
    command
        .env("BENCHLAB_COMPLETE", shell)
        .env("_CLAP_IFS", "\n");
    command.env("_CLAP_COMPLETE_INDEX", words.len().to_string());
    let output = command.args(["--", "benchlab"]).args(words).output();
    let output = output.expect("benchlab starts");
    assert!(output.status.success(), "{output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let candidates = text.lines().filter(|line| !line.starts_with('-'));
    candidates.map(str::to_owned).collect()
}

/// A project with an entry of each kind and a run.
fn project() -> Project {
    let project = Project::noop(&[]);
    fs::write(project.join("benchlab.toml"), CONFIG).unwrap();
    project.run_blocks("1", "1", &[]).expect(0);
    project
}

#[test]
fn names_are_completed() {
    let project = project();
    let names = |words: &[&str]| complete_in("bash", project.path(), words);
    assert_eq!(names(&["run", ""]), ["t"]);
    let subjects = names(&["run", "t", "--subjects", ""]);
    assert!(
        ["honest", "second"]
            .iter()
            .all(|name| subjects.iter().any(|s| s == name)),
        "{subjects:?}"
    );
    assert_eq!(
        names(&["run", "t", "--subjects", "honest,sec"]),
        ["honest,second"]
    );
    assert_eq!(names(&["run", "t", "--cases", "no"]), ["noop"]);
    assert_eq!(names(&["run", "t", "--baseline", "sec"]), ["second"]);
    assert_eq!(names(&["compare", "par"]), ["parse"]);
    assert_eq!(names(&["load", ""]), ["checkout"]);
    assert_eq!(names(&["logs", "we"]), ["web"]);
    assert!(names(&["audit", "ma"]).contains(&"machine".to_owned()));
    assert_eq!(
        names(&["ci", ""]).len(),
        4,
        "names that a shell would execute must be omitted"
    );
    assert_eq!(names(&["history", ""]), ["t"]);
    let file = project.file();
    let file = file.strip_prefix(project.path()).unwrap().to_str().unwrap();
    for verb in ["report", "resume", "diff", "explain"] {
        let runs = names(&[verb, "runs/"]);
        assert!(runs.iter().any(|run| run == file), "{verb}: {runs:?}");
    }
}

#[test]
fn each_shell_gets_the_names() {
    let project = project();
    for shell in ["bash", "zsh", "fish"] {
        let names = complete_in(shell, project.path(), &["run", "t", "--subjects", "hon"]);
        let is_named = names.iter().any(|name| name.starts_with("honest"));
        assert!(is_named, "{shell}: {names:?}");
        let output = Command::new(BENCHLAB).args(["completions", shell]).output();
        let script = String::from_utf8(output.unwrap().stdout).unwrap();
        assert!(script.contains("BENCHLAB_COMPLETE"), "{script}");
    }
}

#[test]
fn bash_completes_with_the_script() {
    let project = project();
    let bin = project.join("bin");
    fs::create_dir(&bin).unwrap();
    std::os::unix::fs::symlink(BENCHLAB, bin.join("benchlab")).unwrap();
    let script = "source <(benchlab completions bash)\n\
                  COMP_WORDS=(benchlab compare par) COMP_CWORD=2 COMP_TYPE=9\n\
                  _clap_complete_benchlab benchlab par compare\nprintf '%s\\n' \"${COMPREPLY[@]}\"\n";
    let mut bash = Command::new("bash");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    bash.args(["--norc", "--noprofile", "-c", script])
        .env("PATH", path);
    let output = bash.current_dir(project.path()).output().expect("bash");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(text.trim(), "parse", "{output:?}");
}

#[test]
fn an_invalid_file_completes_to_nothing() {
    let project = Project::noop(&[]);
    fs::write(project.join("benchlab.toml"), "[compare").unwrap();
    assert!(complete_in("bash", project.path(), &["ci", ""]).is_empty());
    assert_eq!(complete_in("bash", project.path(), &["run", ""]), ["t"]);
}
