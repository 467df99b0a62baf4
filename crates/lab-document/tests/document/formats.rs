// SPDX-License-Identifier: Apache-2.0
//! Snapshots of documents in the text formats, and properties that hold for any document.

use crate::support::sample_document as sample;
use lab_document::format::html;
use lab_document::format::markdown;
use lab_document::format::quantity;
use lab_document::{
    Answer, Axis, Cell, Chart, Column, Document, Drawing, Finding, HeatColumn, HeatMap, HeatMaps,
    Item, Quantity, Scale, Section, Table, Tone,
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
