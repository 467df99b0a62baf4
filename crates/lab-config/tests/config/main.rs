// SPDX-License-Identifier: Apache-2.0
//! Tests `benchlab.toml`: its keys, its schema, and the content that `benchlab init` proposes.

use lab_config::{detect, parse, schema, template};
use std::fs;
use std::path::Path;

const SCHEMA: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../docs/benchlab.schema.json"
);

/// Compares the schema with the file. `BENCHLAB_UPDATE_SCHEMA=1` rewrites the file.
#[test]
fn the_schema_in_the_documentation_is_that_of_the_types() {
    let now = serde_json::to_string_pretty(&schema()).unwrap() + "\n";
    if std::env::var_os("BENCHLAB_UPDATE_SCHEMA").is_some() {
        fs::write(SCHEMA, &now).unwrap();
    }
    assert_eq!(fs::read_to_string(SCHEMA).unwrap_or_default(), now);
}

/// The names and texts of files.
type Files = &'static [(&'static str, &'static str)];

#[test]
fn each_build_tool_gets_a_valid_file() {
    let projects: [(&str, Files, &str); 8] = [
        (
            "Cargo",
            &[
                ("Cargo.toml", "[package]\nname = 'parse'\n"),
                ("src/main.rs", "fn main() {}\n"),
            ],
            "target/release/parse",
        ),
        (
            "Cargo",
            &[("Cargo.toml", "[package]\nname = 'lib'\n")],
            "target/release/examples/EXAMPLE",
        ),
        (
            "Go",
            &[
                ("go.mod", "module example.org/a/tool\n"),
                ("main.go", "package main\n"),
            ],
            "./benchlab-program",
        ),
        (
            "Go",
            &[("go.mod", "module example.org/lib\n")],
            "-test.benchtime 100x",
        ),
        (
            "npm",
            &[(
                "package.json",
                "{\"name\": \"@a/b c\", \"scripts\": {\"bench\": \"node x\"}}",
            )],
            "npm run --silent bench",
        ),
        (
            "Maven",
            &[(
                "pom.xml",
                "<project><parent><artifactId>up</artifactId></parent><artifactId>shop</artifactId></project>",
            )],
            "target/shop.jar",
        ),
        (
            "pytest-benchmark",
            &[
                ("requirements-dev.txt", "pytest-benchmark\n"),
                ("tests/test_a.py", ""),
            ],
            "--benchmark-disable tests",
        ),
        (
            "Make",
            &[("Makefile", "all:\n\tcc a.c\nbench: all\n\t./a\n")],
            "make --silent bench",
        ),
    ];
    for (tool, files, command) in projects {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = detect(folder.path());
        assert_eq!(found.len(), 1, "{tool}: {found:?}");
        assert_eq!(found[0].tool, tool);
        let text = template(&found);
        let config =
            parse(Path::new("benchlab.toml"), &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let (name, entry) = config.compare.iter().next().expect("a comparison");
        assert_eq!(*name, found[0].name);
        assert!(
            entry.ci && entry.commands()[0].contains(command),
            "{entry:?}"
        );
    }
}

/// Checks that every example in comments is valid.
#[test]
fn the_commented_examples_are_valid() {
    let text = template(&[]);
    let is_example = |rest: &str| {
        let key = rest.split(['=', ' ']).next().unwrap_or_default();
        rest.starts_with('[')
            || rest.contains(" = ") && key.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    };
    let line = |line: &str| match line.strip_prefix("# ").filter(|rest| is_example(rest)) {
        Some(rest) => rest.to_owned(),
        None => line.to_owned(),
    };
    let text: Vec<String> = text.lines().map(line).collect();
    let text = text.join("\n");
    let config = parse(Path::new("benchlab.toml"), &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let sizes = [
        config.compare.len(),
        config.load.len(),
        config.logs.len(),
        config.audit.len(),
    ];
    assert_eq!((sizes, config.waiver.len()), ([2, 1, 1, 1], 1), "{text}");
}

#[test]
fn a_mistake_is_shown_with_its_position() {
    for (text, place, message) in [
        (
            "[compare.a]\ncomand = 'x'\n",
            ":2:1",
            "did you mean `command`?",
        ),
        ("[compare.a]\n", ":1:1", "compare.a has no `command`"),
        (
            "[compare.a]\ncommand = ['a', 'b']\nrev = ['main']\n",
            ":1:1",
            "are for one command",
        ),
        (
            "[compare.a]\ncommand = 'x'\nmargin = '2'\n",
            ":3:10",
            "expected a percentage",
        ),
        (
            "[compare.a]\ncommand = 'x'\nfail-if = ['time']\n",
            ":3:",
            "is not a valid condition",
        ),
        ("[load.a]\nrate = 5.0\n", ":1:1", "load.a has no `url`"),
        ("[logs.a]\nlog = []\n", ":1:1", "logs.a has no `log`"),
        (
            "[audit.host]\nkind = 'host'\n",
            ":1:1",
            "choose another name",
        ),
        (
            "[audit.a]\nkind = 'disk'\n",
            ":2:8",
            "unknown variant `disk`",
        ),
        (
            "[[waiver]]\nrule = 'x'\nuntil = '2027-01-01'\n",
            ":1:1",
            "missing field `reason`",
        ),
        (
            "[compare.a]\ncommand = 'x'\ninconclusive = 'wran'\n",
            ":3:16",
            "did you mean `warn`?",
        ),
        ("[compare\n", ":1:", ""),
    ] {
        let error = parse(Path::new("benchlab.toml"), text)
            .expect_err(text)
            .to_string();
        assert!(
            error.contains(place) && error.contains(message),
            "{text}: {error}"
        );
    }
}
