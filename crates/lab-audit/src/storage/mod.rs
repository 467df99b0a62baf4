// SPDX-License-Identifier: Apache-2.0
//! `audit host --measure`: measures the speed of disks with direct I/O. Multiple disks take turns.

mod target;
mod turns;

pub use target::{SCRATCH, StorageTarget};

use crate::extra::Extra;
use crate::value::{AuditObject, Class, Value};
use lab_host::{Medium, Root};
use lab_model::audit::{EvidenceBars, EvidenceTable, EvidenceValue};
use lab_model::{Interval, Unit};
use lab_stats::order::median_interval;
use lab_stats::signed_rank::center;
use turns::{DEPTH, Round, StorageWork};

/// The number of rounds. A 95 % interval requires at least six.
pub const ROUNDS: u64 = 12;
/// The minimum latency of a flash read, in ns. NAND data sheets specify 40 to 100 µs per page.
const FLASH_NS: f64 = 40e3;
/// The duration of half a rotation at 15,000 rpm, in ns.
const PLATTER_NS: f64 = 2e6;

/// The class of objects that contain the measurements of one disk each.
pub const STORAGE: Class = Class {
    name: "storage",
    none: "No disk was measured; use --measure.",
    values: &[
        ("disk", "the underlying disk"),
        (
            "medium",
            "nvme, flash, spinning, virtual, file, memory or unknown",
        ),
        (
            "scratch",
            "whether benchlab's own scratch file was measured",
        ),
        ("read_mb", "speed of sequential reads in MB/s"),
        ("read_p50", "median latency of a random 4 KiB read"),
        ("read_p99", "99th percentile of the random read latency"),
        ("read_rate", "random 4 KiB reads per second, one at a time"),
        ("deep_rate", "random 4 KiB reads per second, 32 at a time"),
        ("deep_gain", "deep_rate divided by read_rate"),
        (
            "tail",
            "99th percentile of a random read divided by its median",
        ),
        ("write_p50", "median latency of a 4 KiB write"),
        ("fsync_p50", "median latency of a 4 KiB write with fsync"),
        (
            "fsync_p99",
            "99th percentile of the write latency with fsync",
        ),
        ("commits", "writes with fsync per second, one at a time"),
        ("first_read", "median latency of the first read of a block"),
        (
            "again",
            "latency of the second read of a block divided by that of the first",
        ),
        (
            "page_cache",
            "whether reads go through this system's page cache, as for a loop device",
        ),
        (
            "cache",
            "reads that a cache below this system serves: nothing, repeated reads or all reads",
        ),
    ],
};

/// The measurements of a target.
pub struct StorageResults {
    target: StorageTarget,
    /// The rounds of each kind of work, in the order of [`StorageWork::ALL`].
    rounds: Vec<Vec<Round>>,
    /// The median latencies of the first and the second read of the same blocks, in ns.
    rereads: [f64; 2],
}

/// Runs rounds of all kinds of work on all targets.
///
/// `step` receives the number of completed rounds.
///
/// # Errors
///
/// Returns an error if reading from or writing to a target fails.
pub fn measure(
    targets: Vec<StorageTarget>,
    rounds: u64,
    step: &mut dyn FnMut(u64),
) -> Result<Vec<StorageResults>, String> {
    let mut measured = Vec::new();
    let seed = std::time::UNIX_EPOCH.elapsed().map_or(1, |t| t.as_secs());
    for target in &targets {
        let rereads = turns::first_and_second_reads(target, seed)
            .map_err(|e| format!("{}: {e}", target.name))?;
        measured.push((rereads, vec![Vec::new(); StorageWork::ALL.len()]));
    }
    for round in 0..rounds {
        step(round);
        for (index, work) in StorageWork::ALL.into_iter().enumerate() {
            let seed = seed + round * 8 + index as u64;
            let round_results = turns::round(&targets, work, seed)?;
            for (measured_target, round_of_target) in measured.iter_mut().zip(round_results) {
                measured_target.1[index].extend(round_of_target);
            }
        }
    }
    let pairs = targets.into_iter().zip(measured);
    let to_measured = |(target, (rereads, rounds))| StorageResults {
        target,
        rounds,
        rereads,
    };
    Ok(pairs.map(to_measured).collect())
}

/// Returns the objects, facts, tables and chart that the measurements add to an audit.
pub fn extra(results: &[StorageResults]) -> Extra {
    let mut tables = vec![speeds(results)];
    if results.len() > 1 {
        tables.push(ratios(results));
    }
    let rounds = results[0].rounds[0].len();
    let way = format!(
        "direct I/O; {rounds} rounds with two turns of 60 ms for each kind of work, in mirrored order; {DEPTH} concurrent reads with as many threads"
    );
    Extra {
        objects: results.iter().map(StorageResults::object).collect(),
        tables,
        chart: chart(results),
        facts: vec![("disks were measured with".into(), way)],
    }
}

impl StorageResults {
    fn interval(
        &self,
        work: StorageWork,
        value: impl Fn(&Round) -> Option<f64>,
    ) -> Option<Interval> {
        let index = StorageWork::ALL.iter().position(|w| *w == work)?;
        let values: Option<Vec<f64>> = self.rounds[index].iter().map(value).collect();
        median_interval(&values?, 0.05)
    }

    fn estimate(&self, work: StorageWork, value: impl Fn(&Round) -> Option<f64>) -> Option<f64> {
        self.interval(work, value).map(|interval| interval.estimate)
    }

    fn object(&self) -> AuditObject {
        let mut object = AuditObject::new("storage", &self.target.name);
        let disk = self.target.disk.as_deref().unwrap_or("unknown");
        object.set("disk", Value::word(disk));
        object.set("medium", Value::word(&self.target.medium));
        object.set("scratch", Value::Flag(self.target.scratch));
        object.set("page_cache", Value::Flag(page_cache_below(disk)));
        let p50 = |work| self.estimate(work, |r| Some(r.p50));
        let p99 = |work| self.estimate(work, |r| r.p99);
        let rate = |work| self.estimate(work, |r| Some(r.rate));
        let per_s = |n: f64, noun: &'static str| Value::Number(n, Unit::PerSecond(noun.into()));
        let ratio = |n: f64| Value::Number(n, Unit::Ratio);
        object.set_some(
            "read_mb",
            rate(StorageWork::Sequential).map(|n| per_s(megabytes(n), "MB")),
        );
        object.set_some("read_p50", p50(StorageWork::Random).map(Value::ns));
        object.set_some("read_p99", p99(StorageWork::Random).map(Value::ns));
        object.set_some(
            "read_rate",
            rate(StorageWork::Random).map(|n| per_s(n, "reads")),
        );
        object.set_some(
            "deep_rate",
            rate(StorageWork::RandomDeep).map(|n| per_s(n, "reads")),
        );
        let gain = rate(StorageWork::RandomDeep).zip(rate(StorageWork::Random));
        object.set_some("deep_gain", gain.map(|(deep, one)| ratio(deep / one)));
        let tail = p99(StorageWork::Random).zip(p50(StorageWork::Random));
        object.set_some("tail", tail.map(|(p99, p50)| ratio(p99 / p50)));
        object.set_some("write_p50", p50(StorageWork::Write).map(Value::ns));
        object.set_some("fsync_p50", p50(StorageWork::Sync).map(Value::ns));
        object.set_some("fsync_p99", p99(StorageWork::Sync).map(Value::ns));
        object.set_some(
            "commits",
            rate(StorageWork::Sync).map(|n| per_s(n, "commits")),
        );
        object.set("first_read", Value::ns(self.rereads[0]));
        object.set("again", ratio(self.rereads[1] / self.rereads[0]));
        let read = p50(StorageWork::Random).unwrap_or(f64::NAN);
        let cache_below = cache(&self.target.medium, self.target.scratch, read, self.rereads);
        object.set("cache", cache_below);
        object
    }
}

/// Returns the kind of reads that a cache outside this system serves, judging by their latencies:
/// `all reads`, `repeated reads` or `nothing`.
///
/// `read_ns` is the median latency of random reads, and `first_and_second` are the median latencies
/// of the first and the second read of the same blocks, all in ns.
pub fn cache(medium: &str, scratch: bool, read_ns: f64, first_and_second: [f64; 2]) -> Value {
    let fastest_ns = match medium {
        "memory" => 0.0,
        "spinning" => PLATTER_NS,
        _ => FLASH_NS,
    };
    match medium {
        _ if read_ns.min(first_and_second[0]) < fastest_ns => Value::word("all reads"),
        _ if !scratch && first_and_second[1] < first_and_second[0] / 2.0 => Value::word("repeated reads"),
        "file" => Value::Unknown("The device is a file on another filesystem, which has its own cache.".into()),
        "virtual" | "unknown" if scratch => Value::Unknown(
            "A newly written file may be in the hypervisor's cache; as root, measure the device: --measure /dev/…"
                .into(),
        ),
        _ => Value::word("nothing"),
    }
}

/// Returns true for a loop device that reads its backing file through the page cache (/sys/block/loopN/loop/dio).
fn page_cache_below(disk: &str) -> bool {
    let root = Root::live();
    let of_file = matches!(Medium::detect(&root, disk), Medium::File(_));
    of_file && root.number(&format!("sys/block/{disk}/loop/dio")) != Some(1)
}

fn megabytes(blocks: f64) -> f64 {
    blocks * target::LARGE as f64 / 1e6
}

fn word(text: &str) -> EvidenceValue {
    EvidenceValue::Word(text.into())
}

/// Builds a table of all results with their intervals.
fn speeds(results: &[StorageResults]) -> EvidenceTable {
    let mut rows = Vec::new();
    for measured in results {
        for work in StorageWork::ALL
            .into_iter()
            .filter(|work| work.fits(&measured.target))
        {
            let rate = measured.interval(work, |r| Some(r.rate));
            let figures = [
                match work {
                    StorageWork::Sequential => {
                        let scaled = |interval: Interval| Interval {
                            estimate: megabytes(interval.estimate),
                            low: megabytes(interval.low),
                            high: megabytes(interval.high),
                            ..interval
                        };
                        ("speed", Unit::PerSecond("MB".into()), rate.map(scaled))
                    }
                    _ => ("rate", Unit::PerSecond("operations".into()), rate),
                },
                (
                    "median",
                    Unit::Nanoseconds,
                    measured.interval(work, |r| Some(r.p50)),
                ),
                (
                    "99 %",
                    Unit::Nanoseconds,
                    measured.interval(work, |r| r.p99),
                ),
            ];
            for (name, unit, interval) in figures {
                let Some(interval) = interval else { continue };
                let mut row = vec![word(&measured.target.name), word(work.name()), word(name)];
                let number = |n: f64| EvidenceValue::Number(n, unit.clone());
                row.extend([interval.estimate, interval.low, interval.high].map(number));
                rows.push(row);
            }
        }
    }
    EvidenceTable {
        title: "Speed of disks".into(),
        caption: "Medians over the rounds, with 95 % intervals. If a round has fewer than 100 operations, there is no 99th percentile.".into(),
        columns: ["target", "work", "metric", "estimate", "low", "high"].map(String::from).into(),
        rows,
    }
}

/// Builds a table of rates relative to the first target.
fn ratios(results: &[StorageResults]) -> EvidenceTable {
    let mut rows = Vec::new();
    for measured in &results[1..] {
        for (index, work) in StorageWork::ALL.into_iter().enumerate() {
            let rounds = measured.rounds[index].iter().zip(&results[0].rounds[index]);
            let logs: Vec<f64> = rounds
                .map(|(measured, base)| (measured.rate / base.rate).ln())
                .collect();
            let Some(center) = center(&logs, 0.05) else {
                continue;
            };
            let interval = center.interval;
            let mut row = vec![word(&measured.target.name), word(work.name())];
            let number = |n: f64| EvidenceValue::Number(n.exp(), Unit::Ratio);
            row.extend([interval.estimate, interval.low, interval.high].map(number));
            rows.push(row);
        }
    }
    EvidenceTable {
        title: format!("Rates relative to {}", results[0].target.name),
        caption: "Hodges-Lehmann estimates over the rounds, with 95 % intervals. A ratio above 1 is faster.".into(),
        columns: ["target", "work", "ratio", "low", "high"].map(String::from).into(),
        rows,
    }
}

fn chart(results: &[StorageResults]) -> Option<EvidenceBars> {
    let names: Vec<&str> = results
        .iter()
        .map(|measured| measured.target.name.as_str())
        .collect();
    let names = short_names(&names);
    let bar = |(measured, name): (&StorageResults, &String), work: StorageWork| {
        let name = match results.len() {
            1 => work.name().to_owned(),
            _ => format!("{name}: {}", work.short()),
        };
        Some((name, measured.estimate(work, |r| Some(r.p50))?))
    };
    let works = StorageWork::ALL
        .into_iter()
        .filter(|work| *work != StorageWork::Sequential);
    let targets = || results.iter().zip(&names);
    let rows = works.flat_map(|work| targets().filter_map(move |target| bar(target, work)));
    Some(EvidenceBars {
        title: "Time of one operation".into(),
        caption: "Medians. Reads and writes are of 4 KiB.".into(),
        axis: "time".into(),
        unit: Unit::Nanoseconds,
        rows: rows.take(12).collect(),
    })
}

/// The maximum length of a target's name in a chart, in characters. A label has room for about 24
/// characters, including the kind of work.
const MAX_NAME_CHARS: usize = 14;

/// Shortens the names of multiple targets for a chart.
///
/// Removes their common directory, and keeps only the end of a name that is still too long. Names
/// that are then equal are replaced by numbers.
fn short_names(names: &[&str]) -> Vec<String> {
    let first = names.first().copied().unwrap_or_default();
    let folders = first.match_indices('/').map(|(index, _)| &first[..=index]);
    let mut common = folders.filter(|folder| {
        names
            .iter()
            .all(|name| name.starts_with(folder) && name != folder)
    });
    let common = common.next_back().map_or(0, str::len);
    let end = |name: &&str| {
        let letters: Vec<char> = name[common..].chars().collect();
        match letters.len() {
            n if n <= MAX_NAME_CHARS => letters.into_iter().collect(),
            n => format!("…{}", String::from_iter(&letters[n + 1 - MAX_NAME_CHARS..])),
        }
    };
    let shortened: Vec<String> = names.iter().map(end).collect();
    let is_repeated = |name: &String| shortened.iter().filter(|other| *other == name).count() > 1;
    let numbered = |(index, name): (usize, &String)| {
        if is_repeated(name) {
            format!("no. {}", index + 1)
        } else {
            name.clone()
        }
    };
    shortened.iter().enumerate().map(numbered).collect()
}

#[cfg(test)]
mod tests {
    use super::short_names;

    #[test]
    fn names_of_targets_are_unique_in_a_chart() {
        assert_eq!(short_names(&["/tmp/v21/m1", "/tmp/v21/m2"]), ["m1", "m2"]);
        assert_eq!(short_names(&["/srv", "/dev/sda"]), ["srv", "dev/sda"]);
        let long = [
            "/srv/a/the-longest-name",
            "/srv/b/the-longest-name",
            "/srv/c",
        ];
        assert_eq!(short_names(&long), ["no. 1", "no. 2", "c"]);
        assert_eq!(short_names(&["/", "/tmp"]), ["/", "/tmp"]);
    }
}
