// SPDX-License-Identifier: Apache-2.0
//! An invalid experiment file or command causes exit code 2 and a helpful message, and nothing is
//! measured.
//!
//! The message contains the position of the mistake and the nearest valid word.

use crate::project::{BENCHLAB, INSERT, Outcome, Project, SELECT, SHORT_RUN, outcome, subject};
use std::process::Command;

/// Returns a valid experiment file. Each test changes one thing in it.
fn valid_experiment() -> String {
    let head = "[experiment]\ntitle = \"T\"\nquestion = \"Q\"\nbaseline = \"honest\"\ntargets = [\"sqlite\"]\n\n\
                [target.sqlite]\nrows = 10\n\
                table = \"CREATE TABLE test_simple (id integer primary key autoincrement, value integer)\"\n";
    let subjects = ["honest", "second"].map(|name| subject(name, &["sql.py", "honest"]));
    [
        head,
        INSERT,
        SELECT,
        &subjects.concat(),
        "\n[selection]\npair = [\"honest\", \"second\"]\n",
    ]
    .concat()
}

/// Replaces `original` in the valid file and asserts the error message.
///
/// The message must contain the line and column of `marked`, show the line, and underline `marked`.
#[track_caller]
fn assert_error_at(
    original: &str,
    replacement: &str,
    marked: &str,
    message: &str,
    hint: Option<&str>,
) {
    let text = valid_experiment();
    let from = text
        .find(original)
        .expect("the text occurs in the valid file");
    let text = text.replacen(original, replacement, 1);
    let offset = from
        + text[from..]
            .find(marked)
            .expect("the marked text occurs in the file");
    let line_start = text[..offset].rfind('\n').map_or(0, |i| i + 1);
    let line = text[line_start..].lines().next().expect("a line");
    let number = text[..offset].matches('\n').count() + 1;
    let column = text[line_start..offset].chars().count() + 1;
    let project = Project::with_text(&text);
    let outcome = project.run(&[]);
    let gap = " ".repeat(number.to_string().len());
    let marks = " ".repeat(column - 1) + &"^".repeat(marked.chars().count());
    let mut expected = format!(
        "benchlab: experiments/t/experiment.toml:{number}:{column}: {message}\n  {number} | {line}\n  {gap} | {marks}\n"
    );
    if let Some(hint) = hint {
        expected += &format!("  {hint}\n");
    }
    assert_eq!(outcome.stderr, expected);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""));
    assert!(project.files().is_empty(), "a run file was created");
}

#[test]
fn the_valid_file_is_valid() {
    let project = Project::with_text(&valid_experiment());
    project.run(&["--cases", "select"]).expect(0);
}

#[test]
fn unknown_keys_are_rejected() {
    assert_error_at(
        "unit = \"row\"",
        "units = \"row\"",
        "units",
        "unknown key `units`",
        Some("did you mean `unit`?"),
    );
    assert_error_at(
        "rows = 10",
        "row = 10",
        "row",
        "unknown key `row`",
        Some("did you mean `rows`?"),
    );
    assert_error_at(
        "question",
        "qestion",
        "qestion",
        "unknown key `qestion`",
        Some("did you mean `question`?"),
    );
    assert_error_at(
        "driver",
        "drivr",
        "drivr",
        "unknown key `drivr`",
        Some("did you mean `driver`?"),
    );
    assert_error_at(
        "check = \"writes\"",
        "check = \"write\"",
        "\"write\"",
        "unknown variant `write`, expected one of `reads`, `opens`, `writes`, `effects`",
        Some("did you mean `writes`?"),
    );
}

#[test]
fn wrong_types_are_rejected() {
    assert_error_at(
        "rows = 10",
        "rows = \"ten\"",
        "\"ten\"",
        "invalid type: string \"ten\", expected u64",
        None,
    );
    assert_error_at(
        "rows = 10",
        "rows = -10",
        "-10",
        "invalid value: integer `-10`, expected u64",
        None,
    );
    assert_error_at(
        "title = \"T\"",
        "title = 7",
        "7",
        "invalid type: integer `7`, expected a string",
        None,
    );
    assert_error_at(
        "[20]\nfactor",
        "20\nfactor",
        "20",
        "invalid type: integer `20`, expected a sequence",
        None,
    );
}

#[test]
fn impossible_sweeps_and_factors_are_rejected() {
    let numbers = "`limit` needs whole numbers of 0 or more, in ascending order without duplicates";
    for bad in ["[]", "[-1]", "[10, 1]", "[1, 1]"] {
        assert_error_at(
            "limit = [20]",
            &format!("limit = {bad}"),
            bad,
            numbers,
            None,
        );
    }
    assert_error_at(
        "thin = [20]",
        "thin = [21]",
        "[21]",
        "21 is not a value of the sweep",
        None,
    );
    assert_error_at(
        "sweep.limit = [20]",
        "sweep.limit = [20]\nsweep.more = [1]",
        "[1]",
        "a case can have only one sweep; make `more` a factor",
        None,
    );
    assert_error_at(
        "sweep.limit = [20]",
        "sweep.Limit = [20]",
        "[20]",
        "invalid parameter name `Limit`: expected lowercase letters, digits and _, with a letter first",
        None,
    );
    assert_error_at(
        "sweep.limit = [20]",
        "sweep.seed = [20]",
        "[20]",
        "`seed` is reserved: benchlab itself sends it to subjects",
        None,
    );
    assert_error_at(
        "[\"prepared\", \"text\"]\nthin",
        "[\"text\", \"text\"]\nthin",
        "[\"text\", \"text\"]",
        "factor `statement` needs two or more different values",
        None,
    );
    assert_error_at(
        "[20]\nfactor.statement",
        "[20]\nfactor.limit",
        "[\"prepared\", \"text\"]",
        "`limit` is already the name of the sweep",
        None,
    );
    assert_error_at(
        "{ rows = 1, transactions = 1 }",
        "{ rows = \"limit\", transactions = 1 }",
        "{ rows = \"limit\", transactions = 1 }",
        "`limit` is not the sweep of this case",
        None,
    );
}

#[test]
fn duplicate_and_unknown_names_are_rejected() {
    assert_error_at(
        "name = \"second\"",
        "name = \"honest\"",
        "\"honest\"",
        "two subjects are named `honest`",
        None,
    );
    assert_error_at(
        "name = \"select\"",
        "name = \"insert\"",
        "\"insert\"",
        "two cases are named `insert`",
        None,
    );
    assert_error_at(
        "name = \"second\"",
        "name = \"The second\"",
        "\"The second\"",
        "invalid name `The second`: expected lowercase letters, digits, - and _, with a letter first",
        None,
    );
    assert_error_at(
        "baseline = \"honest\"",
        "baseline = \"hones\"",
        "\"hones\"",
        "there is no subject `hones`",
        Some("did you mean `honest`?"),
    );
    assert_error_at(
        "[\"honest\", \"second\"]",
        "[\"honest\", \"secnd\"]",
        "\"secnd\"",
        "there is no subject `secnd`",
        Some("did you mean `second`?"),
    );
    assert_error_at(
        "pair = [",
        "second = [",
        "second",
        "a subject and a selection are both named `second`",
        None,
    );
    assert_error_at(
        "targets = [\"sqlite\"]",
        "targets = [\"sqlit\"]",
        "\"sqlit\"",
        "unknown variant `sqlit`, expected one of `sqlite`, `postgresql`, `mariadb`, `folder`",
        Some("did you mean `sqlite`?"),
    );
    assert_error_at(
        "driver",
        "needs = [\"gccc\"]\ndriver",
        "\"gccc\"",
        "experiments/toolchains.toml has no `gccc`",
        Some("did you mean `gcc`?"),
    );
    assert_error_at(
        "driver",
        "sources = [\"no/such/folder\"]\ndriver",
        "\"no/such/folder\"",
        "there is no `no/such/folder` in the project",
        None,
    );
}

#[test]
fn missing_programs_are_rejected() {
    let text = valid_experiment();
    let program = text
        .lines()
        .find(|l| l.starts_with("program"))
        .expect("a program");
    assert_error_at(
        program,
        "program = []",
        "[]",
        "`program` needs the name of a program",
        None,
    );
    assert_error_at(
        program,
        "program = [\"\"]",
        "[\"\"]",
        "`program` needs the name of a program",
        None,
    );
}

#[test]
fn text_that_is_not_toml_is_rejected() {
    let project =
        Project::with_text(&valid_experiment().replacen("title = \"T\"", "title = \"T", 1));
    let outcome = project.run(&[]);
    outcome.expect(2).says(&[
        "benchlab: experiments/t/experiment.toml:2:",
        "\n  2 | title = \"T\n",
    ]);
    Project::with_text("")
        .run(&[])
        .expect(2)
        .says(&["experiments/t/experiment.toml:1:1: missing field `experiment`"]);
    let head = "[experiment]\ntitle = \"\"\nquestion = \"\"\nbaseline = \"x\"\n";
    Project::with_text(head).run(&[]).expect(2)
        .says(&["experiments/t/experiment.toml: an experiment needs at least one [[case]] and one [[subject]]"]);
    let project = Project::noop(&[]);
    std::fs::write(
        project.join("experiments/t/experiment.toml"),
        b"title = \"\xff\"",
    )
    .unwrap();
    project
        .run(&[])
        .expect(2)
        .says(&["experiments/t/experiment.toml: "]);
    std::fs::write(
        project.join("experiments/toolchains.toml"),
        "[gcc]\ntitel = \"C\"\n",
    )
    .unwrap();
    std::fs::write(
        project.join("experiments/t/experiment.toml"),
        valid_experiment(),
    )
    .unwrap();
    project.run(&[]).expect(2).says(&[
        "experiments/toolchains.toml:2:1: unknown key `titel`\n  2 | titel = \"C\"\n",
        "did you mean `title`?",
    ]);
}

#[test]
fn arguments_that_match_nothing_are_rejected() {
    let project = Project::with_text(&valid_experiment());
    for (args, message) in [
        (
            &["--subjects", "honst"][..],
            "`t` has no subject `honst`; did you mean `honest`?",
        ),
        (
            &["--subjects", "pai"],
            "`t` has no subject `pai`; did you mean `pair`?",
        ),
        (
            &["--subjects", "zzz"],
            "`t` has no subject `zzz`; available: honest, second, pair",
        ),
        (
            &["--cases", "selct"],
            "`t` has no case `selct`; did you mean `select`?",
        ),
        (
            &["--baseline", "secnd"],
            "the baseline `secnd` is not among the subjects; did you mean `second`?",
        ),
        (
            &["--baseline", "second", "--subjects", "honest"],
            "the baseline `second` is not among the subjects; available: honest",
        ),
        (
            &["--set", "limt=1"],
            "--set limt=…: no case of `t` has `limt`; did you mean `limit`?",
        ),
        (
            &["--set", "limit=1", "--cases", "insert"],
            "--set limit=…: none of the selected cases has `limit`",
        ),
        (
            &["--set", "limit=ten"],
            "--set limit=ten: expected a whole number from 1 to 16777216",
        ),
        (
            &["--set", "limit=0"],
            "--set limit=0: expected a whole number from 1 to 16777216",
        ),
        (
            &["--set", "limit=1,,2"],
            "--set limit=: expected a whole number from 1 to 16777216",
        ),
        (
            &["--set", "statement=prepard"],
            "--set statement=prepard: no such value; did you mean `prepared`?",
        ),
        (
            &["--set", "limit"],
            "--set limit: expected NAME=VALUE,… such as --set limit=1,100",
        ),
        (
            &["--set", "limit="],
            "--set limit=: expected NAME=VALUE,… such as --set limit=1,100",
        ),
        (
            &["--set", "=1"],
            "--set =1: expected NAME=VALUE,… such as --set limit=1,100",
        ),
        (
            &["--set", "limit=1", "--set", "limit=2"],
            "--set limit=… is given twice; pass all its values at once, separated by commas",
        ),
    ] {
        let outcome = project.run(args);
        assert_eq!(
            (outcome.code, outcome.stderr),
            (Some(2), format!("benchlab: {message}\n")),
            "{args:?}"
        );
    }
    let mut args = SHORT_RUN;
    args[1] = "tt";
    project
        .call(&args)
        .expect(2)
        .says(&["benchlab: there is no experiment `tt`; did you mean `t`?"]);
    args[1] = "../t";
    project
        .call(&args)
        .expect(2)
        .says(&["there is no experiment in `../t`: it has no experiment.toml"]);
    for args in [
        &["run"][..],
        &["run", "t", "--blocks", "0"],
        &["run", "t", "--budget", "soon"],
        &["run", "t", "--margin", "200%"],
        &["run", "t", "--time-limit", "0s"],
        &["runn", "t"],
    ] {
        let outcome = Command::new(BENCHLAB).args(args).output().unwrap();
        assert_eq!(outcome.status.code(), Some(2), "{args:?}");
        assert!(outcome.stdout.is_empty());
    }
    assert!(project.files().is_empty());
}

#[test]
fn a_value_that_is_requested_twice_is_measured_once() {
    let project = Project::with_text(&valid_experiment());
    project
        .run(&[
            "--cases",
            "select",
            "--set",
            "limit=7,7",
            "--set",
            "statement=text,text",
        ])
        .expect(0);
    let plan = project.load().plan().expect("a plan").clone();
    assert_eq!(
        plan.points.ids().map(|p| plan.label(p)).collect::<Vec<_>>(),
        ["select limit=7 statement=text"]
    );
}

#[test]
fn a_run_without_subjects_is_rejected() {
    let text = valid_experiment()
        .replace("driver", "default = false\ndriver")
        .replace("pair =", "nobody = []\npair =");
    let project = Project::with_text(&text);
    let message = "no subject of `t` is selected; select some with --subjects";
    project.run(&[]).expect(2).says(&[message]);
    project
        .run(&["--subjects", "nobody"])
        .expect(2)
        .says(&[message]);
}

#[test]
fn projects_in_other_directories_are_used() {
    let nowhere = tempfile::tempdir().unwrap();
    let run_in_folder = |args: &[&str]| -> Outcome {
        let mut command = Command::new(BENCHLAB);
        command
            .current_dir(nowhere.path())
            .env_remove("BENCHLAB_PROJECT")
            .args(args);
        outcome(command.output().unwrap())
    };
    run_in_folder(&["run", "t"])
        .expect(2)
        .says(&["is not in a benchlab project", "--project"]);
    run_in_folder(&["--project", "none", "run", "t"])
        .expect(2)
        .says(&["is not in a benchlab project"]);
    // The project and its program are both given relative to the current directory.
    let project = Project::noop(&[
        subject("local", &["plain.py"]).replace(crate::project::python(), "bin/python")
    ]);
    std::fs::create_dir(project.join("bin")).unwrap();
    std::os::unix::fs::symlink(crate::project::python(), project.join("bin/python")).unwrap();
    let mut command = Command::new(BENCHLAB);
    command
        .current_dir(project.path().parent().unwrap())
        .arg("--project")
        .arg(project.path().file_name().unwrap());
    let outcome = outcome(command.args(SHORT_RUN).output().unwrap());
    outcome.expect(0);
    assert_eq!(project.load().failures, []);
}
