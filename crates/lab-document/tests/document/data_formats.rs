// SPDX-License-Identifier: Apache-2.0
//! Tests of the formats for programs and spreadsheets with a sample document: CSV, JSON, XML, XLSX and SVG.

use crate::support::sample_data as sample;
use calamine::{Data, Reader, Xlsx};
use lab_document::format::{COLUMNS, csv, json, svg, xlsx, xml};
use lab_document::*;
use lab_document::{ImportLimits, import_xml};
use lab_model::{Metric, Unit};
use proptest::prelude::*;
use std::io::Cursor;

fn workbook(document: &Document) -> Xlsx<Cursor<Vec<u8>>> {
    let bytes = xlsx::render(document).expect("a workbook");
    // `WORKBOOK` saves the workbook to a file for inspection.
    if let Ok(file) = std::env::var("WORKBOOK") {
        std::fs::write(file, &bytes).expect("written");
    }
    Xlsx::new(Cursor::new(bytes)).expect("readable")
}

#[test]
fn rows_are_tidy_csv() {
    let text = csv::render(&sample::document()).expect("CSV");
    insta::assert_snapshot!("csv", text);
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().expect("headings"), &COLUMNS[..]);
    let rows: Vec<::csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
    assert_eq!(rows.len(), sample::document().rows.len());
    assert_eq!(&rows[1][8], "4536");
    assert_eq!(&rows[7][19], "failed: \"no, such\" driver\nstatus 1");
}

#[test]
fn a_document_is_json() {
    let mut document = sample::document();
    // The data of these sections are long and look like the data of the other charts.
    document.sections[0].sections.clear();
    for item in &mut document.sections[0].items {
        if let Item::Chart(Chart {
            drawing: Drawing::Lines(lines),
            ..
        }) = item
        {
            lines.lines.truncate(1);
        }
    }
    let text = json::render(&document).expect("JSON");
    insta::assert_snapshot!("json", text);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["format"], "benchlab-document");
    assert_eq!(value["rows"][1]["ratio"]["high"], 1.1);
    let cells = &value["sections"][0]["items"][1]["table"]["rows"];
    assert!(cells[2][1]["content"].is_null(), "an empty cell is null");
    assert!(cells[2][2]["content"]["value"].is_null(), "no number");
}

#[test]
fn figures_are_xml_that_the_importer_reads() {
    let document = sample::document();
    let text = xml::render(&document);
    insta::assert_snapshot!("xml", text);
    let parsed = roxmltree::Document::parse(&text).expect("XML");
    let figures = parsed
        .descendants()
        .filter(|node| node.has_tag_name("figure"));
    assert_eq!(figures.count(), document.rows.len(), "each row is a figure");
    let imported = import_xml(text.as_bytes(), &ImportLimits::default()).expect("figures");
    let [c, ada, server, java] = imported.as_slice() else {
        panic!("{imported:?}");
    };
    assert_eq!((c.language.as_str(), c.driver.as_str()), ("c", "sqlite"));
    assert_eq!(
        (c.times[0].title.as_str(), c.times[0].time_ns),
        ("select statement=prepared limit 1", 4_200.5)
    );
    assert_eq!(
        (ada.threads, ada.peak_rss_bytes),
        (Some(2), Some(6_291_456))
    );
    let times: Vec<f64> = ada.times.iter().map(|time| time.time_ns).collect();
    assert_eq!(times, [4_536.0, 448_000.0]);
    assert!(
        server.times.is_empty() && java.times.is_empty(),
        "neither file contains times"
    );
}

#[test]
fn a_single_subject_is_a_file_that_earlier_tools_read() {
    let files = xml::per_subject(&sample::document());
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "01-c-sqlite.xml",
            "02-ada-sqlite.xml",
            "03-ada-sqlite.xml",
            "04-java-sqlite.xml"
        ]
    );
    for file in &files {
        let parsed = roxmltree::Document::parse(&file.text).expect("XML");
        assert!(parsed.root_element().has_tag_name("benchmark"));
    }
}

#[test]
fn mean_times_and_counts_are_exchanged_if_known() {
    let row = |metric: Metric, value: f64| Row {
        value: Some(Quantity::exact(value, metric.unit.clone())),
        ..sample::row("ada", "select", metric)
    };
    let operations = Metric::new(
        "operations",
        "operations",
        Unit::Count("operations".into()),
        lab_model::Direction::Neither,
    );
    let document = Document {
        rows: vec![
            row(Metric::WALL, 100.0),
            row(Metric::MEAN_WALL, 120.0),
            row(operations, 5_000.0),
        ],
        ..Document::default()
    };
    let imported =
        import_xml(xml::render(&document).as_bytes(), &ImportLimits::default()).expect("figures");
    let times = &imported[0].times;
    assert_eq!(times.len(), 1);
    assert_eq!(
        (times[0].count, times[0].time_ns, times[0].total_ns),
        (5_000, 120.0, 600_000.0)
    );
}

/// Formats a cell. Numbers get ten digits, because the last digits of a logarithm depend on the
/// compiler.
fn cell_text(cell: &Data) -> String {
    match cell {
        Data::Float(number) => format!("{number:.9e}")
            .parse::<f64>()
            .expect("a number")
            .to_string(),
        other => other.to_string(),
    }
}

#[test]
fn a_workbook_has_the_answer_first_and_every_figure_as_a_number() {
    let mut book = workbook(&sample::document());
    let sheets = [
        "Answer",
        "Times",
        "How it was measured",
        "Data",
        "Chart data",
    ];
    assert_eq!(book.sheet_names(), sheets);
    let data = book.worksheet_range("Data").expect("a sheet");
    let headings: Vec<String> = data
        .rows()
        .next()
        .expect("a row")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(headings, COLUMNS);
    assert_eq!(data.get_value((2, 8)), Some(&Data::Float(4_536.0)));
    assert_eq!(data.get_value((2, 12)), Some(&Data::Float(1.08)));
    assert_eq!(
        data.get_value((8, 1)),
        Some(&Data::String("=java()".into()))
    );
    let mut text = String::new();
    for name in sheets {
        let range = book.worksheet_range(name).expect("a sheet");
        text += &format!("== {name}\n");
        for row in range.rows() {
            let cells: Vec<String> = row.iter().map(cell_text).collect();
            text += &format!("{}\n", cells.join(" | ").trim_end_matches([' ', '|']));
        }
        let formulas = book.worksheet_formula(name).expect("formulas");
        assert!(
            formulas.cells().all(|(_, _, formula)| formula.is_empty()),
            "{name}"
        );
    }
    insta::assert_snapshot!("xlsx", text);
}

#[test]
fn names_of_sheets_are_valid_and_unique() {
    let long = "数据🙂".repeat(40);
    let mut document = Document::default();
    for title in ["Times", "times", "a/b: [c]?*\\", "'''", "History", &long] {
        let mut section = Section::new(title);
        section.text("A text.");
        document.section(section);
    }
    let names = workbook(&document).sheet_names();
    let expected = ["Answer", "Times", "times 2", "a b   c", "2", "History 2"];
    assert_eq!(names[..6], expected);
    assert!(names[6].encode_utf16().count() <= 31, "{names:?}");
}

#[test]
fn the_answer_s_chart_is_native_in_the_workbook_and_the_others_are_tables() {
    let drawings = [
        sample::forest(),
        sample::sweep(),
        sample::bars(),
        sample::distribution(Scale::Percentiles),
        sample::heat(),
    ];
    for chart in drawings {
        let is_heat_map = matches!(chart.drawing, Drawing::Heat(_));
        let mut document = sample::document();
        document.answer.chart = Some(chart);
        let bytes = xlsx::render(&document).expect("a workbook");
        let files = String::from_utf8_lossy(&bytes);
        assert_eq!(files.contains("xl/charts/chart1.xml"), !is_heat_map);
        assert!(!files.contains("xl/charts/chart2.xml"));
    }
}

#[test]
fn every_chart_is_a_file() {
    let mut document = sample::document();
    document.sections[0].push(sample::forest());
    let files = svg::files(&document).expect("files");
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    let expected = [
        "answer.svg",
        "throughput.svg",
        "cpu.svg",
        "answer-2.svg",
        "parts.svg",
        "heat.svg",
        "percentiles.svg",
        "spread.svg",
    ];
    assert_eq!(names, expected);
}

#[test]
fn an_empty_document_has_every_format() {
    let document = Document::default();
    assert_eq!(csv::render(&document).expect("CSV").lines().count(), 1);
    assert!(json::render(&document).is_ok() && svg::files(&document).expect("files").is_empty());
    assert!(roxmltree::Document::parse(&xml::render(&document)).is_ok());
    assert_eq!(workbook(&document).sheet_names(), ["Answer", "Data"]);
}

/// Generates text that XML, spreadsheets and file names do not allow.
fn hostile() -> impl Strategy<Value = String> {
    let nasty = prop::sample::select(vec![
        "=1+2",
        "@SUM(A1)",
        "\u{0}\u{1b}[2J",
        "]]>",
        "</svg>",
        "&amp;",
        "<script>",
        "'",
        "\u{202e}rtl",
        "数据🙂",
        "\u{ffff}",
        "a\"b,c\n",
        "",
        "History",
        "[x]:*?/\\",
    ]);
    (nasty, ".{0,60}").prop_map(|(nasty, any)| format!("{nasty}{any}"))
}

fn number() -> impl Strategy<Value = f64> {
    let odd = prop::sample::select(vec![
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        f64::MIN_POSITIVE,
        0.0,
        -0.0,
        -1.0,
        1.0,
        1e300,
        1e-300,
    ]);
    prop_oneof![odd, any::<f64>(), 0.0..1e6]
}

fn quantity() -> impl Strategy<Value = Quantity> {
    let units = prop::sample::select(vec![
        Unit::Nanoseconds,
        Unit::Bytes,
        Unit::PerSecond("requests".into()),
        Unit::Count("rows".into()),
        Unit::Share,
        Unit::Ratio,
    ]);
    (number(), number(), number(), units)
        .prop_map(|(low, value, high, unit)| sample::estimate(low, value, high, unit))
}

/// Returns the sample document with all names and numbers replaced.
fn spoilt(name: &str, quantities: &[Quantity]) -> Document {
    let mut document = sample::document();
    let mut next = quantities.iter().cycle().cloned();
    let mut quantity = move || next.next().expect("a quantity");
    let mut drawings = vec![
        sample::sweep(),
        sample::steps(),
        sample::forest(),
        sample::bars(),
        sample::parts_chart(),
        sample::heat(),
    ];
    drawings.extend([
        sample::distribution(Scale::Linear),
        sample::distribution(Scale::Percentiles),
    ]);
    for chart in &mut drawings {
        (chart.id, chart.title, chart.caption) = (name.into(), name.into(), name.into());
        match &mut chart.drawing {
            Drawing::Lines(lines) => {
                for line in &mut lines.lines {
                    line.name = name.into();
                    line.points
                        .iter_mut()
                        .for_each(|point| *point = (quantity().value, quantity()));
                }
            }
            Drawing::Bars(bars) => {
                for row in &mut bars.rows {
                    (row.name, row.group, row.total) = (name.into(), name.into(), quantity());
                    row.parts
                        .iter_mut()
                        .for_each(|part| part.value = quantity());
                }
            }
            Drawing::Forest(forest) => {
                (forest.reference, forest.margin) = (quantity().value, Some(quantity().value));
                for row in forest.groups.iter_mut().flat_map(|group| &mut group.rows) {
                    (row.name, row.label, row.value) = (name.into(), name.into(), quantity());
                }
            }
            Drawing::Heat(maps) => {
                for column in maps.maps.iter_mut().flat_map(|map| &mut map.columns) {
                    column.label = name.into();
                    column
                        .counts
                        .iter_mut()
                        .for_each(|count| count.0 = quantity().value);
                }
            }
            Drawing::Flame(flame) => flame.stacks = vec![(vec![name.into(), name.into()], 7)],
            Drawing::Distribution(distribution) => {
                for line in &mut distribution.lines {
                    line.name = name.into();
                    line.counts
                        .iter_mut()
                        .for_each(|count| count.0 = quantity().value);
                }
            }
        }
    }
    let mut section = Section::new(name);
    drawings.into_iter().for_each(|chart| section.push(chart));
    section.text(name);
    let mut table = Table::new(name, [name, "figure"]);
    table.row(vec![name.into(), Cell::from(quantity()).with_note(name)]);
    section.push(table);
    document.sections.extend([section.clone(), section]);
    document.title = name.into();
    document.answer.findings[0].text = name.into();
    for row in &mut document.rows {
        (row.subject, row.case, row.note) = (name.into(), name.into(), name.into());
        row.params = vec![(name.into(), name.into())];
        (row.value, row.ratio, row.p) =
            (Some(quantity()), Some(quantity()), Some(quantity().value));
    }
    document
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn hostile_names_and_numbers_break_nothing(
        name in hostile(),
        quantities in prop::collection::vec(quantity(), 7..30),
    ) {
        let document = spoilt(&name, &quantities);
        for file in svg::files(&document).expect("drawings") {
            prop_assert!(roxmltree::Document::parse(&file.text).is_ok(), "{}", file.name);
            let drawn = file.text.split_once("</desc>").map_or("", |(_, drawn)| drawn);
            let attributes = roxmltree::Document::parse(&file.text).expect("XML");
            let numbers = attributes.descendants().flat_map(|node| node.attributes().collect::<Vec<_>>());
            let odd = numbers.filter(|a| a.value().contains("NaN") || a.value().contains("inf")).count();
            prop_assert!(!drawn.is_empty() && odd == 0, "{}", file.name);
        }
        let parsed: serde_json::Value = serde_json::from_str(&json::render(&document).expect("JSON")).expect("JSON");
        prop_assert_eq!(parsed["title"].as_str(), Some(name.as_str()));
        let text = csv::render(&document).expect("CSV");
        let rows: Vec<::csv::StringRecord> = ::csv::Reader::from_reader(text.as_bytes()).records().collect::<Result<_, _>>().expect("rows");
        prop_assert_eq!(rows.len(), document.rows.len());
        prop_assert_eq!(&rows[0][1], name.as_str());
        prop_assert!(rows.iter().all(|row| row[8].is_empty() || row[8].parse::<f64>().is_ok_and(f64::is_finite)));
        let text = xml::render(&document);
        prop_assert!(import_xml(text.as_bytes(), &ImportLimits::default()).is_ok(), "{}", text);
        let mut book = workbook(&document);
        for sheet in book.sheet_names() {
            prop_assert!(sheet.encode_utf16().count() <= 31);
            let formulas = book.worksheet_formula(&sheet).expect("formulas");
            prop_assert!(formulas.cells().all(|(_, _, formula)| formula.is_empty()));
        }
    }
}
