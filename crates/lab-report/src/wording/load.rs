// SPDX-License-Identifier: Apache-2.0
//! The result of a load on running servers in sentences: the rate, the results of the requests, and
//! the cause that limited the rate.

use super::locations::listed;
use super::warnings::more_time;
use lab_document::format::quantity;
use lab_document::say::{self, count};
use lab_model::ErrorKind;
use lab_stats::forecast::TimeBudget;

/// The outcome of the requests to a server.
pub struct Outcome {
    /// The number of requests that were sent or due.
    pub requests: u64,
    /// The number of failed requests by kind.
    pub failed: Vec<(ErrorKind, u64)>,
}

/// The rate at which a server responded.
pub struct Served<'a> {
    /// The server's name, if there is more than one.
    pub server: Option<&'a str>,
    /// The rate with its interval.
    pub rate: String,
    /// The offered rate of an open loop.
    pub offered: Option<String>,
    /// The connections, such as `50 connections`.
    pub connections: String,
    /// The number of compared points. The other fields describe the point with the highest rate.
    pub points: usize,
    /// True if the server did not keep up with the offered rate.
    pub overloaded: bool,
    /// The outcome of the requests at the point with the highest rate.
    pub outcome: Outcome,
}

/// Describes the rate and the outcome of the requests: `1,700 requests/s (1,400 to 2,000) over 50 connections; 14 of
/// 17,160 requests timed out.`
pub fn served(served: &Served) -> String {
    let server = served
        .server
        .map_or(String::new(), |name| format!("{name}: "));
    let offered = served
        .offered
        .as_ref()
        .map_or(String::new(), |rate| format!(" of {rate} offered"));
    let best = match served.points {
        1 => String::new(),
        points => format!(", about the highest of {points} points"),
    };
    let overloaded = if served.overloaded {
        "; the server did not keep up"
    } else {
        ""
    };
    format!(
        "{server}{}{offered} over {}{best}{overloaded}; {}.",
        served.rate,
        served.connections,
        outcome(&served.outcome)
    )
}

/// States that a server served no request: `No request succeeded: 6,000 of 6,000 requests could not connect.`
pub fn none_served(server: Option<&str>, all: &Outcome) -> String {
    let server = server.map_or(String::new(), |name| format!("{name}: "));
    format!("{server}No request succeeded: {}.", outcome(all))
}

/// States that the load was too short for a rate: `The load was too short for a rate: there were no
/// failures in 1 request.`
pub fn rate_unknown(server: Option<&str>, all: &Outcome) -> String {
    let server = server.map_or(String::new(), |name| format!("{name}: "));
    format!(
        "{server}The load was too short for a rate: {}.",
        outcome(all)
    )
}

/// Describes the outcome of requests, such as `14 of 17,160 requests timed out`.
fn outcome(outcome: &Outcome) -> String {
    let failed: u64 = outcome.failed.iter().map(|(_, n)| n).sum();
    let requests = count(outcome.requests as usize, "request");
    let predicate = match outcome.failed.as_slice() {
        [] => return format!("there were no failures in {requests}"),
        [(only, _)] => predicate(*only),
        _ => "failed",
    };
    format!("{} of {requests} {predicate}", quantity::integer(failed))
}

/// Returns the predicate for requests that failed with an error of the given kind.
fn predicate(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Connect => "could not connect",
        ErrorKind::Timeout => "timed out",
        ErrorKind::Reset => "lost their connection",
        ErrorKind::Malformed => "got a response that is not HTTP",
        ErrorKind::Status => "got an unexpected status",
        ErrorKind::Body => "got an unexpected body",
        ErrorKind::Unfinished => "got no response by the end",
    }
}

/// Lists responses by status code, such as `200: 17,146, 302: 4.`
///
/// Returns `None` if the statuses are unknown, which is the case in files of earlier versions.
pub fn statuses(counts: &[(u16, u64)]) -> Option<String> {
    let each = counts
        .iter()
        .map(|(status, n)| format!("{status}: {}", quantity::integer(*n)));
    say::joined(each, ", ")
}

/// Explains redirects, which the load does not follow.
pub fn redirects() -> &'static str {
    "Redirects are not followed; `--expect-status 200` counts them as errors."
}

/// The cause that limited the rate at a point.
pub enum Bottleneck {
    /// The queues of connections that servers on this machine had not yet accepted.
    AcceptQueue {
        /// The number of times that a queue was full.
        overflows: u64,
    },
    /// The offered rate, which the server kept up with.
    OfferedRate,
    /// The number of connections, because each connection waits for its response.
    Connections {
        /// The number of connections.
        connections: usize,
        /// The fraction of time in which the generator's busiest thread was running.
        generator_busy: f64,
        /// The number of cores that the server used, and the number of the machine's cores, if
        /// known.
        server_cores: Option<(f64, f64)>,
    },
}

/// Returns the label of the cause that limited the rate. Queue overflows are only a likely cause of
/// delays.
pub fn bottleneck_label(bottleneck: &Bottleneck) -> &'static str {
    match bottleneck {
        Bottleneck::AcceptQueue { .. } => "Likely cause",
        Bottleneck::OfferedRate | Bottleneck::Connections { .. } => "Limit",
    }
}

/// Describes the cause that limited the rate, with advice.
pub fn bottleneck(bottleneck: &Bottleneck) -> String {
    match bottleneck {
        Bottleneck::AcceptQueue { overflows } => format!(
            "accept queues of this machine overflowed {} during the load. A connection that finds its queue full waits \
             for a retransmission, often for a second. Raise the server's listen backlog, and net.core.somaxconn if \
             that is lower.",
            match overflows {
                1 => "once".into(),
                n => count(*n as usize, "time"),
            }
        ),
        Bottleneck::OfferedRate => {
            "the offered rate: the server kept up with it. Raise --rate to find its limit.".into()
        }
        Bottleneck::Connections {
            connections,
            generator_busy,
            server_cores,
        } => {
            let waiting = match connections {
                1 => "the connection, which waits".to_owned(),
                n => format!("{n} connections, each of which waits"),
            };
            let cores = server_cores.map_or(String::new(), |(used, all)| {
                let cores = if all == 1.0 { "core" } else { "cores" };
                format!(", the server used {used:.2} of {all:.0} {cores}")
            });
            format!(
                "{waiting} for its response. The generator's busiest thread was running {} of the time{cores}. \
                 `--sweep connections={connections},{},{}` shows whether more connections raise the rate.",
                say::percent((100.0 * generator_busy).round() / 100.0),
                2 * connections,
                4 * connections
            )
        }
    }
}

/// Names the percentiles without an interval, and explains how to get the intervals.
pub fn tails(percentiles: &[&str], time: Option<TimeBudget>) -> String {
    format!(
        "Too few blocks for intervals of {}.{}",
        listed(percentiles),
        more_time(time)
    )
}

/// States when response times start and, for an open loop, when service times start.
pub fn times(is_open: bool) -> &'static str {
    match is_open {
        true => "Response times start when a request is due, service times when it is sent.",
        false => "Response times start when a request is sent.",
    }
}

/// Explains the table of multiple servers or points.
pub fn rates_and_percentiles() -> &'static str {
    "Rates are medians over blocks; percentiles cover all requests served."
}

/// Describes the chart of the requests by response time.
pub fn histogram() -> &'static str {
    "Served requests by response time, in steps of 1, 2 and 5."
}
