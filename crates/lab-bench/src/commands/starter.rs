// SPDX-License-Identifier: Apache-2.0
//! A small process that starts commands, waits for them, and reads their resource usage.
//!
//! A child inherits its parent's peak memory: the `ru_maxrss` of wait4(2) is never below the
//! parent's memory. Therefore, a separate process that uses half a megabyte (`starter.c`) starts
//! the commands. If benchlab is killed, the starter first kills all processes that the commands
//! left running.

use crate::commands::start_error;
use crate::host::{interrupt, sys};
use crate::subject::fault::{Fault, SubjectResult};
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The program, built from `starter.c`.
const PROGRAM: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/starter"));

/// The maximum delay of a response after a command's time limit. After that, the starter counts as
/// lost.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The number of 64-bit numbers in a response.
const NUMBERS: usize = 12;

/// A request to start a command.
#[derive(Clone, Debug, Default)]
pub struct StartRequest {
    /// The program and its arguments. A name without `/` is searched for in PATH.
    pub program: Vec<String>,
    /// The absolute path of the working directory.
    pub folder: PathBuf,
    /// The file for standard input. `None` means `/dev/null`.
    pub input: Option<PathBuf>,
    /// The file for standard output, which is truncated first. `None` means `/dev/null`.
    pub output: Option<PathBuf>,
    /// The file for standard error, which is truncated first. `None` means `/dev/null`.
    pub errors: Option<PathBuf>,
    /// Environment variables in addition to benchlab's own.
    pub variables: Vec<(&'static str, String)>,
    /// The cores that the command may use.
    pub cores: Vec<usize>,
    /// The time after which the command is killed.
    pub time_limit: Duration,
}

/// A process that has exited. Times and counts include the children that the process waited for.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// The wall time from just before the start until the exit was observed, in ns.
    pub wall_ns: u64,
    /// User CPU time in ns.
    pub user_ns: u64,
    /// System CPU time in ns.
    pub sys_ns: u64,
    /// The highest peak memory of the process and its children, in bytes. It is never below the
    /// starter's memory, which is about half a megabyte.
    pub peak_rss_bytes: u64,
    /// Page faults that did not require reading from a disk.
    pub minor_faults: u64,
    /// Page faults that required reading from a disk.
    pub major_faults: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// The exit status.
    pub status: ExitStatus,
    /// True if the process was killed because it exceeded its time limit.
    pub timed_out: bool,
    /// True if more processes are running than before the start: this command left some behind.
    /// Those that earlier commands left behind do not count.
    pub left_running: bool,
}

/// A starter process. Dropping it kills the starter and all processes that its commands left
/// running.
pub struct Starter {
    process: Child,
    orders: Option<ChildStdin>,
    responses: ChildStdout,
    /// True if commands run to completion even if the user stops benchlab.
    pub undisturbed: bool,
}

impl Starter {
    /// Starts the starter process.
    pub fn new() -> io::Result<Starter> {
        let program = memfd_create("benchlab-starter", MFdFlags::MFD_CLOEXEC)?;
        let mut program = File::from(program);
        program.write_all(PROGRAM)?;
        let path = format!("/proc/self/fd/{}", program.as_raw_fd());
        // The starter gets its own process group, because the terminal's Ctrl-C is for benchlab, which then shuts
        // down its starter.
        let mut process = Command::new(path)
            .arg0("benchlab-starter")
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        Ok(Starter {
            orders: process.stdin.take(),
            responses: process.stdout.take().expect("stdout is piped"),
            process,
            undisturbed: false,
        })
    }

    /// Returns the starter's process ID. Commands are its children.
    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.process.id() as i32)
    }

    /// Runs a command to completion. Returns a fault if the command cannot be started or the user requests a stop.
    pub fn run(&mut self, order: &StartRequest) -> SubjectResult<Ended> {
        let orders = self
            .orders
            .as_mut()
            .expect("the starter's input stays open until the end");
        orders.write_all(&order.message()?).map_err(starter_lost)?;
        self.wait(Instant::now() + order.time_limit + TIMEOUT)?;
        let mut response = [0; 8 * NUMBERS];
        self.responses
            .read_exact(&mut response)
            .map_err(starter_lost)?;
        parse_response(&response).map_err(|error| {
            let program = order.program.first().map_or("", String::as_str);
            let why = start_error::explain(program, &order.folder, &error);
            Fault::Failed("start", format!("cannot start `{program}`: {why}"))
        })
    }

    fn wait(&self, deadline: Instant) -> SubjectResult<()> {
        loop {
            let remaining = deadline.saturating_duration_since(Instant::now());
            let responses = [self.responses.as_fd()];
            let is_ready = if self.undisturbed {
                sys::wait_readable(responses, remaining)
            } else {
                let is_ready = interrupt::wait_readable(&responses, remaining);
                if interrupt::requested() {
                    return Err(Fault::Interrupted);
                }
                is_ready
            };
            if is_ready == Ok(true) {
                return Ok(());
            }
            if Instant::now() > deadline {
                return Err(starter_lost(io::ErrorKind::TimedOut.into()));
            }
        }
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.orders = None;
        let _ = self.process.wait();
    }
}

impl StartRequest {
    /// Encodes the request in the format that `starter.c` reads.
    fn message(&self) -> SubjectResult<Vec<u8>> {
        let file = |path: &Option<PathBuf>| match path {
            Some(path) => path.as_os_str().as_encoded_bytes().to_vec(),
            None => Vec::new(),
        };
        let cores: Vec<String> = self.cores.iter().map(usize::to_string).collect();
        let mut strings = vec![
            cores.join(",").into_bytes(),
            self.folder.as_os_str().as_encoded_bytes().to_vec(),
            file(&self.input),
            file(&self.output),
            file(&self.errors),
        ];
        let variables = self.variables.iter();
        strings.extend(variables.map(|(name, value)| format!("{name}={value}").into_bytes()));
        strings.extend(self.program.iter().map(|word| word.clone().into_bytes()));
        if self.program.is_empty() || strings.iter().any(|s| s.contains(&0)) {
            let message = "a command needs at least one word, and must not contain NUL characters";
            return Err(Fault::Failed("start", message.into()));
        }
        let bytes: usize = strings.iter().map(|s| s.len() + 1).sum();
        let mut message = Vec::with_capacity(24 + bytes);
        message.extend((self.time_limit.as_nanos() as u64).to_ne_bytes());
        message.extend((self.program.len() as u32).to_ne_bytes());
        message.extend((bytes as u32).to_ne_bytes());
        message.extend((self.variables.len() as u64).to_ne_bytes());
        for string in strings {
            message.extend(string);
            message.push(0);
        }
        Ok(message)
    }
}

/// Parses a response of `starter.c`. Returns an error with the reason if no process was started.
fn parse_response(response: &[u8; 8 * NUMBERS]) -> Result<Ended, io::Error> {
    let mut numbers = response.chunks_exact(8).map(|bytes| {
        let bytes = bytes.try_into().expect("each chunk has 8 bytes");
        i64::from_ne_bytes(bytes)
    });
    let mut number = || numbers.next().expect("the response contains all numbers");
    match number() {
        0 => {}
        error => return Err(io::Error::from_raw_os_error(error as i32)),
    }
    let mut count = || number() as u64;
    Ok(Ended {
        wall_ns: count(),
        user_ns: count(),
        sys_ns: count(),
        peak_rss_bytes: count(),
        minor_faults: count(),
        major_faults: count(),
        voluntary_switches: count(),
        involuntary_switches: count(),
        status: ExitStatus::from_raw(count() as i32),
        timed_out: count() != 0,
        left_running: count() != 0,
    })
}

impl Ended {
    /// Returns the exit code as shells report it: 128 + the signal number if a signal terminated the process.
    pub fn code(&self) -> i32 {
        let signal = || self.status.signal().map(|s| 128 + s);
        self.status.code().or_else(signal).unwrap_or(-1)
    }
}

fn starter_lost(e: io::Error) -> Fault {
    Fault::Failed(
        "start",
        format!("the process that starts commands is unreachable: {e}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes pidfd_open(2) fail in this thread and its child processes, as on kernels without it.
    fn deny_pidfd_open() {
        let statement = |code: u32, k: u32| libc::sock_filter {
            code: code as u16,
            jt: 0,
            jf: 0,
            k,
        };
        let mut filter = [
            // Loads the number of the system call.
            statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0),
            libc::sock_filter {
                jf: 1,
                ..statement(
                    libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
                    libc::SYS_pidfd_open as u32,
                )
            },
            statement(
                libc::BPF_RET | libc::BPF_K,
                libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32,
            ),
            statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
        ];
        let program = libc::sock_fprog {
            len: filter.len() as u16,
            filter: filter.as_mut_ptr(),
        };
        // SAFETY: the calls change only this thread, and the program outlives the second call.
        let results = unsafe {
            [
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0),
                libc::prctl(
                    libc::PR_SET_SECCOMP,
                    libc::SECCOMP_MODE_FILTER,
                    &raw const program,
                ),
            ]
        };
        assert_eq!(results, [0, 0], "{}", io::Error::last_os_error());
    }

    #[test]
    fn commands_end_without_pidfd_open() {
        let ends = std::thread::spawn(|| {
            deny_pidfd_open();
            let mut starter = Starter::new().expect("a starter");
            starter.undisturbed = true;
            let mut run = |words: &[&str], time_limit: Duration| {
                let request = StartRequest {
                    program: words.iter().map(|word| (*word).to_owned()).collect(),
                    folder: "/".into(),
                    time_limit,
                    ..StartRequest::default()
                };
                let ended = starter.run(&request);
                ended.unwrap_or_else(|_| panic!("{words:?} does not run"))
            };
            let hour = Duration::from_secs(3600);
            let short = run(&["true"], hour);
            let long = run(&["sh", "-c", "sleep 0.1; exit 3"], hour);
            let endless = run(&["sleep", "1000"], Duration::from_millis(10));
            [short, long, endless].map(|ended| (ended.timed_out, ended.code()))
        });
        let ends = ends.join().expect("no panic");
        assert_eq!(ends, [(false, 0), (false, 3), (true, 128 + 9)]);
    }
}
