// SPDX-License-Identifier: Apache-2.0
//! Tests of how quantities are formatted for people.

use lab_document::format::quantity::{
    alone, common_magnitude, integer, label, level, parts, sentence, short, tick,
};
use lab_document::{Precision, Quantity};
use lab_model::Unit;

const TIME: Unit = Unit::Nanoseconds;

fn within(low: f64, value: f64, high: f64, unit: Unit) -> Quantity {
    Quantity {
        value,
        unit,
        precision: Precision::Within {
            low,
            high,
            level: 0.95,
        },
    }
}

fn requests() -> Unit {
    Unit::PerSecond("requests".into())
}

#[test]
fn digits_follow_the_interval() {
    let narrow = within(12_290.0, 12_341.7, 12_410.0, TIME);
    assert_eq!(sentence(&narrow), "12.34 µs (12.29 to 12.41)");
    assert_eq!(alone(&narrow), "12.34 µs");
    let wide = within(9_000.0, 12_341.7, 16_000.0, TIME);
    assert_eq!(sentence(&wide), "12 µs (9 to 16)");
    let ratio = within(1.0081, 1.0132, 1.0193, Unit::Ratio);
    assert_eq!(sentence(&ratio), "1.013 (1.008 to 1.019)");
}

#[test]
fn nonzero_values_are_not_written_as_0() {
    let magnitudes = within(410e3, 549e3, 555_745e3, TIME);
    assert_eq!(sentence(&magnitudes), "549 µs (410 µs to 556 ms)");
    let little = within(0.0, 3.0, 549_917.0, TIME);
    assert_eq!(sentence(&little), "3.00 ns (0 ns to 550 µs)");
    assert_eq!(alone(&Quantity::exact(0.99996, Unit::Share)), "99.996 %");
    assert_eq!(alone(&Quantity::exact(0.00042, Unit::Share)), "0.0420 %");
}

#[test]
fn nothing_is_written_in_the_unit_of_its_interval() {
    let system = within(0.0, 0.0, 549_917.0, TIME);
    assert_eq!(sentence(&system), "0 µs (0 to 550)");
    let around = within(-20.0, -0.001, 20.0, TIME);
    assert_eq!(sentence(&around), "0 ns (-20 to 20)");
}

#[test]
fn bytes_per_second_use_powers_of_1000() {
    let disk = within(1.1e9, 1.24e9, 1.32e9, Unit::PerSecond("bytes".into()));
    assert_eq!(sentence(&disk), "1.24 GB/s (1.10 to 1.32)");
    let link = Quantity::exact(125e3, Unit::PerSecond("bytes".into()));
    assert_eq!(short(&link), "125 kB/s");
}

#[test]
fn a_column_has_one_magnitude_where_its_values_allow_it() {
    let column = [
        Quantity::exact(229e3, TIME),
        within(0.0, 0.0, 549_917.0, TIME),
        within(1.8e6, 3.4e6, 3.41e6, TIME),
        within(2_000.0, 2_500.0, 90_000.0, TIME),
    ];
    let magnitude = common_magnitude(&TIME, &column).unwrap();
    assert_eq!(magnitude.name, "µs");
    let written: Vec<String> = column
        .iter()
        .map(|q| parts(q, Some(&magnitude)))
        .map(|(value, interval)| format!("{value} {interval}"))
        .collect();
    assert_eq!(
        written,
        [
            "229 ",
            "0 [0, 550]",
            "3,400 [1,800, 3,410]",
            "2.50 [2.00, 90.0]"
        ]
    );
    let apart = [5.0, 5e9].map(|v| Quantity::exact(v, TIME));
    assert_eq!(common_magnitude(&TIME, &apart), None);
    assert_eq!(common_magnitude(&Unit::Bytes, &apart), None);
}

#[test]
fn rates_and_counts_are_written_out() {
    let rate = within(40_912.3, 41_234.4, 41_498.0, requests());
    assert_eq!(sentence(&rate), "41,200 requests/s (40,900 to 41,500)");
    assert_eq!(label(&rate), "41,200/s (40,900 to 41,500)");
    assert_eq!(short(&rate), "41,200/s");
    let low = within(9.91, 10.02, 10.11, requests());
    assert_eq!(alone(&low), "10.02 requests/s");
    let reading = Quantity::exact(1_234_567.0, requests());
    assert_eq!(alone(&reading), "1,230,000 requests/s");
    let threads = Unit::Count("threads".into());
    assert_eq!(
        alone(&Quantity::exact(1_234_567.0, threads)),
        "1,234,567 threads"
    );
    assert_eq!(
        [integer(0), integer(999), integer(1_000)],
        ["0", "999", "1,000"]
    );
}

#[test]
fn units_follow_the_size() {
    let time = |ns| alone(&Quantity::exact(ns, TIME));
    assert_eq!(
        [1.5e9, 250.0, 0.0, 999.7].map(time),
        ["1.50 s", "250 ns", "0 ns", "1.00 µs"]
    );
    assert_eq!(alone(&within(6e6, 6.1e6, 6.2e6, Unit::Bytes)), "5.82 MiB");
    let ticks = [0.0, 0.5, 1.025, 20.0].map(|v| tick(v, &Unit::Ratio, v));
    assert_eq!(ticks, ["0", "0.5", "1.025", "20"]);
    assert_eq!(tick(1_500.0, &TIME, 1_500.0), "1.5 µs");
    assert_eq!(tick(500e3, &TIME, 2e6), "0.5 ms");
    assert_eq!(tick(20_000.0, &requests(), 20_000.0), "20,000/s");
    // The values of a sweep are the user's own numbers.
    let rows = Unit::Count("rows".into());
    let ticks = [65_536.0, 1_048_576.0, 0.5].map(|v| tick(v, &rows, v));
    assert_eq!(ticks, ["65,536", "1,048,576", "0.5"]);
}

#[test]
fn a_missing_interval_is_stated() {
    let none = Quantity {
        value: 1234.0,
        unit: TIME,
        precision: Precision::Within {
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            level: 0.0,
        },
    };
    assert_eq!(sentence(&none), "1.23 µs (no interval)");
    let ratio = within(9.69e-7, 3.39, 11_888_315.0, Unit::Ratio);
    assert_eq!(sentence(&ratio), "3.39 (very uncertain)");
    assert_eq!(parts(&ratio, None), ("3.39".into(), "(very wide)".into()));
    let time = within(1e-15, 230.0, 4e28, TIME);
    assert_eq!(sentence(&time), "230 ns (very uncertain)");
    assert_eq!(alone(&Quantity::exact(1e300, Unit::Ratio)), "1.0e300");
    assert_eq!(alone(&Quantity::exact(f64::NAN, Unit::Ratio)), "?");
}

#[test]
fn levels_are_never_rounded_up() {
    assert_eq!(
        [0.95, 0.9875, 0.02, 0.99999].map(level),
        ["95 %", "98.75 %", "2 %", "99.99 %"]
    );
}
