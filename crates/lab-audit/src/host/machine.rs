// SPDX-License-Identifier: Apache-2.0
//! The machine that probes observe.

use crate::value::{AuditObject, Value};
use lab_host::{Gauge, Root};
use lab_model::audit::{EvidenceTable, EvidenceValue};
use serde::Deserialize;
use std::time::Duration;

/// The duration for which other programs are observed before a run.
const WATCH: Duration = Duration::from_millis(300);

/// A probe of one area of a machine.
pub trait Probe {
    /// Returns objects of one or more classes. Different probes may set different values of the
    /// same object.
    fn observe(&self, machine: &AuditedMachine) -> Vec<AuditObject>;
}

/// The input of the probes.
#[derive(Debug)]
pub struct AuditedMachine {
    /// The machine's files.
    pub root: Root,
    /// Observations that are not in files.
    pub watched: HostActivity,
}

/// Observations that require a running machine. `None` means not observed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostActivity {
    /// The fraction of CPU time that the hypervisor gave to other virtual machines (steal), 0 to 1.
    pub steal: Option<f64>,
    /// The fraction of CPU time that other programs used, 0 to 1.
    pub foreign: Option<f64>,
    /// The number of cores that benchlab may use.
    pub cores: Option<u64>,
    /// The duration of one `CLOCK_MONOTONIC` reading, in ns.
    pub clock_read_ns: Option<f64>,
    /// True if the kernel considers its clock synchronized (adjtimex(2), STA_UNSYNC).
    pub synchronized: Option<bool>,
    /// The maximum error of the clock according to the kernel, in ns.
    pub time_error_ns: Option<f64>,
    /// The rate at which the last `benchlab load` on this machine opened connections, per second.
    pub load_connects: Option<f64>,
}

impl AuditedMachine {
    /// Observes this machine: its files, and its activity for 0.3 s.
    pub fn live() -> AuditedMachine {
        let gauge = Gauge::start();
        std::thread::sleep(WATCH);
        let idle = gauge.read();
        let cores = lab_host::allowed_cores().ok();
        AuditedMachine {
            root: Root::live(),
            watched: HostActivity {
                steal: Some(idle.steal),
                foreign: Some(idle.foreign),
                cores: cores.map(|cores| cores.len() as u64),
                ..observe_with_system_calls()
            },
        }
    }

    /// Reads a copy of a machine's files from a directory. Its `watched.toml` contains the live observations.
    ///
    /// # Errors
    ///
    /// Returns an error if `watched.toml` exists but is invalid.
    pub fn copy(root: Root) -> Result<AuditedMachine, String> {
        let watched = match root.text("watched.toml") {
            Ok(text) => toml::from_str(&text).map_err(|e| format!("watched.toml: {e}"))?,
            Err(_) => HostActivity::default(),
        };
        Ok(AuditedMachine { root, watched })
    }

    /// Creates the single object of the class `host`.
    pub(super) fn host(&self) -> AuditObject {
        AuditObject::new("host", name(&self.root))
    }

    /// Returns a value that can be observed only on a running machine. In a copy, the value is
    /// unknown.
    pub(super) fn live_value(&self, value: Option<Value>) -> Value {
        value.unwrap_or_else(|| {
            Value::Unknown("A copy of files does not show the machine's activity.".into())
        })
    }
}

/// Observes the machine with system calls. They take about a millisecond in total.
fn observe_with_system_calls() -> HostActivity {
    let (synchronized, time_error_ns) = kernel_clock();
    HostActivity {
        clock_read_ns: Some(clock_read_ns()),
        synchronized,
        time_error_ns,
        ..HostActivity::default()
    }
}

/// Measures the duration of one clock reading in ns. Returns the smallest of five means, which
/// excludes interruptions.
fn clock_read_ns() -> f64 {
    const READS: u32 = 1000;
    let mean = |_| {
        let began = std::time::Instant::now();
        for _ in 0..READS {
            std::hint::black_box(std::time::Instant::now());
        }
        began.elapsed().as_nanos() as f64 / f64::from(READS)
    };
    (0..5).map(mean).fold(f64::INFINITY, f64::min)
}

fn kernel_clock() -> (Option<bool>, Option<f64>) {
    // SAFETY: all zeros is a valid timex, and modes = 0 only reads (adjtimex(2)).
    let (state, clock) = unsafe {
        let mut clock: libc::timex = std::mem::zeroed();
        (libc::adjtimex(&mut clock), clock)
    };
    match state {
        -1 => (None, None),
        _ => {
            let synchronized = clock.status & libc::STA_UNSYNC == 0;
            (Some(synchronized), Some(clock.maxerror as f64 * 1000.0))
        }
    }
}

/// Returns the number after a name at the start of a line, as in `/proc/meminfo` and `/proc/vmstat`.
pub(super) fn field(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| {
        let rest = line.strip_prefix(name)?;
        rest.strip_prefix(':').or_else(|| rest.strip_prefix(' '))
    })?;
    value.split_whitespace().next()?.parse().ok()
}

/// Returns the word in brackets, as in `always [madvise] never`.
pub(super) fn bracketed_word(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Builds a table with one row for each object of a class.
pub(super) fn table(
    objects: &[AuditObject],
    class: &str,
    title: &str,
    columns: &[(&str, &str)],
) -> EvidenceTable {
    let headings = columns.iter().map(|(_, heading)| (*heading).to_owned());
    let members = objects.iter().filter(|object| object.class == class);
    let row = |object: &AuditObject| {
        let name = EvidenceValue::Word(object.name.clone());
        let values = columns.iter().skip(1).map(|(name, _)| {
            object
                .values
                .get(name)
                .map_or(EvidenceValue::Nothing, Value::evidence)
        });
        std::iter::once(name).chain(values).collect()
    };
    EvidenceTable {
        title: title.into(),
        caption: String::new(),
        columns: headings.collect(),
        rows: members.map(row).collect(),
    }
}

/// Returns the machine's host name.
pub fn name(root: &Root) -> String {
    let name = root
        .line("proc/sys/kernel/hostname")
        .or_else(|| root.line("etc/hostname"));
    name.unwrap_or_else(|| "this host".into())
}
