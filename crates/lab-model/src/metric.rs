// SPDX-License-Identifier: Apache-2.0
//! Metrics: the quantities in which subjects are compared, with a unit and a direction.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A quantity that is compared at a point, such as the wall time of an operation.
///
/// Two metrics with the same `id` are equal.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metric {
    /// The name in CSV, JSON and run files: lowercase letters, digits and `_`.
    pub id: Cow<'static, str>,
    /// A short display title, such as `CPU time`.
    pub title: Cow<'static, str>,
    /// The unit of the metric's values.
    pub unit: Unit,
    /// The direction in which values are better.
    pub better: Direction,
}

/// The unit of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Times in ns. They are displayed in ns, µs, ms or s.
    Nanoseconds,
    /// Sizes in bytes. They are displayed in B, KiB, MiB or GiB.
    Bytes,
    /// A number of items per second. The string contains the plural of the items' name, such as
    /// `requests`.
    PerSecond(Cow<'static, str>),
    /// A count of items. The string contains the plural of the items' name, such as `threads`.
    Count(Cow<'static, str>),
    /// A fraction of a whole, from 0 to 1. It is displayed as a percentage.
    Share,
    /// A value divided by another value with the same unit.
    Ratio,
}

/// The direction in which a metric's values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Smaller values are better.
    Less,
    /// Larger values are better.
    More,
    /// Neither direction is better: the metric is descriptive and has no verdict.
    Neither,
}

impl PartialEq for Metric {
    fn eq(&self, other: &Metric) -> bool {
        self.id == other.id
    }
}

impl Eq for Metric {}

impl std::hash::Hash for Metric {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl Metric {
    /// Creates a metric that is known at compile time.
    pub const fn new(id: &'static str, title: &'static str, unit: Unit, better: Direction) -> Self {
        Metric {
            id: Cow::Borrowed(id),
            title: Cow::Borrowed(title),
            unit,
            better,
        }
    }

    const fn time(id: &'static str, title: &'static str) -> Self {
        Metric::new(id, title, Unit::Nanoseconds, Direction::Less)
    }

    /// Creates a time metric that is only descriptive and has no verdict.
    const fn describing(id: &'static str, title: &'static str) -> Self {
        Metric::new(id, title, Unit::Nanoseconds, Direction::Neither)
    }

    const fn count(id: &'static str, title: &'static str, counted: &'static str) -> Self {
        let unit = Unit::Count(Cow::Borrowed(counted));
        Metric::new(id, title, unit, Direction::Neither)
    }
}

/// Defines a constant for each metric that is known at compile time, and a list of these metrics.
macro_rules! known {
    ($($(#[$doc:meta])* $name:ident = $metric:expr;)*) => {
        impl Metric {
            $($(#[$doc])* pub const $name: Metric = $metric;)*

            /// All metrics that are known at compile time.
            pub const KNOWN: &[Metric] = &[$(Metric::$name),*];
        }
    };
}

known! {
    /// Typical wall time of an operation: the interquartile mean.
    WALL = Metric::time("wall", "time");
    /// Typical CPU time of an operation.
    CPU = Metric::time("cpu", "CPU time");
    /// Mean wall time of an operation, including pauses.
    MEAN_WALL = Metric::time("mean_wall", "mean time");
    /// Mean CPU time of an operation, including helper threads.
    MEAN_CPU = Metric::time("mean_cpu", "mean CPU time");
    /// The excess of the mean over the typical wall time, as a fraction of the typical time.
    PAUSES = Metric::new("pauses", "cost of pauses", Unit::Share, Direction::Neither);
    /// CPU time that the service or the server uses for an operation.
    SERVER_CPU = Metric::time("server_cpu", "server CPU time");
    /// The wall time of an operation during which neither the subject nor the server computes.
    WAITING = Metric::time("waiting", "waiting");
    /// CPU time in excess of the wall time. It shows that client and server work concurrently, or
    /// that helper threads run.
    OVERLAP = Metric::time("overlap", "overlap");
    /// User CPU time of a process.
    USER_CPU = Metric::time("user_cpu", "user CPU time");
    /// System CPU time of a process.
    SYSTEM_CPU = Metric::time("system_cpu", "system CPU time");
    /// The time from the start of a program to its hello message.
    STARTUP = Metric::time("startup", "start-up");
    /// The time of the first operation in a fresh process.
    COLD = Metric::time("cold", "first operation");
    /// The median response time or latency.
    P50 = Metric::time("p50", "p50");
    /// The 75th percentile of the response time or latency.
    P75 = Metric::time("p75", "p75");
    /// The 90th percentile of the response time or latency.
    P90 = Metric::time("p90", "p90");
    /// The 99th percentile of the response time or latency.
    P99 = Metric::time("p99", "p99");
    /// The 99.9th percentile of the response time or latency.
    P999 = Metric::time("p99.9", "p99.9");
    /// The 99.99th percentile of the response time or latency.
    P9999 = Metric::time("p99.99", "p99.99");
    /// The maximum response time or latency.
    MAX = Metric::time("max", "max");
    /// The median service time: from sending a request to the end of its response.
    SERVICE_P50 = Metric::time("service_p50", "service p50");
    /// The 75th percentile of the service time.
    SERVICE_P75 = Metric::time("service_p75", "service p75");
    /// The 90th percentile of the service time.
    SERVICE_P90 = Metric::time("service_p90", "service p90");
    /// The 99th percentile of the service time.
    SERVICE_P99 = Metric::time("service_p99", "service p99");
    /// The 99.9th percentile of the service time.
    SERVICE_P999 = Metric::time("service_p99.9", "service p99.9");
    /// The 99.99th percentile of the service time.
    SERVICE_P9999 = Metric::time("service_p99.99", "service p99.99");
    /// The maximum service time.
    SERVICE_MAX = Metric::time("service_max", "service max");
    /// The median send delay of the load generator in an open loop.
    SEND_DELAY_P50 = Metric::describing("send_delay_p50", "send delay p50");
    /// The 75th percentile of the send delay.
    SEND_DELAY_P75 = Metric::describing("send_delay_p75", "send delay p75");
    /// The 90th percentile of the send delay.
    SEND_DELAY_P90 = Metric::describing("send_delay_p90", "send delay p90");
    /// The 99th percentile of the send delay.
    SEND_DELAY_P99 = Metric::describing("send_delay_p99", "send delay p99");
    /// The 99.9th percentile of the send delay.
    SEND_DELAY_P999 = Metric::describing("send_delay_p99.9", "send delay p99.9");
    /// The 99.99th percentile of the send delay.
    SEND_DELAY_P9999 = Metric::describing("send_delay_p99.99", "send delay p99.99");
    /// The maximum send delay.
    SEND_DELAY_MAX = Metric::describing("send_delay_max", "send delay max");
    /// The maximum time from the end of the load to the last response.
    DRAIN = Metric::describing("drain", "drain");
    /// The maximum number of requests that were due but had no response at the end of the load.
    BACKLOG = Metric::count("backlog", "backlog", "requests");
    /// Requests served per second. Ratios are computed from the time per request.
    THROUGHPUT = Metric::new(
        "throughput",
        "throughput",
        Unit::PerSecond(Cow::Borrowed("requests")),
        Direction::More,
    );
    /// The wall time per request: 1 / throughput.
    TIME_PER_REQUEST = Metric::time("time_per_request", "time for each request");
    /// Requests due per second.
    OFFERED = Metric::new(
        "offered",
        "offered",
        Unit::PerSecond(Cow::Borrowed("requests")),
        Direction::Neither,
    );
    /// Bytes received per second.
    RECEIVED = Metric::new(
        "received",
        "received",
        Unit::PerSecond(Cow::Borrowed("bytes")),
        Direction::Neither,
    );
    /// Resident memory.
    MEMORY = Metric::new("memory", "memory", Unit::Bytes, Direction::Less);
    /// Peak resident memory since the start of a process.
    PEAK_MEMORY =
        Metric::new("peak_memory", "peak memory", Unit::Bytes, Direction::Less);
    /// Memory of the processes of the service or the server.
    SERVER_MEMORY = Metric::new(
        "server_memory",
        "server memory",
        Unit::Bytes,
        Direction::Less,
    );
    /// The maximum number of threads observed.
    THREADS = Metric::count("threads", "threads", "threads");
    /// The number of operations whose latency was recorded.
    OPERATIONS = Metric::count("operations", "operations", "operations");
    /// Connections opened.
    CONNECTS = Metric::count("connects", "connections opened", "connections");
    /// The number of response times that were recorded.
    RESPONSES = Metric::count("responses", "response times", "requests");
    /// The number of service times that were recorded.
    SERVICES = Metric::count("services", "service times", "requests");
    /// The number of requests whose send delay is known.
    SEND_DELAYS = Metric::count("send_delays", "send delays", "requests");
    /// The number of requests that were due or sent.
    REQUESTS = Metric::count("requests", "requests", "requests");
    /// Requests with the expected response.
    SERVED = Metric::count("served", "served", "requests");
    /// Requests without the expected response.
    ERRORS = Metric::count("errors", "errors", "requests");
    /// Cores that a server used.
    SERVER_CORES = Metric::count("server_cores", "server cores", "cores");
    /// CPU time of the load generator per request served.
    GENERATOR_CPU = Metric::new(
        "generator_cpu",
        "generator CPU time",
        Unit::Nanoseconds,
        Direction::Neither,
    );
    /// The fraction of the time during which the load generator's busiest thread used a core.
    GENERATOR_BUSY = Metric::new(
        "generator_busy",
        "generator busy",
        Unit::Share,
        Direction::Neither,
    );
    /// Page faults that did not need to read from a disk.
    MINOR_FAULTS = Metric::count("minor_faults", "minor faults", "faults");
    /// Page faults that had to read from a disk.
    MAJOR_FAULTS = Metric::count("major_faults", "major faults", "faults");
    /// Voluntary context switches.
    VOLUNTARY_SWITCHES =
        Metric::count("voluntary_switches", "voluntary switches", "switches");
    /// Involuntary context switches.
    INVOLUNTARY_SWITCHES =
        Metric::count("involuntary_switches", "involuntary switches", "switches");
    /// Sends that were followed by a receive on the same socket.
    ROUND_TRIPS = Metric::count("round_trips", "round trips", "round trips");
    /// Bytes sent on sockets.
    SENT_BYTES =
        Metric::new("sent_bytes", "sent", Unit::Bytes, Direction::Neither);
    /// Bytes received on sockets.
    RECEIVED_BYTES =
        Metric::new("received_bytes", "received", Unit::Bytes, Direction::Neither);
    /// System calls of all kinds.
    SYSTEM_CALLS = Metric::count("system_calls", "system calls", "system calls");
    /// Calls to futex(2) that wait.
    FUTEX_WAITS = Metric::count("futex_waits", "futex waits", "futex waits");
    /// Instructions in user space, excluding the kernel.
    INSTRUCTIONS = Metric::count("instructions", "instructions", "instructions");
    /// Processor cycles spent on instructions in user space.
    CYCLES = Metric::count("cycles", "cycles", "cycles");
    /// Accesses that missed the processor's last-level cache.
    CACHE_MISSES = Metric::count("cache_misses", "cache misses", "misses");
    /// Branches that the processor mispredicted.
    BRANCH_MISSES = Metric::count("branch_misses", "mispredicted branches", "branches");
    /// Instructions counted by Callgrind.
    SIMULATED_INSTRUCTIONS =
        Metric::count("simulated_instructions", "simulated instructions", "instructions");
    /// Misses of the first-level data cache simulated by Callgrind.
    SIMULATED_D1_MISSES =
        Metric::count("simulated_d1_misses", "simulated D1 misses", "misses");
    /// Misses of the last-level cache simulated by Callgrind.
    SIMULATED_LL_MISSES =
        Metric::count("simulated_ll_misses", "simulated last-level misses", "misses");
    /// The number of memory blocks that were allocated.
    ALLOCATIONS = Metric::count("allocations", "allocations", "blocks");
    /// The number of bytes of memory that were allocated.
    ALLOCATED_BYTES =
        Metric::new("allocated_bytes", "allocated", Unit::Bytes, Direction::Neither);
    /// Calls that may fail. benchlab counts their effects.
    CALLS = Metric::count("calls", "calls", "calls");
    /// Calls that were reported as successful but have no effect.
    LOST_CALLS = Metric::count("lost_calls", "calls lost", "calls");
    /// Calls whose effect was applied more than once.
    DOUBLED_CALLS = Metric::count("doubled_calls", "calls applied twice", "calls");
    /// Calls that were reported as failed but have an effect.
    UNREPORTED_CALLS =
        Metric::count("unreported_calls", "calls applied but reported as failed", "calls");
    /// Calls that were reported as failed and have no effect.
    FAILED_CALLS = Metric::count("failed_calls", "calls given up", "calls");
    /// The time from a killed server's first response after its restart to the first COMMIT that
    /// reaches it.
    BACK = Metric::time("back", "time to the first COMMIT after an outage");
    /// The number of requests to a server in the busiest second after an outage, divided by the
    /// number of requests per second before the outage.
    LOAD_AFTER =
        Metric::new("load_after", "load after an outage", Unit::Ratio, Direction::Neither);
    /// The fraction of calls that were lost, applied twice, or applied but reported as failed.
    WRONG_CALLS = Metric::new("wrong_calls", "wrong calls", Unit::Share, Direction::Neither);
    /// The subject's median latency minus the baseline's.
    ADDED_P50 = Metric::describing("added_p50", "p50 added");
    /// The subject's 99th percentile of latency minus the baseline's.
    ADDED_P99 = Metric::describing("added_p99", "p99 added");
    /// The subject's 99.9th percentile of latency minus the baseline's.
    ADDED_P999 = Metric::describing("added_p99.9", "p99.9 added");
}

impl Metric {
    /// The counts that benchlab determines for each batch of calls that may fail.
    ///
    /// The total of a run is the sum over its batches.
    pub const EFFECTS: [Metric; 5] = [
        Metric::CALLS,
        Metric::LOST_CALLS,
        Metric::DOUBLED_CALLS,
        Metric::UNREPORTED_CALLS,
        Metric::FAILED_CALLS,
    ];

    /// Metrics of batches with an outage, which fixtures may report.
    pub const OUTAGE: [Metric; 2] = [Metric::BACK, Metric::LOAD_AFTER];

    /// Returns the metric whose ratios the comparisons contain, so that a ratio below 1 is always
    /// better: the metric itself or, if more is better, its inverse.
    ///
    /// The inverse of the throughput is the time for each request.
    pub fn cost(&self) -> Metric {
        match self.better {
            Direction::More if *self == Metric::THROUGHPUT => Metric::TIME_PER_REQUEST,
            Direction::More => Metric {
                title: format!("inverse of {}", self.title).into(),
                better: Direction::Less,
                ..self.clone()
            },
            Direction::Less | Direction::Neither => self.clone(),
        }
    }

    /// Returns true if benchlab, not the subject, measures the metric in each batch.
    pub fn is_found(&self) -> bool {
        Metric::EFFECTS.contains(self)
    }
}

/// The percentiles and the maximum of the response time.
pub static RESPONSE_TIMES: [Metric; 7] = [
    Metric::P50,
    Metric::P75,
    Metric::P90,
    Metric::P99,
    Metric::P999,
    Metric::P9999,
    Metric::MAX,
];

/// The percentiles and the maximum of the service time.
pub static SERVICE_TIMES: [Metric; 7] = [
    Metric::SERVICE_P50,
    Metric::SERVICE_P75,
    Metric::SERVICE_P90,
    Metric::SERVICE_P99,
    Metric::SERVICE_P999,
    Metric::SERVICE_P9999,
    Metric::SERVICE_MAX,
];

/// Returns the distinct values in the order of their first occurrence.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct: Vec<T> = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// Formats a count for a message: `1 row`, `3 rows`.
pub fn plural(n: u64, noun: &str) -> String {
    match n {
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}

/// Formats a number with thousands separators: `1,234,567`, `-1,234.5`.
pub fn grouped(number: impl ToString) -> String {
    let mut text = number.to_string();
    let point = text.find('.').unwrap_or(text.len());
    let first = usize::from(text.starts_with('-')) + 1;
    let positions = (first..point).rev();
    for position in positions.filter(|position| (point - position).is_multiple_of(3)) {
        text.insert(position, ',');
    }
    text
}

/// Removes trailing zeros from a fraction: `1.50` becomes `1.5`, and `2.00` becomes `2`.
pub fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}
