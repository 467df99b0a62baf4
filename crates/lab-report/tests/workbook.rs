// SPDX-License-Identifier: Apache-2.0
//! The workbook, opened by LibreOffice and read back: numbers are numbers, equal to the analysis, and
//! the charts are there.

mod support;

use calamine::{Data, Reader, Xlsx, open_workbook};
use lab_report::{Format, Rendered, Terminal, render, xlsx};
use std::path::{Path, PathBuf};
use std::process::Command;

fn bytes(run: &lab_model::Run, analysis: &lab_stats::analysis::Analysis) -> Vec<u8> {
    let others = [support::imported()];
    let report = support::report(run, analysis, &others);
    match render(Format::Xlsx, &report, Terminal::default()).expect("a workbook") {
        Rendered::Bytes(bytes) => bytes,
        other => panic!("not bytes: {other:?}"),
    }
}

/// Opens a workbook in LibreOffice and saves it again, in a profile that is gone afterwards.
fn through_libreoffice(folder: &Path, book: &Path) -> PathBuf {
    let out = folder.join("out");
    let output = Command::new("soffice")
        .arg(format!(
            "-env:UserInstallation=file://{}/profile",
            folder.display()
        ))
        .args([
            "--headless",
            "--norestore",
            "--convert-to",
            "xlsx:Calc MS Excel 2007 XML",
            "--outdir",
        ])
        .arg(&out)
        .arg(book)
        .output()
        .expect(
            "soffice cannot be started; install it with: apt-get install libreoffice-calc-nogui",
        );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    out.join(book.file_name().expect("a name"))
}

#[test]
fn libreoffice_reads_numbers_as_numbers_and_keeps_the_charts() {
    let (run, analysis) = support::sample(24);
    let folder = tempfile::tempdir().expect("a folder");
    let book = folder.path().join("report.xlsx");
    std::fs::write(&book, bytes(&run, &analysis)).expect("written");
    let back = through_libreoffice(folder.path(), &book);
    let mut book: Xlsx<_> = open_workbook(&back).expect("what LibreOffice saved");
    assert_eq!(
        book.sheet_names(),
        [&xlsx::SHEETS[..], &[xlsx::IMPORTED]].concat()
    );

    let times = book.worksheet_range("Times").expect("the times");
    let row = times.rows().find(|r| {
        text(&r[0]) == "ada"
            && text(&r[1]) == "select"
            && text(&r[2]) == "statement=text"
            && number(&r[4]) == 500.0
    });
    let row = row.expect("ada's select of 500 rows");
    let plan = run.plan.as_ref().expect("a plan");
    let cell = analysis
        .cells
        .iter()
        .find(|c| c.subject == 2 && plan.label(c.point) == "select limit=500 statement=text")
        .expect("its cell");
    for (column, value) in [
        (7, cell.wall_ns.estimate),
        (8, cell.wall_ns.low),
        (9, cell.wall_ns.high),
        (14, cell.cpu_ns.estimate),
    ] {
        assert!(
            (number(&row[column]) - value).abs() <= value * 1e-12,
            "column {column}: {:?} and {value}",
            row[column]
        );
    }
    assert!(
        times
            .rows()
            .next()
            .is_some_and(|head| head.iter().all(|c| matches!(c, Data::String(_))))
    );

    let ratios = book
        .worksheet_range("Comparisons")
        .expect("the comparisons");
    assert_eq!(
        ratios.height(),
        1 + analysis.comparisons.len() + analysis.controls.len()
    );
    assert!(
        ratios
            .rows()
            .skip(1)
            .all(|r| matches!(r[7], Data::Float(_) | Data::Int(_)))
    );

    let charts = names(&back)
        .into_iter()
        .filter(|n| n.starts_with("xl/charts/chart"))
        .count();
    assert_eq!(charts, 5, "three sweeps, memory, CPU");
}

#[test]
fn names_from_a_run_do_not_become_formulas() {
    let (mut run, analysis) = support::sample(3);
    run.plan.as_mut().expect("a plan").subjects[2].name = "=1+1".into();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("report.xlsx");
    std::fs::write(&path, bytes(&run, &analysis)).expect("written");
    let mut book: Xlsx<_> = open_workbook(&path).expect("the workbook");
    let times = book.worksheet_range("Times").expect("the times");
    assert!(times.rows().any(|r| text(&r[0]) == "=1+1"));
    assert_eq!(
        book.worksheet_formula("Times")
            .expect("formulas")
            .cells()
            .filter(|c| !c.2.is_empty())
            .count(),
        0
    );
}

fn text(cell: &Data) -> &str {
    match cell {
        Data::String(text) => text,
        _ => "",
    }
}

fn number(cell: &Data) -> f64 {
    match cell {
        Data::Float(number) => *number,
        Data::Int(number) => *number as f64,
        _ => f64::NAN,
    }
}

/// The names of the files within a workbook, from its directory: names follow their local headers.
fn names(path: &Path) -> Vec<String> {
    let bytes = std::fs::read(path).expect("the workbook");
    let entry = |at: usize| {
        let length = u16::from_le_bytes([bytes[at + 28], bytes[at + 29]]) as usize;
        String::from_utf8_lossy(&bytes[at + 46..at + 46 + length]).into_owned()
    };
    bytes
        .windows(4)
        .enumerate()
        .filter(|(_, w)| *w == b"PK\x01\x02")
        .map(|(at, _)| entry(at))
        .collect()
}
