// SPDX-License-Identifier: Apache-2.0
//! Tests failures, lost servers, interruption and resuming.

use crate::fake::{Act, BuildStep, Fake, File, order, plan};
use lab_bench::{BenchError, Fault};
use lab_model::{BlockState, Ending, Failure, PointId, SubjectId};

fn broken() -> Act {
    Act::Fail(Fault::Failed("crash", "it ended\nlast words".into()))
}

#[test]
fn a_subject_that_fails_at_a_point_is_excluded_there_and_the_others_continue() {
    let plan = plan(3, 3);
    let file = File::new(&plan);
    let fake = Fake::new(|block, turn| match (block, turn.subject.0, turn.point.0) {
        (1, 2, 0) => broken(),
        _ => Act::Batch(1000),
    });
    let journal = fake.journal.clone();
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Blocks);
    let run = file.run();
    let [failure] = &run.failures[..] else {
        panic!("{:?}", run.failures)
    };
    assert_eq!(
        (failure.subject, failure.point, failure.block),
        (SubjectId(2), Some(PointId(0)), Some(1))
    );
    assert_eq!(
        (&failure.kind[..], &failure.message[..]),
        ("crash", "it ended")
    );
    assert_eq!(failure.log, ["last words"]);
    let turns = order(&run);
    let count_turns = |block, subject, point| {
        let matching = turns
            .iter()
            .filter(|t| (t.0, t.2.0, t.1.0) == (block, subject, point));
        matching.count()
    };
    assert_eq!([0, 1, 2].map(|block| count_turns(block, 2, 0)), [2, 0, 0]);
    assert_eq!([0, 1, 2].map(|block| count_turns(block, 2, 1)), [2, 2, 2]);
    assert_eq!([0, 1, 2].map(|block| count_turns(block, 1, 0)), [2, 2, 2]);
    // The subject is neither closed nor warmed up again at the point where it failed.
    assert_eq!(
        journal.count(|s| *s == BuildStep::Close(SubjectId(2), PointId(0))),
        1
    );
    assert_eq!(
        journal.count(|s| *s == BuildStep::WarmUp(SubjectId(2), PointId(0))),
        2
    );
}

#[test]
fn a_run_ends_when_nothing_is_left_to_compare() {
    let plan = plan(2, 5);
    let file = File::new(&plan);
    let fake = Fake::new(|_, turn| match turn.subject.0 {
        1 => broken(),
        _ => Act::Batch(1000),
    });
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Failed);
    let run = file.run();
    assert_eq!((run.blocks.len(), run.failures.len()), (1, 2));
    // Failed subjects stay excluded when the run is resumed.
    let fake = Fake::steady(&[1000, 1000]);
    let journal = fake.journal.clone();
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Failed);
    assert_eq!(journal.turns(), []);
}

#[test]
fn the_baseline_alone_is_measured_if_this_host_lacks_what_the_others_need() {
    let plan = plan(3, 2);
    let file = File::new(&plan);
    let lacks = |subject| Failure {
        subject: SubjectId(subject),
        point: None,
        block: None,
        kind: "fixture".into(),
        message: "a right is missing".into(),
        log: Vec::new(),
    };
    file.fail(&[lacks(1), lacks(2)]);
    let fake = Fake::steady(&[1000; 3]);
    let journal = fake.journal.clone();
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Blocks);
    assert!(
        journal
            .turns()
            .iter()
            .all(|turn| turn.subject == SubjectId(0))
    );
    assert_eq!(file.run().complete_blocks().count(), 2);
    // The only remaining subject is not the baseline, so there is nothing to compare it with.
    let file = File::new(&plan);
    file.fail(&[lacks(0), lacks(2)]);
    let ending = file.measure(&plan, Fake::steady(&[1000; 3]));
    assert_eq!(ending.unwrap(), Ending::Failed);
}

#[test]
fn after_the_loss_of_a_server_its_block_is_redone() {
    let plan = plan(2, 2);
    let (file, undisturbed) = (File::new(&plan), File::new(&plan));
    let mut losses = 1;
    let fake = Fake::new(|block, turn| {
        let is_lost = block == 1 && turn.point == PointId(1) && std::mem::take(&mut losses) > 0;
        if is_lost {
            Act::Fail(Fault::ServerLost("PostgreSQL is gone".into()))
        } else {
            Act::Batch(1000)
        }
    });
    let journal = fake.journal.clone();
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Blocks);
    let run = file.run();
    let states: Vec<_> = run
        .blocks
        .iter()
        .map(|b| (b.number, b.attempt, b.state))
        .collect();
    let expected = [
        (0, 0, BlockState::Complete),
        (1, 0, BlockState::Incomplete),
        (1, 1, BlockState::Complete),
    ];
    assert_eq!(states, expected);
    assert_eq!(journal.count(|s| *s == BuildStep::Restore), 1);
    // The subject is not to blame.
    assert_eq!(run.failures, []);
    undisturbed
        .measure(&plan, Fake::steady(&[1000, 1000]))
        .unwrap();
    assert_eq!(order(&run), order(&undisturbed.run()));
}

#[test]
fn a_server_that_is_lost_again_and_again_ends_the_run_which_can_be_resumed() {
    let plan = plan(2, 2);
    let file = File::new(&plan);
    let lost = |_, _| Act::Fail(Fault::ServerLost("it is gone".into()));
    let fake = Fake::new(lost);
    let journal = fake.journal.clone();
    let Err(BenchError::ServerLost(reason)) = file.measure(&plan, fake) else {
        panic!("the run did not end")
    };
    assert_eq!(reason, "it is gone; the server failed 4 times in this run");
    assert_eq!(journal.count(|s| *s == BuildStep::Restore), 3);
    assert_eq!(journal.count(|s| *s == BuildStep::Finish), 1);
    assert_eq!(file.run().ending, None);
    let fake = Fake {
        restorable: false,
        ..Fake::new(lost)
    };
    let Err(BenchError::ServerLost(reason)) = file.measure(&plan, fake) else {
        panic!("the run did not end")
    };
    assert_eq!(
        reason,
        "it is gone; cannot restart the server: its disk is full"
    );
    let fake = Fake::steady(&[1000, 1000]);
    assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Blocks);
    assert_eq!(file.run().complete_blocks().count(), 2);
}

#[test]
fn an_interrupted_run_is_resumed_in_the_same_order() {
    let plan = plan(3, 2);
    let uninterrupted = File::new(&plan);
    let fake = Fake::steady(&[1000, 2000, 3000]);
    let turns = fake.journal.clone();
    uninterrupted.measure(&plan, fake).unwrap();
    for at in 0..turns.turns().len() {
        let file = File::new(&plan);
        let mut turns_taken = 0;
        let fake = Fake::new(|_, _| {
            turns_taken += 1;
            if turns_taken > at {
                Act::Fail(Fault::Interrupted)
            } else {
                Act::Batch(1000)
            }
        });
        let journal = fake.journal.clone();
        assert_eq!(file.measure(&plan, fake).unwrap(), Ending::Interrupted);
        assert_eq!(journal.count(|s| *s == BuildStep::Finish), 1);
        let run = file.run();
        // An interrupted run has not ended, and its measurements are stored.
        let samples: usize = run.blocks.iter().map(|b| b.samples.len()).sum();
        assert_eq!((run.ending, run.failures.len(), samples), (None, 0, at));
        file.measure(&plan, Fake::steady(&[1000, 2000, 3000]))
            .unwrap();
        let run = file.run();
        assert_eq!(run.ending, Some(Ending::Blocks));
        assert_eq!(order(&run), order(&uninterrupted.run()));
    }
}
