// SPDX-License-Identifier: Apache-2.0
//! Pilots: subjects without enough time for a warm-up, and processes that are reused for multiple
//! points.

use crate::project::{Project, SELECT, send_signal, subject, wait_until};
use lab_model::{Pilot, Run, SubjectId, WarmUp};
use lab_stats::results::results;
use nix::sys::signal::Signal;
use std::fs;

const COMPUTE: &str = r#"
[experiment]
title = "Tried out"
question = "Does it hold?"
baseline = "honest"

[[case]]
name = "compute"
work = "one hash"
unit = "hash"
"#;

const COMPILING: SubjectId = SubjectId(2);

fn pilot_of(run: &Run, subject: SubjectId) -> Pilot {
    let mut pilots = run.pilots.iter().filter(|p| p.subject == subject);
    let pilot = pilots.next().expect("a pilot").clone();
    assert_eq!(pilots.next(), None, "each subject has one pilot per point");
    pilot
}

/// Asserts that a subject is excluded because it had too little time. Returns the budget that the
/// report recommends. On a busy machine, other subjects may also be excluded for lack of time.
fn assert_has_no_time(run: &Run, subject: SubjectId) -> String {
    let exclusions = results(run).exclusions.into_iter();
    let exclusions = exclusions.filter(|r| r.subject == subject);
    let why: Vec<String> = exclusions
        .map(|r| lab_report::wording::exclusion(&r.reason))
        .filter(|why| why.contains("could not be warmed up at compute in "))
        .collect();
    assert_eq!(why.len(), 1, "{why:?}");
    let budget = why[0].split_once(" --budget ").expect("advice").1;
    budget.split_whitespace().next().unwrap().to_owned()
}

#[test]
fn a_subject_that_had_no_time_to_compile_has_no_verdict() {
    let subjects = ["honest", "second", "compiling"];
    let subjects = subjects.map(|name| subject(name, &["compiling.py", name]));
    let project = Project::with_text(&(COMPUTE.to_owned() + &subjects.concat()));
    // 120 batches of 1 ms do not fit into the time for pilots, which is a fifth of the budget.
    let short = "300ms";
    let words = ["run", "t", "--budget", short, "--no-control", "--redo", "0"];
    project.call(&words).expect(0);
    let run = project.load();
    let cut = pilot_of(&run, COMPILING);
    assert_eq!(cut.class, WarmUp::CutShort, "{} batches", cut.batches.len());
    // A subject that does not compile needs ten batches, followed by at most eight batches of a turn's length.
    let second = pilot_of(&run, SubjectId(1));
    let batches = second.own_batches().len();
    assert!(
        batches < 18 || second.class != WarmUp::CutShort,
        "{batches}"
    );
    assert_has_no_time(&run, COMPILING);

    let file = project.file();
    let file = file.to_str().expect("UTF-8");
    project.call(&["resume", file, "--budget", short]).expect(0);
    assert_eq!(
        pilot_of(&project.load(), COMPILING),
        cut,
        "the pilot must not be repeated without time"
    );

    // The measured blocks use the warm-up of the short pilot.
    let blocks = run.complete_blocks().count();
    let mut lab = project.start(&["resume", file, "--budget", "20m"]);
    wait_until("another block", || {
        project.has_blocks(blocks + 1) || lab.try_wait().unwrap().is_some()
    });
    send_signal(lab.id() as i32, Signal::SIGINT);
    lab.wait().unwrap();
    let run = project.load();
    assert_eq!(pilot_of(&run, COMPILING), cut, "blocks depend on the pilot");
    assert_has_no_time(&run, COMPILING);
}

#[test]
fn a_cut_short_pilot_is_repeated_unless_blocks_were_measured() {
    let subjects = ["honest", "slow"].map(|name| subject(name, &["compiling.py", name]));
    let project = Project::with_text(&(COMPUTE.to_owned() + &subjects.concat()));
    let interrupt = |words: &[&str], class_is: &dyn Fn(WarmUp) -> bool| {
        let mut lab = project.start(words);
        wait_until("the last pilot", || {
            let run = project.files().pop().as_deref().map(lab_store::load);
            run.is_some_and(|run| {
                run.is_ok_and(|run| {
                    let mut pilots = run.pilots.iter();
                    pilots.any(|p| p.subject == SubjectId(1) && class_is(p.class))
                })
            })
        });
        send_signal(lab.id() as i32, Signal::SIGINT);
        assert_eq!(lab.wait().unwrap().code(), Some(130));
        let run = project.load();
        assert_eq!(run.complete_blocks().count(), 0);
        run
    };
    // A block would take 20 s.
    let words = ["run", "t", "--budget", "900ms", "--pairs", "200"];
    let more = ["--no-control", "--redo", "0"];
    interrupt(&[&words[..], &more].concat(), &|class| {
        class == WarmUp::CutShort
    });
    let file = project.file();
    let file = file.to_str().expect("UTF-8");
    let run = interrupt(&["resume", file, "--budget", "20m"], &|class| {
        class != WarmUp::CutShort
    });
    assert!(pilot_of(&run, SubjectId(1)).own_batches().len() >= 10);
    assert!(run.pilots_ns > Some(0));
}

#[test]
fn a_subject_with_long_operations_needs_ten_batches_without_helper_threads() {
    let subjects = ["honest", "slow"].map(|name| subject(name, &["compiling.py", name]));
    let project = Project::with_text(&(COMPUTE.to_owned() + &subjects.concat()));
    // Both pilots together have a fifth of the time, which is less than four batches of 50 ms.
    let words = ["run", "t", "--budget", "900ms", "--no-control"];
    let more = ["--redo", "0"];
    project.call(&[&words[..], &more].concat()).expect(0);
    let run = project.load();
    let slow = pilot_of(&run, SubjectId(1));
    assert!(slow.own_batches().len() < 10, "{slow:?}");
    assert_eq!(slow.class, WarmUp::CutShort);
    let budget = assert_has_no_time(&run, SubjectId(1));

    let project = Project::with_text(&(COMPUTE.to_owned() + &subjects.concat()));
    let words = ["run", "t", "--budget", &budget, "--no-control"];
    let more = ["--thorough", "--blocks", "1", "--pairs", "1", "--redo", "0"];
    project.call(&[&words[..], &more].concat()).expect(0);
    let slow = pilot_of(&project.load(), SubjectId(1));
    assert_ne!(slow.class, WarmUp::CutShort, "{budget}: {slow:?}");
    assert!(slow.own_batches().len() >= 10, "{slow:?}");
}

/// A warm-up of 120 batches of 50 ms takes ten times as long as a pilot may take.
#[test]
fn a_compiling_subject_is_not_classified_by_few_batches() {
    let subjects = ["honest", "slowly_compiling"];
    let subjects = subjects.map(|name| subject(name, &["compiling.py", name]));
    let project = Project::with_text(&(COMPUTE.to_owned() + &subjects.concat()));
    let more = ["--pairs", "1", "--no-control", "--redo", "0"];
    let words = ["run", "t", "--thorough", "--blocks", "1"];
    project.call(&[&words[..], &more].concat()).expect(0);
    let compiling = pilot_of(&project.load(), SubjectId(1));
    let batches = compiling.own_batches().len();
    assert!(batches >= 60, "{batches}");
}

/// A helper thread works like a JIT compiler, but the subject's language has no compiler thread.
#[test]
fn a_program_with_worker_threads_does_not_count_as_compiling() {
    let subjects = ["honest", "compiling"].map(|name| subject(name, &["compiling.py", name]));
    let text = COMPUTE.to_owned() + &subjects.concat();
    let project = Project::with_text(&text.replace("language = \"Python\"", "language = \"Go\""));
    // Ten batches of 1 ms fit into the time for pilots, but 120 do not.
    let words = ["run", "t", "--budget", "300ms", "--no-control"];
    project
        .call(&[&words[..], &["--redo", "0"]].concat())
        .expect(0);
    let pilot = pilot_of(&project.load(), SubjectId(1));
    let batches = pilot.own_batches().len();
    assert!(batches < 18 || pilot.class != WarmUp::CutShort, "{batches}");
}

#[test]
fn processes_that_are_kept_show_no_first_operation() {
    let project = Project::sql(&[SELECT], &[]);
    let file = project.join("experiments/t/experiment.toml");
    let text = fs::read_to_string(&file).unwrap();
    // Starting the subject takes longer than the time for pilots.
    let slow = r#"program = ["sh", "-c", "sleep 0.5; exec \"$@\"", "sh", "#;
    fs::write(&file, text.replace("program = [", slow)).unwrap();
    let words = ["run", "t", "--thorough", "--budget", "3s", "--blocks", "1"];
    let more = ["--pairs", "1", "--redo", "0", "--seed", "7"];
    project.call(&[&words[..], &more].concat()).expect(0);
    let run = project.load();
    let plan = run.plan().expect("a plan");
    let control = plan.control().expect("a control");
    for subject in plan.subjects.ids() {
        let pilots = run.pilots.iter().filter(|p| p.subject == subject);
        let mut cold: Vec<bool> = pilots.map(|p| p.cold_ns > 0).collect();
        cold.sort();
        assert_eq!(cold, [false, true], "{subject}, control {control}");
    }
}
