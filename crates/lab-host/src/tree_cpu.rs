// SPDX-License-Identifier: Apache-2.0
//! CPU time of processes and all of their descendants, as a sum that never decreases.
//!
//! The clock of a running process is exact. When the process exits and its parent reaps it, its
//! whole CPU time is added to the parent's time of reaped children, in ticks (proc(5), cutime and
//! cstime).
//!
//! A plain sum over running processes would decrease when a process exits without being reaped, and
//! when the last tick of an exiting process is incomplete. Therefore, this module adds up the CPU
//! time that each process used between consecutive readings.

use crate::cpu_clock::CpuClock;
use crate::procfs;
use nix::unistd::Pid;
use std::collections::HashMap;
use std::mem;

/// The CPU time of process trees, which can be read repeatedly.
#[derive(Clone, Debug, Default)]
pub struct TreeCpu {
    processes: HashMap<ProcessId, Accounted>,
    total_ns: u64,
    uncounted: Option<Pid>,
}

/// A process, identified by its ID and its start time. The ID alone could be reused later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ProcessId {
    pid: Pid,
    start_ticks: u64,
}

/// The times of a process at one reading.
#[derive(Clone, Copy, Debug, Default)]
struct ProcessTimes {
    /// The parent through which the process was found, or `None` for a root or if the parent has
    /// exited.
    parent: Option<ProcessId>,
    clock_ns: u64,
    /// CPU time of reaped children, including the children that they reaped.
    waited_for_ns: u64,
}

impl ProcessId {
    fn exists(self) -> bool {
        let stat = procfs::process_stat(self.pid);
        stat.is_some_and(|stat| stat.start_ticks == self.start_ticks)
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Accounted {
    times: ProcessTimes,
    /// CPU time of exited descendants that has been counted, but is not yet included in
    /// `waited_for_ns`.
    due_ns: u64,
}

impl TreeCpu {
    /// Excludes the CPU time of a descendant from now on. With `None`, includes all descendants
    /// again.
    pub fn exclude(&mut self, pid: Option<Pid>) {
        self.uncounted = pid;
    }

    /// Returns the CPU time so far of the processes `roots` and all of their descendants, in ns.
    ///
    /// The time of running processes is exact to 1 ns. Processes that started, exited and were
    /// reaped between two readings add an error of at most 20 ms in total. A descendant known from
    /// an earlier reading counts even if its parent has exited.
    pub fn read(&mut self, roots: &[Pid]) -> u64 {
        self.read_with(roots, procfs::children)
    }

    /// Works like [`TreeCpu::read`], but gets the children of a process from `children`.
    pub fn read_with(&mut self, roots: &[Pid], children: impl Fn(Pid) -> Vec<Pid>) -> u64 {
        let mut now = HashMap::new();
        for &root in roots {
            visit(root, &children, &mut now);
        }
        let mut known: Vec<ProcessId> = self.processes.keys().copied().collect();
        // Sorts parents before their children.
        known.sort_by_key(|id| (id.start_ticks, id.pid));
        for id in known {
            if !now.contains_key(&id) && id.exists() {
                visit(id.pid, &children, &mut now);
            }
        }
        self.account(now);
        self.total_ns
    }

    /// Returns the processes that the last reading found.
    pub fn pids(&self) -> impl Iterator<Item = Pid> + '_ {
        self.processes.keys().map(|id| id.pid)
    }

    /// Adds the CPU time that processes used since the last reading.
    fn account(&mut self, now: HashMap<ProcessId, ProcessTimes>) {
        let before = mem::take(&mut self.processes);
        let mut ended_ns: HashMap<ProcessId, u64> = HashMap::new();
        for (id, Accounted { times, due_ns }) in &before {
            if now.contains_key(id) {
                continue;
            }
            let parent_of = |id: &ProcessId| before.get(id)?.times.parent;
            let mut ancestors = std::iter::successors(times.parent, parent_of);
            if let Some(ancestor) = ancestors.find(|id| now.contains_key(id)) {
                // The times of the children were counted when the process reaped them, or earlier.
                *ended_ns.entry(ancestor).or_default() +=
                    times.clock_ns + times.waited_for_ns + due_ns;
            }
        }
        for (id, times) in now {
            let earlier = before.get(&id).copied().unwrap_or_default();
            let since = |now: u64, before: u64| now.saturating_sub(before);
            if self.uncounted != Some(id.pid) {
                self.total_ns += since(times.clock_ns, earlier.times.clock_ns);
            }
            let mut grown_ns = since(times.waited_for_ns, earlier.times.waited_for_ns);
            let new_due_ns = subtract_counted(ended_ns.remove(&id).unwrap_or(0), &mut grown_ns);
            let old_due_ns = subtract_counted(earlier.due_ns, &mut grown_ns);
            self.total_ns += grown_ns;
            // A process that exited after its parent was read is due at the next reading. After
            // that, only the fractions of ticks lost by rounding down are still due. The rest was
            // never reaped.
            let due_ns = new_due_ns + old_due_ns.min(2 * procfs::tick_ns());
            self.processes.insert(id, Accounted { times, due_ns });
        }
    }
}

/// Subtracts time that has already been counted from `grown_ns`, and returns the time that is still
/// due.
fn subtract_counted(due_ns: u64, grown_ns: &mut u64) -> u64 {
    let counted_ns = due_ns.min(*grown_ns);
    *grown_ns -= counted_ns;
    due_ns - counted_ns
}

/// Reads a process and its descendants, each parent before its children.
///
/// In this order, a child that exits during the reading is not included in the time of any process.
fn visit(pid: Pid, children: impl Fn(Pid) -> Vec<Pid>, now: &mut HashMap<ProcessId, ProcessTimes>) {
    let mut found = vec![(pid, None)];
    while let Some((pid, parent)) = found.pop() {
        // A process whose clock cannot be read has just exited.
        let stat = procfs::process_stat(pid);
        let Some((stat, clock_ns)) = stat.zip(clock_ns(pid)) else {
            continue;
        };
        let id = ProcessId {
            pid,
            start_ticks: stat.start_ticks,
        };
        let is_known = now.contains_key(&id);
        // A root may be a descendant of another root.
        if is_known && parent.is_none() {
            continue;
        }
        let times = ProcessTimes {
            parent,
            clock_ns,
            waited_for_ns: stat.waited_for_ns,
        };
        now.insert(id, times);
        if !is_known {
            found.extend(children(pid).into_iter().map(|child| (child, Some(id))));
        }
    }
}

fn clock_ns(pid: Pid) -> Option<u64> {
    CpuClock::open(pid).ok()?.now_ns().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::signal::{Signal, kill};
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    const MS: u64 = 1_000_000;

    /// Shell functions: `burn` computes for some tenths of a second, and `pause` waits for a line.
    const FUNCTIONS: &str = "exec 3<&0
        burn() { i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; }
        pause() { read line <&3; }
        ";

    /// A shell that runs a script, with the CPU time of the shell and its descendants.
    struct Shell {
        child: Child,
        output: BufReader<std::process::ChildStdout>,
        tree: TreeCpu,
    }

    impl Shell {
        fn start(script: &str) -> Shell {
            let mut command = Command::new("sh");
            command.args(["-c", &(FUNCTIONS.to_owned() + script)]);
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("sh is installed");
            Shell {
                output: BufReader::new(child.stdout.take().unwrap()),
                child,
                tree: TreeCpu::default(),
            }
        }

        fn pid(&self) -> Pid {
            Pid::from_raw(self.child.id() as i32)
        }

        /// Reads the sum and asserts that it has not decreased.
        fn read(&mut self) -> u64 {
            let before = self.tree.total_ns;
            let now = self.tree.read(&[self.pid()]);
            assert!(now >= before, "{before} {now}");
            now
        }

        /// Returns the next output line of the script.
        fn line(&mut self) -> String {
            let mut line = String::new();
            self.output.read_line(&mut line).unwrap();
            line.trim().to_owned()
        }

        /// Reads the sum repeatedly until the script prints a line.
        fn read_until_line(&mut self) -> String {
            std::thread::scope(|scope| {
                let Shell {
                    child,
                    output,
                    tree,
                } = self;
                let reading = scope.spawn(|| {
                    let mut line = String::new();
                    output.read_line(&mut line).unwrap();
                    line.trim().to_owned()
                });
                while !reading.is_finished() {
                    let before = tree.total_ns;
                    assert!(tree.read(&[Pid::from_raw(child.id() as i32)]) >= before);
                    std::thread::sleep(Duration::from_millis(1));
                }
                reading.join().unwrap()
            })
        }

        /// Lets the script continue after a `pause`.
        fn go_on(&mut self) {
            let input = self.child.stdin.as_mut().unwrap();
            input.write_all(b"\n").unwrap();
        }

        /// Compares the sum with the shell's exact time. The shell must have reaped all of its
        /// descendants.
        fn assert_exact(&mut self) {
            let own = clock_ns(self.pid()).unwrap();
            let truth = own + procfs::process_stat(self.pid()).unwrap().waited_for_ns;
            let sum = self.read();
            assert!(truth > 50 * MS, "{truth}");
            // User and system time are each rounded down to ticks.
            let tolerance = 40 * MS + truth / 50;
            assert!(sum.abs_diff(truth) <= tolerance, "{sum} is not {truth}");
        }
    }

    impl Drop for Shell {
        fn drop(&mut self) {
            for pid in self.tree.pids() {
                let _ = kill(pid, Signal::SIGKILL);
            }
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }

    fn until(condition: &str, mut holds: impl FnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !holds() {
            assert!(Instant::now() < deadline, "{condition}");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn many_short_children_count_once() {
        let mut shell = Shell::start(
            "n=0; while [ $n -lt 300 ]; do (i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done); n=$((n+1)); done
            echo; pause",
        );
        shell.read_until_line();
        shell.assert_exact();
    }

    #[test]
    fn a_child_that_was_seen_and_then_waited_for_counts_once() {
        let mut shell = Shell::start("(burn; echo; pause; burn) & wait; echo; pause");
        shell.line();
        assert!(shell.read() > 10 * MS);
        shell.go_on();
        shell.read_until_line();
        shell.assert_exact();
    }

    #[test]
    fn a_child_without_a_wait_stays_counted() {
        let mut shell = Shell::start("trap '' CHLD; (burn; echo; pause) & echo $!; pause");
        let child = Pid::from_raw(shell.line().parse().unwrap());
        shell.line();
        let counted = shell.read();
        assert!(counted > 10 * MS);
        kill(child, Signal::SIGKILL).unwrap();
        for _ in 0..20 {
            assert!(shell.read() >= counted);
        }
    }

    #[test]
    fn a_grandchild_whose_parent_ended_still_counts() {
        let mut shell =
            Shell::start("( (while :; do :; done) & echo $!; pause ); echo; pause; pause");
        let orphan = Pid::from_raw(shell.line().parse().unwrap());
        until("it computes", || clock_ns(orphan).unwrap() > 100 * MS);
        let before = shell.read();
        assert!(before > 100 * MS, "{before}");
        shell.go_on();
        shell.line();
        let parent = procfs::parent(orphan);
        assert_ne!(parent, Some(shell.pid()));
        let used = clock_ns(orphan).unwrap();
        until("it goes on", || clock_ns(orphan).unwrap() > used + 100 * MS);
        let now = shell.read();
        assert!(now >= before + 100 * MS, "{before} {now}");
        kill(orphan, Signal::SIGKILL).unwrap();
        for _ in 0..20 {
            assert!(shell.read() >= now);
        }
    }

    #[test]
    fn an_exited_tree_stays_counted() {
        let mut shell = Shell::start("(burn; pause) & burn; echo; pause");
        shell.line();
        let counted = shell.read();
        assert!(counted > 10 * MS);
        let descendants: Vec<Pid> = shell.tree.pids().collect();
        assert_eq!(descendants.len(), 2);
        for pid in descendants {
            kill(pid, Signal::SIGKILL).unwrap();
        }
        shell.child.wait().unwrap();
        for _ in 0..20 {
            assert!(shell.read() >= counted);
        }
    }

    fn id(pid: i32, start_ticks: u64) -> ProcessId {
        ProcessId {
            pid: Pid::from_raw(pid),
            start_ticks,
        }
    }

    /// Processes, each with its parent, its own CPU time, and the CPU time of its reaped children,
    /// in ms.
    type Processes<'a> = &'a [(ProcessId, Option<ProcessId>, u64, u64)];

    /// Returns the sum after each reading, in ms.
    fn sums(readings: &[Processes]) -> Vec<u64> {
        let mut tree = TreeCpu::default();
        let sums = readings.iter().map(|processes| {
            let now = processes.iter().map(|&(id, parent, clock, waited)| {
                let times = ProcessTimes {
                    parent,
                    clock_ns: clock * MS,
                    waited_for_ns: waited * MS,
                };
                (id, times)
            });
            tree.account(now.collect());
            tree.total_ns / MS
        });
        sums.collect()
    }

    #[test]
    fn exited_descendants_are_counted_once() {
        let [main, child, grandchild] = [id(1, 1), id(2, 5), id(3, 7)];
        let all: Processes = &[
            (main, None, 100, 0),
            (child, Some(main), 200, 0),
            (grandchild, Some(child), 300, 0),
        ];
        // Both processes used another 50 ms before they exited.
        assert_eq!(sums(&[all, &[(main, None, 100, 600)]]), [600, 700]);
        // The main process was read before the child exited.
        assert_eq!(
            sums(&[
                all,
                &[(main, None, 110, 0)],
                &[(main, None, 110, 600)],
                &[(main, None, 110, 650)]
            ]),
            [600, 610, 710, 760]
        );
        // The child was never reaped, so the time of later children counts.
        assert_eq!(
            sums(&[
                all,
                &[(main, None, 100, 0)],
                &[(main, None, 100, 0)],
                &[(main, None, 100, 0)],
                &[(main, None, 100, 500)]
            ]),
            [600, 600, 600, 600, 1080]
        );
        // Another process reuses the ID.
        let other = id(2, 9);
        let now: Processes = &[(main, None, 100, 510), (other, Some(main), 3, 0)];
        assert_eq!(sums(&[all, now]), [600, 613]);
    }

    #[test]
    fn parts_of_ticks_are_not_counted_again() {
        let main = id(1, 1);
        let seen = |pid| (id(pid, 5), Some(main), 9, 0);
        let readings: [Processes; 5] = [
            &[(main, None, 0, 0), seen(2)],
            &[(main, None, 0, 0)],
            &[(main, None, 0, 0)],
            &[(main, None, 0, 0), seen(3)],
            // 18 ms in total.
            &[(main, None, 0, 10)],
        ];
        assert_eq!(sums(&readings), [9, 9, 9, 18, 18]);
    }
}
