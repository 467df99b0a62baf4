// SPDX-License-Identifier: Apache-2.0
//! A subject's process: starts it, exchanges messages with it, freezes it between turns, and
//! ensures that it does not outlive benchlab.

use crate::host::sys;
use crate::subject::dialog::{Dialog, Ending, connection_lost, nonsense};
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::protocol::{self, Reply};
use crate::targets::effects::{self, Failed};
use lab_host::CpuClock;
use lab_model::{Case, Check, Metric, Subject, Unit, plural};
use nix::unistd::Pid;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The result of a batch, as reported by the subject and as measured by benchlab's clocks.
#[derive(Clone, Debug)]
pub struct BatchResult {
    /// The wall time between the subject's own clock readings, in ns.
    pub wall_ns: u64,
    /// The CPU time of the subject's process during the batch, in ns.
    pub cpu_ns: u64,
    /// The CPU time of the server during the batch in ns, or `None` if there is no server or the
    /// time was not measured.
    pub server_cpu_ns: Option<u64>,
    /// The number of operations in the batch.
    pub operations: u64,
    /// A hash of all values produced.
    pub check: u64,
    /// The number of units produced.
    pub units: u64,
    /// The latencies of all operations, as pairs of bucket and count, if multiple operations run concurrently.
    pub latencies: Option<Vec<(u32, u64)>>,
    /// The maximum latency in each time step of the batch, if operations are due at a fixed rate and the subject
    /// reports it.
    pub timeline: Option<Vec<u64>>,
    /// The values of the case's metrics, in the case's order.
    pub metrics: Vec<f64>,
    /// The failed calls, if calls may fail.
    pub failed: Failed,
    /// The runtime's allocations, if they were requested and the runtime counts them.
    pub allocated: Allocated,
}

/// The allocations of a batch in a runtime with its own heap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// The number of blocks or objects, or `None` if the runtime does not count them.
    pub blocks: Option<u64>,
    /// The number of bytes, or `None` if the runtime does not count them.
    pub bytes: Option<u64>,
}

/// The result of untimed operations.
pub struct Verified {
    /// A hash of all values produced.
    pub check: u64,
    /// The number of units produced.
    pub units: u64,
    /// The failed calls, if calls may fail.
    pub failed: Failed,
}

/// A running subject. Dropping it kills the process and everything that it started.
pub struct SubjectProcess {
    dialog: Dialog,
    cpu: CpuClock,
    frozen: bool,
    /// The reply that announced that the subject was ready.
    pub hello: Reply,
    /// The thread that does the work, or `None` if the runtime moves the work between threads.
    pub thread: Option<Pid>,
    /// The time from the start of the program to its hello, in ns.
    pub startup_ns: u64,
    /// The CPU time used until the hello, in ns.
    pub startup_cpu_ns: u64,
    /// True if batches report their allocations.
    pub counts_allocations: bool,
    /// The directory for the subject's temporary files, which is removed after the process has
    /// exited.
    _temporary: TemporaryFolder,
}

/// A process's directory for temporary files. Dropping it removes the directory.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Creates a directory in `parent`.
    ///
    /// The names of all directories have the same length, because the length of the environment can
    /// change a program's speed (Mytkowicz et al., ASPLOS 2009).
    fn new(parent: &Path) -> io::Result<TemporaryFolder> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = parent.join(format!("{number:08}"));
        std::fs::create_dir(&folder)?;
        Ok(TemporaryFolder(folder))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If this fails, the directory is removed with the run's scratch directory.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl SubjectProcess {
    /// Starts a subject in the project's directory and waits for its hello.
    ///
    /// Creates a directory for the subject's temporary files in `temporary`. The directory is
    /// removed after the process has exited.
    pub fn start(
        subject: &Subject,
        folder: &Path,
        temporary: &Path,
        time_limit: Duration,
    ) -> SubjectResult<SubjectProcess> {
        let temporary = TemporaryFolder::new(temporary)
            .map_err(|e| Fault::Failed("start", format!("{}: {e}", temporary.display())))?;
        let (dialog, began) = Dialog::start(
            &subject.program,
            folder,
            &temporary.0,
            time_limit,
            Ending::Killed,
        )?;
        let cpu = CpuClock::open(dialog.pid());
        let mut process = SubjectProcess {
            cpu: cpu.map_err(|e| Fault::Failed("start", e.to_string()))?,
            dialog,
            frozen: false,
            hello: Reply::default(),
            thread: None,
            startup_ns: 0,
            startup_cpu_ns: 0,
            counts_allocations: false,
            _temporary: temporary,
        };
        process
            .read_hello(began)
            .map_err(|fault| fault.with_log(&process))?;
        Ok(process)
    }

    fn read_hello(&mut self, began: Instant) -> SubjectResult<()> {
        self.hello = self.dialog.reply("hello")?;
        self.startup_ns = began.elapsed().as_nanos() as u64;
        self.startup_cpu_ns = self.cpu_ns()?;
        self.thread = self.check_hello().map_err(nonsense)?;
        Ok(())
    }

    fn check_hello(&self) -> Result<Option<Pid>, String> {
        let protocol = self.hello.number("protocol")?;
        if protocol != 1 {
            return Err(format!(
                "the subject uses protocol {protocol}, but benchlab supports only protocol 1"
            ));
        }
        let thread = self.hello.number("thread")?;
        if thread == 0 {
            return Ok(None);
        }
        if !Path::new(&format!("/proc/{}/task/{thread}", self.pid())).exists() {
            return Err(format!(
                "thread={thread} is not a thread of the subject's process"
            ));
        }
        Ok(Some(Pid::from_raw(thread as i32)))
    }

    /// Pins the working thread to a core, or all threads if there is no single working thread.
    ///
    /// Threads that the pinned threads start later inherit the core.
    pub fn keep_on(&self, core: usize) -> SubjectResult<()> {
        let pinned = match self.thread {
            Some(thread) => sys::pin(thread, &[core]),
            None => sys::pin_all(self.pid(), &[core]),
        };
        pinned.map_err(|e| {
            let message = format!("cannot pin the subject's thread to core {core}: {e}");
            Fault::Failed("start", message)
        })
    }

    /// Pins all threads of the process to the given cores. Threads started later inherit the cores.
    pub fn keep_all_on(&self, cores: &[usize]) -> SubjectResult<()> {
        sys::pin_all(self.pid(), cores).map_err(|e| {
            let message = format!("cannot pin the subject's threads to cores {cores:?}: {e}");
            Fault::Failed("start", message)
        })
    }

    /// Lets all threads of the process use all cores.
    pub fn free(&self) -> SubjectResult<()> {
        let cores = lab_host::allowed_cores();
        let freed = cores.and_then(|cores| sys::pin_all(self.pid(), &cores));
        freed.map_err(connection_lost)
    }

    /// Returns the process ID, which is also the process group's ID.
    pub fn pid(&self) -> Pid {
        self.dialog.pid()
    }

    /// Prepares a case. The reply contains the subject's settings.
    pub fn open<'a>(
        &mut self,
        args: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> SubjectResult<Reply> {
        self.dialog.ask(&protocol::command("open", args), "opened")
    }

    /// Runs operations without timing them.
    pub fn verify(&mut self, case: &Case, operations: u64) -> SubjectResult<Verified> {
        let count = operations.to_string();
        let command = protocol::command("verify", [("operations", count.as_str())]);
        self.dialog.send(&command)?;
        let reply = self
            .dialog
            .reply_within("verified", self.limit(case, operations))?;
        let parse = || {
            Ok(Verified {
                check: reply.number("check")?,
                units: reply.number("units")?,
                failed: failed(&reply, case, operations)?,
            })
        };
        parse().map_err(nonsense)
    }

    /// Runs a batch of a case.
    ///
    /// Returns a fault if the reply lacks a metric of the case, or if the subject's clock readings
    /// are not between benchlab's readings before and after the batch.
    pub fn run(&mut self, case: &Case, operations: u64) -> SubjectResult<BatchResult> {
        self.run_while(case, operations, |_| Ok(()))
    }

    /// Runs a batch, and runs `meanwhile` at the same time.
    pub fn run_while(
        &mut self,
        case: &Case,
        operations: u64,
        meanwhile: impl FnOnce(&mut SubjectProcess) -> SubjectResult<()>,
    ) -> SubjectResult<BatchResult> {
        let count = operations.to_string();
        let counting = self.counts_allocations.then_some(("count", "allocations"));
        let args = [("operations", count.as_str())].into_iter();
        let command = protocol::command("run", args.chain(counting));
        let cpu_before = self.cpu_ns()?;
        let sent_ns = sys::monotonic_ns();
        self.dialog.send(&command)?;
        meanwhile(self)?;
        let reply = self
            .dialog
            .reply_within("ran", self.limit(case, operations))?;
        let received_ns = sys::monotonic_ns();
        let cpu_ns = self.cpu_ns()? - cpu_before;
        let parse = || {
            let (start, end) = (reply.number("start")?, reply.number("end")?);
            let done = reply.number("operations")?;
            if done != operations {
                return Err(format!(
                    "the subject performed {} instead of {operations}",
                    plural(done, "operation")
                ));
            }
            let (check, units) = (reply.number("check")?, reply.number("units")?);
            Ok((
                start,
                end,
                BatchResult {
                    wall_ns: end.wrapping_sub(start),
                    cpu_ns,
                    server_cpu_ns: None,
                    operations,
                    check,
                    units,
                    latencies: latencies(&reply, case, operations)?,
                    timeline: timeline(&reply, case)?,
                    metrics: metrics(&reply, case)?,
                    failed: failed(&reply, case, operations)?,
                    allocated: Allocated {
                        blocks: optional(&reply, "allocations")?,
                        bytes: optional(&reply, "allocated_bytes")?,
                    },
                },
            ))
        };
        let (start, end, result) = parse().map_err(nonsense)?;
        if !(sent_ns <= start && start < end && end <= received_ns) {
            return Err(Fault::Failed(
                "bracket",
                format!(
                    "the subject reports running from {start} to {end} ns, but the call lasted from {sent_ns} to \
                     {received_ns} ns"
                ),
            ));
        }
        Ok(result)
    }

    /// Closes the case.
    pub fn close(&mut self) -> SubjectResult<()> {
        self.dialog.ask("close\n", "closed").map(drop)
    }

    /// Closes the case of a server. Returns the values of the given metrics.
    pub fn close_with_metrics(&mut self, metrics: &[Metric]) -> SubjectResult<Vec<f64>> {
        let reply = self.dialog.ask("close\n", "closed")?;
        let values = metrics.iter().map(|metric| value(&reply, metric));
        values.collect::<Result<_, _>>().map_err(nonsense)
    }

    /// Tells the process to exit, and waits until it has exited or the time limit is reached.
    pub fn quit(mut self) -> SubjectResult<()> {
        let woken = self.wake();
        let ended = woken.and_then(|()| self.dialog.quit());
        ended.map_err(|fault| fault.with_log(&self))
    }

    /// Wakes the process for its turn.
    pub fn wake(&mut self) -> SubjectResult<()> {
        if self.frozen {
            sys::wake(self.pid()).map_err(connection_lost)?;
            self.frozen = false;
        }
        Ok(())
    }

    /// Freezes the process until its next turn.
    pub fn freeze(&mut self) -> SubjectResult<()> {
        if !self.frozen {
            sys::freeze(self.pid()).map_err(connection_lost)?;
            self.frozen = true;
        }
        Ok(())
    }

    /// Returns the CPU time used by the process, in ns.
    pub fn cpu_ns(&self) -> SubjectResult<u64> {
        self.cpu.now_ns().map_err(connection_lost)
    }

    /// Returns the log lines since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.dialog.take_log()
    }

    /// Returns the last log lines, including lines that `take_log` has already returned.
    pub fn last_log(&self) -> Vec<String> {
        self.dialog.last_log()
    }

    /// Returns true if the subject replies within `time`. Does not consume the reply.
    pub fn replies_within(&mut self, time: Duration) -> SubjectResult<bool> {
        self.dialog.replies_within(time)
    }

    /// Returns the time limit for operations. For operations at a fixed rate, the limit starts when
    /// the last operation is due.
    fn limit(&self, case: &Case, operations: u64) -> Duration {
        let due_s = case
            .rate
            .map_or(0.0, |rate| operations as f64 / rate as f64);
        self.dialog.time_limit + Duration::from_secs_f64(due_s)
    }
}

impl Fault {
    /// Appends the last log lines to the message, for a process that is about to be dropped.
    pub fn with_log(self, process: &SubjectProcess) -> Fault {
        process.dialog.with_log(self)
    }
}

/// Returns the values of the case's metrics that the subject reports, in the metrics' units.
fn metrics(reply: &Reply, case: &Case) -> Result<Vec<f64>, String> {
    let reported = case.reported_metrics();
    reported.map(|metric| value(reply, metric)).collect()
}

/// Returns the value of a metric in a reply, in the metric's unit.
pub fn value(reply: &Reply, metric: &Metric) -> Result<f64, String> {
    let text = reply.get(&metric.id)?;
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or_else(|| format!("`{}={text}` is not a number", metric.id))?;
    // Replies have percentages; benchlab stores fractions.
    let scale = if metric.unit == Unit::Share {
        100.0
    } else {
        1.0
    };
    Ok(value / scale)
}

/// Parses an optional argument as a number.
fn optional(reply: &Reply, key: &str) -> Result<Option<u64>, String> {
    reply.find(key).map(|_| reply.number(key)).transpose()
}

/// Returns the failed calls of a case in which calls may fail.
fn failed(reply: &Reply, case: &Case, operations: u64) -> Result<Failed, String> {
    if case.check == Check::Effects {
        effects::failed(reply, operations)
    } else {
        Ok(Failed::new())
    }
}

/// Parses the histogram in `latencies=` (docs/protocol.md). Returns `None` if the case does not
/// require a histogram.
fn latencies(
    reply: &Reply,
    case: &Case,
    operations: u64,
) -> Result<Option<Vec<(u32, u64)>>, String> {
    if !case.latencies {
        return Ok(None);
    }
    let text = reply.get("latencies")?;
    let bucket = |word: &str| {
        let (index, count) = word.split_once(':')?;
        Some((index.parse().ok()?, count.parse().ok().filter(|&n| n > 0)?))
    };
    let counts: Option<Vec<(u32, u64)>> = text.split(',').map(bucket).collect();
    let counts = counts.ok_or_else(|| format!("`latencies={text}` is not INDEX:COUNT,…"))?;
    let counted = counts.iter().map(|(_, n)| n).sum::<u64>();
    if !counts.is_sorted_by(|a, b| a.0 < b.0) {
        return Err("the indexes in `latencies=` are not ascending".into());
    }
    if counted != operations {
        return Err(format!(
            "`latencies=` contains {} instead of {operations}",
            plural(counted, "operation")
        ));
    }
    Ok(Some(counts))
}

/// Parses the steps of `timeline=` (docs/protocol.md), if operations are due at a rate and the subject reports them.
fn timeline(reply: &Reply, case: &Case) -> Result<Option<Vec<u64>>, String> {
    let Some(text) = reply.find("timeline").filter(|_| case.rate.is_some()) else {
        return Ok(None);
    };
    let steps = text.split(',').map(|word| word.parse().ok());
    // SQLite stores signed integers.
    let steps: Option<Vec<u64>> = steps.map(|ns| ns.filter(|ns| *ns < 1 << 63)).collect();
    let steps = steps.ok_or_else(|| format!("`timeline={text}` is not NS,NS,…"))?;
    Ok(Some(steps))
}
