// SPDX-License-Identifier: Apache-2.0
//! Snapshots of every kind of chart, and charts with hostile content.

use crate::support::sample_data as sample;
use lab_document::chart::{standalone, style_sheet, svg};
use lab_document::*;
use lab_model::Unit;

fn charts() -> Vec<Chart> {
    let mut charts: Vec<Chart> = sample::document().charts().into_iter().cloned().collect();
    charts.extend([sample::sweep(), sample::steps(), sample::week()]);
    charts
}

#[test]
fn every_chart_matches_its_snapshot() {
    for chart in charts() {
        let drawn = svg(&chart).expect("a drawing");
        assert_eq!(drawn, svg(&chart).expect("the same"), "{}", chart.id);
        insta::assert_snapshot!(format!("chart-{}", chart.id), drawn);
    }
}

#[test]
fn a_chart_has_an_accessible_name() {
    for chart in charts() {
        let text = standalone(&chart).expect("a file");
        let file = roxmltree::Document::parse(&text).expect("XML");
        let root = file.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        let labels = root.attribute("aria-labelledby").expect("labels");
        let words: Vec<&str> = labels
            .split(' ')
            .map(|id| {
                let labeled = root
                    .children()
                    .find(|node| node.attribute("id") == Some(id));
                labeled.and_then(|node| node.text()).expect("a text")
            })
            .collect();
        assert_eq!(words, [chart.title.as_str(), chart.caption.as_str()]);
        assert!(text.contains(&style_sheet()));
    }
}

/// Draws lines with the given values at x = 1, 2, and so on.
fn drawn(scale: Scale, unit: Unit, lines: &[(&str, &[f64])]) -> String {
    let line = |(name, values): &(&str, &[f64])| Line {
        name: (*name).into(),
        color: 0,
        stroke: Stroke::Measured,
        points: (1..)
            .zip(*values)
            .map(|(x, y)| (f64::from(x), Quantity::exact(*y, unit.clone())))
            .collect(),
        band: Band::Hidden,
    };
    let chart = Chart {
        id: "lines".into(),
        title: "Lines".into(),
        caption: "Lines.".into(),
        drawing: Drawing::Lines(Lines {
            x: Axis::new("place", Unit::Ratio, Scale::Linear),
            y: Axis::new("value", unit.clone(), scale),
            lines: lines.iter().map(line).collect(),
        }),
    };
    svg(&chart).expect("a drawing")
}

/// Returns the texts of a drawing with the given anchor, each with its y coordinate in drawing
/// units. A pixel is four drawing units.
fn texts(drawing: &str, anchor: &str) -> Vec<(f64, String)> {
    let drawing = roxmltree::Document::parse(drawing).expect("XML");
    let texts = drawing
        .descendants()
        .filter(|node| node.has_tag_name("text") && node.attribute("text-anchor") == Some(anchor));
    let text = |node: roxmltree::Node| {
        let y = node.attribute("y").expect("a height").parse();
        let words = node.text().expect("words").trim().to_owned();
        (y.expect("a number"), words)
    };
    texts.map(text).collect()
}

/// Returns the ticks of an axis that covers the given range.
fn ticks(scale: Scale, unit: Unit, low: f64, high: f64) -> Vec<(f64, String)> {
    texts(&drawn(scale, unit, &[("", &[low, high])]), "end")
}

#[test]
fn ticks_are_few_and_inside() {
    let ends = [
        (0.9, 1.2),
        (0.5, 40.0),
        (1e3, 1e9),
        (2.0, 9.0),
        (0.97, 1.03),
        (1e-30, 1e30),
    ];
    for (low, high) in ends {
        for scale in [Scale::Log, Scale::LinearFromLeast] {
            let ticks = ticks(scale, Unit::Ratio, low, high);
            assert!((2..=10).contains(&ticks.len()), "{low}..{high}: {ticks:?}");
            assert!(ticks.iter().all(|(y, _)| (0.0..=1600.0).contains(y)));
        }
    }
}

#[test]
fn ticks_have_readable_units() {
    let words = |scale, unit, low, high| -> Vec<String> {
        let ticks = ticks(scale, unit, low, high);
        ticks.into_iter().map(|(_, word)| word).collect()
    };
    let times = words(Scale::Log, Unit::Nanoseconds, 2e3, 5e6);
    let expected = ["3 µs", "10 µs", "30 µs", "100 µs", "300 µs", "1 ms", "3 ms"];
    assert_eq!(times, expected);
    let sizes = words(Scale::Linear, Unit::Bytes, 0.0, 90e6);
    assert_eq!(sizes, ["0", "20 MiB", "40 MiB", "60 MiB", "80 MiB"]);
    let rates = words(Scale::Linear, Unit::PerSecond("requests".into()), 0.0, 41e3);
    assert_eq!(rates, ["0", "10,000/s", "20,000/s", "30,000/s", "40,000/s"]);
    let parts = words(Scale::Percentiles, Unit::Share, 0.0, 0.9995);
    assert_eq!(parts, ["0 %", "50 %", "75 %", "90 %", "99 %", "99.9 %"]);
}

#[test]
fn a_sweep_is_labeled_with_its_own_values() {
    let line = Line {
        name: "ada".into(),
        color: 0,
        stroke: Stroke::Measured,
        points: [16_384.0, 65_536.0]
            .map(|n| (n, Quantity::exact(n, Unit::Ratio)))
            .into(),
        band: Band::Hidden,
    };
    let lines = Lines {
        x: Axis::new("n", Unit::Count("n".into()), Scale::Log),
        y: Axis::new("value", Unit::Ratio, Scale::Linear),
        lines: vec![line],
    };
    let chart = sample::chart("n", "Lines", "Lines.", Drawing::Lines(lines));
    let labels = texts(&svg(&chart).expect("a drawing"), "middle");
    for label in ["16,384", "65,536"] {
        assert!(labels.iter().any(|(_, text)| text == label), "{labels:?}");
    }
}

/// Returns the polylines of a drawing as points in drawing units.
fn polylines(drawing: &str) -> Vec<Vec<(f64, f64)>> {
    let drawing = roxmltree::Document::parse(drawing).expect("XML");
    let lines = drawing
        .descendants()
        .filter_map(|node| node.attribute("points"));
    let point = |pair: &str| {
        let (x, y) = pair.split_once(',')?;
        Some((x.parse().ok()?, y.parse().ok()?))
    };
    lines
        .map(|points| points.split_whitespace().filter_map(point).collect())
        .collect()
}

#[test]
fn an_interval_that_is_cut_off_has_an_arrow_in_place_of_an_end_mark() {
    let arrows = |high: f64| {
        let total = sample::estimate(410e3, 549e3, high, Unit::Nanoseconds);
        let axis = Axis::new("time", Unit::Nanoseconds, Scale::Linear);
        let bars = Bars::whole(axis, [BarRow::new("go", 0, total)]);
        let drawing = svg(&sample::chart("bars", "Bars", "Bars.", Drawing::Bars(bars)));
        let lines = polylines(&drawing.expect("a drawing"));
        let is_arrow = |line: &&Vec<(f64, f64)>| {
            matches!(line[..], [(a, top), (tip, middle), (b, bottom)]
                if a == b && tip > a && top < middle && middle < bottom)
        };
        lines.iter().filter(is_arrow).count()
    };
    assert_eq!((arrows(700e3), arrows(556e6)), (0, 1));
}

/// Returns the vertical extents of the cells of a heat map in drawing units, without duplicates.
fn rows_of_cells(drawing: &str) -> Vec<(i32, i32)> {
    let drawing = roxmltree::Document::parse(drawing).expect("XML");
    let number = |node: &roxmltree::Node, name: &str| -> i32 {
        node.attribute(name)
            .and_then(|text| text.parse().ok())
            .expect("a number")
    };
    let cells = drawing
        .descendants()
        .filter(|node| node.has_tag_name("rect") && number(node, "y") > 100);
    let extents = cells.map(|cell| {
        let y = number(&cell, "y");
        (y, y + number(&cell, "height"))
    });
    let mut extents: Vec<(i32, i32)> = extents.collect();
    extents.sort_unstable();
    extents.dedup();
    extents
}

#[test]
fn a_map_with_a_row_for_each_hour_has_no_gaps() {
    let mut chart = sample::week();
    let Drawing::Heat(maps) = &mut chart.drawing else {
        panic!("heat maps");
    };
    maps.maps.truncate(1);
    let rows = rows_of_cells(&svg(&chart).expect("a drawing"));
    assert_eq!(rows.len(), 24, "{rows:?}");
    // A pixel is four drawing units.
    let touch = |pair: &[(i32, i32)]| (0..=4).contains(&(pair[1].0 - pair[0].1));
    assert!(rows.windows(2).all(touch), "{rows:?}");
}

#[test]
fn a_flame_graph_omits_the_narrowest_frames() {
    let word = |text: &str| text.to_owned();
    let deep = (0..1200).map(|i| ["a", &format!("x{i}"), "y", "y2", "y3"].map(word).to_vec());
    let stacks = deep
        .map(|stack| (stack, 1))
        .chain([(vec![word("z")], 1000)]);
    let flame = |stacks: Vec<(Vec<String>, u64)>| {
        let unit = Unit::Count("instructions".into());
        let drawing = Drawing::Flame(Flame { unit, stacks });
        svg(&sample::chart("flame", "Flame", "Flame.", drawing)).expect("a drawing")
    };
    let stacks: Vec<(Vec<String>, u64)> = stacks.collect();
    let drawing = flame(stacks.clone());
    assert!(drawing.contains("<title>z: "));
    assert_eq!(drawing.matches("data-cost").count(), 4000);
    // 3 frames of `all`, `a` and `z`, and 4 for each of the others.
    assert!(drawing.contains("The narrowest 803 frames are not drawn."));
    let few = flame(stacks[..10].to_vec());
    assert!(!few.contains("not drawn"));
}

#[test]
fn values_that_cannot_be_drawn_have_no_position() {
    let values = [0.5, f64::NAN, f64::INFINITY, -1.0, 0.0, 2.0];
    let drawing = drawn(Scale::Log, Unit::Ratio, &[("", &values)]);
    assert_eq!(drawing.matches("<circle").count(), 2, "{drawing}");
    assert!(!drawing.contains("NaN") && !drawing.contains("inf"));
}

#[test]
fn names_do_not_overlap_and_stay_inside() {
    let ends = [("a", 1.0), ("b", 1.001), ("c", 0.999), ("d", 4.0)];
    let values = ends.map(|(name, end)| (name, [0.0, end]));
    let lines: Vec<(&str, &[f64])> = values.iter().map(|(n, v)| (*n, &v[..])).collect();
    let drawing = drawn(Scale::Linear, Unit::Ratio, &lines);
    let mut names = texts(&drawing, "start");
    names.retain(|(_, name)| ends.iter().any(|(known, _)| known == name));
    names.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert_eq!(names.len(), ends.len());
    let apart = |pair: &[(f64, String)]| pair[1].0 - pair[0].0 >= 60.0;
    assert!(names.windows(2).all(apart), "{names:?}");
    assert!(names.iter().all(|(y, _)| (0.0..=1600.0).contains(y)));
}

/// Parses the red, green and blue components of `#RRGGBB` at the beginning of a text.
fn color(text: &str) -> [f64; 3] {
    [1, 3, 5].map(|at| {
        let part = u8::from_str_radix(&text[at..at + 2], 16);
        f64::from(part.expect("a color")) / 255.0
    })
}

/// Computes the contrast as defined in WCAG 2.2.
fn contrast(a: [f64; 3], b: [f64; 3]) -> f64 {
    let channel = |c: f64| {
        if c <= 0.04045 {
            c / 12.92
        } else {
            ((c + 0.055) / 1.055).powf(2.4)
        }
    };
    let luminance =
        |[r, g, b]: [f64; 3]| 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn colors_have_contrast_in_light_and_dark_mode() {
    let sheet = style_sheet();
    let pairs = sheet.split("[fill=\"").skip(1).map(|rule| {
        let dark = rule.split("{fill:").nth(1).expect("a dark one");
        [color(rule), color(dark)]
    });
    // The style sheet begins with background, text, explanatory text, grid, band and gray.
    let pairs: Vec<[[f64; 3]; 2]> = pairs.collect();
    assert!(pairs.len() > 12);
    for mode in [0, 1] {
        for (i, pair) in pairs.iter().enumerate().skip(5) {
            assert!(contrast(pair[mode], pairs[0][mode]) >= 3.0, "color {i}");
        }
        for text in &pairs[1..3] {
            assert!(contrast(text[mode], pairs[4][mode]) >= 4.5);
        }
    }
}
