// SPDX-License-Identifier: Apache-2.0
//! Metrics: what subjects are compared in, with a unit and a direction.

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A quantity that is compared at a point, such as the wall time of an operation. Two metrics with the same
/// `id` are the same metric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metric {
    /// Small letters, digits and `_`: the name in CSV, JSON and run files.
    pub id: Cow<'static, str>,
    /// In few words, for people: `CPU time`.
    pub title: Cow<'static, str>,
    /// The unit of its values.
    pub unit: Unit,
    /// The direction that is better.
    pub better: Direction,
}

/// The unit of a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Times in ns; shown in ns, µs, ms or s.
    Nanoseconds,
    /// Sizes in bytes; shown in B, KiB, MiB or GiB.
    Bytes,
    /// So many a second, of what is named in the plural: `requests`.
    PerSecond(Cow<'static, str>),
    /// So many, of what is named in the plural: `threads`.
    Count(Cow<'static, str>),
    /// A part of a whole, 0 to 1; shown in per cent.
    Share,
    /// A value divided by another of the same unit.
    Ratio,
}

/// The direction in which a metric's values are better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The smaller.
    Less,
    /// The greater.
    More,
    /// Neither: it describes, and has no verdict.
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
    /// A metric that is known when the lab is built.
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

    /// A time that has no verdict.
    const fn describing(id: &'static str, title: &'static str) -> Self {
        Metric::new(id, title, Unit::Nanoseconds, Direction::Neither)
    }

    const fn count(id: &'static str, title: &'static str, counted: &'static str) -> Self {
        let unit = Unit::Count(Cow::Borrowed(counted));
        Metric::new(id, title, unit, Direction::Neither)
    }
}

/// Constants, and the list of them all.
macro_rules! known {
    ($($(#[$doc:meta])* $name:ident = $metric:expr;)*) => {
        impl Metric {
            $($(#[$doc])* pub const $name: Metric = $metric;)*

            /// All that are known when the lab is built.
            pub const KNOWN: &[Metric] = &[$(Metric::$name),*];
        }
    };
}

known! {
    /// Typical wall time of an operation: the interquartile mean.
    WALL = Metric::time("wall", "time");
    /// Typical CPU time of an operation.
    CPU = Metric::time("cpu", "CPU time");
    /// Mean wall time of an operation, pauses included.
    MEAN_WALL = Metric::time("mean_wall", "mean time");
    /// Mean CPU time of an operation, helper threads included.
    MEAN_CPU = Metric::time("mean_cpu", "mean CPU time");
    /// The difference of mean and typical wall time, as a fraction of the typical one.
    PAUSES = Metric::new("pauses", "cost of pauses", Unit::Share, Direction::Neither);
    /// CPU time that an operation costs the service or the server.
    SERVER_CPU = Metric::time("server_cpu", "server CPU time");
    /// Wall time of an operation in which neither the subject nor the server computes.
    WAITING = Metric::time("waiting", "waiting");
    /// CPU time beyond the wall time: client and server work at once, or helper threads do.
    OVERLAP = Metric::time("overlap", "overlap");
    /// User CPU time of a process.
    USER_CPU = Metric::time("user_cpu", "user CPU time");
    /// System CPU time of a process.
    SYSTEM_CPU = Metric::time("system_cpu", "system CPU time");
    /// From a program's start to its hello.
    STARTUP = Metric::time("startup", "start-up");
    /// The first operation of a fresh process.
    COLD = Metric::time("cold", "first operation");
    /// The median response time or latency.
    P50 = Metric::time("p50", "p50");
    /// The 75th percentile.
    P75 = Metric::time("p75", "p75");
    /// The 90th percentile.
    P90 = Metric::time("p90", "p90");
    /// The 99th percentile.
    P99 = Metric::time("p99", "p99");
    /// The 99.9th percentile.
    P999 = Metric::time("p99.9", "p99.9");
    /// The 99.99th percentile.
    P9999 = Metric::time("p99.99", "p99.99");
    /// The longest response time or latency.
    MAX = Metric::time("max", "max");
    /// The median service time: from the sending of a request to the end of its answer.
    SERVICE_P50 = Metric::time("service_p50", "service p50");
    /// Its 75th percentile.
    SERVICE_P75 = Metric::time("service_p75", "service p75");
    /// Its 90th percentile.
    SERVICE_P90 = Metric::time("service_p90", "service p90");
    /// Its 99th percentile.
    SERVICE_P99 = Metric::time("service_p99", "service p99");
    /// Its 99.9th percentile.
    SERVICE_P999 = Metric::time("service_p99.9", "service p99.9");
    /// Its 99.99th percentile.
    SERVICE_P9999 = Metric::time("service_p99.99", "service p99.99");
    /// The longest service time.
    SERVICE_MAX = Metric::time("service_max", "service max");
    /// How late the load generator was, in an open loop: the median.
    LAG_P50 = Metric::describing("lag_p50", "lag p50");
    /// Its 75th percentile.
    LAG_P75 = Metric::describing("lag_p75", "lag p75");
    /// Its 90th percentile.
    LAG_P90 = Metric::describing("lag_p90", "lag p90");
    /// Its 99th percentile.
    LAG_P99 = Metric::describing("lag_p99", "lag p99");
    /// Its 99.9th percentile.
    LAG_P999 = Metric::describing("lag_p99.9", "lag p99.9");
    /// Its 99.99th percentile.
    LAG_P9999 = Metric::describing("lag_p99.99", "lag p99.99");
    /// The most that it was late.
    LAG_MAX = Metric::describing("lag_max", "lag max");
    /// From the end of the load to its last answer, at the longest.
    DRAIN = Metric::describing("drain", "drain");
    /// Requests that were due and not yet answered at the end of the load, at the most.
    BACKLOG = Metric::count("backlog", "backlog", "requests");
    /// Requests served per second; its ratios are of the time for each request.
    THROUGHPUT = Metric::new(
        "throughput",
        "throughput",
        Unit::PerSecond(Cow::Borrowed("requests")),
        Direction::More,
    );
    /// 1 / throughput.
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
    /// The most resident memory since a process began.
    PEAK_MEMORY =
        Metric::new("peak_memory", "peak memory", Unit::Bytes, Direction::Less);
    /// Memory of the service's or the server's processes.
    SERVER_MEMORY = Metric::new(
        "server_memory",
        "server memory",
        Unit::Bytes,
        Direction::Less,
    );
    /// Most threads seen.
    THREADS = Metric::count("threads", "threads", "threads");
    /// Operations whose latencies were counted.
    OPERATIONS = Metric::count("operations", "operations", "operations");
    /// Connections that were opened.
    CONNECTS = Metric::count("connects", "connections opened", "connections");
    /// Response times that were counted.
    RESPONSES = Metric::count("responses", "response times", "requests");
    /// Service times that were counted.
    SERVICES = Metric::count("services", "service times", "requests");
    /// Requests of which it is known how late the generator was.
    LAGS = Metric::count("lags", "lags", "requests");
    /// Requests that were due or sent.
    REQUESTS = Metric::count("requests", "requests", "requests");
    /// Requests that were answered as they should be.
    SERVED = Metric::count("served", "served", "requests");
    /// Requests that were not.
    ERRORS = Metric::count("errors", "errors", "requests");
    /// Cores that a server used.
    SERVER_CORES = Metric::count("server_cores", "server cores", "cores");
    /// CPU time of the load generator for each request served.
    GENERATOR_CPU = Metric::new(
        "generator_cpu",
        "generator CPU time",
        Unit::Nanoseconds,
        Direction::Neither,
    );
    /// The part of the time in which the load generator's busiest thread had a core.
    GENERATOR_BUSY = Metric::new(
        "generator_busy",
        "generator busy",
        Unit::Share,
        Direction::Neither,
    );
    /// Page faults that needed no reading from a disk.
    MINOR_FAULTS = Metric::count("minor_faults", "minor faults", "faults");
    /// Page faults that did.
    MAJOR_FAULTS = Metric::count("major_faults", "major faults", "faults");
    /// Voluntary context switches.
    VOLUNTARY_SWITCHES =
        Metric::count("voluntary_switches", "voluntary switches", "switches");
    /// Involuntary context switches.
    INVOLUNTARY_SWITCHES =
        Metric::count("involuntary_switches", "involuntary switches", "switches");
    /// Sends that were followed by a receipt on the same socket.
    ROUND_TRIPS = Metric::count("round_trips", "round trips", "round trips");
    /// Bytes sent on sockets.
    SENT_BYTES =
        Metric::new("sent_bytes", "sent", Unit::Bytes, Direction::Neither);
    /// Bytes received on sockets.
    RECEIVED_BYTES =
        Metric::new("received_bytes", "received", Unit::Bytes, Direction::Neither);
    /// System calls of all kinds.
    SYSTEM_CALLS = Metric::count("system_calls", "system calls", "system calls");
    /// Calls of futex(2) that wait.
    FUTEX_WAITS = Metric::count("futex_waits", "futex waits", "futex waits");
    /// Instructions of a program's own code, without the kernel's.
    INSTRUCTIONS = Metric::count("instructions", "instructions", "instructions");
    /// Cycles of the processor in which it did them.
    CYCLES = Metric::count("cycles", "cycles", "cycles");
    /// Accesses that the processor's last cache did not have.
    CACHE_MISSES = Metric::count("cache_misses", "cache misses", "misses");
    /// Branches that the processor guessed wrong.
    BRANCH_MISSES = Metric::count("branch_misses", "mispredicted branches", "branches");
    /// Instructions, as Callgrind counts them.
    SIMULATED_INSTRUCTIONS =
        Metric::count("simulated_instructions", "simulated instructions", "instructions");
    /// Misses of the first-level data cache that Callgrind simulates.
    SIMULATED_D1_MISSES =
        Metric::count("simulated_d1_misses", "simulated D1 misses", "misses");
    /// Misses of the last-level cache that Callgrind simulates.
    SIMULATED_LL_MISSES =
        Metric::count("simulated_ll_misses", "simulated last-level misses", "misses");
    /// Blocks of memory that were asked for.
    ALLOCATIONS = Metric::count("allocations", "allocations", "blocks");
    /// Bytes of memory that were asked for.
    ALLOCATED_BYTES =
        Metric::new("allocated_bytes", "allocated", Unit::Bytes, Direction::Neither);
    /// Calls that may fail and whose effects are counted.
    CALLS = Metric::count("calls", "calls", "calls");
    /// Those that were answered and have no effect.
    LOST_CALLS = Metric::count("lost_calls", "calls lost", "calls");
    /// Those whose effect is there more than once.
    DOUBLED_CALLS = Metric::count("doubled_calls", "calls applied twice", "calls");
    /// Those that ended with a failure, and have an effect.
    UNREPORTED_CALLS =
        Metric::count("unreported_calls", "calls applied but reported as failed", "calls");
    /// Those that ended with a failure, and have no effect.
    FAILED_CALLS = Metric::count("failed_calls", "calls given up", "calls");
    /// From the moment when a server that was killed answers again to the first COMMIT that reaches it.
    BACK = Metric::time("back", "time to the first COMMIT after an outage");
    /// Requests to a server in the busiest second after an outage, as a multiple of those in a second before it.
    LOAD_AFTER =
        Metric::new("load_after", "load after an outage", Unit::Ratio, Direction::Neither);
    /// Those that are lost, applied twice, or applied but reported as failed.
    WRONG_CALLS = Metric::new("wrong_calls", "wrong calls", Unit::Share, Direction::Neither);
    /// A subject's median latency less the baseline's.
    ADDED_P50 = Metric::describing("added_p50", "p50 added");
    /// A subject's 99th percentile of latency less the baseline's.
    ADDED_P99 = Metric::describing("added_p99", "p99 added");
    /// A subject's 99.9th percentile of latency less the baseline's.
    ADDED_P999 = Metric::describing("added_p99.9", "p99.9 added");
    /// Bytes that an operation sends over a shaped link to its server.
    LINK_BYTES = Metric::new("link_bytes", "sent over the link", Unit::Bytes, Direction::Neither);
}

impl Metric {
    /// Counts that the lab takes of each batch of calls that leave effects. The totals of a run are sums.
    pub const EFFECTS: [Metric; 5] = [
        Metric::CALLS,
        Metric::LOST_CALLS,
        Metric::DOUBLED_CALLS,
        Metric::UNREPORTED_CALLS,
        Metric::FAILED_CALLS,
    ];

    /// Metrics that the lab measures in each batch with an outage.
    pub const OUTAGE: [Metric; 2] = [Metric::BACK, Metric::LOAD_AFTER];

    /// True if the lab measures it in each batch and subjects do not report it.
    pub fn is_found(&self) -> bool {
        let groups = [&Metric::EFFECTS[..], &Metric::OUTAGE, &[Metric::LINK_BYTES]];
        groups.iter().any(|group| group.contains(self))
    }
}

/// Units of a size that a reader may give, in bytes.
pub const SIZES: [(&str, f64); 7] = [
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
    ("kB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
];

/// The percentiles of the response time, and the longest.
pub static RESPONSE_TIMES: [Metric; 7] = [
    Metric::P50,
    Metric::P75,
    Metric::P90,
    Metric::P99,
    Metric::P999,
    Metric::P9999,
    Metric::MAX,
];

/// The percentiles of the service time, and the longest.
pub static SERVICE_TIMES: [Metric; 7] = [
    Metric::SERVICE_P50,
    Metric::SERVICE_P75,
    Metric::SERVICE_P90,
    Metric::SERVICE_P99,
    Metric::SERVICE_P999,
    Metric::SERVICE_P9999,
    Metric::SERVICE_MAX,
];

/// Each value once, in the order in which it comes first.
pub fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct: Vec<T> = Vec::new();
    for value in values {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    distinct
}

/// `1,234,567`, `-1,234.5`.
pub fn grouped(number: impl ToString) -> String {
    let mut text = number.to_string();
    let point = text.find('.').unwrap_or(text.len());
    let first = usize::from(text.starts_with('-')) + 1;
    let places = (first..point).rev();
    for place in places.filter(|place| (point - place).is_multiple_of(3)) {
        text.insert(place, ',');
    }
    text
}

/// A number without zeros at the end of its fraction: `1.50` as `1.5`, `2.00` as `2`.
pub fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}
