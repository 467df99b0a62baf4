// SPDX-License-Identifier: Apache-2.0
//! Tests the order of all steps.

use crate::fake::{BuildStep, Fake, File, order, plan};
use lab_bench::{Opening, Turn};
use lab_model::{Point, PointId, Subject, SubjectId, Target, TargetId, TargetKind};
use lab_plan::Schedule;

#[test]
fn a_block_is_the_schedule_of_its_number() {
    let plan = plan(3, 2);
    let file = File::new(&plan);
    let fake = Fake {
        pairs: 2,
        ..Fake::steady(&[1000, 2000, 3000])
    };
    let journal = fake.journal.clone();
    file.measure(&plan, fake).unwrap();
    let mut expected = vec![BuildStep::Prepare];
    for block in 0..2 {
        let schedule = Schedule::new(plan.seed, block);
        expected.push(BuildStep::Block(block, [4, 5][schedule.core(2)]));
        let everyone = [0, 1, 2].map(SubjectId);
        for point in schedule.points(&[TargetId(0), TargetId(0)].into()) {
            expected.push(BuildStep::Point(point));
            for subject in schedule.openings(point, &everyone) {
                expected.extend([BuildStep::Open(subject), BuildStep::WarmUp(subject, point)]);
            }
            for (pass, order) in (0..).zip(schedule.passes(point, &everyone, 2)) {
                let turns = (0..).zip(order).map(|(turn, subject)| Turn {
                    subject,
                    point,
                    pass,
                    turn,
                });
                let turns: Vec<Turn> = turns.collect();
                expected.extend(turns.iter().map(|turn| BuildStep::Pass(*turn, 4 - pass)));
                expected.extend(
                    turns
                        .iter()
                        .flat_map(|t| [BuildStep::Take(*t), BuildStep::End(*t)]),
                );
            }
            expected.extend(everyone.map(|subject| BuildStep::Close(subject, point)));
        }
        expected.extend(everyone.map(BuildStep::Quit));
    }
    expected.push(BuildStep::Finish);
    assert_eq!(*journal.steps.borrow(), expected);
    let run = file.run();
    let turns_taken: Vec<Turn> = journal.turns();
    let turns_that_count = order(&run)
        .into_iter()
        .map(|(_, point, subject, pass, turn)| Turn {
            subject,
            point,
            pass,
            turn,
        });
    assert_eq!(turns_that_count.collect::<Vec<_>>(), turns_taken);
    assert_eq!(run.lab_cost, Some((1, 2)));
}

#[test]
fn subjects_are_opened_per_target_or_per_point() {
    let mut plan = plan(2, 1);
    plan.targets = [TargetKind::Sqlite, TargetKind::Postgresql]
        .map(target)
        .into();
    plan.subjects[SubjectId(1)].target = TargetId(1);
    plan.points[PointId(1)].target = TargetId(1);
    let file = File::new(&plan);
    let fake = Fake {
        opening: Opening::Target,
        ..Fake::steady(&[1000, 1000])
    };
    let journal = fake.journal.clone();
    file.measure(&plan, fake).unwrap();
    let steps = journal.steps.borrow().clone();
    assert!(!steps.iter().any(|s| matches!(s, BuildStep::WarmUp(..))));
    for subject in [0, 1].map(SubjectId) {
        let other = SubjectId(1 - subject.0);
        let position = |expected: &BuildStep| steps.iter().position(|s| s == expected).unwrap();
        let (opened, point) = (
            position(&BuildStep::Open(subject)),
            position(&BuildStep::Point(PointId(subject.0))),
        );
        assert!(opened < point);
        // The other target's subject has already been shut down or not yet been opened, and has no turn at this
        // point.
        let other = [BuildStep::Open(other), BuildStep::Quit(other)];
        let last = steps[..point].iter().rfind(|step| other.contains(step));
        assert_ne!(last, Some(&other[0]));
    }
    let expected: Vec<_> = order(&file.run());
    assert!(
        expected
            .iter()
            .all(|(_, point, subject, ..)| point.0 == subject.0)
    );
    assert_eq!(expected.len(), 4);
}

fn target(kind: TargetKind) -> Target {
    Target {
        kind,
        ..Target::default()
    }
}

#[test]
fn a_point_that_needs_others_comes_last() {
    let mut plan = plan(1, 6);
    plan.points.push(Point::default());
    for last in plan.points.ids() {
        let file = File::new(&plan);
        let fake = Fake {
            last: Some(last),
            ..Fake::steady(&[1000])
        };
        file.measure(&plan, fake).unwrap();
        for block in file.run().complete_blocks() {
            assert_eq!(block.samples.last().unwrap().point, last);
        }
    }
}

#[test]
fn overheads_take_turns_only_in_the_first_pair() {
    let mut plan = plan(2, 1);
    plan.subjects.push(Subject {
        name: "nothing".into(),
        overhead: true,
        ..Subject::default()
    });
    let file = File::new(&plan);
    let fake = Fake {
        pairs: 5,
        ..Fake::steady(&[1000, 2000, 10])
    };
    file.measure(&plan, fake).unwrap();
    let run = file.run();
    let passes = |subject| {
        let turns = order(&run);
        let matching = turns
            .iter()
            .filter(|t| t.1 == PointId(0) && t.2 == SubjectId(subject));
        matching.map(|t| t.3).collect::<Vec<_>>()
    };
    assert_eq!(passes(2), [0, 1]);
    assert_eq!(passes(0), (0..10).collect::<Vec<_>>());
}
