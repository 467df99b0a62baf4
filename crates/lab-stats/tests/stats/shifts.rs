// SPDX-License-Identifier: Apache-2.0
//! Tests change points of a history.
//!
//! At most 5 % of histories without any change show a change. A change of three times the spread is
//! found at the right position. `UPDATE_DOCS=1 cargo test --release -p lab-stats --test stats
//! shifts::` writes the table.

use crate::documents;
use crate::documents::percent;
use crate::simulator::{Random, most_by_chance};
use lab_stats::shifts::{runs_needed, shifts};

const ALPHA: f64 = 0.05;

/// A function that draws the value of a run.
///
/// The first argument is the index of the run.
type Scatter = fn(usize, &mut Random) -> f64;

fn heavy(_: usize, random: &mut Random) -> f64 {
    random.normal() / (-random.uniform().ln()).sqrt().max(1e-9)
}

/// Draws a value. One run out of five varies three times as much as the others, as if it had few
/// blocks.
fn unlike(run: usize, random: &mut Random) -> f64 {
    random.normal() * if run % 5 == 2 { 3.0 } else { 1.0 }
}

#[test]
fn histories_without_a_change_show_none_and_a_change_is_found() {
    let kinds: [(&str, usize, Scatter); 6] = [
        ("normal", 10, |_, random| random.normal()),
        ("normal", 20, |_, random| random.normal()),
        ("normal", 50, |_, random| random.normal()),
        ("heavy tails (t, 2 degrees)", 20, heavy),
        ("one run of five scatters three times as much", 20, unlike),
        ("one run of five scatters three times as much", 50, unlike),
    ];
    let mut rows = Vec::new();
    for (name, runs, scatter) in kinds {
        let all = documents::runs(1000, if runs > 20 { 25 } else { 80 });
        let history = |seed: u64, shift: f64| -> Vec<f64> {
            let mut random = Random(seed << 8 | runs as u64);
            let value = |run| scatter(run, &mut random) + if 2 * run >= runs { shift } else { 0.0 };
            (0..runs).map(value).collect()
        };
        let wrong = (0..all).filter(|&seed| !shifts(&history(seed, 0.0), ALPHA).is_empty());
        let wrong = wrong.count() as u64;
        let near = |found: Vec<usize>| found.iter().any(|&at| at.abs_diff(runs / 2) <= 1);
        let found = (0..all).filter(|&seed| near(shifts(&history(seed, 3.0), ALPHA)));
        let found = found.count() as f64 / all as f64;
        println!("{name}, {runs}: {wrong} of {all} wrong, {found} found");
        assert!(
            wrong <= most_by_chance(all, ALPHA),
            "{name}, {runs}: {wrong} of {all}"
        );
        if name == "normal" {
            // With ten runs, few orders are as extreme.
            let least = if runs == 10 { 0.65 } else { 0.9 };
            assert!(found >= least, "{name}, {runs}: {found}");
        }
        rows.push(vec![
            name.to_string(),
            runs.to_string(),
            percent(wrong as f64 / all as f64),
            percent(found),
        ]);
    }
    let columns = [
        "runs scatter",
        "runs",
        "histories with a false change",
        "a change by 3 standard deviations found, ±1 run",
    ];
    let table = documents::table(&columns, &rows);
    println!("{table}");
    documents::update("shifts", &table);
}

#[test]
fn two_changes_are_found_and_outliers_and_few_runs_are_not_changes() {
    let mut random = Random(5);
    let mut values: Vec<f64> = (0..30).map(|_| 0.1 * random.normal()).collect();
    values[10..20].iter_mut().for_each(|v| *v += 1.0);
    assert_eq!(shifts(&values, ALPHA), [10, 20]);
    let mut odd: Vec<f64> = (0..30).map(|_| 0.1 * random.normal()).collect();
    odd[15] += 5.0;
    assert!(shifts(&odd, ALPHA).is_empty());
    assert_eq!(runs_needed(ALPHA), 8);
    assert_eq!(shifts(&[0.0, 0.1, 0.0, 5.0, 5.1, 5.0, 5.2], ALPHA), [0; 0]);
    assert_eq!(
        shifts(&[0.0, 0.1, 0.05, 0.0, 5.0, 5.1, 5.0, 5.2], ALPHA),
        [4]
    );
    assert_eq!(shifts(&[1.0; 20], ALPHA), [0; 0]);
    assert_eq!(shifts(&[], ALPHA), [0; 0]);
}
