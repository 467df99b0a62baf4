// SPDX-License-Identifier: Apache-2.0
//! Writes and checks the table in `docs/statistics.md` of the number of blocks needed for each
//! level.
//!
//! `UPDATE_DOCS=1 cargo test --release -p lab-stats` writes the table.

use crate::documents;
use crate::simulator;
use lab_stats::outlook::{Certainty, Open, Outlook, SAME_ALPHA};
use lab_stats::{family, spending};

#[test]
fn the_page_says_how_many_blocks_each_level_needs() {
    let run = simulator::run(&simulator::CALM, 1, 40);
    let plan = run.plan().unwrap().clone();
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
        "no interim analysis",
        "one (10 blocks), went on",
        "stopped at 10 or 20",
        "at 40",
        "at 80",
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

/// The comparison is known almost exactly, so only the number of blocks of the new run matters.
#[test]
fn the_page_says_how_many_blocks_a_difference_needs() {
    let outlook = Outlook::new(SAME_ALPHA);
    let margin = |part: f64| (1.0 - part).ln()..(1.0 + part).ln();
    let blocks = |scatter: f64, difference: Option<f64>, family: u32| {
        // So many blocks that their error is negligible compared with the error of a new run.
        let values = 1_000_000;
        let open = Open {
            estimate: difference.map_or(0.0, |d| (1.0 + d).ln()),
            certainty: Certainty {
                error: scatter / f64::from(values).sqrt(),
                freedom: f64::from(values),
                borrowed: 0.0,
                family,
                alpha: 0.05,
            },
            values: (values, 1),
            least: 2,
            difference: 0.0..0.0,
            equivalence: match difference {
                None => margin(0.02),
                Some(_) => 0.0..0.0,
            },
        };
        outlook.blocks(&open).unwrap().to_string()
    };
    let differences = [None, Some(0.02), Some(0.05), Some(0.1), Some(0.2)];
    let rows: Vec<Vec<String>> = [0.01, 0.02, 0.03, 0.05, 0.1]
        .iter()
        .map(|&scatter| {
            let cell = |&d: &Option<f64>| {
                format!("{} ({})", blocks(scatter, d, 1), blocks(scatter, d, 60))
            };
            let cells = differences.iter().map(cell);
            std::iter::once(documents::percent(scatter))
                .chain(cells)
                .collect()
        })
        .collect();
    let columns = [
        "scatter of a block's ratio",
        "equal within 2 %",
        "2 %",
        "5 %",
        "10 %",
        "20 %",
    ];
    let table = documents::table(&columns, &rows);
    documents::update_page(BLOCKS_PAGE, "blocks-needed", &table);
    assert_eq!(
        documents::published_on(BLOCKS_PAGE, "blocks-needed"),
        table,
        "run the command above and commit the page"
    );
}

const BLOCKS_PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/blocks.md");
