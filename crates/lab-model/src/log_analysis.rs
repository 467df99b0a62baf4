// SPDX-License-Identifier: Apache-2.0
//! Pages and queries of logs: counts, durations and times.

use crate::{Counts, LogAdvice, LogAssumption};
use serde::{Deserialize, Serialize};

/// The result of reading logs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogAnalysis {
    /// The files that were read, in order.
    pub sources: Vec<LogFile>,
    /// Counts of lines by how they were read.
    pub lines: LineCounts,
    /// How fine the log's durations are, ns; `None`: it has none.
    pub resolution_ns: Option<u64>,
    /// The most that a percentile is off, as a part of its value.
    pub error: f64,
    /// How long a [`LogCell`] is, s.
    pub cell_s: i64,
    /// The most requests within one second, and when it began, in seconds since 1970.
    pub peak: Option<(i64, u64)>,
    /// The most requests within one minute, and when it began.
    pub peak_minute: Option<(i64, u64)>,
    /// Times before the one of the line before, by more than a minute.
    pub clock_jumps: u64,
    /// When what was released, in seconds since 1970, ascending.
    pub releases: Vec<(i64, String)>,
    /// Names whose pages were put together in one, since there were too many.
    pub merged_pages: u64,
    /// Parts of the logs that are not in the figures, and settings with which the next log contains more.
    pub advice: Vec<LogAdvice>,
    /// Assumptions about facts that the logs do not contain.
    #[serde(default)]
    pub assumptions: Vec<LogAssumption>,
    /// Queries of pages' requests, where logs have ids in common; those that take most first.
    #[serde(default)]
    pub within: Vec<QueryWithin>,
    /// How much of the logs that covers.
    #[serde(default)]
    pub coverage: JoinCoverage,
    /// All that was asked for, in any order.
    pub pages: Vec<LogPage>,
    /// All requests of people, hour by hour; ascending.
    pub hours: Vec<LogHour>,
}

/// How many requests and statements were joined by their ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinCoverage {
    /// One in so many ids is in the figures.
    pub one_in: u64,
    /// Statements that have the id of a request and ran outside its time, so that they are not joined.
    pub outside: u64,
    /// Requests that are left out because another one has their id, and statements have it, too.
    #[serde(default)]
    pub shared: u64,
    /// Ids of requests that are left out because they have too many statements.
    pub crowded: u64,
}

/// A query that requests of a page ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryWithin {
    /// The page's name.
    pub page: String,
    /// The query's name.
    pub query: String,
    /// Requests of the page whose statements are known.
    pub requests: u64,
    /// How often these ran the query.
    pub executions: u64,
    /// How long that took, ns; 0: it is not known.
    pub total_ns: u64,
    /// How long these requests took, ns; 0: it is not known.
    pub page_ns: u64,
}

/// A log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogFile {
    /// Its file's name; `-`: standard input.
    pub name: String,
    /// Its format, in words.
    pub format: String,
    /// Lines in it.
    pub lines: u64,
    /// Bytes in it, after decompression.
    pub bytes: u64,
}

/// Counts of lines by how they were read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCounts {
    /// All of them.
    pub all: u64,
    /// Requests or statements that they told of.
    pub entries: u64,
    /// Lines that are known to tell of no request, such as comments and continuations.
    pub other: u64,
    /// Lines that could not be understood.
    pub malformed: u64,
    /// Lines that are longer than any log's.
    pub too_long: u64,
    /// A last line without an end that could not be understood.
    pub cut_off: u64,
}

/// The kind of a page or a query.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// A page that people or programs asked for.
    #[default]
    Page,
    /// A statement that a database executed.
    Query,
    /// All that a crawler asked for.
    Bot,
    /// A health check by a load balancer or a monitor.
    Health,
}

impl PageKind {
    /// All of them, in the order in which they are shown.
    pub const ALL: [PageKind; 4] = [
        PageKind::Page,
        PageKind::Query,
        PageKind::Bot,
        PageKind::Health,
    ];

    /// True for requests that users wait for.
    pub fn is_use(self) -> bool {
        matches!(self, PageKind::Page | PageKind::Query)
    }
}

/// A page or a query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogPage {
    /// The kind.
    pub kind: PageKind,
    /// Method and route, the method only if it is not GET; or the statement.
    pub name: String,
    /// How often it was asked for.
    pub requests: u64,
    /// Answers with a status of 500 and more; statements that failed.
    pub errors: u64,
    /// Answers with a status of 400 to 499.
    pub client_errors: u64,
    /// Requests whose durations are known.
    pub timed: u64,
    /// The sum of the durations, ns.
    pub total_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// Bytes sent.
    pub bytes: u64,
    /// Their distribution; empty where only sums are known.
    pub times: Counts,
    /// Cell by cell, ascending; empty where the page was too small to keep them.
    pub cells: Vec<LogCell>,
}

/// A page in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogCell {
    /// When it began, in seconds since 1970.
    pub start_s: i64,
    /// Requests.
    pub requests: u64,
    /// Those that failed.
    pub errors: u64,
    /// Those whose durations are known.
    pub timed: u64,
    /// The sum of the durations, ns.
    pub total_ns: u64,
    /// The sum of the natural logarithms of the durations in ns.
    pub sum_ln: f64,
}

/// All pages in an hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogHour {
    /// When it began, in seconds since 1970.
    pub start_s: i64,
    /// The offset of the log's clock from UTC, s.
    pub offset_s: i32,
    /// Requests.
    pub requests: u64,
    /// Those that failed.
    pub errors: u64,
    /// The sum of the durations, ns.
    pub total_ns: u64,
    /// The durations.
    pub times: Counts,
}

impl LogPage {
    /// The mean duration, ns.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.total_ns as f64 / self.timed as f64)
    }
}
