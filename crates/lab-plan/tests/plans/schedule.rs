// SPDX-License-Identifier: Apache-2.0
//! Tests the order of points, openings and passes.

use lab_model::{IdVec, PointId, SubjectId, TargetId};
use lab_plan::Schedule;

#[test]
fn passes_are_mirrored_and_complete() {
    let passes: Vec<_> = Schedule::new(7, 3)
        .passes(PointId(2), &[0, 1, 4].map(SubjectId), 40)
        .collect();
    assert_eq!(passes.len(), 80);
    for pair in passes.chunks(2) {
        let mut mirror = pair[1].clone();
        mirror.reverse();
        assert_eq!(pair[0], mirror);
        mirror.sort();
        assert_eq!(mirror, [0, 1, 4].map(SubjectId));
    }
}

#[test]
fn the_points_of_a_target_follow_one_another() {
    let targets: IdVec<PointId, TargetId> = [0, 1, 2, 0, 1, 2, 0, 1, 2].map(TargetId).into();
    let firsts: std::collections::HashSet<_> = (0..20)
        .map(|block| {
            let order = Schedule::new(5, block).points(&targets);
            let mut visited: Vec<_> = order.iter().map(|&p| targets[p]).collect();
            visited.dedup();
            assert_eq!((order.len(), visited.len()), (9, 3));
            visited[0]
        })
        .collect();
    assert_eq!(firsts.len(), 3);
}

#[test]
fn every_order_comes_up_about_equally_often() {
    let mut counts = std::collections::HashMap::new();
    for block in 0..50 {
        for pass in Schedule::new(1, block)
            .passes(PointId(0), &[0, 1, 2].map(SubjectId), 60)
            .step_by(2)
        {
            *counts.entry(pass).or_insert(0) += 1;
        }
    }
    assert_eq!(counts.len(), 6);
    // 3000 draws, 500 each; the standard deviation of a count is 20.
    assert!(
        counts.values().all(|&n| (400..600).contains(&n)),
        "{counts:?}"
    );
}

#[test]
fn a_block_has_a_fixed_schedule_that_differs_from_the_next() {
    let schedule = |block| {
        let s = Schedule::new(9, block);
        (
            s.points(&IdVec::filled(TargetId(0), 20)),
            s.passes(PointId(1), &[0, 1, 2, 3].map(SubjectId), 5)
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(schedule(4), schedule(4));
    assert_ne!(schedule(4), schedule(5));
    assert_ne!(Schedule::new(9, 4).core(2), Schedule::new(9, 5).core(2));
}
