// SPDX-License-Identifier: Apache-2.0
//! Tests the points and subjects that result from a selection.

use lab_model::{Measure, Plan, PointId, SubjectId, TargetId, TargetKind};
use lab_plan::{Experiment, Extent, PlanError, Project, Selection};
use std::fs;

const EXPERIMENT: &str = r#"
[experiment]
title = "T"
question = "Q"
baseline = "a"

[selection]
others = ["b", "c"]

[[case]]
name = "swept"
work = "w"
unit = "u"
sweep.n = [1, 10, 100]
factor.how = ["usual", "other", "third"]
thin = [1, 100]

[[case]]
name = "written"
work = "w"
unit = "u"
sweep.rows_tx = [1, 10]
check = "writes"
writes = { rows = "rows_tx", transactions = 1 }

[[case]]
name = "plain"
work = "w"
unit = "u"

[[subject]]
name = "a"
language = "L"
driver = "d"
program = ["true"]

[[subject]]
name = "b"
language = "L"
driver = "d"
program = ["true"]

[[subject]]
name = "c"
language = "L"
driver = "d"
default = false
program = ["true"]
"#;

fn all() -> Selection {
    Selection {
        subjects: Vec::new(),
        cases: Vec::new(),
        targets: Vec::new(),
        service_set: Vec::new(),
        external: Vec::new(),
        set: Vec::new(),
        absent: Vec::new(),
        on: Vec::new(),
        baseline: None,
        control: false,
        extent: Extent::Usual,
        seed: 7,
        measure: Measure {
            pairs: 1,
            turn_ns: 1,
            budget_ns: None,
            max_blocks: 1,
            interim_analyses: Vec::new(),
            alpha: 0.05,
            margin: 0.02,
            precision: None,
            time_limit_ns: 1,
            max_warmup: 1,
            ..Measure::default()
        },
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| w.to_string()).collect()
}

fn set(name: &str, values: &[&str]) -> (String, Vec<String>) {
    (name.to_string(), words(values))
}

fn plan(selection: &Selection) -> Result<Plan, PlanError> {
    plan_of(EXPERIMENT, selection)
}

fn plan_of(experiment: &str, selection: &Selection) -> Result<Plan, PlanError> {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("experiments/t");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("experiment.toml"), experiment).unwrap();
    fs::write(folder.path().join("experiments/toolchains.toml"), "").unwrap();
    selection.plan(&Experiment::read(&Project::find(&place)?, "t")?)
}

fn labels(selection: &Selection) -> Vec<String> {
    let plan = plan(selection).expect("a plan");
    plan.points.ids().map(|p| plan.label(p)).collect()
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.subjects.iter().map(|s| s.name.as_str()).collect()
}

#[test]
fn further_values_of_a_factor_are_measured_at_few_points_of_the_sweep() {
    let selection = Selection {
        cases: words(&["swept"]),
        ..all()
    };
    assert_eq!(
        labels(&selection),
        [
            "swept n=1 how=usual",
            "swept n=10 how=usual",
            "swept n=100 how=usual",
            "swept n=1 how=other",
            "swept n=100 how=other",
            "swept n=1 how=third",
            "swept n=100 how=third",
        ]
    );
}

#[test]
fn further_values_of_a_factor_can_require_a_request() {
    let thin = EXPERIMENT.replace("thin = [1, 100]", "thin = []");
    let points = |set: Vec<_>| {
        let selection = Selection {
            cases: words(&["swept"]),
            set,
            ..all()
        };
        plan_of(&thin, &selection).expect("a plan").points.len()
    };
    assert_eq!(points(Vec::new()), 3);
    assert_eq!(points(vec![set("how", &["other"])]), 3);
}

#[test]
fn an_optional_case_is_measured_if_named() {
    let unusual = EXPERIMENT.replace("name = \"plain\"", "name = \"plain\"\ndefault = false");
    let cases = |named: &[&str]| -> Vec<String> {
        let selection = Selection {
            cases: words(named),
            ..all()
        };
        let plan = plan_of(&unusual, &selection).expect("a plan");
        plan.cases.into_iter().map(|case| case.name).collect()
    };
    assert_eq!(cases(&[]), ["swept", "written"]);
    assert_eq!(cases(&["plain", "swept"]), ["swept", "plain"]);
}

#[test]
fn a_requested_factor_gets_the_whole_sweep() {
    let selection = Selection {
        cases: words(&["swept"]),
        set: vec![set("how", &["third"])],
        ..all()
    };
    assert_eq!(
        labels(&selection),
        [
            "swept n=1 how=third",
            "swept n=10 how=third",
            "swept n=100 how=third"
        ]
    );
    let selection = Selection {
        cases: words(&["swept"]),
        set: vec![set("how", &["all"])],
        ..all()
    };
    assert_eq!(labels(&selection).len(), 9);
}

#[test]
fn a_sweep_takes_any_values_sorted_and_once() {
    let selection = Selection {
        cases: words(&["swept"]),
        set: vec![set("n", &["50", "7", "50"]), set("how", &["usual"])],
        ..all()
    };
    assert_eq!(
        labels(&selection),
        ["swept n=7 how=usual", "swept n=50 how=usual"]
    );
    let plan = plan(&selection).unwrap();
    assert_eq!(
        plan.points.iter().map(|p| p.x).collect::<Vec<_>>(),
        [Some(7.0), Some(50.0)]
    );
}

#[test]
fn few_points_are_the_ends_of_unspecified_sweeps() {
    let few = Selection {
        extent: Extent::Quick,
        cases: words(&["swept", "written"]),
        ..all()
    };
    let selection = Selection {
        set: vec![set("how", &["usual"]), set("rows_tx", &["all"])],
        ..few
    };
    assert_eq!(
        labels(&selection),
        [
            "swept n=1 how=usual",
            "swept n=100 how=usual",
            "written rows_tx=1",
            "written rows_tx=10"
        ]
    );
}

/// In a quick run, batches at a fixed rate keep enough operations for a 99th percentile.
#[test]
fn a_quick_run_has_shorter_turns_but_not_where_operations_are_due_at_a_rate() {
    let turn = |lines: &str, extent| {
        let named = format!("name = \"plain\"\nturn_ms = 400\n{lines}");
        let experiment = EXPERIMENT.replacen("name = \"plain\"", &named, 1);
        let selection = Selection {
            cases: words(&["plain"]),
            extent,
            ..all()
        };
        plan_of(&experiment, &selection)
            .unwrap()
            .turn_ns(PointId(0))
    };
    assert_eq!(turn("", Extent::Usual), 400_000_000);
    assert_eq!(turn("", Extent::Quick), 100_000_000);
    let rate = "rate = 50\nlatencies = true";
    assert_eq!(turn(rate, Extent::Quick), 400_000_000);
}

/// Returns the experiment with an additional table `table` that contains `lines`.
fn with_table(table: &str, lines: &str) -> String {
    EXPERIMENT.replace("[selection]", &format!("[{table}]\n{lines}\n\n[selection]"))
}

/// Returns the labels of the points that a run of extent `extent` measures.
fn points_of(
    experiment: &str,
    extent: Extent,
    selection: Selection,
) -> Result<Vec<String>, PlanError> {
    let selection = Selection {
        extent,
        ..selection
    };
    let plan = plan_of(experiment, &selection)?;
    Ok(plan.points.ids().map(|p| plan.label(p)).collect())
}

#[test]
fn the_users_points_precede_the_experiments_points() {
    let lines = "swept = { n = [10], how = [\"usual\", \"third\"] }\nplain = {}";
    let named = ["swept n=10 how=usual", "swept n=10 how=third", "plain"];
    let requested = || Selection {
        cases: words(&["swept", "written"]),
        set: vec![set("how", &["other"])],
        ..all()
    };
    let thorough = points_of(EXPERIMENT, Extent::Thorough, all()).unwrap();
    let expected = [
        "swept n=10 how=other",
        "written rows_tx=1",
        "written rows_tx=10",
    ];
    for extent in [Extent::Quick, Extent::Usual] {
        let table = extent.table();
        let experiment = with_table(table, lines);
        assert_eq!(points_of(&experiment, extent, all()).unwrap(), named);
        assert_eq!(
            points_of(&experiment, extent, requested()).unwrap(),
            expected
        );
        assert_eq!(
            points_of(&experiment, Extent::Thorough, all()).unwrap(),
            thorough
        );
    }
}

/// If a table lists values of both the sweep and the factor, the case's `thin` applies. If a table
/// lists only values of the sweep, `thin` does not apply.
#[test]
fn further_values_are_thinned_among_those_that_an_experiment_names() {
    let of = |lines: &str| {
        let experiment = with_table("usual", lines);
        points_of(&experiment, Extent::Usual, all()).unwrap()
    };
    assert_eq!(
        of("swept = { n = [1, 10], how = [\"usual\", \"third\"] }"),
        [
            "swept n=1 how=usual",
            "swept n=10 how=usual",
            "swept n=1 how=third"
        ]
    );
    assert_eq!(of("swept = { n = [1, 10] }").len(), 6);
}

#[test]
fn a_selection_named_for_an_extent_has_its_subjects() {
    let experiment =
        EXPERIMENT.replace("[selection]", "[selection]\nquick = [\"a\", \"b\", \"c\"]");
    let subjects = |extent| {
        let selection = Selection { extent, ..all() };
        let plan = plan_of(&experiment, &selection).unwrap();
        plan.subjects.len()
    };
    assert_eq!(subjects(Extent::Quick), 3);
    assert_eq!(subjects(Extent::Usual), 2);
}

#[test]
fn a_wrong_name_among_the_few_points_is_named_with_its_neighbor() {
    for (lines, expected) in [
        ("swapt = {}", "there is no case `swapt`"),
        ("swept = { m = [1] }", "case `swept` has no `m`"),
        ("swept = { n = [7] }", "7 is not a value of `n`"),
        (
            "swept = { how = [\"othr\"] }",
            "othr is not a value of `how`",
        ),
        ("swept = { how = [] }", "`how` needs a value"),
    ] {
        let error = points_of(&with_table("quick", lines), Extent::Quick, all())
            .unwrap_err()
            .to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("experiment.toml:"), "{error}");
    }
}

#[test]
fn the_rows_that_an_operation_writes_follow_the_sweep() {
    let plan = plan(&Selection {
        cases: words(&["written", "plain"]),
        ..all()
    })
    .unwrap();
    let writes: Vec<_> = plan
        .points
        .iter()
        .map(|p| {
            (
                p.writes.rows,
                p.writes.transactions,
                p.writes.schema_changes,
            )
        })
        .collect();
    assert_eq!(writes, [(1, 1, 0), (10, 1, 0), (0, 0, 0)]);
}

#[test]
fn the_baseline_is_the_experiments_or_the_first_participant() {
    let usual = plan(&all()).unwrap();
    assert_eq!(
        (names(&usual), usual.baseline),
        (vec!["a", "b"], SubjectId(0))
    );
    let others = plan(&Selection {
        subjects: words(&["others"]),
        control: true,
        ..all()
    })
    .unwrap();
    assert_eq!(
        (names(&others), others.baseline),
        (vec!["b", "c", "b-control"], SubjectId(0))
    );
    assert_eq!(others.control(), Some(SubjectId(2)));
    // The order is that of the experiment, not of the request.
    let requested = Selection {
        subjects: words(&["c", "a", "c"]),
        baseline: Some("c".into()),
        ..all()
    };
    let requested = plan(&requested).unwrap();
    assert_eq!(
        (names(&requested), requested.baseline),
        (vec!["a", "c"], SubjectId(1))
    );
    assert_eq!(requested.control(), None);
}

const TARGETS: &str = r#"
[experiment]
title = "T"
question = "Q"
baseline = "b"
targets = ["sqlite", "mariadb"]

[target.sqlite]
rows = 1
table = "CREATE TABLE t (id integer)"

[target.mariadb]
rows = 2
table = "CREATE TABLE t (id integer)"
settings = "SELECT 1"
equal = ["tls"]

[[case]]
name = "both"
work = "w"
unit = "u"
factor.way = { values = ["tcp", "unix"], targets = ["mariadb"] }

[[case]]
name = "there"
work = "w"
unit = "u"
targets = ["mariadb"]
statements = { do = 1 }

[[subject]]
name = "a"
language = "L"
program = ["true"]
[subject.sqlite]
driver = "one"
[subject.mariadb]
driver = "another"
program = ["false"]
without = ["way=unix"]

[[subject]]
name = "b"
language = "L"
driver = "d"
program = ["true"]
[subject.mariadb]
"#;

#[test]
fn subjects_and_points_belong_to_targets() {
    let plan = plan_of(
        TARGETS,
        &Selection {
            control: true,
            ..all()
        },
    )
    .expect("a plan");
    let subjects: Vec<String> = plan.subjects.ids().map(|s| plan.subject_label(s)).collect();
    let points: Vec<String> = plan.points.ids().map(|p| plan.label(p)).collect();
    let of_both = ["a on sqlite", "a on mariadb", "b on mariadb"];
    assert_eq!(subjects[..3], of_both);
    assert_eq!(
        subjects[3..],
        ["a-control on sqlite", "b-control on mariadb"]
    );
    let on_mariadb = [
        "mariadb both way=tcp",
        "mariadb both way=unix",
        "mariadb there",
    ];
    assert_eq!(points[0], "sqlite both");
    assert_eq!(points[1..], on_mariadb);
    assert_eq!(
        (
            plan.subjects[SubjectId(0)].program[0].as_str(),
            plan.subjects[SubjectId(1)].program[0].as_str()
        ),
        ("true", "false")
    );
    let takes_part = |subject| {
        plan.points
            .ids()
            .filter(|&p| plan.takes_part(subject, p))
            .map(|p| p.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        (
            takes_part(SubjectId(0)),
            takes_part(SubjectId(1)),
            takes_part(SubjectId(2))
        ),
        (vec![0], vec![1, 3], vec![1, 2, 3])
    );
    assert_eq!(
        (
            plan.baseline_for(TargetId(0)),
            plan.baseline_for(TargetId(1))
        ),
        (SubjectId(0), SubjectId(2))
    );
}

#[test]
fn a_subject_may_support_only_some_cases() {
    let some = TARGETS.replace("name = \"b\"\n", "name = \"b\"\ncases = [\"there\"]\n");
    let all = plan_of(&some, &all()).expect("a plan");
    let b = all.subjects.find_id(|s| s.name == "b").expect("b");
    let points: Vec<String> = all
        .points
        .ids()
        .filter(|&p| all.takes_part(b, p))
        .map(|p| all.label(p))
        .collect();
    assert_eq!(points, ["mariadb there"]);
    let cases = words(&["both"]);
    let other = Selection {
        cases,
        ..self::all()
    };
    assert!(!names(&plan_of(&some, &other).expect("a plan")).contains(&"b"));
    let wrong = some.replace("[\"there\"]", "[\"their\"]");
    let error = plan_of(&wrong, &self::all())
        .expect_err("no such case")
        .to_string();
    assert!(error.contains("there is no case `their`"), "{error}");
}

#[test]
fn cases_with_a_rate_are_measured_by_themselves() {
    let rate = "name = \"there\"\nlatencies = true\nrate = 10\n";
    let text = TARGETS.replace("name = \"there\"\n", rate);
    let error = plan_of(&text, &all()).expect_err("two answers").to_string();
    assert!(
        error.contains("`there` has a `rate` and `both` has none"),
        "{error}"
    );
    for case in ["there", "both"] {
        let alone = Selection {
            cases: words(&[case]),
            ..all()
        };
        assert!(plan_of(&text, &alone).is_ok(), "{case}");
    }
}

#[test]
fn a_single_target_is_not_named() {
    let selection = Selection {
        targets: vec![TargetKind::Mariadb],
        ..all()
    };
    let plan = plan_of(TARGETS, &selection).expect("a plan");
    assert_eq!(
        (
            plan.targets.len(),
            plan.targets[TargetId(0)].rows,
            plan.subjects.len()
        ),
        (1, 2, 2)
    );
    assert_eq!(plan.label(PointId(2)), "there");
    let nothing = Selection {
        cases: words(&["there"]),
        targets: vec![TargetKind::Sqlite],
        ..all()
    };
    let error = plan_of(TARGETS, &nothing)
        .expect_err("nothing is left")
        .to_string();
    assert!(error.contains("matches all selected subjects"), "{error}");
    let unknown = Selection {
        targets: vec![TargetKind::Postgresql],
        ..all()
    };
    let error = plan_of(TARGETS, &unknown)
        .expect_err("no such target")
        .to_string();
    assert!(error.contains("no target `postgresql`"), "{error}");
}

/// An experiment whose faults depend on the target. A file has no connection to lose, and a server
/// cannot be locked as a whole.
const FAULTS: &str = r#"
[experiment]
title = "T"
question = "Q"
targets = ["sqlite", "mariadb"]
baseline = "a"

[target.sqlite]
rows = 1
table = "CREATE"
effects = "CREATE"

[target.mariadb]
rows = 1
table = "CREATE"
effects = "CREATE"
settings = "SELECT"
fault.refused = ["CREATE TRIGGER"]

[[case]]
name = "call"
work = "w"
unit = "u"
check = "effects"
factor.fault = ["none", "busy", "cut", "refused"]

[[fixture]]
name = "faults"
state = "fault"
visits = true
program = ["true"]

[fixture.states]
busy = { targets = ["sqlite"] }
cut = { targets = ["mariadb"] }

[[subject]]
name = "a"
language = "L"
program = ["true"]
"#;

#[test]
fn a_fault_is_measured_on_targets_that_have_it() {
    let plan = plan_of(FAULTS, &all()).expect("a plan");
    let faults = plan
        .points
        .iter()
        .map(|p| (p.target.0, p.params[0].1.as_str()));
    let faults: Vec<(u32, &str)> = faults.collect();
    assert_eq!(
        faults,
        [
            (0, "none"),
            (0, "busy"),
            (1, "none"),
            (1, "cut"),
            (1, "refused")
        ]
    );
    let cut = Selection {
        set: vec![set("fault", &["cut"])],
        ..all()
    };
    let plan = plan_of(FAULTS, &cut).expect("a plan");
    assert_eq!(plan.targets.len(), 1);
    assert_eq!(plan.targets[TargetId(0)].kind, TargetKind::Mariadb);
    let nothing = Selection {
        targets: vec![TargetKind::Sqlite],
        ..cut
    };
    let error = plan_of(FAULTS, &nothing).expect_err("nothing is left");
    assert!(
        error.to_string().contains("matches all selected subjects"),
        "{error}"
    );
}
