// SPDX-License-Identifier: Apache-2.0
//! A subject's process: starts it, exchanges messages with it, freezes it between turns, and never leaves it behind.

use crate::host::interrupt;
use crate::host::sys;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::protocol::{self, Reply, SubjectLine};
use crate::subject::stream::{LineStream, PIPE_CHUNKS};
use crate::targets::effects::{self, Failed};
use lab_host::CpuClock;
use lab_model::{Case, Check, Metric, Subject, Unit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The maximum number of log lines stored per process, apart from its last lines.
const KEPT_LOG_LINES: usize = 200;
/// The number of last log lines shown with a failure.
const LAST_LOG_LINES: usize = 10;

/// The result of a batch, as reported by the subject and as measured by benchlab's clocks.
#[derive(Clone, Debug)]
pub struct BatchResult {
    /// The wall time between the subject's own clock readings, in ns.
    pub wall_ns: u64,
    /// The CPU time of the subject's process, read before and after the batch, in ns.
    pub cpu_ns: u64,
    /// The CPU time of the server during the batch in ns, or `None` if there is no server or it was not measured.
    pub server_cpu_ns: Option<u64>,
    /// The number of operations in the batch.
    pub operations: u64,
    /// A hash of all values produced.
    pub check: u64,
    /// The sum over the results of the operations.
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
    /// The number of blocks or objects.
    pub blocks: Option<u64>,
    /// The number of bytes.
    pub bytes: Option<u64>,
}

/// The result of untimed operations.
pub struct Verified {
    /// A hash of all values produced.
    pub check: u64,
    /// The sum over the results of the operations.
    pub units: u64,
    /// The failed calls, if calls may fail.
    pub failed: Failed,
}

/// A running subject. Dropping it kills the process and everything that it started.
pub struct SubjectProcess {
    child: Child,
    group: Pid,
    input: ChildStdin,
    output: LineStream,
    errors: LineStream,
    cpu: CpuClock,
    time_limit: Duration,
    frozen: bool,
    log: Vec<String>,
    last_log: VecDeque<String>,
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
}

impl SubjectProcess {
    /// Starts a subject in the project's directory and waits for its hello. Temporary files go to `temporary`.
    pub fn start(
        subject: &Subject,
        folder: &Path,
        temporary: &Path,
        time_limit: Duration,
    ) -> SubjectResult<SubjectProcess> {
        let (mut child, began) = spawn(&subject.program, folder, temporary).map_err(|e| {
            Fault::Failed(
                "start",
                format!("cannot start `{}`: {e}", subject.program.join(" ")),
            )
        })?;
        let start_fault = |e: io::Error| Fault::Failed("start", e.to_string());
        let group = Pid::from_raw(child.id() as i32);
        let mut process = SubjectProcess {
            input: child.stdin.take().expect("stdin is piped"),
            output: LineStream::new(child.stdout.take().expect("stdout is piped"))
                .map_err(start_fault)?,
            errors: LineStream::new(child.stderr.take().expect("stderr is piped"))
                .map_err(start_fault)?,
            cpu: CpuClock::of(group).map_err(start_fault)?,
            child,
            group,
            time_limit,
            frozen: false,
            log: Vec::new(),
            last_log: VecDeque::new(),
            hello: Reply::default(),
            thread: None,
            startup_ns: 0,
            startup_cpu_ns: 0,
            counts_allocations: false,
        };
        process
            .read_hello(began)
            .map_err(|fault| fault.with_log(&process))?;
        Ok(process)
    }

    fn read_hello(&mut self, began: Instant) -> SubjectResult<()> {
        self.hello = self.reply("hello")?;
        self.startup_ns = began.elapsed().as_nanos() as u64;
        self.startup_cpu_ns = self.cpu_ns()?;
        self.thread = self.check_hello().map_err(nonsense)?;
        Ok(())
    }

    fn check_hello(&self) -> Result<Option<Pid>, String> {
        let protocol = self.hello.number("protocol")?;
        if protocol != 1 {
            return Err(format!(
                "it uses protocol {protocol}, but benchlab supports only protocol 1"
            ));
        }
        let thread = self.hello.number("thread")?;
        if thread == 0 {
            return Ok(None);
        }
        if !Path::new(&format!("/proc/{}/task/{thread}", self.group)).exists() {
            return Err(format!("thread={thread} is not one of its threads"));
        }
        Ok(Some(Pid::from_raw(thread as i32)))
    }

    /// Pins the working thread to a core, or all threads if there is no single working thread.
    ///
    /// Threads that the pinned threads start later inherit the core.
    pub fn keep_on(&self, core: usize) -> SubjectResult<()> {
        let pinned = match self.thread {
            Some(thread) => sys::pin(thread, &[core]),
            None => sys::pin_all(self.group, &[core]),
        };
        pinned.map_err(|e| {
            let message = format!("cannot pin its thread to core {core}: {e}");
            Fault::Failed("start", message)
        })
    }

    /// Pins all threads of the process to some cores. Threads started later inherit the cores.
    pub fn keep_all_on(&self, cores: &[usize]) -> SubjectResult<()> {
        sys::pin_all(self.group, cores).map_err(|e| {
            let message = format!("cannot pin its threads to cores {cores:?}: {e}");
            Fault::Failed("start", message)
        })
    }

    /// Lets all threads of the process use all cores.
    pub fn free(&self) -> SubjectResult<()> {
        let cores = lab_host::allowed_cores();
        let freed = cores.and_then(|cores| sys::pin_all(self.group, &cores));
        freed.map_err(connection_lost)
    }

    /// Returns the process ID, which is also the ID of the process group.
    pub fn pid(&self) -> Pid {
        self.group
    }

    /// Prepares a case. The reply contains the settings.
    pub fn open<'a>(
        &mut self,
        args: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> SubjectResult<Reply> {
        self.ask(&protocol::command("open", args), "opened")
    }

    /// Runs operations without timing them.
    pub fn verify(&mut self, case: &Case, operations: u64) -> SubjectResult<Verified> {
        let count = operations.to_string();
        let command = protocol::command("verify", [("operations", count.as_str())]);
        self.send(&command)?;
        let reply = self.reply_within("verified", self.limit(case, operations))?;
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
    /// Returns a fault if the subject's clock readings do not lie between benchlab's readings before and after the
    /// batch, or if the reply lacks a metric of the case.
    pub fn run(&mut self, case: &Case, operations: u64) -> SubjectResult<BatchResult> {
        self.run_while(case, operations, |_| Ok(()))
    }

    /// Runs a batch and concurrently runs `meanwhile`.
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
        self.send(&command)?;
        meanwhile(self)?;
        let reply = self.reply_within("ran", self.limit(case, operations))?;
        let received_ns = sys::monotonic_ns();
        let cpu_ns = self.cpu_ns()? - cpu_before;
        let parse = || {
            let (start, end) = (reply.number("start")?, reply.number("end")?);
            let done = reply.number("operations")?;
            if done != operations {
                return Err(format!("asked for {operations} operations, it did {done}"));
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
                    "it reports running from {start} to {end} ns, but the call lasted from {sent_ns} to \
                     {received_ns} ns"
                ),
            ));
        }
        Ok(result)
    }

    /// Closes the case.
    pub fn close(&mut self) -> SubjectResult<()> {
        self.ask("close\n", "closed").map(drop)
    }

    /// Closes the case of a server, which reports these metrics.
    pub fn close_with_metrics(&mut self, metrics: &[Metric]) -> SubjectResult<Vec<f64>> {
        let reply = self.ask("close\n", "closed")?;
        let values = metrics.iter().map(|metric| value(&reply, metric));
        values.collect::<Result<_, _>>().map_err(nonsense)
    }

    /// Tells the process to exit, and waits until it has exited or the time limit is over.
    pub fn quit(mut self) -> SubjectResult<()> {
        self.wait_for_exit().map_err(|fault| fault.with_log(&self))
    }

    /// Waits for the exit of the process.
    ///
    /// Does not wait until its output ends, because another process that it started may keep the output open.
    fn wait_for_exit(&mut self) -> SubjectResult<()> {
        self.wake()?;
        self.send("quit\n")?;
        let deadline = Instant::now() + self.time_limit;
        while Instant::now() < deadline {
            let _ = self.output.read();
            self.output.buffer.clear();
            if let Some(status) = self.status() {
                return match status.code() {
                    Some(0) => Ok(()),
                    _ => Err(Fault::Failed(
                        "crash",
                        format!("after `quit` it ended with {status}"),
                    )),
                };
            }
            if interrupt::requested() {
                return Err(Fault::Interrupted);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let seconds = self.time_limit.as_secs_f64();
        Err(Fault::Failed(
            "timeout",
            format!("it did not exit within {seconds} s after `quit`"),
        ))
    }

    /// Returns the exit status if the process has exited. Also reads its standard error.
    fn status(&mut self) -> Option<ExitStatus> {
        let status = self.child.try_wait().ok().flatten();
        // Read at most as much as a full pipe contains, because another process that the subject started may write
        // forever.
        for _ in 0..PIPE_CHUNKS {
            self.read_errors();
        }
        status
    }

    /// Wakes the process for its turn.
    pub fn wake(&mut self) -> SubjectResult<()> {
        if self.frozen {
            sys::wake(self.group).map_err(connection_lost)?;
            self.frozen = false;
        }
        Ok(())
    }

    /// Freezes the process until its next turn.
    pub fn freeze(&mut self) -> SubjectResult<()> {
        if !self.frozen {
            sys::freeze(self.group).map_err(connection_lost)?;
            self.frozen = true;
        }
        Ok(())
    }

    /// Returns the CPU time used by the process.
    pub fn cpu_ns(&self) -> SubjectResult<u64> {
        self.cpu.now_ns().map_err(connection_lost)
    }

    /// Returns the log lines since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// Returns the last log lines, including lines that were already taken.
    pub fn last_log(&self) -> Vec<String> {
        self.last_log.iter().cloned().collect()
    }

    fn ask(&mut self, command: &str, verb: &str) -> SubjectResult<Reply> {
        self.send(command)?;
        self.reply(verb)
    }

    /// Returns the time limit for operations. At a fixed rate, the limit starts when the last operation is due.
    fn limit(&self, case: &Case, operations: u64) -> Duration {
        let due_s = case
            .rate
            .map_or(0.0, |rate| operations as f64 / rate as f64);
        self.time_limit + Duration::from_secs_f64(due_s)
    }

    fn send(&mut self, command: &str) -> SubjectResult<()> {
        match self.input.write_all(command.as_bytes()) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.exit_fault()),
        }
    }

    /// Waits for a reply with this verb.
    fn reply(&mut self, verb: &str) -> SubjectResult<Reply> {
        self.reply_within(verb, self.time_limit)
    }

    /// Waits for a reply with this verb within a time limit.
    fn reply_within(&mut self, verb: &str, limit: Duration) -> SubjectResult<Reply> {
        let deadline = Instant::now() + limit;
        loop {
            while let Some(line) = self.output.line().map_err(nonsense)? {
                match SubjectLine::parse(&line) {
                    SubjectLine::Log(line) => self.keep_log(line),
                    SubjectLine::Malformed(reason) => return Err(nonsense(reason)),
                    SubjectLine::Reply(reply) if reply.verb == verb => return Ok(reply),
                    SubjectLine::Reply(reply) if reply.verb == "error" => {
                        return Err(error_fault(&reply));
                    }
                    SubjectLine::Reply(reply) => {
                        return Err(nonsense(format!(
                            "got `{}` instead of `{verb}`",
                            reply.verb
                        )));
                    }
                }
            }
            if !self.fill(deadline, limit)? {
                return Err(self.exit_fault());
            }
        }
    }

    /// Returns true if the subject replies within `time`. Does not consume the reply.
    pub fn replies_within(&mut self, time: Duration) -> SubjectResult<bool> {
        let deadline = Instant::now() + time;
        while !self.has_reply() && !self.output.ended {
            let remaining = deadline.saturating_duration_since(Instant::now());
            if remaining.is_zero() {
                return Ok(false);
            }
            self.wait(remaining)?;
        }
        Ok(true)
    }

    /// Returns true if a line other than log output was read.
    fn has_reply(&self) -> bool {
        let buffer = &self.output.buffer;
        let end = buffer.iter().rposition(|&b| b == b'\n').unwrap_or(0);
        let mut lines = buffer[..end].split(|&b| b == b'\n');
        end > 0 && lines.any(|line| !matches!(SubjectLine::parse(line), SubjectLine::Log(_)))
    }

    /// Waits for output and reads it. Returns false at the end of the output.
    fn fill(&mut self, deadline: Instant, limit: Duration) -> SubjectResult<bool> {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            let seconds = limit.as_secs_f64();
            return Err(Fault::Failed(
                "timeout",
                format!("no reply within {seconds} s"),
            ));
        }
        self.wait(remaining)?;
        Ok(!self.output.ended)
    }

    /// Waits for output within a time limit, and reads what has arrived.
    fn wait(&mut self, time: Duration) -> SubjectResult<()> {
        let files = [self.output.source.as_fd(), self.errors.source.as_fd()];
        // Standard error is not watched after its end, because it would always be readable.
        let watched = if self.errors.ended { 1 } else { 2 };
        let waited = interrupt::readable(&files[..watched], time);
        if interrupt::requested() {
            return Err(Fault::Interrupted);
        }
        if waited.is_err() {
            return Ok(());
        }
        self.output
            .read()
            .map_err(|e| Fault::Failed("crash", e.to_string()))?;
        self.read_errors();
        Ok(())
    }

    fn read_errors(&mut self) {
        if self.errors.ended || self.errors.read().is_err() {
            return;
        }
        while let Ok(Some(line)) = self.errors.line() {
            self.keep_log(String::from_utf8_lossy(&line).into_owned());
        }
        if self.errors.ended && !self.errors.buffer.is_empty() {
            let line = std::mem::take(&mut self.errors.buffer);
            self.errors.scanned = 0;
            self.keep_log(String::from_utf8_lossy(&line).into_owned());
        }
    }

    fn keep_log(&mut self, line: String) {
        if self.last_log.len() == LAST_LOG_LINES {
            self.last_log.pop_front();
        }
        self.last_log.push_back(line.clone());
        if self.log.len() < KEPT_LOG_LINES {
            self.log.push(line);
        }
    }

    /// Returns the fault of a subject that closed its output.
    fn exit_fault(&mut self) -> Fault {
        let deadline = Instant::now() + Duration::from_secs(1);
        while Instant::now() < deadline {
            if let Some(status) = self.status() {
                return Fault::Failed(
                    "crash",
                    format!("it ended with {status} instead of replying"),
                );
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Fault::Failed("crash", "it closed its output instead of replying".into())
    }
}

impl Drop for SubjectProcess {
    fn drop(&mut self) {
        // SIGKILL also terminates frozen processes.
        let _ = killpg(self.group, Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

impl Fault {
    /// Appends the last log lines to the message, for a process that is about to be dropped.
    pub fn with_log(self, process: &SubjectProcess) -> Fault {
        match (self, process.last_log.back()) {
            (Fault::Failed(kind, message), Some(_)) => {
                let log: Vec<&str> = process.last_log.iter().map(String::as_str).collect();
                Fault::Failed(kind, format!("{message}\n{}", log.join("\n")))
            }
            (fault, _) => fault,
        }
    }
}

/// Returns the values of the case's metrics that the subject reports, in the metrics' units.
fn metrics(reply: &Reply, case: &Case) -> Result<Vec<f64>, String> {
    let reported = case.metrics.iter().filter(|metric| !metric.is_found());
    reported.map(|metric| value(reply, metric)).collect()
}

/// Returns the value of a metric that a subject reports, in the metric's unit.
fn value(reply: &Reply, metric: &Metric) -> Result<f64, String> {
    let text = reply.get(&metric.id)?;
    let value = text.parse::<f64>().ok().filter(|value| value.is_finite());
    let value = value.ok_or_else(|| format!("`{}={text}` is not a number", metric.id))?;
    // Subjects report percentages; benchlab stores fractions.
    let scale = if metric.unit == Unit::Share {
        100.0
    } else {
        1.0
    };
    Ok(value / scale)
}

/// Parses an optional number.
fn optional(reply: &Reply, key: &str) -> Result<Option<u64>, String> {
    reply.find(key).map(|_| reply.number(key)).transpose()
}

/// Returns the failed calls of a case whose calls may fail.
fn failed(reply: &Reply, case: &Case, operations: u64) -> Result<Failed, String> {
    if case.check == Check::Effects {
        effects::failed(reply, operations)
    } else {
        Ok(Failed::new())
    }
}

/// Parses the histogram in `latencies=` (docs/protocol.md), if the case has one.
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
            "`latencies=` contains {counted} of {operations} operations"
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

fn error_fault(reply: &Reply) -> Fault {
    let code = reply.get("code").unwrap_or("without code");
    Fault::Failed(
        "error",
        format!(
            "{code}: {}",
            reply.get("message").unwrap_or("without message")
        ),
    )
}

fn nonsense(message: String) -> Fault {
    Fault::Failed("nonsense", message)
}

pub(crate) fn connection_lost(e: io::Error) -> Fault {
    Fault::Failed("crash", format!("lost the connection to its process: {e}"))
}

/// Sets the directory for temporary files of Java, which ignores TMPDIR.
fn with_temporary(program: &[String], temporary: &Path) -> Vec<String> {
    let mut words = program.to_vec();
    let is_java = |word: &String| Path::new(word).file_name().is_some_and(|n| n == "java");
    if let Some(java) = words.iter().position(is_java) {
        let option = format!("-Djava.io.tmpdir={}", temporary.display());
        words.insert(java + 1, option);
    }
    words
}

/// Starts a program in its own process group. Returns the process and the time when the program started.
///
/// Ctrl-C in the terminal therefore reaches only benchlab, and benchlab can kill everything that a subject started. The
/// program is killed when benchlab exits. The start time excludes the fork, which takes longer the more memory benchlab
/// uses.
fn spawn(program: &[String], folder: &Path, temporary: &Path) -> io::Result<(Child, Instant)> {
    let program = with_temporary(program, temporary);
    let (name, args) = program.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    // The name of a program in the project is relative to the project's directory. Any other program is searched for
    // in PATH.
    let name = if name.contains('/') {
        folder.join(name)
    } else {
        name.into()
    };
    let mut command = Command::new(name);
    command.args(args).current_dir(folder).process_group(0);
    // Database drivers use this variable as the time zone for displayed times.
    command.env("TZ", "UTC").env("TMPDIR", temporary);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let lab_pid = std::process::id() as i32;
    let use_all_cores = sys::all_cores()?;
    let forked_at = Instant::now();
    let (mut begin_reader, mut begin_writer) = io::pipe()?;
    // SAFETY: only async-signal-safe calls are made between fork and exec.
    unsafe {
        command.pre_exec(move || {
            if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(io::Error::last_os_error());
            }
            // benchlab may have exited before this process requested the signal.
            if libc::getppid() != lab_pid {
                return Err(io::Error::from_raw_os_error(libc::ESRCH));
            }
            use_all_cores()?;
            begin_writer.write_all(&(forked_at.elapsed().as_nanos() as u64).to_ne_bytes())
        });
    }
    let child = command.spawn()?;
    let mut after_ns = [0; 8];
    begin_reader.read_exact(&mut after_ns)?;
    let after = Duration::from_nanos(u64::from_ne_bytes(after_ns));
    Ok((child, forked_at + after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn java_is_told_where_temporary_files_go() {
        let words = |text: &str| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            with_temporary(&words, Path::new("/t")).join(" ")
        };
        assert_eq!(
            words("java -cp c Main"),
            "java -Djava.io.tmpdir=/t -cp c Main"
        );
        assert_eq!(
            words("strace -o f -- /jdk/bin/java Main"),
            "strace -o f -- /jdk/bin/java -Djava.io.tmpdir=/t Main"
        );
        assert_eq!(words("build/java/subject x"), "build/java/subject x");
    }
}
