// SPDX-License-Identifier: Apache-2.0
//! The resource usage of a server on this machine, from CPU clocks and `/proc` (proc(5)). It covers
//! the server's processes and their descendants.

use lab_host::{TreeCpu, procfs};
use lab_model::Slice;
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The resource usage of a server's processes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// The CPU time so far in ns. It never decreases, because the time of exited processes is included.
    pub cpu_ns: u64,
    /// Resident memory in bytes, with shared memory counted once. `None` if the current user may
    /// not read it.
    pub bytes: Option<u64>,
    /// The number of threads.
    pub threads: u32,
}

/// The error for a server process that does not exist.
#[derive(Clone, Copy, Debug)]
pub struct ProcessMissing {
    pid: Pid,
    /// True if the process existed at an earlier reading and has exited since.
    has_existed: bool,
}

/// Adds a server's CPU time during a slice, and its memory and threads at the end of the slice.
pub fn with_server(slice: Slice, before: Option<Usage>, now: Option<Usage>) -> Slice {
    let used = |(now, before): (Usage, Usage)| now.cpu_ns.saturating_sub(before.cpu_ns);
    Slice {
        server_cpu_ns: now.zip(before).map(used),
        server_bytes: now.and_then(|now| now.bytes),
        server_threads: now.map(|now| now.threads),
        ..slice
    }
}

/// Reads the usage of a server's processes, on any machine.
pub trait ServerWatch {
    /// Returns the usage so far, or an error if it is no longer available.
    fn read(&mut self) -> Result<Usage, String>;
}

impl ServerWatch for Watch {
    fn read(&mut self) -> Result<Usage, String> {
        Watch::read(self).map_err(|missing| missing.to_string())
    }
}

/// Monitors the processes of a server on this machine.
pub struct Watch {
    /// Each process with its start time in clock ticks since boot. The start time identifies the
    /// process even if the system reuses its ID for another process.
    ///
    /// The start time is `None` before the first reading.
    mains: Vec<(Pid, Option<u64>)>,
    cpu: TreeCpu,
}

impl Watch {
    /// Monitors a process and its descendants.
    pub fn new(pid: i32) -> Watch {
        Watch::start_all(&[Pid::from_raw(pid)])
    }

    /// Monitors multiple processes with their descendants. No process may be a descendant of
    /// another.
    pub fn start_all(pids: &[Pid]) -> Watch {
        Watch {
            mains: pids.iter().map(|&pid| (pid, None)).collect(),
            cpu: TreeCpu::default(),
        }
    }

    /// Returns the usage so far. Returns an error if a process does not exist or has exited.
    pub fn read(&mut self) -> Result<Usage, ProcessMissing> {
        for (pid, known_start) in &mut self.mains {
            let missing = ProcessMissing {
                pid: *pid,
                has_existed: known_start.is_some(),
            };
            let start_ticks = procfs::start_ticks(*pid).ok_or(missing)?;
            if *known_start.get_or_insert(start_ticks) != start_ticks {
                return Err(missing);
            }
        }
        let mut processes: Vec<Pid> = self.mains.iter().map(|(pid, _)| *pid).collect();
        let cpu_ns = self.cpu.read(&processes);
        let others = self.cpu.pids().filter(|pid| !processes.contains(pid));
        let others: Vec<Pid> = others.collect();
        processes.extend(others);
        Ok(Usage {
            cpu_ns,
            bytes: bytes(&processes),
            threads: processes.iter().map(|pid| procfs::threads(*pid)).sum(),
        })
    }
}

/// Returns the resident memory in bytes. For multiple processes, shared memory is divided among
/// them.
fn bytes(processes: &[Pid]) -> Option<u64> {
    match processes {
        [one] => procfs::resident_bytes(*one),
        pids => procfs::shared_bytes(pids),
    }
}

impl fmt::Display for ProcessMissing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let pid = self.pid;
        if self.has_existed {
            write!(
                f,
                "the server's process {pid} has exited, so its CPU time and memory can no longer be measured"
            )
        } else {
            write!(
                f,
                "--server-pid {pid}: there is no such process on this machine, so the server's CPU time and memory \
                 are not known; `pgrep -a NAME` shows process IDs"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped());
        command.spawn().expect("sh is installed")
    }

    fn until<T>(condition: &str, mut read: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + Duration::from_secs(120);
        loop {
            match read() {
                Some(value) => return value,
                None => assert!(Instant::now() < deadline, "{condition}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    #[test]
    fn descendants_and_those_that_ended_count() {
        let burn = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        // A shell's background jobs have no standard input.
        let script = format!("exec 3<&0; ( ({burn}); read x <&3 ) & ({burn}); wait");
        let mut server = shell(&script);
        let mut watch = Watch::new(server.id() as i32);
        let burnt = |r: &Usage| r.cpu_ns > 40_000_000 && r.threads == 2;
        let reading = until("a child that ended and one that waits", || {
            watch.read().ok().filter(burnt)
        });
        assert!(reading.bytes.expect("a user may read their own processes") > 100_000);
        server.kill().unwrap();
        server.wait().unwrap();
        let missing = watch.read().expect_err("it has exited").to_string();
        assert!(missing.contains("has exited, so its CPU time"), "{missing}");
    }

    #[test]
    fn a_missing_process_differs_from_an_exited_one() {
        let mut server = shell(":");
        server.wait().unwrap();
        let missing = Watch::new(server.id() as i32)
            .read()
            .expect_err("it has exited");
        assert!(missing.to_string().contains("there is no such process"));
    }
}
