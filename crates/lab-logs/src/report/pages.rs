// SPDX-License-Identifier: Apache-2.0
//! Pages and queries in the order of what they take: the Pareto chart, the few that matter, tables.

use super::{FIGURES, figure, kind_name, time};
use crate::analysis::pareto::{MOST, PageOrder, PageRanking, RankedPage};
use lab_document::format::quantity;
use lab_document::say;
use lab_document::{
    Axis, BarPart, BarRow, Bars, Cell, Chart, Column, Drawing, Finding, NEUTRAL, Quantity, Scale,
    Section, Table,
};
use lab_model::{LogAnalysis, PageKind, Unit};

/// Bars of the chart.
const BARS: usize = 12;
/// Rows of a table.
const ROWS: usize = 40;
/// Names in a sentence.
const NAMED: usize = 3;

/// The noun for one and for several of what is ranked, and what it is ranked by.
fn words(ranking: &PageRanking) -> ([&'static str; 2], &'static str) {
    let kind = ranking
        .pages
        .first()
        .map_or(PageKind::Page, |r| r.page.kind);
    let measure = match ranking.by {
        PageOrder::Time => "time",
        PageOrder::Requests => "requests",
    };
    match kind {
        PageKind::Query => (["query", "queries"], measure),
        _ => (["page", "pages"], measure),
    }
}

fn counted(n: usize, [one, many]: [&str; 2]) -> String {
    match n {
        1 => format!("1 {one}"),
        n => format!("{} {many}", quantity::integer(n as u64)),
    }
}

/// Each page on top of those before it.
pub fn chart(ranking: &PageRanking) -> Option<Chart> {
    let (nouns, measure) = words(ranking);
    let mut before = 0.0;
    let charted = ranking.pages.len().min(BARS);
    let rows = ranking.pages[..charted].iter().map(|ranked| {
        let added = ranked.cumulative - before;
        let parts = [before, added].into_iter().enumerate();
        let parts = parts.map(|(part, length)| BarPart {
            part,
            value: share(length),
        });
        before = ranked.cumulative;
        BarRow {
            parts: parts.collect(),
            ..BarRow::new(&ranked.page.name, 0, share(ranked.cumulative))
        }
    });
    let rows: Vec<BarRow> = rows.collect();
    (!rows.is_empty()).then(|| Chart {
        id: nouns[1].into(),
        title: format!("Share of the {measure}, cumulative"),
        caption: format!(
            "The {} that take most, each on top of those before it.",
            counted(charted, nouns)
        ),
        drawing: Drawing::Bars(Bars {
            axis: Axis::new(
                format!("share of the {measure}"),
                Unit::Share,
                Scale::Linear,
            ),
            parts: vec![("those before".into(), NEUTRAL), ("this one".into(), 0)],
            rows,
        }),
    })
}

fn share(value: f64) -> Quantity {
    Quantity::exact(value, Unit::Share)
}

/// The smallest set that makes most of the time.
pub fn smallest_set(ranking: &PageRanking) -> Finding {
    let (nouns, measure) = words(ranking);
    let range = match &ranking.interval {
        Some(i) if i.low != i.high => format!(" ({} to {})", i.low, i.high),
        _ => String::new(),
    };
    let make = if ranking.smallest == 1 {
        "makes"
    } else {
        "make"
    };
    let named = ranking.pages.iter().take(ranking.smallest.min(NAMED));
    let named: Vec<String> = named
        .map(|r| {
            format!(
                "{} {}",
                shortened(&r.page.name),
                say::percent((r.share * 100.0).round() / 100.0)
            )
        })
        .collect();
    let end = if ranking.smallest > NAMED {
        ", …"
    } else {
        "."
    };
    Finding::plain(format!(
        "{}{range} of {} {make} {} of the {measure}: {}{end}",
        ranking.smallest,
        counted(ranking.pages.len(), nouns),
        say::percent(MOST),
        named.join(", "),
    ))
}

/// A name that fits a sentence.
pub fn shortened(name: &str) -> String {
    const LONGEST: usize = 40;
    if name.chars().count() > LONGEST {
        format!("{}…", name.chars().take(LONGEST).collect::<String>())
    } else {
        name.into()
    }
}

/// Most used, slowest and most total time are different pages; and what the first one would save.
pub fn different_orders(ranking: &PageRanking) -> Option<Finding> {
    if ranking.by == PageOrder::Requests {
        return None;
    }
    let first = ranking.pages.first()?;
    let used = ranking.pages.iter().find(|r| r.by_requests == 1)?;
    let slowest = ranking.pages.iter().find(|r| r.by_mean == Some(1))?;
    let saving = ranking
        .pages
        .iter()
        .max_by(|a, b| a.saving.total_cmp(&b.saving))?;
    let mean = slowest.page.mean_ns().unwrap_or(0.0);
    let saved = if saving.saving >= 0.01 {
        format!(
            " Were {} as fast as the median of the others, {} of the time would be saved.",
            shortened(&saving.page.name),
            say::percent((saving.saving * 100.0).round() / 100.0)
        )
    } else {
        String::new()
    };
    Some(Finding::plain(format!(
        "{} is used most, {} is slowest (mean {}), {} takes most time.{saved}",
        shortened(&used.page.name),
        shortened(&slowest.page.name),
        say::time(mean as u64),
        shortened(&first.page.name),
    )))
}

/// All that is said of pages, or of queries.
pub fn section(ranking: Option<&PageRanking>, title: &str) -> Section {
    let mut section = Section::new(title);
    let Some(ranking) = ranking else {
        return section;
    };
    section.chart(chart(ranking).map(|chart| Chart {
        id: format!("all-{}", chart.id),
        ..chart
    }));
    section.table(table(ranking));
    section.table(orders(ranking));
    section
}

fn table(ranking: &PageRanking) -> Table {
    let (nouns, measure) = words(ranking);
    let requests = Unit::Count("requests".into());
    let times = |title: &str| Column::of(title, Unit::Nanoseconds);
    let columns = vec![
        nouns[0].into(),
        Column::of("requests", requests),
        times("mean"),
        times("p50"),
        times("p95"),
        times("p99"),
        times("total"),
        Column::of("share", Unit::Share),
        Column::of("cumulative", Unit::Share),
        Column::of("would save", Unit::Share),
        Column::of("errors", Unit::Count("requests".into())),
    ];
    let mut table = Table::new(format!("Most {measure} first"), columns);
    table.caption =
        "Would save: the part of all time, were the mean the median of the others' means.".into();
    for ranked in ranking.pages.iter().take(ROWS) {
        table.row(row(ranked));
    }
    if ranking.pages.len() > ROWS {
        let left = ranking.pages[ROWS - 1].cumulative;
        table.notes.push(format!(
            "{} with less, {} of all together, are left out; CSV and JSON have them.",
            counted(ranking.pages.len() - ROWS, nouns),
            say::percent(1.0 - left),
        ));
    }
    table.without_empty_columns()
}

fn row(ranked: &RankedPage) -> Vec<Cell> {
    let page = ranked.page;
    let quantile = |part: f64| time(page.times.quantile(part).map(|ns| ns as f64));
    let count = |n: u64| Cell::from(Quantity::count(n, "requests"));
    let share_of_time = match &ranked.share_interval {
        Some(interval) => Quantity::estimate(interval, Unit::Share),
        None => share(ranked.share),
    };
    vec![
        page.name.as_str().into(),
        count(page.requests),
        time(page.mean_ns()),
        quantile(0.5),
        quantile(0.95),
        quantile(0.99),
        time((page.timed > 0).then_some(page.total_ns as f64)),
        share_of_time.into(),
        share(ranked.cumulative).into(),
        if ranked.saving > 0.0 {
            share(ranked.saving).into()
        } else {
            Cell::default()
        },
        if page.errors > 0 {
            count(page.errors)
        } else {
            Cell::default()
        },
    ]
}

/// Most used, slowest and most total time beside each other.
fn orders(ranking: &PageRanking) -> Table {
    let mut table = Table::new(
        "Most used, slowest, most time",
        ["place", "most used", "slowest by mean", "most time"],
    )
    .captioned("The first of each order, side by side.");
    if ranking.by == PageOrder::Requests {
        return table;
    }
    let name = |ranked: Option<&RankedPage>| {
        ranked.map_or(Cell::default(), |r| r.page.name.as_str().into())
    };
    for place in 1..=ranking.pages.len().min(10) {
        table.row(vec![
            place.to_string().into(),
            name(ranking.pages.iter().find(|r| r.by_requests == place)),
            name(ranking.pages.iter().find(|r| r.by_mean == Some(place))),
            name(ranking.pages.get(place - 1)),
        ]);
    }
    table
}

/// Crawlers and health checks, which are in none of the other figures.
pub fn others(analysis: &LogAnalysis) -> Section {
    let mut section = Section::new("Bots and health checks");
    let columns = ["who", "kind"].map(Column::from).into_iter();
    let figures: Vec<_> = FIGURES.iter().filter(|m| m.id != "share").collect();
    let of_figures = figures
        .iter()
        .map(|m| Column::of(m.title.to_string(), m.unit.clone()));
    let mut table = Table::new("", columns.chain(of_figures));
    table.caption = "They are in none of the figures above.".into();
    let mut others: Vec<_> = analysis.pages.iter().filter(|p| !p.kind.is_use()).collect();
    others.sort_by_key(|p| std::cmp::Reverse((p.total_ns, p.requests)));
    for page in others.into_iter().take(ROWS) {
        let values = figures
            .iter()
            .map(|m| Cell::from(figure(page, m, analysis.error, 0)));
        let kind = Cell::from(kind_name(page.kind));
        table.named_row(page.name.as_str(), std::iter::once(kind).chain(values));
    }
    section.table(table.without_empty_columns());
    section
}

/// How the set and its interval come about.
pub fn interval_method(ranking: &PageRanking) -> String {
    let (length, blocks) = ranking.blocks;
    if ranking.interval.is_none() {
        return String::new();
    }
    let stretch = match length {
        60 => "minutes",
        3600 => "hours",
        86_400 => "days",
        _ => "weeks",
    };
    format!(
        "The smallest set and the shares have intervals at 95 % each: {blocks} {stretch} drawn again with replacement. They \
         take the {stretch} to be alike and independent."
    )
}
