// SPDX-License-Identifier: Apache-2.0
//! Findings about logs as data. [`crate::wording`] contains their sentences.

use crate::analysis::pareto::PageOrder;
use lab_model::{Interval, LogAdvice, LogAssumption, PageKind};
use serde::Serialize;

/// A result, an assumption or a problem that a report on logs states.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum LogsFinding {
    /// The smallest set of pages or queries that takes most of the time.
    SmallestSet {
        /// Pages or queries.
        ranked: PageKind,
        /// The quantity that is ranked.
        by: PageOrder,
        /// The size of the set.
        size: usize,
        /// The interval of the size. `None` means that the log is too short for an interval.
        bounds: Option<[f64; 2]>,
        /// The total number of pages or queries.
        of: usize,
        /// The set's fraction of the total, 0 to 1.
        part: f64,
        /// The first pages of the set.
        first: Vec<PageFraction>,
    },
    /// The page with the most requests, the page with the longest mean duration, and the page with
    /// the most total time. These can be the same page.
    Orders {
        /// The page with the most requests.
        most_used: Option<String>,
        /// The page with the longest mean duration.
        slowest: String,
        /// The mean duration of the slowest page, in ns.
        slowest_mean_ns: f64,
        /// The page with the most total time.
        most_time: String,
        /// The page whose optimization would save the most time, and the fraction of the total time
        /// that the optimization would save.
        ///
        /// The saving assumes that the page's mean becomes the median of the other pages' means.
        saving: Option<PageFraction>,
    },
    /// Requests of a page run the same query many times.
    RepeatedQuery {
        /// The name of the page.
        page: String,
        /// The normalized text of the query.
        query: String,
        /// The average number of executions per request.
        per_request: f64,
        /// The fraction of the requests' time that the query takes, or `None` if unknown.
        share: Option<f64>,
        /// The sampling rate of the join: one in `one_in` request IDs is joined.
        one_in: u64,
    },
    /// The headroom of the server.
    Headroom {
        /// The fraction of the capacity that the busiest minute uses.
        used: Interval,
        /// The number of users that the server can handle, as a multiple of the current number.
        times: Interval,
        /// True if the capacity is only a lower bound, because the load run did not reach the load
        /// at which the 99th percentile exceeds `limit_ns`.
        is_lower_bound: bool,
        /// The maximum acceptable 99th percentile of the response times, in ns.
        limit_ns: f64,
    },
    /// A page became slower or faster.
    Changed {
        /// The name of the page.
        page: String,
        /// The durations after the change divided by the durations before the change.
        ratio: Interval,
        /// The first day of the new level, such as `2026-05-21`.
        day: String,
        /// The release on that day, if any.
        release: Option<String>,
    },
    /// An hour of the week has more requests than the same hour of other days, every week.
    WeeklySpike {
        /// The weekday, where 0 is Monday.
        weekday: usize,
        /// The hour of the day.
        hour: usize,
        /// The ratio of the requests to the requests at the same hour of other days.
        ratio: Interval,
        /// The number of other hours that stand out every week.
        more: usize,
    },
    /// Individual hours have more requests than usual.
    SingleSpikes {
        /// The number of hours with more requests than usual.
        hours: usize,
        /// The start of the largest spike by the log's clock, in seconds since 1970.
        local_s: i64,
        /// The ratio of the largest spike's requests to the usual number.
        ratio: Interval,
    },
    /// The busiest hour and the busiest minute.
    Busiest {
        /// The busiest hour, if the log is long enough to compare it with the average.
        hour: Option<BusiestHour>,
        /// The start of the minute, in seconds since 1970.
        start_s: i64,
        /// The offset of the log's clock during the busiest minute, in seconds east of UTC.
        offset_s: i64,
        /// The number of requests in the minute.
        requests: u64,
    },
    /// An assumption that results depend on.
    Assumed {
        /// The assumption, with the facts that it concerns.
        assumption: LogAssumption,
        /// The log or logs that the assumption concerns, or `None` if no logs are compared.
        log: Option<ComparedLog>,
    },
    /// Some lines cannot be parsed.
    Malformed {
        /// The number of malformed lines.
        lines: u64,
        /// The total number of lines.
        of: u64,
    },
    /// Some lines are too long and were skipped.
    TooLong {
        /// The number of lines that are too long.
        lines: u64,
        /// The total number of lines.
        of: u64,
    },
    /// It is unknown whether statements failed.
    WithoutOutcome {
        /// The number of statements of which it is unknown.
        statements: u64,
        /// The total number of statements.
        of: u64,
    },
    /// Requests have no status.
    WithoutStatus {
        /// The number of requests without a status.
        requests: u64,
        /// The total number of requests.
        of: u64,
    },
    /// A few requests have no duration.
    WithoutDuration {
        /// The number of requests without a duration.
        requests: u64,
        /// The total number of requests.
        of: u64,
    },
    /// A few statements that succeeded have no duration.
    UntimedStatements {
        /// The number of statements that succeeded but have no duration.
        statements: u64,
        /// The number of all statements that succeeded.
        of: u64,
    },
    /// The last line of a log is cut off.
    CutOff,
    /// The log's clock went backward.
    ClockJumps {
        /// The number of times that the clock went backward.
        times: u64,
    },
    /// Durations are whole seconds.
    WholeSeconds {
        /// True if most durations are 0.
        are_mostly_zero: bool,
        /// True if a server's `LogFormat` may be the cause.
        is_log_format: bool,
    },
    /// Durations of statements are whole seconds.
    WholeSecondsOfStatements,
    /// Durations exceed the range in which percentiles distinguish values.
    LongDurations {
        /// True if a sum of durations exceeds the range of counters.
        is_sum_capped: bool,
    },
    /// Some entries of a log are not counted, or the next log could contain more data.
    Advice {
        /// The advice, with the facts that it concerns.
        advice: LogAdvice,
    },
    /// Statements ran outside the time span of the request with their ID.
    StatementsOutside {
        /// The number of statements that ran outside the time span.
        statements: u64,
    },
    /// Multiple requests share an ID.
    SharedIds {
        /// The number of requests that share an ID.
        requests: u64,
    },
    /// Some request IDs have too many statements to be joined.
    CrowdedIds {
        /// The number of IDs with too many statements.
        ids: u64,
    },
    /// The log has no requests.
    NoRequests,
    /// The log is too short for intervals.
    TooShort,
    /// The log has no timestamps.
    NoTimes,
    /// Requests and statements have IDs, but no ID is in both.
    UnmatchedIds {
        /// The number of statements with an ID.
        statements: u64,
    },
    /// The log has too few weeks to find spikes.
    TooFewWeeks {
        /// The number of whole weeks in the log.
        weeks: usize,
        /// The number of weeks needed.
        needed: usize,
    },
    /// No load run shows the capacity.
    NoCapacity,
    /// In a comparison of two logs, a page is slower or faster in the second log.
    PageChanged {
        /// The name of the page.
        page: String,
        /// The durations in the second log divided by the durations in the first log.
        ratio: Interval,
        /// The page's fraction of the total time in the first and in the second log, 0 to 1.
        shares: [f64; 2],
    },
    /// In a comparison of two logs, no page is shown to have changed.
    NoneChanged {
        /// The number of compared pages.
        pages: usize,
    },
    /// In a comparison of two logs, no page has enough days in both logs.
    NoCommonDays {
        /// The number of days needed.
        needed: usize,
    },
}

/// A page with its fraction of the total.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageFraction {
    /// The name of the page.
    pub page: String,
    /// The fraction, 0 to 1.
    pub share: f64,
}

/// In a comparison of two logs: the log or the logs that a finding concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedLog {
    /// The first log.
    First,
    /// The second log.
    Second,
    /// Both logs.
    Both,
}

/// A problem that prevents a decision about a gate.
#[derive(Clone, Debug, PartialEq)]
pub enum GateProblem {
    /// The metric depends on an assumption.
    Assumed(LogAssumption),
    /// Messages of PostgreSQL's log are in a language other than English and are not counted.
    Translated {
        /// The number of messages.
        messages: u64,
    },
    /// The busiest minute is unknown.
    NoPeak,
    /// No page has the name that the gate specifies.
    NoPage {
        /// The specified name.
        page: String,
        /// The page with the most similar name, if any.
        nearest: Option<String>,
    },
    /// No durations are known.
    NoDurations,
    /// The maximum duration is unknown.
    NoMax,
    /// No request was read.
    NoRequests,
    /// No status is known.
    NoStatus,
    /// For no statement is it known whether it failed.
    NoOutcome,
    /// Statements of which it is unknown whether they failed could change the result.
    UnknownOutcome {
        /// The number of statements of which it is unknown.
        statements: u64,
        /// The total number of statements.
        of: u64,
    },
    /// Requests without a status could change the result.
    UnknownStatus {
        /// The number of requests without a status.
        requests: u64,
        /// The total number of requests.
        of: u64,
    },
    /// Lines that could not be parsed could change the result.
    Malformed {
        /// The number of lines that could not be parsed.
        lines: u64,
        /// The total number of lines.
        of: u64,
    },
    /// The value exceeds one hour, above which percentiles do not distinguish values.
    BeyondHour,
    /// The sum of the durations exceeds the range of counters.
    CappedSum,
    /// Some durations are lower bounds, so the value is only a lower bound. Contains the value in
    /// ns.
    LowerBound(f64),
    /// Some durations are lower bounds, so the fraction of the time is unknown.
    BoundedFraction,
}

/// A problem that prevents a decision about whether pages changed between two logs.
#[derive(Clone, Debug, PartialEq)]
pub enum UnknownChange {
    /// The change depends on an assumption about a log.
    Assumed(ComparedLog, LogAssumption),
    /// The change of a page depends on an assumption about a log.
    PageAssumed {
        /// The name of the page.
        page: String,
        /// The log that the assumption concerns.
        log: ComparedLog,
        /// The assumption.
        assumption: LogAssumption,
    },
    /// Lines of a log that could not be parsed could change the result.
    Malformed {
        /// The log with the lines.
        log: ComparedLog,
        /// The number of lines that could not be parsed.
        lines: u64,
        /// The total number of lines.
        of: u64,
    },
    /// A log could not be read to its end. Contains the reason.
    Unread(ComparedLog, String),
    /// Messages of PostgreSQL's log are in a language other than English and are not counted.
    Translated {
        /// The log with the messages.
        log: ComparedLog,
        /// The number of messages.
        messages: u64,
    },
    /// A page is not in both logs.
    NotInBoth(String),
    /// No page has enough days in both logs.
    NoDays,
    /// A page has too few days.
    TooFewDays(String),
    /// The interval of a page's change is too wide to decide.
    Open {
        /// The name of the page.
        page: String,
        /// The lower bound of the ratio.
        low: f64,
        /// The upper bound of the ratio.
        high: f64,
    },
}

/// A problem that makes the headroom unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityProblem {
    /// The run was not made by `benchlab load`.
    NotALoad,
    /// The busiest minute of the log is unknown.
    NoPeak,
    /// Many requests of the log have no time.
    MissingTimes,
    /// The load run has no p99.
    NoResponseTimes,
    /// The 99th percentile stayed within its limit at no point of the load run.
    AlwaysExceeded,
}

/// The hour of a log with the most requests.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BusiestHour {
    /// The start by the log's clock, in seconds since 1970.
    pub local_s: i64,
    /// The ratio of the hour's requests to the requests of an average hour.
    pub of_average: f64,
}
