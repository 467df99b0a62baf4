// SPDX-License-Identifier: Apache-2.0
//! Reads the processor's counters (perf_event_open(2)). The counters cover the instructions, cycles
//! and misses of a process's own code, but not of the kernel.

use lab_model::Metric;
use nix::unistd::Pid;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::FromRawFd;

/// The counted metrics, in the order in which [`EventCounts::since`] returns them.
pub static COUNTED: [Metric; 4] = [
    Metric::INSTRUCTIONS,
    Metric::CYCLES,
    Metric::CACHE_MISSES,
    Metric::BRANCH_MISSES,
];

/// Event types and numbers from linux/perf_event.h: PERF_COUNT_HW_INSTRUCTIONS, CPU_CYCLES, CACHE_MISSES,
/// BRANCH_MISSES.
const EVENTS: [(u32, u64); 4] = [(0, 1), (0, 0), (0, 3), (0, 5)];

/// PERF_FORMAT_TOTAL_TIME_ENABLED and _RUNNING. The two times differ if the kernel multiplexed the
/// events because there were too few counters.
const TIMES: u64 = 1 | 2;

/// PERF_FLAG_FD_CLOEXEC.
const FD_CLOEXEC: libc::c_ulong = 1 << 3;

/// Flag bits: inherit, exclude_kernel, exclude_hv.
const FLAGS: u64 = 1 << 1 | 1 << 5 | 1 << 6;

/// `struct perf_event_attr` in its first version (PERF_ATTR_SIZE_VER0).
#[repr(C)]
#[derive(Default)]
struct PerfEventAttributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup: u32,
    breakpoint: u32,
    config1: u64,
}

/// Counters for a process's threads, the threads that they start, and their child processes.
pub struct HardwareCounters {
    /// The open files of each thread, one file per event.
    threads: Vec<Vec<File>>,
}

impl HardwareCounters {
    /// Starts counting. Returns an error if the machine has no such counters or the current user
    /// may not read them.
    pub fn open(process: Pid) -> io::Result<HardwareCounters> {
        HardwareCounters::of_events(process, &EVENTS)
    }

    fn of_events(process: Pid, events: &[(u32, u64)]) -> io::Result<HardwareCounters> {
        let mut threads = Vec::new();
        for entry in std::fs::read_dir(format!("/proc/{process}/task"))? {
            let Some(thread) = entry?.file_name().to_str().and_then(|id| id.parse().ok()) else {
                continue;
            };
            let files = events.iter().map(|event| open(thread, *event));
            match files.collect::<io::Result<Vec<File>>>() {
                Ok(files) => threads.push(files),
                // The thread has exited in the meantime.
                Err(e) if e.raw_os_error() == Some(libc::ESRCH) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(HardwareCounters { threads })
    }

    /// Reads the counts so far.
    pub fn read(&self) -> io::Result<EventCounts> {
        let of_thread = |files: &Vec<File>| files.iter().map(EventCount::read).collect();
        let threads = self.threads.iter().map(of_thread);
        Ok(EventCounts(threads.collect::<io::Result<_>>()?))
    }
}

/// The counts of all events so far, for each thread.
pub struct EventCounts(Vec<Vec<EventCount>>);

/// The count of an event so far.
#[derive(Clone, Copy, Debug)]
struct EventCount {
    value: u64,
    /// The time during which the event should have been counted, in ns.
    enabled_ns: u64,
    /// The time during which the event was counted, in ns. It is shorter if the kernel multiplexed
    /// the events.
    running_ns: u64,
}

impl EventCounts {
    /// Returns the counts of all threads since an earlier reading, in the order of [`COUNTED`].
    ///
    /// # Errors
    /// Returns an error if an event was never counted in the meantime.
    pub fn since(&self, before: &EventCounts) -> io::Result<Vec<f64>> {
        let width = self.0.first().map_or(0, Vec::len);
        let mut sums = vec![0.0; width];
        for (now, before) in self.0.iter().zip(&before.0) {
            for ((sum, now), before) in sums.iter_mut().zip(now).zip(before) {
                *sum += now.since(before).ok_or_else(|| {
                    io::Error::other("other programs used all of the processor's counters")
                })?;
            }
        }
        Ok(sums)
    }
}

impl EventCount {
    fn read(mut file: &File) -> io::Result<EventCount> {
        let mut bytes = [0; 24];
        file.read_exact(&mut bytes)?;
        let number = |offset: usize| {
            let bytes = bytes[offset..offset + 8].try_into();
            u64::from_ne_bytes(bytes.expect("eight bytes"))
        };
        Ok(EventCount {
            value: number(0),
            enabled_ns: number(8),
            running_ns: number(16),
        })
    }

    /// Returns the count since an earlier reading, scaled up if the kernel multiplexed the events in
    /// the meantime. Returns `None` if the event was never counted in the meantime.
    fn since(&self, before: &EventCount) -> Option<f64> {
        let value = self.value.saturating_sub(before.value) as f64;
        let enabled = self.enabled_ns.saturating_sub(before.enabled_ns) as f64;
        let running = self.running_ns.saturating_sub(before.running_ns) as f64;
        match (enabled > 0.0, running > 0.0) {
            (_, true) => Some(value * enabled / running),
            // The thread did not run.
            (false, false) => Some(value),
            (true, false) => None,
        }
    }
}

/// Explains why hardware counters are unavailable. Returns `None` if they are available.
pub fn unavailable() -> Option<String> {
    let error = HardwareCounters::open(Pid::this()).err()?;
    Some(match error.raw_os_error() {
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "the processor has no hardware counters, or the virtual machine hides them".into()
        }
        Some(libc::EACCES | libc::EPERM) => {
            "the system forbids hardware counters; set kernel.perf_event_paranoid to 2 or less"
                .into()
        }
        Some(libc::ENOSYS) => "the kernel has no perf_event_open".into(),
        _ => error.to_string(),
    })
}

fn open(thread: i32, (kind, config): (u32, u64)) -> io::Result<File> {
    let attributes = PerfEventAttributes {
        kind,
        size: size_of::<PerfEventAttributes>() as u32,
        config,
        read_format: TIMES,
        flags: FLAGS,
        ..PerfEventAttributes::default()
    };
    // SAFETY: the structure outlives the call and contains its own size. The other arguments select any core and no
    // group.
    let file = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            thread,
            -1,
            -1,
            FD_CLOEXEC,
        )
    };
    match file {
        0.. => {
            // SAFETY: the kernel has just created this descriptor for this process.
            Ok(unsafe { File::from_raw_fd(file as i32) })
        }
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS. Every machine supports this event, so counting can be tested
    /// without hardware counters.
    const FAULTS: (u32, u64) = (1, 2);

    #[test]
    fn a_child_that_ended_is_counted() {
        let counters = match HardwareCounters::of_events(Pid::this(), &[FAULTS]) {
            Ok(counters) => counters,
            // Containers may forbid the call.
            Err(e)
                if matches!(
                    e.raw_os_error(),
                    Some(libc::EACCES | libc::EPERM | libc::ENOSYS)
                ) =>
            {
                return;
            }
            Err(e) => panic!("{e}"),
        };
        let before = counters.read().expect("a count");
        let status = Command::new("true").status();
        assert!(status.expect("a process").success());
        let after = counters.read().expect("a count");
        let faults = after.since(&before).expect("a difference")[0];
        assert!(faults > 20.0, "{faults}: a program faults its pages in");
    }

    #[test]
    fn multiplexed_events_are_scaled_by_the_time_between_two_readings() {
        let count = |value, enabled_ns, running_ns| EventCount {
            value,
            enabled_ns,
            running_ns,
        };
        let before = count(1_000_000_000, 2_000_000_000, 1_000_000_000);
        let since = |now: EventCount| now.since(&before);
        // Without multiplexing.
        let now = count(5_000_000_000, 3_000_000_000, 2_000_000_000);
        assert_eq!(since(now), Some(4e9));
        // Half of the time.
        let now = count(1_200_000_000, 3_000_000_000, 1_500_000_000);
        assert_eq!(since(now), Some(4e8));
        assert_eq!(since(before), Some(0.0));
        let now = count(1_000_000_000, 3_000_000_000, 1_000_000_000);
        assert_eq!(since(now), None);
    }

    #[test]
    fn the_structure_has_the_size_of_its_first_version() {
        assert_eq!(size_of::<PerfEventAttributes>(), 64);
    }
}
