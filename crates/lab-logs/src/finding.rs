// SPDX-License-Identifier: Apache-2.0
//! Findings about logs as data. Their sentences are in [`crate::wording`].

use crate::analysis::pareto::PageOrder;
use lab_model::{Interval, LogAdvice, LogAssumption, PageKind};
use serde::Serialize;

/// A finding of a report.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum LogsFinding {
    /// The smallest set of pages or queries that takes most of the time.
    SmallestSet {
        /// Pages or queries.
        ranked: PageKind,
        /// The quantity of which they take a part.
        by: PageOrder,
        /// The size of the set.
        size: usize,
        /// The bounds of the size; `None`: the log is too short for them.
        bounds: Option<[f64; 2]>,
        /// The number of all pages or queries.
        of: usize,
        /// The part that the set takes, of 1.
        part: f64,
        /// The first pages of the set.
        first: Vec<PageShare>,
    },
    /// The pages with the most requests, with the longest mean and with the most time differ.
    Orders {
        /// The page with the most requests.
        most_used: String,
        /// The page with the longest mean.
        slowest: String,
        /// Its mean, ns.
        slowest_mean_ns: f64,
        /// The page with the most time.
        most_time: String,
        /// The page that would save the most, were its mean the median of the others, and the part of all time.
        saving: Option<PageShare>,
    },
    /// Requests of a page run a query many times.
    RepeatedQuery {
        /// The page.
        page: String,
        /// The query.
        query: String,
        /// Executions for each request.
        per_request: f64,
        /// The part of the requests' time that the query takes; `None`: it is not known.
        share: Option<f64>,
        /// One in so many request ids is joined.
        one_in: u64,
    },
    /// The room that is left.
    Headroom {
        /// The part of the capacity that the busiest minute uses.
        used: Interval,
        /// The multiple of users that fit.
        times: Interval,
        /// True if more may fit: the load run never exceeded the bound.
        is_lower_bound: bool,
        /// The bound of the 99th percentile, ns.
        limit_ns: f64,
    },
    /// A page became slower or faster.
    Changed {
        /// The page.
        page: String,
        /// Durations after the change as a multiple of those before.
        ratio: Interval,
        /// The first day of the new level, such as `2026-05-21`.
        day: String,
        /// The release of that day, if there was one.
        release: Option<String>,
    },
    /// An hour of the week has more requests every week.
    WeeklySpike {
        /// The weekday: 0 is Monday.
        weekday: usize,
        /// The hour of the day.
        hour: usize,
        /// Requests as a multiple of those at the same hour of other days.
        ratio: Interval,
        /// The number of other hours that stand out every week.
        more: usize,
    },
    /// Single hours have more requests than usual.
    SingleSpikes {
        /// The number of hours.
        hours: usize,
        /// The time at which the greatest began by the log's clock, in seconds since 1970.
        local_s: i64,
        /// Its requests as a multiple of the usual ones.
        ratio: Interval,
    },
    /// The busiest minute.
    BusiestMinute {
        /// The time at which it began, in seconds since 1970.
        start_s: i64,
        /// The offset of the log's clock then, seconds east of UTC.
        offset_s: i64,
        /// Its requests.
        requests: u64,
    },
    /// An assumption that figures depend on.
    Assumed {
        /// The assumption.
        assumption: LogAssumption,
        /// The logs that it concerns in a comparison, or `None` without a comparison.
        log: Option<ComparedLog>,
    },
    /// Lines cannot be parsed.
    Malformed {
        /// Such lines.
        lines: u64,
        /// All lines.
        of: u64,
    },
    /// Lines are too long.
    TooLong {
        /// Such lines.
        lines: u64,
        /// All lines.
        of: u64,
    },
    /// The last line of a log is cut off.
    CutOff,
    /// The log's clock went back.
    ClockJumps {
        /// How often.
        times: u64,
    },
    /// Durations are whole seconds.
    WholeSeconds,
    /// Durations are longer than percentiles distinguish.
    LongDurations,
    /// A part of a log is not in the figures, or the next log could contain more.
    Advice {
        /// The advice.
        advice: LogAdvice,
    },
    /// Statements ran outside the time of the request that has their id.
    StatementsOutside {
        /// Their number.
        statements: u64,
    },
    /// Requests share an id.
    SharedIds {
        /// Their number.
        requests: u64,
    },
    /// Request ids have too many statements.
    CrowdedIds {
        /// Their number.
        ids: u64,
    },
    /// The log has no requests.
    NoRequests,
    /// The log is too short for intervals.
    TooShort,
    /// The log has too few weeks for spikes.
    TooFewWeeks {
        /// Whole weeks in the log.
        weeks: usize,
        /// Weeks that are needed.
        needed: usize,
    },
    /// No load run shows the capacity.
    NoCapacity,
    /// Two logs: a page takes another time in the second one.
    PageChanged {
        /// The page.
        page: String,
        /// Durations in the second log as a multiple of those in the first.
        ratio: Interval,
        /// The part of all time in the first and in the second log, of 1.
        shares: [f64; 2],
    },
    /// Two logs: no page is shown to take another time.
    NoneChanged {
        /// Pages that are compared.
        pages: usize,
    },
    /// Two logs: no page has enough days in both.
    NoCommonDays {
        /// Days that are needed.
        needed: usize,
    },
}

/// A page with its part of all, of 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PageShare {
    /// The page.
    pub page: String,
    /// The part.
    pub share: f64,
}

/// The logs of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ComparedLog {
    /// The first.
    First,
    /// The second.
    Second,
    /// Both.
    Both,
}

/// The reason why a gate cannot be judged.
#[derive(Clone, Debug, PartialEq)]
pub enum GateProblem {
    /// The figure depends on an assumption.
    Assumed(LogAssumption),
    /// The busiest minute is not known.
    NoPeak,
    /// There is no page of that name.
    NoPage(String),
    /// No durations are known.
    NoDurations,
    /// The value exceeds an hour, beyond which percentiles are not distinguished.
    BeyondHour,
    /// Some durations are lower bounds, so that the value, ns, is one.
    LowerBound(f64),
    /// Some durations are lower bounds, so that a share is not known.
    BoundedShare,
}

/// The reason why the change of pages between two logs is not known.
#[derive(Clone, Debug, PartialEq)]
pub enum UnknownChange {
    /// It depends on an assumption about one of the logs.
    Assumed(ComparedLog, LogAssumption),
    /// No page has enough days in both logs.
    NoDays,
    /// A page has too few days.
    TooFewDays(String),
    /// The interval of a page's change allows too much.
    Open {
        /// The page.
        page: String,
        /// The lower bound of the ratio.
        low: f64,
        /// The upper bound of the ratio.
        high: f64,
    },
}

/// The reason why the room that is left is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityProblem {
    /// The run is not one of `benchlab load`.
    NotALoad,
    /// The busiest minute of the log is not known.
    NoPeak,
    /// The load run has no response times.
    NoResponseTimes,
    /// The load run exceeded the bound at every load.
    AlwaysExceeded,
}
