// SPDX-License-Identifier: Apache-2.0
//! Checks that the individual records add up to the tally's counts, even if their pages were
//! renamed.

use lab_logs::{Entry, Records, Rules, Tally};
use lab_model::LineCounts;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Row, RowAccessor};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;

fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| row.unwrap()).collect()
}

/// The number of requests, their total time in ns, and the bytes, by the kind and the name of the
/// page in the report.
type Sums = BTreeMap<(String, String), (u64, u64, u64)>;

fn of_records(folder: &Path) -> Sums {
    let text = |row: &Row, at| row.get_string(at).unwrap().clone();
    let pages = rows(&folder.join("pages.parquet"));
    let pages: Vec<_> = pages
        .iter()
        .map(|row| [0, 1, 2].map(|at| text(row, at)))
        .collect();
    let count = pages.len();
    let names: BTreeMap<_, _> = pages
        .into_iter()
        .map(|[kind, page, name]| ((kind, page), name))
        .collect();
    assert_eq!(names.len(), count, "each page is listed once");
    let mut sums = Sums::new();
    for file in fs::read_dir(folder.join("records")).unwrap() {
        for row in rows(&file.unwrap().path()) {
            let (kind, page) = (text(&row, 3), text(&row, 4));
            let name = names[&(kind.clone(), page)].clone();
            let sum = sums.entry((kind, name)).or_default();
            sum.0 += 1;
            sum.1 += row.get_long(7).unwrap_or(0) as u64;
            sum.2 += row.get_long(6).unwrap() as u64;
        }
    }
    sums
}

fn of_tally(tally: &mut Tally) -> Sums {
    let analysis = tally.analysis(Vec::new(), LineCounts::default());
    let word = |kind| {
        serde_json::to_value(kind)
            .unwrap()
            .as_str()
            .unwrap()
            .to_lowercase()
    };
    let pages = analysis.pages.iter();
    let pages = pages.map(|p| {
        (
            (word(p.kind), p.name.clone()),
            (p.requests, p.total_ns, p.bytes),
        )
    });
    pages.collect()
}

/// Uses more pages than are counted individually, so pages are merged during reading and again at
/// the end.
///
/// Before the first merge, some pages had only requests with 404.
#[test]
fn records_add_up_although_pages_are_merged() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("requests");
    let mut tally = Tally::new(Rules::default());
    tally.keep_records(Records::create(&folder).unwrap());
    for log in ["one", "two"] {
        tally.begin_log(log);
        for i in 0_u64..90_000 {
            let late = u64::from(log == "two");
            let path = match i % 4 {
                0 => "/start".to_owned(),
                1 => format!("/gone/x{}", i * 2 + late),
                _ => format!("/shop/name{}q", i * 2 + late),
            };
            tally.add(&Entry {
                time_s: Some(1_777_586_400 + i as i64),
                duration_ns: (i % 3 > 0).then_some(1_000 + i),
                method: b"GET",
                target: path.as_bytes(),
                status: if i % 4 == 1 { 404 } else { 200 },
                bytes: i,
                ..Entry::default()
            });
        }
    }
    let counted = of_tally(&mut tally);
    tally.end_records().unwrap();
    let sums = of_records(&folder);
    assert!(
        sums.len() < 100,
        "variable segments must be learned: {}",
        sums.len()
    );
    assert_eq!(sums, counted);
    // A directory can be used only once.
    assert!(Records::create(&folder).is_err());
}

#[test]
fn write_errors_are_reported_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut tally = Tally::new(Rules::default());
    tally.keep_records(Records::create(folder.path()).unwrap());
    tally.add(&Entry {
        target: b"/",
        ..Entry::default()
    });
    fs::remove_dir(folder.path().join("records")).unwrap();
    tally.end_records().unwrap_err();
    assert_eq!(tally.entries(), 1);
    // Without records, there is nothing to finish.
    Tally::new(Rules::default()).end_records().unwrap();
}
