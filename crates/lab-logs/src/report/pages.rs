// SPDX-License-Identifier: Apache-2.0
//! The report's sections on pages and queries by cost: a Pareto chart, the few pages that matter,
//! and tables.

use super::input::{FIGURES, figure, kind_name, time};
use crate::analysis::pareto::{PageOrder, PageRanking, RANKED_FRACTION, RankedPage};
use crate::finding::{LogsFinding, PageFraction};
use crate::wording::{self, measure, nouns};
use lab_document::{
    Axis, BarPart, BarRow, Bars, Cell, Chart, Column, Drawing, NEUTRAL, Quantity, Scale, Section,
    Table,
};
use lab_model::{LogAnalysis, PageKind, Unit};

/// The maximum number of bars in the chart.
const BARS: usize = 12;
/// The maximum number of rows in a table.
const ROWS: usize = 40;
/// The maximum number of names in a sentence.
const NAMED: usize = 3;
/// The smallest saving worth reporting, as a fraction of the total time.
const MIN_SAVING: f64 = 0.01;
/// The minimum number of other pages whose median is meaningful.
const MIN_OTHERS: usize = 3;

/// Returns the kind of the ranked items: pages or queries.
fn ranked_kind(ranking: &PageRanking) -> PageKind {
    let first = ranking.pages.first();
    first.map_or(PageKind::Page, |ranked| ranked.page.kind)
}

/// Charts the cumulative fraction of the time or requests. Each page is stacked on the previous
/// pages.
pub fn chart(ranking: &PageRanking) -> Option<Chart> {
    let (kind, measure) = (ranked_kind(ranking), measure(ranking.by));
    let mut before = 0.0;
    let charted = ranking.pages.len().min(BARS);
    let rows = ranking.pages[..charted].iter().map(|ranked| {
        let added = ranked.cumulative - before;
        let parts = [before, added].into_iter().enumerate();
        let parts = parts.map(|(part, length)| BarPart {
            part,
            value: fraction(length),
        });
        before = ranked.cumulative;
        BarRow {
            parts: parts.collect(),
            ..BarRow::new(&ranked.page.name, 0, fraction(ranked.cumulative))
        }
    });
    let rows: Vec<BarRow> = rows.collect();
    (!rows.is_empty()).then(|| Chart {
        id: nouns(kind)[1].into(),
        title: format!("Fraction of the {measure}, cumulative"),
        caption: wording::ranking_caption(charted, kind, ranking.by),
        drawing: Drawing::Bars(Bars {
            axis: Axis::new(
                format!("fraction of the {measure}"),
                Unit::Share,
                Scale::Linear,
            ),
            parts: vec![("previous rows".into(), NEUTRAL), ("this row".into(), 0)],
            rows,
        }),
    })
}

/// Builds the table of the first screen: the first pages with their cost. The section on pages has
/// all columns.
pub fn answer_table(ranking: &PageRanking) -> Option<Table> {
    let all = table(ranking);
    let columns = ["requests", "mean", "p99", "share", "cumulative"];
    let titles = all.columns.iter().map(|column| column.title.as_str());
    let is_shown = |(i, title): (usize, &str)| (i == 0 || columns.contains(&title)).then_some(i);
    let shown: Vec<usize> = titles.enumerate().filter_map(is_shown).collect();
    let mut answer = Table::new(
        wording::ranking_title(ranking.by),
        shown.iter().map(|&i| all.columns[i].clone()),
    );
    for (ranked, row) in ranking.pages.iter().zip(&all.rows).take(BARS) {
        let cell = |&i: &usize| match all.columns[i].title.as_str() {
            // Two fractions with intervals do not fit next to each other.
            "share" => fraction(ranked.fraction).into(),
            _ => row[i].clone(),
        };
        answer.row(shown.iter().map(cell).collect());
    }
    let charted = ranking.pages.len().min(BARS);
    if ranking.pages.len() > charted {
        let left = ranking.pages[charted - 1].cumulative;
        let rest = wording::ranking_rest(
            ranking.pages.len() - charted,
            ranked_kind(ranking),
            1.0 - left,
        );
        answer.notes.push(rest);
    }
    (!answer.rows.is_empty()).then_some(answer)
}

fn fraction(value: f64) -> Quantity {
    Quantity::exact(value, Unit::Share)
}

/// Returns the finding on the smallest set that makes up most of the time.
pub fn smallest_set(ranking: &PageRanking) -> LogsFinding {
    // A single further page is named rather than counted.
    let named = match ranking.smallest {
        size if size <= NAMED + 1 => size,
        _ => NAMED,
    };
    let first = ranking.pages.iter().take(named);
    LogsFinding::SmallestSet {
        ranked: ranked_kind(ranking),
        by: ranking.by,
        size: ranking.smallest,
        bounds: ranking.interval.as_ref().map(|i| [i.low, i.high]),
        of: ranking.pages.len(),
        part: RANKED_FRACTION,
        first: first.map(|r| page_fraction(r, r.fraction)).collect(),
    }
}

fn page_fraction(ranked: &RankedPage, fraction: f64) -> PageFraction {
    PageFraction {
        page: ranked.page.name.clone(),
        share: fraction,
    }
}

/// Returns the finding on the first page by requests, by mean time and by total time, and on the
/// largest possible saving.
pub fn orders_finding(ranking: &PageRanking) -> Option<LogsFinding> {
    if ranking.by == PageOrder::Requests || ranking.pages.len() < 2 {
        return None;
    }
    let first = ranking.pages.first()?;
    let used = ranking.pages.iter().find(|r| r.by_requests == 1)?;
    let same = ranking
        .pages
        .iter()
        .filter(|r| r.page.requests == used.page.requests);
    let is_alone = same.count() == 1;
    let slowest = ranking.pages.iter().find(|r| r.by_mean == Some(1))?;
    let saving = ranking
        .pages
        .iter()
        .max_by(|a, b| a.saving.total_cmp(&b.saving))?;
    Some(LogsFinding::Orders {
        most_used: is_alone.then(|| used.page.name.clone()),
        slowest: slowest.page.name.clone(),
        slowest_mean_ns: slowest.page.mean_ns().unwrap_or(0.0),
        most_time: first.page.name.clone(),
        saving: (saving.saving >= MIN_SAVING && ranking.pages.len() > MIN_OTHERS)
            .then(|| page_fraction(saving, saving.saving)),
    })
}

/// Builds the section on pages, or on queries.
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
    let kind = ranked_kind(ranking);
    let requests = Unit::Count("requests".into());
    let times = |title: &str| Column::with_unit(title, Unit::Nanoseconds);
    let columns = vec![
        nouns(kind)[0].into(),
        Column::with_unit("requests", requests),
        times("mean"),
        times("p50"),
        times("p95"),
        times("p99"),
        times("total"),
        Column::with_unit("share", Unit::Share),
        Column::with_unit("cumulative", Unit::Share),
        Column::with_unit("would save", Unit::Share),
        Column::with_unit("errors", Unit::Count("requests".into())),
    ];
    let mut table = Table::new(wording::ranking_title(ranking.by), columns);
    table.caption = wording::RANKING_TABLE.into();
    for ranked in ranking.pages.iter().take(ROWS) {
        table.row(row(ranked));
    }
    if ranking.pages.len() > ROWS {
        let left = ranking.pages[ROWS - 1].cumulative;
        let rest = ranking.pages.len() - ROWS;
        table
            .notes
            .push(wording::ranking_rest(rest, kind, 1.0 - left));
    }
    table.without_empty_columns()
}

fn row(ranked: &RankedPage) -> Vec<Cell> {
    let page = ranked.page;
    let quantile = |part: f64| time(page.quantile(part).map(|ns| ns as f64));
    let count = |n: u64| Cell::from(Quantity::count(n, "requests"));
    let fraction_of_time = match &ranked.fraction_interval {
        Some(interval) => Quantity::estimate(interval, Unit::Share),
        None => fraction(ranked.fraction),
    };
    vec![
        page.name.as_str().into(),
        count(page.requests),
        time(page.mean_ns()),
        quantile(0.5),
        quantile(0.95),
        quantile(0.99),
        time((page.timed > 0).then_some(page.total_ns as f64)),
        fraction_of_time.into(),
        fraction(ranked.cumulative).into(),
        if ranked.saving > 0.0 {
            fraction(ranked.saving).into()
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

/// Builds the table of the most used, slowest and most time-consuming pages side by side.
fn orders(ranking: &PageRanking) -> Table {
    let mut table = Table::new(
        "Most used, slowest, most time",
        ["rank", "most used", "slowest by mean", "most time"],
    )
    .with_caption(wording::ORDERS_TABLE);
    if ranking.by == PageOrder::Requests {
        return table;
    }
    let name = |ranked: Option<&RankedPage>| {
        ranked.map_or(Cell::default(), |r| r.page.name.as_str().into())
    };
    for rank in 1..=ranking.pages.len().min(10) {
        table.row(vec![
            rank.to_string().into(),
            name(ranking.pages.iter().find(|r| r.by_requests == rank)),
            name(ranking.pages.iter().find(|r| r.by_mean == Some(rank))),
            name(ranking.pages.get(rank - 1)),
        ]);
    }
    table
}

/// Builds the section on crawlers and health checks, whose requests no other section includes.
pub fn others(analysis: &LogAnalysis) -> Section {
    let mut section = Section::new("Bots and health checks");
    let columns = ["client", "kind"].map(Column::from).into_iter();
    let figures: Vec<_> = FIGURES.iter().filter(|m| m.id != "share").collect();
    let of_figures = figures
        .iter()
        .map(|m| Column::with_unit(m.title.to_string(), m.unit.clone()));
    let mut table = Table::new("", columns.chain(of_figures));
    table.caption = wording::BOTS_TABLE.into();
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

/// Explains how the smallest set and its interval are computed. Empty without an interval.
pub fn interval_method(ranking: &PageRanking) -> String {
    let (length_s, blocks) = ranking.blocks;
    ranking.interval.map_or(String::new(), |_| {
        wording::interval_method(length_s, blocks)
    })
}
