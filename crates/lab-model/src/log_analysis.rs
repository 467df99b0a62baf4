// SPDX-License-Identifier: Apache-2.0
//! The result of analyzing logs: pages and queries with their numbers of requests and durations,
//! and the totals per hour.

use crate::{Counts, LogAdvice, LogAssumption};
use serde::{Deserialize, Serialize};

/// The result of analyzing logs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogAnalysis {
    /// The files that were read, in order.
    pub sources: Vec<LogFile>,
    /// The numbers of lines by parse result.
    pub lines: LineCounts,
    /// The resolution of durations in the log, in ns, or `None` if there are no durations.
    pub resolution_ns: Option<u64>,
    /// The maximum error of a percentile, as a fraction of its value.
    pub error: f64,
    /// The length of a [`LogCell`], in seconds.
    pub cell_s: i64,
    /// The second with the most requests: its start in seconds since 1970 and its request count.
    /// `None` if it is unknown, for example because parts of the log are for the same time.
    pub peak: Option<(i64, u64)>,
    /// The minute with the most requests: its start in seconds since 1970 and its request count.
    pub peak_minute: Option<(i64, u64)>,
    /// The number of timestamps that are more than a minute earlier than the timestamp of the
    /// previous line.
    pub clock_jumps: u64,
    /// Releases: the time in seconds since 1970 and the name, ascending by time.
    pub releases: Vec<(i64, String)>,
    /// The number of page names that were merged into one page to limit the number of pages.
    pub merged_pages: u64,
    /// Data in the logs that the results do not include, and settings that would make future logs
    /// more complete.
    pub advice: Vec<LogAdvice>,
    /// Assumptions about facts that the logs do not contain.
    #[serde(default)]
    pub assumptions: Vec<LogAssumption>,
    /// Queries per page, in descending order of total time. Empty if the requests and statements in
    /// the logs have no IDs in common.
    #[serde(default)]
    pub within: Vec<QueryWithin>,
    /// The coverage of the join from which the queries per page come.
    #[serde(default)]
    pub coverage: JoinCoverage,
    /// All pages and queries, in any order.
    pub pages: Vec<LogPage>,
    /// The totals of all requests by users in each hour, in chronological order.
    pub hours: Vec<LogHour>,
}

/// The coverage of the join of requests and statements by ID.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinCoverage {
    /// The sampling rate: one in `one_in` IDs is included.
    pub one_in: u64,
    /// The number of statements that have the ID of a request but ran outside of its duration. They
    /// are not joined to the request.
    pub outside: u64,
    /// The number of requests that are excluded because another request with statements has the
    /// same ID.
    #[serde(default)]
    pub shared: u64,
    /// The number of request IDs that are excluded because too many statements have them.
    pub crowded: u64,
    /// The number of statements with an ID, if requests also have IDs but no statement could be
    /// matched to a request by its ID. Otherwise 0.
    #[serde(default)]
    pub unmatched: u64,
}

/// A query that a page's requests executed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueryWithin {
    /// The page's name.
    pub page: String,
    /// The query's name.
    pub query: String,
    /// The number of the page's requests whose statements are known.
    pub requests: u64,
    /// The number of executions of the query by the page's requests.
    pub executions: u64,
    /// The total time of the executions in ns, or 0 if unknown.
    pub total_ns: u64,
    /// The total time of the page's requests in ns, or 0 if unknown. Only requests whose statements
    /// are known count.
    pub page_ns: u64,
}

/// A log file that was read, and the extent of its content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogFile {
    /// The file's name. `-` is standard input.
    pub name: String,
    /// The display name of the format.
    pub format: String,
    /// The number of lines.
    pub lines: u64,
    /// The number of bytes after decompression.
    pub bytes: u64,
}

/// The numbers of lines by parse result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineCounts {
    /// All lines.
    pub all: u64,
    /// Requests or statements found in the lines.
    pub entries: u64,
    /// Lines that contain no request by design, such as comments and continuations.
    pub other: u64,
    /// Lines that could not be parsed.
    pub malformed: u64,
    /// Lines that exceed the maximum line length.
    pub too_long: u64,
    /// Incomplete last lines that could not be parsed.
    pub cut_off: u64,
}

/// The kind of a page or a query.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum PageKind {
    /// A page that people or programs requested.
    #[default]
    Page,
    /// A statement that a database executed.
    Query,
    /// All requests of a crawler, as one page.
    Bot,
    /// A health check by a load balancer or a monitor.
    Health,
}

impl PageKind {
    /// All kinds, in display order.
    pub const ALL: [PageKind; 4] = [
        PageKind::Page,
        PageKind::Query,
        PageKind::Bot,
        PageKind::Health,
    ];

    /// Returns true for pages and queries that users wait for.
    pub fn is_use(self) -> bool {
        matches!(self, PageKind::Page | PageKind::Query)
    }
}

/// The requests that count as one page, or the executions of one query.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogPage {
    /// The kind of entry: a page, a query, or the sum of a crawler's requests or of health checks.
    pub kind: PageKind,
    /// For a page, the route, preceded by the method unless it is GET. For a query, the statement.
    pub name: String,
    /// For a page, the number of requests. For a query, the number of executions.
    pub requests: u64,
    /// For a page, the number of responses with status 500 or higher. For a query, the number of
    /// failed executions.
    pub errors: u64,
    /// The number of responses with status 400 to 499.
    pub client_errors: u64,
    /// For a page, the number of requests with an unknown status. For a query, the number of
    /// executions of which it is unknown whether they failed.
    #[serde(default)]
    pub without_status: u64,
    /// The number of requests with a known duration.
    pub timed: u64,
    /// The sum of the durations, in ns.
    pub total_ns: u64,
    /// The maximum duration in ns, or 0 if unknown.
    pub max_ns: u64,
    /// The number of bytes sent.
    pub bytes: u64,
    /// The distribution of the durations. Empty if only their sum is known.
    pub times: Counts,
    /// The page's cells, ascending by time. Empty if the page has too few requests for cells.
    pub cells: Vec<LogCell>,
}

/// The requests for a page in a period. All cells of an analysis have periods of the same length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogCell {
    /// The start, in seconds since 1970.
    pub start_s: i64,
    /// The number of requests in the period.
    pub requests: u64,
    /// The number of failed requests in the period.
    pub errors: u64,
    /// The number of requests with a known duration.
    pub timed: u64,
    /// The sum of the durations, in ns.
    pub total_ns: u64,
    /// The sum of the natural logarithms of the durations in ns.
    pub sum_ln: f64,
}

/// The totals of all pages in one hour.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogHour {
    /// The start, in seconds since 1970.
    pub start_s: i64,
    /// The offset of the log's clock from UTC, in seconds.
    pub offset_s: i32,
    /// The number of requests in the hour.
    pub requests: u64,
    /// The number of failed requests in the hour.
    pub errors: u64,
    /// The sum of the durations, in ns.
    pub total_ns: u64,
    /// The distribution of the durations.
    pub times: Counts,
}

impl LogPage {
    /// The maximum sum of durations in ns, which is the largest number in a run file.
    pub const MAX_TOTAL_NS: u64 = i64::MAX as u64;

    /// Returns true if the sum of the durations reached its maximum, so that the true sum may be
    /// larger.
    pub fn is_total_capped(&self) -> bool {
        self.total_ns >= LogPage::MAX_TOTAL_NS
    }

    /// Returns a quantile of the durations in ns. `fraction` is from 0 to 1.
    ///
    /// It is exact if all durations are equal. Otherwise it has the precision of the distribution,
    /// and does not exceed the maximum.
    pub fn quantile(&self, fraction: f64) -> Option<u64> {
        let value = self.times.quantile(fraction)?;
        let are_equal =
            u128::from(self.total_ns) == u128::from(self.max_ns) * u128::from(self.timed);
        Some(match self.max_ns {
            0 => value,
            max_ns if are_equal => max_ns,
            max_ns => value.min(max_ns),
        })
    }

    /// Returns the mean duration in ns, if any duration is known.
    pub fn mean_ns(&self) -> Option<f64> {
        (self.timed > 0).then(|| self.total_ns as f64 / self.timed as f64)
    }

    /// Returns the maximum duration in ns, if it is known.
    pub fn known_max_ns(&self) -> Option<u64> {
        (self.timed > 0 && (self.max_ns > 0 || self.total_ns == 0)).then_some(self.max_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values of a distribution are the middles of its buckets, so a value can be higher or
    /// lower than the durations in its bucket.
    #[test]
    fn quantiles_do_not_contradict_the_mean_and_the_maximum() {
        let page = |total_ns, max_ns, middle| LogPage {
            timed: 10,
            total_ns,
            max_ns,
            times: Counts(vec![(middle, 10)]),
            ..LogPage::default()
        };
        for middle in [948, 953] {
            assert_eq!(page(9_500, 950, middle).quantile(0.99), Some(950));
        }
        assert_eq!(page(9_400, 950, 948).quantile(0.99), Some(948));
        assert_eq!(page(9_400, 950, 953).quantile(0.5), Some(950));
        // Statement statistics have no maximum.
        assert_eq!(page(9_400, 0, 953).quantile(0.5), Some(953));
        assert_eq!(LogPage::default().quantile(0.5), None);
    }
}
