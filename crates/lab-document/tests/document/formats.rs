// SPDX-License-Identifier: Apache-2.0
//! Snapshots of documents in the text formats, and properties that hold for any document.

use crate::support::sample_data as data;
use crate::support::sample_document as sample;
use lab_document::format::html;
use lab_document::format::markdown;
use lab_document::format::quantity;
use lab_document::{
    Answer, Axis, Band, BarPart, BarRow, Bars, Cell, Chart, Column, Document, Drawing, Finding,
    HeatColumn, HeatMap, HeatMaps, Item, Line, Lines, Quantity, Scale, Section, Stroke, Table,
    Tone,
};
use lab_document::{Terminal, format::terminal};
use lab_model::Unit;
use proptest::prelude::*;
use scraper::{Html, Selector};
use unicode_width::UnicodeWidthStr;

fn on_terminal(document: &Document, width: usize, full: bool) -> String {
    let terminal = Terminal {
        width,
        color: false,
        full,
    };
    terminal::render(document, terminal)
}

#[test]
fn the_first_screen() {
    insta::assert_snapshot!(on_terminal(&sample::rich(), 80, false));
}

#[test]
fn all_of_it_on_a_terminal() {
    insta::assert_snapshot!(on_terminal(&sample::rich(), 80, true));
}

#[test]
fn hostile_text_on_a_terminal() {
    let screen = on_terminal(&sample::hostile(), 80, false);
    insta::assert_snapshot!(screen);
}

#[test]
fn warnings_that_ask_for_action_are_shown_once_and_the_others_are_counted() {
    let screen = |warnings: &[(&str, Tone)]| {
        let mut section = Section::new("Warnings");
        for (label, tone) in warnings {
            section.push(Finding::new(*label, "There are no counters here.", *tone));
        }
        let mut document = Document::default();
        document.section(section);
        on_terminal(&document, 80, false)
    };
    let (alarm, note) = (Tone::Alarm, Tone::Inconclusive);
    let shown = screen(&[
        ("host", alarm),
        ("late", alarm),
        ("host", alarm),
        ("versions", note),
    ]);
    assert_eq!(
        shown.matches("host: There are no counters here.").count(),
        1,
        "{shown}"
    );
    assert!(
        shown.contains("\nlate: There are no counters here.\n"),
        "{shown}"
    );
    assert!(!shown.contains("versions"), "{shown}");
    assert!(
        shown.contains("All tables and 2 other warnings: --full."),
        "{shown}"
    );
    let notes = screen(&[("versions", note)]);
    assert!(
        notes.contains("All tables and 1 warning: --full."),
        "{notes}"
    );
    let four = screen(&[("a", alarm), ("b", alarm), ("c", alarm), ("d", alarm)]);
    assert!(
        !four.contains("d: There") && four.contains("1 other warning"),
        "{four}"
    );
    assert!(!screen(&[]).contains("warning"));
    // A warning is shown in full, and a copy without a label is the same warning.
    let long = "A long warning. ".repeat(20);
    let mut section = Section::new("Warnings");
    section.push(Finding::new("host", &long, alarm));
    section.push(Finding::new("", &long, alarm));
    let mut document = Document::default();
    document.section(section);
    let text = on_terminal(&document, 80, false);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.matches("A long warning.").count(), 20, "{text}");
}

#[test]
fn a_split_table_repeats_the_column_that_names_its_rows() {
    let heads = ["point", "subject"].map(Column::from).into_iter();
    let counts =
        (1..=6).map(|n| Column::with_unit(format!("what is counted as number {n}"), Unit::Ratio));
    let mut table = Table::new("Counted", heads.chain(counts));
    let points = ["one", "two", "three"].into_iter();
    let rows = points.flat_map(|point| ["go", "rust", "ada"].map(|subject| (point, subject)));
    let rows: Vec<_> = rows.collect();
    for &(point, subject) in &rows {
        let figures = (1..=6).map(|n| Quantity::exact(f64::from(n), Unit::Ratio).into());
        let names = [point, subject].map(Cell::from).into_iter();
        table.row(names.chain(figures).collect());
    }
    let mut document = Document::default();
    let mut section = Section::new("Case");
    section.table(table);
    document.section(section);
    let screen = on_terminal(&document, 60, true);
    let parts = |(point, subject): (&str, &str)| {
        let begins = |line: &&str| line.split_whitespace().take(2).eq([point, subject]);
        screen.lines().filter(begins).count()
    };
    assert!(parts(rows[0]) > 1, "{screen}");
    for row in rows {
        assert_eq!(parts(row), parts(("one", "go")), "{screen}");
    }
}

/// A heat map with few values per column becomes one line per map, with the axis and its title
/// below.
#[test]
fn a_map_of_single_values_has_a_row_and_an_axis() {
    let columns = (0..40).map(|second| HeatColumn {
        label: format!("{second}.4 s"),
        counts: vec![(1e6, 2), (f64::from(second) * 1e6 + 2e6, 1)],
    });
    let columns: Vec<HeatColumn> = columns.collect();
    let map = |name: &str, color| HeatMap {
        name: name.into(),
        color,
        unit: Unit::Count("steps".into()),
        columns: columns.clone(),
    };
    let document = Document {
        answer: Answer {
            chart: Some(Chart {
                id: "stalls".into(),
                title: "the longest operation".into(),
                caption: String::new(),
                drawing: Drawing::Heat(HeatMaps {
                    axis: Axis::new("longest operation", Unit::Nanoseconds, Scale::Log),
                    columns: "time measured".into(),
                    maps: vec![map("none", 0), map("mq-deadline", 1)],
                }),
            }),
            ..Answer::default()
        },
        ..Document::default()
    };
    let screen = on_terminal(&document, 80, false);
    let begins = |name: &str| screen.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((begins("none"), begins("mq-deadline")), (1, 1), "{screen}");
    let axis = screen.lines().find(|line| line.contains("time measured"));
    let words: Vec<&str> = axis.expect("an axis").split_whitespace().collect();
    assert_eq!(
        words,
        ["0.4", "s", "39.4", "s", "time", "measured"],
        "{screen}"
    );
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for document in [sample::rich(), sample::hostile(), Document::default()] {
        for width in [40, 60, 80, 132] {
            let text = on_terminal(&document, width, true);
            for line in text.lines() {
                assert!(line.width() <= width, "{width}: {} {line}", line.width());
                assert!(!line.contains(char::is_control), "{line:?}");
            }
        }
    }
}

#[test]
fn markdown_with_tables_for_charts() {
    insta::assert_snapshot!(markdown::render(&sample::rich()));
}

#[test]
fn hostile_text_in_markdown() {
    insta::assert_snapshot!(markdown::render(&sample::hostile()));
}

#[test]
fn a_page() {
    let page = html::render(&sample::rich()).unwrap();
    // The style sheet and the drawings have their own tests.
    let parts = page
        .split("<style>")
        .flat_map(|part| part.split("</style>"));
    let body: String = parts.step_by(2).collect();
    let mut page_text = String::new();
    for part in body.split("<svg") {
        let after = part.split_once("</svg>").map_or(part, |(_, after)| after);
        page_text += if page_text.is_empty() { part } else { after };
    }
    insta::assert_snapshot!(page_text.replace("><", ">\n<"));
}

#[test]
fn a_page_runs_and_loads_nothing() {
    for document in [sample::rich(), sample::hostile(), Document::default()] {
        let text = html::render(&document).unwrap();
        assert!(!text.contains(|c: char| c.is_control() && c != '\n'));
        let page = Html::parse_document(&text);
        assert!(
            page.errors.iter().all(|e| !e.contains("Unexpected")),
            "{:?}",
            page.errors
        );
        let elements = |css: &str| page.select(&Selector::parse(css).unwrap()).count();
        assert_eq!(elements("script, link, img, iframe, object, base, form"), 0);
        assert_eq!(
            elements("[onerror], [onload], [onclick], [src], [style]"),
            0
        );
        assert_eq!(elements("meta[http-equiv=Content-Security-Policy]"), 1);
        assert_eq!(elements("thead th:not([scope]), tbody th:not([scope])"), 0);
        for link in page.select(&Selector::parse("a").unwrap()) {
            let target = link
                .attr("href")
                .and_then(|href| href.strip_prefix('#'))
                .unwrap();
            assert_eq!(elements(&format!("[id={target}]")), 1, "{target}");
        }
    }
}

#[test]
fn a_bar_of_0_has_no_length() {
    let mut chart = sample::bars();
    let Drawing::Bars(bars) = &mut chart.drawing else {
        panic!("bars");
    };
    for row in &mut bars.rows {
        row.total = Quantity::exact(0.0, row.total.unit.clone());
        row.parts.clear();
    }
    let document = Document {
        answer: Answer {
            chart: Some(chart),
            ..Answer::default()
        },
        ..sample::rich()
    };
    let screen = on_terminal(&document, 80, false);
    assert!(!screen.contains('█') && !screen.contains("-20"), "{screen}");
}

/// Returns a document whose only content is a chart.
fn with_chart(chart: Chart) -> Document {
    let mut section = Section::new("Chart");
    section.push(chart);
    let mut document = Document::default();
    document.section(section);
    document
}

fn lines_chart(lines: Vec<Line>) -> Document {
    let rate = Unit::PerSecond("requests".into());
    with_chart(data::chart(
        "lines",
        "Lines",
        "Lines.",
        Drawing::Lines(Lines {
            x: Axis::new("n", Unit::Count("n".into()), Scale::Log),
            y: Axis::new("rate", rate, Scale::Log),
            lines,
        }),
    ))
}

fn line(name: &str, stroke: Stroke, points: &[(f64, f64)]) -> Line {
    let point = |(x, y): &(f64, f64)| (*x, Quantity::exact(*y, Unit::PerSecond("requests".into())));
    Line {
        name: name.into(),
        color: 0,
        stroke,
        points: points.iter().map(point).collect(),
        band: Band::Hidden,
    }
}

/// Returns the cells of the rows of the first Markdown table.
fn markdown_rows(document: &Document) -> Vec<Vec<String>> {
    let text = markdown::render(document);
    let rows = text.lines().filter(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let cells = row.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    rows.map(cells).collect()
}

#[test]
fn tables_of_a_sweep_show_measured_values_and_not_the_model() {
    let document = with_chart(data::lines());
    let rows = markdown_rows(&document);
    let x: Vec<&str> = rows[2..].iter().map(|row| row[0].as_str()).collect();
    assert_eq!(x, ["1", "2", "4", "8", "16", "32", "64"]);
    assert_eq!(rows[0].len(), 5, "{:?}", rows[0]);
    // One value of the third subject is missing.
    let missing = rows[2..]
        .iter()
        .flatten()
        .filter(|cell| cell.is_empty() || cell.starts_with('?'));
    assert_eq!(missing.count(), 1, "{rows:?}");
    let screen = on_terminal(&document, 80, true);
    let of_c: Vec<&str> = screen
        .lines()
        .filter(|line| line.starts_with("c  "))
        .collect();
    assert_eq!(of_c.len(), 1, "{screen}");
    assert!(!of_c[0].contains('·'), "{screen}");
}

#[test]
fn steps_at_different_times_have_values_in_each_row_of_a_table() {
    let steps = |name: &str, each: f64| {
        let points: Vec<(f64, f64)> = (1..60)
            .map(|i| (f64::from(i) * each, f64::from(i)))
            .collect();
        line(
            name,
            Stroke::Steps,
            &[&[(0.5, 7.0)], &points[..], &[(100.0, 1.0)]].concat(),
        )
    };
    let rows = markdown_rows(&lines_chart(vec![steps("a", 1.0), steps("b", 1.01)]));
    assert!((20..=24).contains(&rows[2..].len()), "{rows:?}");
    assert!(
        rows[2..]
            .iter()
            .all(|row| row.iter().all(|cell| !cell.is_empty())),
        "{rows:?}"
    );
}

#[test]
fn lines_without_common_points_have_the_same_number_of_rows() {
    let curve = |name: &str, shift: f64| {
        let points: Vec<(f64, f64)> = (1..=60).map(|i| (f64::from(i) + shift, 5.0)).collect();
        line(name, Stroke::Measured, &points)
    };
    let rows = markdown_rows(&lines_chart(vec![curve("a", 0.0), curve("b", 0.25)]));
    let filled = |column: usize| {
        rows[2..]
            .iter()
            .filter(|row| !row[column].is_empty())
            .count()
    };
    assert_eq!((filled(1), filled(2)), (12, 12), "{rows:?}");
}

#[test]
fn values_that_a_scale_cannot_show_have_no_bar() {
    let points = [(1.0, 1.0), (2.0, 0.0), (4.0, 10.0)];
    let screen = on_terminal(
        &lines_chart(vec![line("a", Stroke::Measured, &points)]),
        80,
        true,
    );
    let row = screen
        .lines()
        .find(|line| line.starts_with("a "))
        .expect("a row");
    let mut bars: Vec<char> = row
        .chars()
        .skip(1)
        .filter(|c| "▁▂▃▄▅▆▇█·".contains(*c))
        .collect();
    bars.dedup();
    assert_eq!(bars, ['▁', '·', '█'], "{screen}");
}

#[test]
fn stacked_bars_that_are_longer_than_their_total_are_not_cut_off() {
    let time = |us: f64| Quantity::exact(us * 1e3, Unit::Nanoseconds);
    let parts = [10.0, 20.0].into_iter().enumerate();
    let parts = parts.map(|(part, us)| BarPart {
        part,
        value: time(us),
    });
    let row = BarRow {
        parts: parts.collect(),
        ..BarRow::new("java", 0, time(20.0))
    };
    let document = with_chart(data::chart(
        "split",
        "Split",
        "",
        Drawing::Bars(Bars {
            axis: Axis::new("time", Unit::Nanoseconds, Scale::Linear),
            parts: vec![("client".into(), 0), ("server".into(), 1)],
            rows: vec![row],
        }),
    ));
    let screen = on_terminal(&document, 80, true);
    let row = screen
        .lines()
        .find(|line| line.starts_with("java"))
        .expect("a row");
    let [client, server] = ['█', '▒'].map(|fill| row.matches(fill).count());
    assert!(client > 10 && client.abs_diff(server / 2) <= 1, "{screen}");
}

#[test]
fn intervals_that_are_cut_off_end_with_an_arrow() {
    let wide = sample::within(549e3, 410e3, 555_745e3, Unit::Nanoseconds);
    let narrow = sample::within(549e3, 410e3, 700e3, Unit::Nanoseconds);
    let axis = Axis::new("time", Unit::Nanoseconds, Scale::Linear);
    let rows = [("wide", wide), ("narrow", narrow)];
    let rows = rows.map(|(name, total)| BarRow::new(name, 0, total));
    let chart = data::chart("bars", "Bars", "", Drawing::Bars(Bars::whole(axis, rows)));
    let screen = on_terminal(&with_chart(chart), 80, true);
    let ends = |name: &str| {
        let row = screen
            .lines()
            .find(|line| line.starts_with(name))
            .expect("a row");
        (row.contains("░▸"), row.contains('░'))
    };
    assert_eq!(ends("wide"), (true, true), "{screen}");
    assert_eq!(ends("narrow"), (false, true), "{screen}");
}

#[test]
fn a_map_with_a_row_for_each_value_is_a_table_of_its_cells() {
    let rows = markdown_rows(&with_chart(data::week()));
    assert_eq!(rows[0].len(), 1 + 2 * 7, "{:?}", rows[0]);
    assert_eq!(rows.len(), 2 + 24);
    assert!(rows[0][1].starts_with("requests Mon"), "{:?}", rows[0]);
    assert!(rows[0][8].starts_with("p95 Mon"), "{:?}", rows[0]);
    // No request was made on Tuesdays from 3:00 to 4:00.
    assert_eq!(
        (
            rows[5][0].as_str(),
            rows[5][1].as_str(),
            rows[5][2].as_str()
        ),
        ("3", "103", "")
    );
    assert!(!markdown::render(&with_chart(data::week())).contains("p50"));
}

#[test]
fn colors_change_no_text() {
    let colored = Terminal {
        color: true,
        full: true,
        ..Terminal::default()
    };
    let colored = terminal::render(&sample::rich(), colored);
    assert!(colored.contains("\x1b[32m"), "a better result is green");
    let plain: String = colored
        .split('\x1b')
        .enumerate()
        .map(|(i, part)| match i {
            0 => part,
            _ => part.split_once('m').unwrap().1,
        })
        .collect();
    assert_eq!(plain, on_terminal(&sample::rich(), 80, true));
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        -1e3..1e12f64,
        any::<f64>(),
        Just(0.0),
        Just(f64::NAN),
        Just(f64::INFINITY)
    ]
}

fn quantity(unit: Unit) -> impl Strategy<Value = Quantity> {
    (number(), number(), number(), any::<bool>()).prop_map(move |(low, value, high, exact)| {
        if exact {
            Quantity::exact(value, unit.clone())
        } else {
            sample::within(value, low.min(value), high.max(value), unit.clone())
        }
    })
}

/// Generates a document from some texts and quantities. They appear in a table and in every
/// suitable chart.
fn document() -> impl Strategy<Value = Document> {
    let texts = prop::collection::vec(
        "\\PC{0,40}|[ -~\\x00-\\x1f\u{80}-\u{9f}\u{202e}\u{fe0f}☺]{0,30}",
        1..6,
    );
    let quantities = prop::collection::vec(quantity(Unit::Nanoseconds), 1..6);
    (texts, quantities).prop_map(|(texts, quantities)| {
        let text = |i: usize| texts[i % texts.len()].clone();
        let mut table = Table::new(text(0), (0..4).map(|i| Column::from(text(i))));
        let mut section = Section::new(text(1));
        for (i, quantity) in quantities.iter().enumerate() {
            let cell = Cell::from(quantity.clone())
                .with_note(text(i))
                .with_tone(Tone::Worse);
            table.row(vec![text(i).into(), cell.clone(), text(i + 1).into(), cell]);
            section.push(Item::Log(vec![text(i)]));
        }
        section.push(table);
        for mut chart in [
            sample::forest(),
            sample::bars(),
            sample::lines(),
            sample::heat(),
        ] {
            fill(&mut chart, &texts, &quantities);
            section.push(chart);
        }
        let mut document = Document {
            title: text(2),
            question: text(3),
            source: text(4),
            ..Document::default()
        };
        let mut chart = sample::forest();
        fill(&mut chart, &texts, &quantities);
        document.answer.chart = Some(chart);
        document.section(section);
        document
    })
}

fn fill(chart: &mut Chart, texts: &[String], quantities: &[Quantity]) {
    let mut texts = texts.iter().cycle().cloned();
    let mut quantities = quantities.iter().cycle().cloned();
    let mut next_values = || (texts.next().unwrap(), quantities.next().unwrap());
    match &mut chart.drawing {
        Drawing::Forest(forest) => {
            let rows = forest.groups.iter_mut().flat_map(|group| &mut group.rows);
            rows.for_each(|row| (row.name, row.value) = next_values());
        }
        Drawing::Bars(bars) => bars
            .rows
            .iter_mut()
            .for_each(|row| (row.name, row.total) = next_values()),
        Drawing::Lines(lines) => lines.lines.iter_mut().for_each(|line| {
            let (name, _) = next_values();
            line.name = name;
            line.points
                .iter_mut()
                .for_each(|point| point.1 = next_values().1);
        }),
        Drawing::Heat(maps) => maps.maps.iter_mut().for_each(|map| {
            map.name = next_values().0;
            let counts = map.columns.iter_mut().flat_map(|column| &mut column.counts);
            counts.for_each(|count| count.0 = next_values().1.value);
        }),
        Drawing::Distribution(_) | Drawing::Flame(_) => {
            unreachable!("they are drawn as a table and as bars")
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_document_stays_within_its_width(document in document(), width in 40usize..140) {
        for full in [false, true] {
            let text = on_terminal(&document, width, full);
            for line in text.lines() {
                prop_assert!(line.width() <= width, "{}: {:?}", line.width(), line);
                prop_assert!(!line.contains(char::is_control), "{:?}", line);
            }
        }
        let markdown = markdown::render(&document);
        prop_assert!(!markdown.contains(|c: char| c.is_control() && c != '\n'));
        prop_assert!(!markdown.replace("\\<", "").contains("<script"));
    }

    #[test]
    fn nonzero_values_are_not_written_as_0(value in 1e-3..1e15f64, spread in 1.0..30f64) {
        let quantity = sample::within(value, value / spread, value * spread, Unit::Nanoseconds);
        for text in [quantity::sentence, quantity::label, quantity::short, quantity::alone].map(|f| f(&quantity)) {
            prop_assert!(text.starts_with(|c: char| c.is_ascii_digit()), "{}", text);
            let first = text.split(' ').next().unwrap();
            prop_assert!(first.contains(|c: char| ('1'..='9').contains(&c)), "{}", text);
        }
    }
}
