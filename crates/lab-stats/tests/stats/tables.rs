// SPDX-License-Identifier: Apache-2.0
//! The table of blocks that levels need, in `docs/statistics.md`.
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats` writes it.

use crate::documents;
use crate::simulator;
use lab_stats::{family, spending};

#[test]
fn the_page_says_how_many_blocks_each_level_needs() {
    let run = simulator::run(&simulator::CALM, 1, 40);
    let plan = run.plan.unwrap();
    let spent = |blocks| plan.measure.alpha * spending::spent(&plan, blocks);
    let alphas = [
        plan.measure.alpha,
        plan.measure.alpha - spent(10),
        spent(10),
        spent(40) - spent(20),
        spent(80) - spent(40),
    ];
    let blocks = |alpha: &f64| family::blocks_needed(*alpha, 1).unwrap().to_string();
    let columns = [
        "no look before the end",
        "one look (10) went on",
        "look at 10 or 20",
        "look at 40",
        "look at 80",
    ];
    let rows = [alphas.iter().map(blocks).collect::<Vec<String>>()];
    let table = documents::table(&columns, &rows);
    documents::update("blocks", &table);
    assert_eq!(
        documents::published("blocks"),
        table,
        "run the command above and commit the page"
    );
}
