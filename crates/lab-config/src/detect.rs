// SPDX-License-Identifier: Apache-2.0
//! Recognizes the build tool of a project from its files, to propose a comparison.

use std::path::Path;

/// A detected build tool, with a comparison to start with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detected {
    /// The tool, such as `Cargo`.
    pub tool: &'static str,
    /// The name of the comparison.
    pub name: String,
    /// The command that builds the program. May be empty.
    pub setup: String,
    /// The command that is measured.
    pub command: String,
    /// A hint about the command, in one line.
    pub note: &'static str,
}

/// The maximum size of a file to read, in bytes.
const MAX_SIZE: u64 = 1 << 20;

/// Looks for the files of Cargo, Go, npm, Maven, pytest-benchmark and Make in a directory.
///
/// The result is in this order, from the most to the least specific tool.
pub fn detect(folder: &Path) -> Vec<Detected> {
    let read = |name: &str| read(&folder.join(name));
    let all = [
        read("Cargo.toml").and_then(|text| cargo(&text, folder)),
        read("go.mod").map(|text| go(&text, folder)),
        read("package.json").and_then(|text| npm(&text)),
        read("pom.xml").map(|text| maven(&text)),
        python(folder),
        ["GNUmakefile", "makefile", "Makefile"]
            .into_iter()
            .find_map(read)
            .and_then(|text| make(&text)),
    ];
    all.into_iter().flatten().collect()
}

/// Reads a text file, unless it is too large.
fn read(path: &Path) -> Option<String> {
    let size = std::fs::metadata(path)
        .ok()
        .filter(|file| file.is_file())?
        .len();
    (size <= MAX_SIZE).then(|| std::fs::read_to_string(path).ok())?
}

/// Converts a name to a bare key of TOML.
fn key(name: &str) -> String {
    let word = |c: char| {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            c
        } else {
            '-'
        }
    };
    let key: String = name.chars().map(word).collect();
    match key.trim_matches('-') {
        "" => "main".into(),
        key => key.into(),
    }
}

fn cargo(text: &str, folder: &Path) -> Option<Detected> {
    let manifest: toml::Table = text.parse().ok()?;
    let binary = manifest
        .get("bin")
        .and_then(|bins| bins.get(0)?.get("name")?.as_str());
    let package = manifest
        .get("package")
        .and_then(|p| p.get("name")?.as_str());
    let has_main = folder.join("src/main.rs").is_file();
    let program = binary.or(package.filter(|_| has_main));
    Some(match program {
        Some(program) => Detected {
            tool: "Cargo",
            name: key(program),
            setup: "cargo build --release --locked".into(),
            command: format!("target/release/{}", shell_word(program)),
            note: "Add the arguments of a typical run, which should take 10 ms or more.",
        },
        None => Detected {
            tool: "Cargo",
            name: key(package.unwrap_or("main")),
            setup: "cargo build --release --locked --examples".into(),
            command: "target/release/examples/EXAMPLE".into(),
            note: "Replace EXAMPLE with an example that does typical work and exits.",
        },
    })
}

fn go(text: &str, folder: &Path) -> Detected {
    let module = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("module "));
    let name = module
        .and_then(|module| module.trim().rsplit('/').next())
        .unwrap_or("main");
    let has_main = folder.join("main.go").is_file();
    if has_main {
        Detected {
            tool: "Go",
            name: key(name),
            setup: "go build -o benchlab-program .".into(),
            command: "./benchlab-program".into(),
            note: "Add the arguments of a typical run, which should take 10 ms or more.",
        }
    } else {
        Detected {
            tool: "Go",
            name: key(name),
            setup: "go test -c -o benchlab.test .".into(),
            command: "./benchlab.test -test.run '^$' -test.bench . -test.benchtime 100x".into(),
            note: "100x sets a fixed number of iterations, so that the process takes longer if the code is slower.",
        }
    }
}

fn npm(text: &str) -> Option<Detected> {
    let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
    let name = key(manifest["name"].as_str().unwrap_or("main"));
    let script = |name: &str| manifest["scripts"][name].is_string();
    let found = ["bench", "benchmark", "perf"]
        .into_iter()
        .find(|name| script(name));
    let main = manifest["main"].as_str().unwrap_or("index.js");
    let command = match found {
        Some(found) => format!("npm run --silent {found}"),
        None => format!("node {}", shell_word(main)),
    };
    Some(Detected {
        tool: "npm",
        name,
        setup: "npm ci".into(),
        command,
        note: "The amount of work should be fixed: a benchmark that runs for a fixed time always takes that time.",
    })
}

fn maven(text: &str) -> Detected {
    let own = text.split_once("</parent>").map_or(text, |(_, rest)| rest);
    let artifact = own
        .split_once("<artifactId>")
        .and_then(|(_, rest)| Some(rest.split_once("</artifactId>")?.0.trim()));
    let artifact = artifact.unwrap_or("main");
    Detected {
        tool: "Maven",
        name: key(artifact),
        setup: "mvn --batch-mode --quiet -DskipTests package".into(),
        command: format!("java -jar target/{}.jar", key(artifact)),
        note: "Correct the name of the jar, and add the arguments of a typical run.",
    }
}

fn python(folder: &Path) -> Option<Detected> {
    let files = [
        "pyproject.toml",
        "requirements-dev.txt",
        "requirements.txt",
        "setup.cfg",
        "tox.ini",
    ];
    let uses = |name: &&str| {
        read(&folder.join(name)).is_some_and(|text| text.contains("pytest-benchmark"))
    };
    files.iter().find(|name| uses(name))?;
    let tests = ["benchmarks", "bench", "tests"];
    let tests = tests
        .into_iter()
        .find(|name| folder.join(name).is_dir())
        .unwrap_or(".");
    Some(Detected {
        tool: "pytest-benchmark",
        name: "benchmarks".into(),
        setup: String::new(),
        command: format!("python3 -m pytest -q --benchmark-disable {tests}"),
        note: "--benchmark-disable runs each benchmark once; otherwise all runs would take about the same time.",
    })
}

fn make(text: &str) -> Option<Detected> {
    let has = |target: &str| {
        let mut lines = text.lines();
        lines.any(|line| {
            line.split_once(':')
                .is_some_and(|(name, _)| name.trim() == target)
        })
    };
    let bench = ["bench", "benchmark", "perf"]
        .into_iter()
        .find(|name| has(name))?;
    Some(Detected {
        tool: "Make",
        name: key(bench),
        setup: if has("all") {
            "make all".into()
        } else {
            String::new()
        },
        command: format!("make --silent {bench}"),
        note: "This includes the time of make: if you can, run the program itself.",
    })
}

/// Quotes a word for a shell, if necessary.
fn shell_word(word: &str) -> String {
    shlex::try_quote(word).map_or_else(|_| "PROGRAM".into(), |word| word.into_owned())
}
