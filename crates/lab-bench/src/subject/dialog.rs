// SPDX-License-Identifier: Apache-2.0
//! A process that implements the protocol: its start, its lines, and its end.

use crate::host::interrupt;
use crate::host::sys;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::protocol::{Reply, SubjectLine};
use crate::subject::stream::{LineStream, PIPE_CHUNKS};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The maximum number of log lines stored per process, in addition to its last lines.
const KEPT_LOG_LINES: usize = 200;
/// The number of last log lines shown with a failure.
const LAST_LOG_LINES: usize = 10;

/// The time within which a process must exit after it has closed its output. On a busy machine, a
/// process that crashed exits seconds after its files are closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// The way in which a process is ended when benchlab exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The process is killed. A request to stop benchlab also ends a wait for the process.
    Killed,
    /// The process undoes its changes when its input ends. A request to stop benchlab does not end
    /// a wait for the process.
    Undone,
}

/// A process and the lines exchanged with it. Dropping it kills the process and all processes that
/// it started.
pub struct Dialog {
    child: Child,
    group: Pid,
    /// The standard input of the process. `None` after benchlab has closed it.
    input: Option<ChildStdin>,
    output: LineStream,
    errors: LineStream,
    ending: Ending,
    log: Vec<String>,
    last_log: VecDeque<String>,
    /// The maximum time for a reply.
    pub time_limit: Duration,
}

impl Dialog {
    /// Starts a program in the project's directory. Returns the process and the time when the
    /// program started.
    ///
    /// `temporary` is the program's directory for temporary files.
    pub fn start(
        program: &[String],
        folder: &Path,
        temporary: &Path,
        time_limit: Duration,
        ending: Ending,
    ) -> SubjectResult<(Dialog, Instant)> {
        let (mut child, began) = spawn(program, folder, temporary, ending).map_err(|e| {
            Fault::Failed(
                "start",
                format!("cannot start `{}`: {e}", program.join(" ")),
            )
        })?;
        let start_fault = |e: io::Error| Fault::Failed("start", e.to_string());
        let group = Pid::from_raw(child.id() as i32);
        let dialog = Dialog {
            input: child.stdin.take(),
            output: LineStream::new(child.stdout.take().expect("stdout is piped"))
                .map_err(start_fault)?,
            errors: LineStream::new(child.stderr.take().expect("stderr is piped"))
                .map_err(start_fault)?,
            child,
            group,
            ending,
            log: Vec::new(),
            last_log: VecDeque::new(),
            time_limit,
        };
        Ok((dialog, began))
    }

    /// Returns the process ID, which is also the process group's ID.
    pub fn pid(&self) -> Pid {
        self.group
    }

    /// Returns true if the user requested a stop that ends a wait for this process.
    fn is_interrupted(&self) -> bool {
        self.ending == Ending::Killed && interrupt::requested()
    }

    /// Tells the process to exit, and waits until it has exited or the time limit is reached.
    ///
    /// Does not wait for the end of the output, because a child of the process may keep the output
    /// open.
    pub fn quit(&mut self) -> SubjectResult<()> {
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
                        format!("the process ended with {status} after `quit`"),
                    )),
                };
            }
            if self.is_interrupted() {
                return Err(Fault::Interrupted);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let seconds = self.time_limit.as_secs_f64();
        Err(Fault::Failed(
            "timeout",
            format!("the process did not exit within {seconds} s after `quit`"),
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

    /// Returns the log lines since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }

    /// Returns the last log lines, including lines that `take_log` has already returned.
    pub fn last_log(&self) -> Vec<String> {
        self.last_log.iter().cloned().collect()
    }

    /// Sends a command and waits for the reply, which must have the verb `verb`.
    pub fn ask(&mut self, command: &str, verb: &str) -> SubjectResult<Reply> {
        self.send(command)?;
        self.reply(verb)
    }

    /// Sends a command line.
    pub fn send(&mut self, command: &str) -> SubjectResult<()> {
        let input = self.input.as_mut();
        match input.map(|input| input.write_all(command.as_bytes())) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(self.exit_fault()),
        }
    }

    /// Waits for a reply, which must have the verb `verb`.
    pub fn reply(&mut self, verb: &str) -> SubjectResult<Reply> {
        self.reply_within(verb, self.time_limit)
    }

    /// Waits at most `limit` for a reply, which must have the verb `verb`.
    pub fn reply_within(&mut self, verb: &str, limit: Duration) -> SubjectResult<Reply> {
        let reply = self.any_reply(limit)?;
        if reply.verb == verb {
            Ok(reply)
        } else if reply.verb == "error" {
            Err(error_fault(&reply))
        } else {
            let message = format!("got `{}` instead of `{verb}`", reply.verb);
            Err(nonsense(message))
        }
    }

    /// Waits for a reply with any verb within a time limit.
    pub fn any_reply(&mut self, limit: Duration) -> SubjectResult<Reply> {
        let deadline = Instant::now() + limit;
        loop {
            while let Some(line) = self.output.line().map_err(nonsense)? {
                match SubjectLine::parse(&line) {
                    SubjectLine::Log(line) => self.keep_log(line),
                    SubjectLine::Malformed(reason) => return Err(nonsense(reason)),
                    SubjectLine::Reply(reply) => return Ok(reply),
                }
            }
            if !self.fill(deadline, limit)? {
                return Err(self.exit_fault());
            }
        }
    }

    /// Closes the standard input of the process, and waits until the process has exited or the time
    /// limit is reached.
    pub fn end_input(&mut self, time: Duration) {
        self.input = None;
        let deadline = Instant::now() + time;
        while self.status().is_none() && Instant::now() < deadline {
            let _ = self.output.read();
            self.output.buffer.clear();
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns true if the process replies within `time`. Does not consume the reply.
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

    /// Waits for output and reads it. Returns false if the output has ended.
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

    /// Waits for output within a time limit, and reads the output that has arrived.
    fn wait(&mut self, time: Duration) -> SubjectResult<()> {
        let files = [self.output.source.as_fd(), self.errors.source.as_fd()];
        // Standard error is not watched after its end, because it would always be readable.
        let watched = if self.errors.ended { 1 } else { 2 };
        let files = files[..watched].iter().copied();
        let waited = match self.ending {
            Ending::Killed => interrupt::wait_readable(&files.collect::<Vec<_>>(), time),
            Ending::Undone => sys::wait_readable(files, time),
        };
        if self.is_interrupted() {
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
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while Instant::now() < deadline {
            if let Some(status) = self.status() {
                return Fault::Failed(
                    "crash",
                    format!("the process ended with {status} instead of replying"),
                );
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        Fault::Failed(
            "crash",
            "the process closed its output instead of replying".into(),
        )
    }

    /// Appends the last log lines to a fault's message.
    pub fn with_log(&self, fault: Fault) -> Fault {
        match (fault, self.last_log.back()) {
            (Fault::Failed(kind, message), Some(_)) => {
                let log: Vec<&str> = self.last_log.iter().map(String::as_str).collect();
                Fault::Failed(kind, format!("{message}\n{}", log.join("\n")))
            }
            (fault, _) => fault,
        }
    }
}

impl Drop for Dialog {
    fn drop(&mut self) {
        // SIGKILL also terminates frozen processes.
        let _ = killpg(self.group, Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

pub fn error_fault(reply: &Reply) -> Fault {
    let code = reply.get("code").unwrap_or("without code");
    Fault::Failed(
        "error",
        format!(
            "{code}: {}",
            reply.get("message").unwrap_or("without message")
        ),
    )
}

pub fn nonsense(message: String) -> Fault {
    Fault::Failed("nonsense", message)
}

pub fn connection_lost(e: io::Error) -> Fault {
    Fault::Failed("crash", format!("lost the connection to the process: {e}"))
}

/// Adds an option for the directory for temporary files to the command line of Java, which ignores
/// TMPDIR.
fn with_temporary(program: &[String], temporary: &Path) -> Vec<String> {
    let mut words = program.to_vec();
    let is_java = |word: &String| Path::new(word).file_name().is_some_and(|n| n == "java");
    if let Some(java) = words.iter().position(is_java) {
        let option = format!("-Djava.io.tmpdir={}", temporary.display());
        words.insert(java + 1, option);
    }
    words
}

/// Starts a program in its own process group. Returns the process and the time when the program
/// started.
///
/// Because of the separate group, Ctrl-C in the terminal reaches only benchlab, and benchlab can
/// kill everything that a subject started. A subject is killed when benchlab exits. The start time
/// excludes the fork, whose duration grows with benchlab's memory.
fn spawn(
    program: &[String],
    folder: &Path,
    temporary: &Path,
    ending: Ending,
) -> io::Result<(Child, Instant)> {
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
            let is_killed = ending == Ending::Killed;
            if is_killed && libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
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
    fn java_gets_the_temporary_directory() {
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
