// SPDX-License-Identifier: Apache-2.0
//! Charts: reviewed drawings of each specification, and hostile ones that must break nothing.

#[path = "support/sample_data.rs"]
#[allow(dead_code)]
mod sample;

use lab_report::chart::{standalone, style_sheet, svg};
use lab_report::document::*;

fn charts() -> Vec<Chart> {
    let mut charts: Vec<Chart> = sample::document().charts().into_iter().cloned().collect();
    charts.extend([sample::sweep(), sample::steps()]);
    charts
}

#[test]
fn every_chart_is_drawn_as_it_was_reviewed() {
    for chart in charts() {
        let drawn = svg(&chart).expect("a drawing");
        assert_eq!(drawn, svg(&chart).expect("the same"), "{}", chart.id);
        insta::assert_snapshot!(format!("chart-{}", chart.id), drawn);
    }
}

#[test]
fn a_chart_names_itself_for_those_who_cannot_see_it() {
    for chart in charts() {
        let text = standalone(&chart).expect("a file");
        let file = roxmltree::Document::parse(&text).expect("XML");
        let root = file.root_element();
        assert_eq!(root.attribute("role"), Some("img"));
        let labels = root.attribute("aria-labelledby").expect("labels");
        let words: Vec<&str> = labels
            .split(' ')
            .map(|id| {
                let labelled = root
                    .children()
                    .find(|node| node.attribute("id") == Some(id));
                labelled.and_then(|node| node.text()).expect("a text")
            })
            .collect();
        assert_eq!(words, [chart.title.as_str(), chart.caption.as_str()]);
        assert!(text.contains(&style_sheet()));
    }
}
