// SPDX-License-Identifier: Apache-2.0
//! Measures the CPU time of unrelated processes during a server's turn.
//!
//! All cores belong to the server or the generator, so any other busy process delays one of them.

use lab_host::{CpuClock, kernel, procfs};
use nix::unistd::Pid;
use std::collections::HashMap;

/// The maximum CPU time of another process during a turn, as a fraction of a core.
///
/// A process that uses a core for 1 % of the time delays one in a hundred requests, which is visible in the 99th
/// percentile.
const MAX_OTHER_FRACTION: f64 = 0.01;

/// The processes that may disturb a server or the generator.
#[derive(Default)]
pub struct Others {
    /// The processes seen so far. `None` stands for a kernel thread or an exited process.
    clock_of: HashMap<Pid, Option<CpuClock>>,
}

impl Others {
    /// Returns the clocks of all existing processes except benchlab and the server. Processes that
    /// start later are not counted.
    pub fn clocks(&mut self, server: Pid) -> Clocks {
        let mut ours = procfs::with_descendants(server);
        ours.push(Pid::this());
        let others = procfs::all().into_iter().filter(|pid| !ours.contains(pid));
        let clock = |pid| *self.clock_of.entry(pid).or_insert_with(|| clock(pid));
        Clocks(others.filter_map(clock).collect())
    }
}

fn clock(pid: Pid) -> Option<CpuClock> {
    let is_helper = kernel::is_helper(&procfs::name(pid));
    CpuClock::open(pid).ok().filter(|_| !is_helper)
}

/// The CPU clocks of some processes.
pub struct Clocks(Vec<CpuClock>);

impl Clocks {
    /// Returns the current value of each clock.
    pub fn read(&self) -> CpuReading {
        CpuReading(self.0.iter().map(|clock| clock.now_ns().ok()).collect())
    }
}

/// Values of clocks in ns. `None` means that the process has exited.
pub struct CpuReading(Vec<Option<u64>>);

impl CpuReading {
    /// Returns the CPU time of the busiest process since an earlier reading of the same clocks, in
    /// ns.
    ///
    /// The sum over all processes would be misleading, because many processes with a little CPU
    /// time each cause no pause.
    pub fn max_since(&self, earlier: &CpuReading) -> u64 {
        let pairs = self.0.iter().zip(&earlier.0);
        let used = pairs.filter_map(|(now, before)| Some((*now)?.saturating_sub((*before)?)));
        used.max().unwrap_or(0)
    }
}

/// Returns true if another process used enough CPU time in a turn to affect its results.
pub fn disturbs(used_ns: u64, wall_ns: u64) -> bool {
    used_ns as f64 > MAX_OTHER_FRACTION * wall_ns as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn other_processes_are_counted_and_the_server_is_not() {
        let start = || {
            let mut shell = Command::new("sh");
            shell.args(["-c", "while :; do :; done"]);
            shell
                .stdout(Stdio::null())
                .spawn()
                .expect("sh is installed")
        };
        let (mut server, mut other) = (start(), start());
        let pids = [&server, &other].map(|child| Pid::from_raw(child.id() as i32));
        let clocks = pids.map(|pid| CpuClock::open(pid).expect("it lives"));
        let now = |clock: CpuClock| clock.now_ns().expect("it lives");
        let mut others = Others::default();
        let [of_others, of_server] = pids.map(|pid| others.clocks(pid));
        let (of_other, before) = (now(clocks[1]), of_others.read());
        let deadline = Instant::now() + Duration::from_secs(120);
        while now(clocks[1]) < of_other + 50_000_000 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(of_others.read().max_since(&before) >= 50_000_000);
        let listed = |others: &Clocks, pid: usize| {
            let clock = format!("{:?}", clocks[pid]);
            others.0.iter().any(|c| format!("{c:?}") == clock)
        };
        assert!(!listed(&of_others, 0) && listed(&of_others, 1));
        assert!(listed(&of_server, 0) && !listed(&of_server, 1));
        for child in [&mut server, &mut other] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        // A process that has exited uses no CPU time.
        of_others.read().max_since(&before);
    }

    #[test]
    fn the_busiest_counts() {
        let reading = |clocks: &[Option<u64>]| CpuReading(clocks.to_vec());
        let before = reading(&[Some(1_000), Some(70), Some(5), None]);
        let after = reading(&[Some(1_300), Some(570), None, Some(9_000)]);
        assert_eq!(after.max_since(&before), 500);
        assert_eq!(reading(&[]).max_since(&reading(&[])), 0);
        assert!(!disturbs(500_000, 50_000_000) && disturbs(500_001, 50_000_000));
    }
}
