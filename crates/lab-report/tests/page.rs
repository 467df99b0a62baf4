// SPDX-License-Identifier: Apache-2.0
//! The page and the plots: structure, accessibility, escaping, and that nothing is loaded.

mod support;

use lab_model::Run;
use lab_report::{File, Format, Rendered, Terminal, render};
use lab_stats::analysis::Analysis;
use scraper::{Html, Selector};

fn page(run: &Run, analysis: &Analysis, others: &[Run]) -> String {
    let report = support::report(run, analysis, others);
    match render(Format::Html, &report, Terminal::default()).expect("a page") {
        Rendered::Text(text) => text,
        other => panic!("not a text: {other:?}"),
    }
}

fn plots(run: &Run, analysis: &Analysis) -> Vec<File> {
    let report = support::report(run, analysis, &[]);
    match render(Format::Svg, &report, Terminal::default()).expect("plots") {
        Rendered::Files(files) => files,
        other => panic!("not files: {other:?}"),
    }
}

fn select(css: &str) -> Selector {
    Selector::parse(css).expect("a selector")
}

fn hostile() -> (Run, Analysis) {
    let (mut run, analysis) = support::sample(12);
    let plan = run.plan.as_mut().expect("a plan");
    plan.subjects[2].name = "<script>alert(1)</script>".into();
    plan.subjects[3].driver = "\"><img src=x onerror=alert(2)>".into();
    plan.subjects[4].name = "a&b \x01 'q'".into();
    plan.title = "</title><script>t</script>".into();
    plan.cases[2].name = "\" onload=\"x".into();
    run.failures[0]
        .log
        .push("</pre><script>log</script>".into());
    run.host
        .facts
        .push(("</dd>".into(), "<style>*{display:none}</style>".into()));
    (run, analysis)
}

#[test]
fn what_comes_from_a_run_is_text_and_never_markup() {
    let (run, analysis) = hostile();
    let html = page(&run, &analysis, &[]);
    let document = Html::parse_document(&html);
    for css in [
        "script",
        "img",
        "iframe",
        "link",
        "object",
        "[onload]",
        "[onerror]",
        "body style",
        "foreignObject",
    ] {
        assert_eq!(document.select(&select(css)).count(), 0, "{css}");
    }
    let names: Vec<String> = document
        .select(&select("tbody th"))
        .map(|th| th.text().collect())
        .collect();
    assert!(
        names.iter().any(|n| n == "<script>alert(1)</script>"),
        "the name is shown as it is"
    );
    assert_eq!(
        document
            .errors
            .iter()
            .filter(|e| !e.contains("Unexpected token"))
            .count(),
        0,
        "{:?}",
        document.errors
    );
}

#[test]
fn nothing_is_loaded_and_the_policy_forbids_it() {
    let (run, analysis) = support::sample(24);
    let html = page(&run, &analysis, &[support::imported()]);
    let document = Html::parse_document(&html);
    let policy = document
        .select(&select("meta[http-equiv=Content-Security-Policy]"))
        .next()
        .expect("a policy");
    assert!(
        policy
            .value()
            .attr("content")
            .is_some_and(|p| p.starts_with("default-src 'none'"))
    );
    assert_eq!(
        document
            .select(&select("[src], link, script, [style]"))
            .count(),
        0
    );
    assert!(!html.contains("url(") && !html.contains("@import"));
    for anchor in document.select(&select("a")) {
        let target = anchor.value().attr("href").expect("a target");
        let id = target.strip_prefix('#').expect("a link within the page");
        assert_eq!(
            document.select(&select(&format!("[id='{id}']"))).count(),
            1,
            "{target}"
        );
    }
    for address in html
        .match_indices("http")
        .map(|(i, _)| &html[i..(i + 26).min(html.len())])
    {
        assert!(
            address.starts_with("http-equiv") || address.starts_with("http://www.w3.org/2000/svg"),
            "{address}"
        );
    }
}

#[test]
fn tables_and_plots_are_made_for_readers_that_cannot_see_them() {
    let (run, analysis) = support::sample(24);
    let document = Html::parse_document(&page(&run, &analysis, &[]));
    for table in document.select(&select("table")) {
        assert_eq!(table.select(&select("caption")).count(), 1);
        let columns = table.select(&select("thead th[scope=col]")).count();
        assert!(columns > 1);
        for row in table.select(&select("tbody tr")) {
            assert_eq!(row.select(&select("th[scope=row]")).count(), 1);
            assert_eq!(row.select(&select("th, td")).count(), columns);
        }
    }
    let plots: Vec<_> = document.select(&select("svg")).collect();
    assert_eq!(plots.len(), 6);
    for plot in plots {
        assert_eq!(plot.value().attr("role"), Some("img"));
        let labels = plot.value().attr("aria-labelledby").expect("a name");
        for id in labels.split(' ') {
            let found = document.select(&select(&format!("[id='{id}']"))).count();
            assert_eq!(found, 1, "{id}");
        }
    }
    let levels: Vec<u8> = document
        .select(&select("h1, h2, h3"))
        .map(|h| h.value().name().as_bytes()[1] - b'0')
        .collect();
    assert!(
        levels.windows(2).all(|l| l[1] <= l[0] + 1),
        "no level of headings is left out: {levels:?}"
    );
    let mut ids: Vec<_> = document
        .select(&select("[id]"))
        .filter_map(|e| e.value().attr("id"))
        .collect();
    ids.sort();
    let all = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), all, "ids are unique");
}

#[test]
fn the_page_has_the_question_the_answer_and_all_its_parts() {
    let (run, analysis) = support::sample(24);
    let document = Html::parse_document(&page(&run, &analysis, &[support::imported()]));
    let text: String = document.root_element().text().collect();
    assert_eq!(
        document
            .select(&select("h1"))
            .next()
            .map(|h| h.text().collect()),
        Some("What does a query cost in each language?".to_string())
    );
    for part in [
        "In 24 blocks at 21 points",
        "AMD EPYC",
        "The host is not fit",
        "journal_mode = delete",
        "timeout",
        "SQLITE_BUSY",
        "Imported from 20180914-old.lab: single readings",
        "runs/some.lab",
        "small but real",
    ] {
        assert!(text.contains(part), "{part}");
    }
}

#[test]
fn plots_are_well_formed_and_named_safely() {
    for (run, analysis) in [support::sample(24), support::sample(3), hostile()] {
        let files = plots(&run, &analysis);
        assert!(files.len() >= 6);
        for file in &files {
            let safe = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '.';
            assert!(
                file.name.chars().all(safe) && file.name.ends_with(".svg"),
                "{}",
                file.name
            );
            let svg = roxmltree::Document::parse(&file.text)
                .unwrap_or_else(|e| panic!("{}: {e}", file.name));
            assert_eq!(
                svg.descendants()
                    .filter(|n| n.has_tag_name("script"))
                    .count(),
                0
            );
            assert!(
                svg.descendants()
                    .filter(|n| n.tag_name().name() == "style")
                    .count()
                    == 1
            );
        }
        let mut names: Vec<_> = files.iter().map(|f| &f.name).collect();
        names.dedup();
        assert_eq!(names.len(), files.len());
    }
}

/// The same hue everywhere: a subject's line, bars and dots.
#[test]
fn a_subject_has_one_colour_in_all_plots() {
    let (run, analysis) = support::sample(24);
    for file in plots(&run, &analysis) {
        for blue in ["#0072B2", "#D55E00"] {
            assert!(
                file.text.contains(&format!("=\"{blue}\"")),
                "{} shows ada and java",
                file.name
            );
        }
    }
}

/// What is drawn stays on the paper, and a dot lies where its value says.
#[test]
fn drawings_stay_on_their_paper() {
    let (run, analysis) = support::sample(24);
    for file in plots(&run, &analysis) {
        let svg = roxmltree::Document::parse(&file.text).expect("SVG");
        let frame: Vec<f64> = svg
            .root_element()
            .attribute("viewBox")
            .expect("a view box")
            .split(' ')
            .map(|n| n.parse().expect("a number"))
            .collect();
        for node in svg
            .descendants()
            .filter(|n| n.has_tag_name(("http://www.w3.org/2000/svg", "circle")))
        {
            let at = |name: &str| {
                node.attribute(name)
                    .expect("a place")
                    .parse::<f64>()
                    .expect("a number")
            };
            assert!(
                (0.0..=frame[2]).contains(&at("cx")) && (0.0..=frame[3]).contains(&at("cy")),
                "{}",
                file.name
            );
        }
    }
}
