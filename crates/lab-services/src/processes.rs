// SPDX-License-Identifier: Apache-2.0
//! The resource usage of a daemon's processes, from their CPU clocks and `/proc` (proc(5)).

use lab_host::{CpuClock, TreeCpu, procfs};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The maximum number of attempts to read two clocks while a thread sleeps.
const MAX_READINGS: u32 = 20;
/// The pause between two attempts to read two clocks while a thread sleeps.
const READING_PAUSE: Duration = Duration::from_micros(50);

/// The processes of a daemon on this machine.
pub struct Processes {
    /// The main process, which started the other processes.
    pub(crate) main: Pid,
    /// The counter for exited processes, or `None` if only `/proc` counts these processes, in
    /// ticks.
    pub(crate) ended_processes: Option<Arc<dyn EndedProcesses>>,
    /// The thread or process that serves benchlab's own connection, whose CPU time is excluded.
    pub(crate) lab_connection: Option<LabConnection>,
    /// The CPU usage of all processes up to the last reading, if `/proc` counts exited processes.
    pub(crate) counted: RefCell<TreeCpu>,
}

/// A counter for exited processes that is more accurate than `/proc`.
pub(crate) trait EndedProcesses: Send + Sync {
    /// Returns the CPU time of exited processes plus the result of `living` for the running
    /// processes, in ns.
    ///
    /// No process exits between the two readings.
    fn cpu_ns_with(&self, living: &dyn Fn() -> Option<u64>) -> Option<u64>;

    /// Returns the number of connections that the server has accepted so far.
    fn accepted(&self) -> u64;
}

/// The thread or process that serves benchlab's own connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabConnection {
    /// A separate process.
    DaemonProcess(Pid),
    /// A thread of the main process, which is the only process.
    Thread(Pid),
}

impl Processes {
    /// Returns the processes of a daemon, given its main process. The CPU time of exited children
    /// is counted in ticks.
    pub fn new(main: Pid) -> Processes {
        Processes {
            main,
            ended_processes: None,
            lab_connection: None,
            counted: RefCell::default(),
        }
    }

    /// Returns all current processes, the main process first. The list is empty if the main process
    /// has exited.
    pub fn pids(&self) -> Vec<Pid> {
        if !fs::exists(format!("/proc/{}", self.main)).unwrap_or(false) {
            return Vec::new();
        }
        let mut pids = vec![self.main];
        pids.extend(self.children());
        pids
    }

    /// Returns the children of the main process, including exited children that have not been
    /// reaped.
    pub fn children(&self) -> Vec<Pid> {
        procfs::started_by(self.main, self.main)
    }

    /// Returns the CPU time of all processes in ns, including exited processes, or `None` if the
    /// server has exited. The time never decreases.
    pub fn cpu_ns(&self) -> Option<u64> {
        if let Some(LabConnection::Thread(thread)) = self.lab_connection {
            return self.cpu_ns_without(thread);
        }
        let lab_process = match self.lab_connection {
            Some(LabConnection::DaemonProcess(process)) => Some(process),
            _ => None,
        };
        // A process whose clock cannot be read has just exited.
        let living = || -> Option<u64> {
            let mut children = self.children();
            children.retain(|&child| Some(child) != lab_process);
            let others: u64 = children.into_iter().filter_map(clock_ns).sum();
            Some(clock_ns(self.main)? + others)
        };
        match &self.ended_processes {
            Some(ended_processes) => ended_processes.cpu_ns_with(&living),
            None => {
                clock_ns(self.main)?;
                let children = |pid: Pid| {
                    if pid == self.main {
                        self.children()
                    } else {
                        Vec::new()
                    }
                };
                let mut counted = self.counted.borrow_mut();
                counted.exclude(lab_process);
                Some(counted.read_with(&[self.main], children))
            }
        }
    }

    /// Returns the CPU time of the main process without one of its threads, in ns.
    ///
    /// The two clocks cannot be read at the same moment. While the thread runs, its CPU time is
    /// known only up to its last context switch. Both clocks are therefore read again until the
    /// thread has slept in between.
    fn cpu_ns_without(&self, thread: Pid) -> Option<u64> {
        let mut before_ns = procfs::ran_ns(self.main, thread);
        for _ in 0..MAX_READINGS {
            let all_ns = clock_ns(self.main)?;
            let is_running = procfs::is_thread_runnable(self.main, thread);
            let after_ns = procfs::ran_ns(self.main, thread);
            if before_ns == after_ns && !is_running {
                return Some(all_ns.saturating_sub(after_ns));
            }
            before_ns = after_ns;
            thread::sleep(READING_PAUSE);
        }
        Some(clock_ns(self.main)?.saturating_sub(before_ns))
    }

    /// Returns the sum of the proportional set sizes in bytes. Shared memory counts once in this
    /// sum. Returns `None` if benchlab's user may not read the sizes.
    pub fn memory_bytes(&self) -> Option<u64> {
        procfs::shared_bytes(&self.pids())
    }

    /// Pins all threads to the given cores. New threads inherit the pinning.
    pub fn pin(&self, cores: &[usize]) {
        let mut set = CpuSet::new();
        if cores.iter().any(|&core| set.set(core).is_err()) {
            return;
        }
        let mut pinned = BTreeSet::new();
        // A thread that is not yet pinned may start another thread in the meantime.
        loop {
            let tasks = self.pids().into_iter().flat_map(procfs::tasks);
            let new: Vec<Pid> = tasks.filter(|task| !pinned.contains(task)).collect();
            if new.is_empty() {
                return;
            }
            for task in new {
                let _ = sched_setaffinity(task, &set);
                pinned.insert(task);
            }
        }
    }
}

fn clock_ns(pid: Pid) -> Option<u64> {
    CpuClock::open(pid).ok()?.now_ns().ok()
}
