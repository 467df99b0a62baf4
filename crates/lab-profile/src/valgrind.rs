// SPDX-License-Identifier: Apache-2.0
//! Runs commands under Valgrind's tools, one run per core at a time, each in its own process group.

use lab_host::{allowed_cores, procfs};
use lab_valgrind::{CACHES, NO_DEBUGGER, TimeUnit};
use nix::sys::signal::{Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fmt::Display;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Allocation functions of language runtimes that call malloc on behalf of a program.
const ALLOC_FNS: [&str; 4] = [
    "--alloc-fn=__gnat_malloc",
    "--alloc-fn=__rust_alloc",
    "--alloc-fn=__rust_alloc_zeroed",
    "--alloc-fn=__rust_realloc",
];

/// The name of Valgrind's logs. The process ID follows.
const LOG: &str = "log";

/// The number of lines in the banner at the top of Valgrind's log.
const BANNER: usize = 6;

/// The time that a stopped tool has to write its output file.
const GRACE: Duration = Duration::from_secs(10);

/// The interval between checks for finished runs.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The signals of a program's own faults, and of instructions that Valgrind does not know.
const FAULTS: [&str; 6] = ["SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS"];

/// A Valgrind tool, with the settings for one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The heap over time, measured in instructions, milliseconds or bytes.
    Massif(TimeUnit),
    /// Heap blocks, and the locations that allocated them.
    Dhat,
    /// Instructions, memory accesses, cache misses and branch mispredictions.
    Cachegrind,
    /// Cachegrind's events, plus calls.
    Callgrind,
    /// Instructions alone, counted by Cachegrind without simulated caches, which is faster. Child
    /// processes are counted, too.
    Instructions,
}

impl Tool {
    /// All tools that make a profile. The slowest tool comes first, so that no slow run starts
    /// last.
    pub const ALL: [Tool; 6] = [
        Tool::Callgrind,
        Tool::Cachegrind,
        Tool::Dhat,
        Tool::Massif(TimeUnit::Instructions),
        Tool::Massif(TimeUnit::Milliseconds),
        Tool::Massif(TimeUnit::Bytes),
    ];

    /// Returns the value for Valgrind's option `--tool`.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Massif(_) => "massif",
            Tool::Dhat => "dhat",
            Tool::Cachegrind | Tool::Instructions => "cachegrind",
            Tool::Callgrind => "callgrind",
        }
    }

    /// Returns the unique ID of this tool, which names its directories and its output in run files.
    pub fn id(self) -> &'static str {
        match self {
            Tool::Massif(TimeUnit::Milliseconds) => "massif-by-time",
            Tool::Massif(TimeUnit::Bytes) => "massif-by-bytes",
            Tool::Instructions => "instructions",
            tool => tool.name(),
        }
    }

    fn options(self) -> Vec<&'static str> {
        match self {
            Tool::Massif(unit) => {
                let unit = match unit {
                    TimeUnit::Instructions => "--time-unit=i",
                    TimeUnit::Milliseconds => "--time-unit=ms",
                    TimeUnit::Bytes => "--time-unit=B",
                };
                [&[unit, "--max-snapshots=1000"], &ALLOC_FNS[..]].concat()
            }
            // DHAT must record full paths, which are needed to find the source files.
            Tool::Dhat => vec!["--fullpath-after="],
            Tool::Instructions => {
                vec!["--cache-sim=no", "--branch-sim=no", "--trace-children=yes"]
            }
            Tool::Cachegrind | Tool::Callgrind => {
                [&["--cache-sim=yes", "--branch-sim=yes"], &CACHES[..]].concat()
            }
        }
    }
}

/// A finished run of a command under a tool.
#[derive(Debug)]
pub struct ValgrindRun {
    /// The tool under which the command ran.
    pub tool: Tool,
    /// The index of the command, from 0.
    pub command: usize,
    /// The exit status. `None` means that the run was stopped because it exceeded the time limit.
    pub status: Option<ExitStatus>,
    /// The duration of the run.
    pub took: Duration,
    /// The tool's output file, or `None` if the tool wrote no file.
    pub file: Option<PathBuf>,
    /// The SHA-256 digest of the program's standard output.
    pub output: [u8; 32],
    /// The first lines of Valgrind's log after the banner.
    pub log: Vec<String>,
    /// The child processes. Only [`Tool::Instructions`] counts their work.
    pub children: Children,
    /// The output files of the child processes.
    pub others: Vec<PathBuf>,
    /// The part of the child processes' work that [`Tool::Instructions`] did not count, if any.
    pub gap: Option<Gap>,
}

/// The child processes of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Children {
    /// The program started no child process.
    #[default]
    None,
    /// The program forked, and the children executed no other program. Contains the number of output
    /// files of children.
    Forked(usize),
    /// The program started child processes that wrote no output files.
    Uncounted,
}

/// Work of child processes that was not counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Gap {
    /// A child process wrote no output file.
    NoCounts,
    /// A fault ended a process. Contains the name of the signal.
    Ended(String),
    /// A child process executed no program. Its counts begin with those of its parent at the fork, and
    /// Valgrind does not show which part is its own.
    Forked,
}

/// A command to run under the tools.
#[derive(Clone, Copy, Debug)]
pub struct Profiled<'a> {
    /// The program and its arguments.
    pub program: &'a [String],
    /// The working directory.
    pub folder: &'a Path,
    /// Additional environment variables.
    pub variables: &'a [(&'static str, String)],
}

/// The way in which a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The program was stopped because it exceeded the time limit. Contains the time after which it
    /// was stopped.
    Stopped(Duration),
    /// The program exited with a status.
    Exited(i32),
    /// A signal terminated the program. Contains the signal's name, if known.
    Signaled(Option<&'static str>),
}

impl ValgrindRun {
    /// Returns true if the program exited, rather than being terminated by a signal or the time limit.
    pub fn ran_to_its_end(&self) -> bool {
        matches!(self.ending(), Ending::Exited(_))
    }

    /// Returns true if the output of a tool that ignores child processes covers the whole program.
    pub fn covers_the_program(&self) -> bool {
        self.ran_to_its_end() && self.children == Children::None
    }

    /// Returns the way in which the program ended.
    pub fn ending(&self) -> Ending {
        match self.status.map(|status| (status.code(), status.signal())) {
            None => Ending::Stopped(self.took),
            Some((Some(code), _)) => Ending::Exited(code),
            Some((None, signal)) => {
                let signal = signal.and_then(|number| Signal::try_from(number).ok());
                Ending::Signaled(signal.map(Signal::as_str))
            }
        }
    }
}

/// The progress of the runs.
#[derive(Clone, Debug)]
pub struct Step {
    /// The number of finished runs.
    pub done: usize,
    /// The total number of runs.
    pub total: usize,
    /// The tools that are running, each with the index of its command.
    pub running: Vec<(Tool, usize)>,
    /// The time since the first run began.
    pub elapsed: Duration,
}

/// Returns the runs of each command under each tool.
pub fn runs_of(tools: &[Tool], commands: usize) -> Vec<(Tool, usize)> {
    let tools = tools.iter();
    let runs = tools.flat_map(|&tool| (0..commands).map(move |command| (tool, command)));
    runs.collect()
}

/// Runs commands under tools.
///
/// `requested` contains the tool and the index of the command for each run. Each run writes into
/// its own subdirectory of `folder`.
///
/// If `progress` returns false, all runs are stopped and the result is `None`. No process is left
/// running.
///
/// # Errors
/// Returns an error if Valgrind cannot be started, or if its files cannot be read.
pub fn valgrind(
    commands: &[Profiled],
    folder: &Path,
    requested: &[(Tool, usize)],
    limit: Duration,
    progress: &mut dyn FnMut(&Step) -> bool,
) -> io::Result<Option<Vec<ValgrindRun>>> {
    let mut waiting: Vec<(Tool, usize)> = requested.iter().rev().copied().collect();
    let total = waiting.len();
    let at_once = allowed_cores()?.len().max(1);
    let mut running: Vec<ValgrindProcess> = Vec::new();
    let mut results = Vec::new();
    let began = Instant::now();
    while results.len() < total {
        while running.len() < at_once
            && let Some((tool, command)) = waiting.pop()
        {
            running.push(ValgrindProcess::start(
                tool,
                command,
                commands[command],
                folder,
            )?);
        }
        let mut still_running = Vec::new();
        for mut run in running {
            match run.try_wait()? {
                Some(status) => results.push(run.result(Some(status).filter(|_| !run.stopped))?),
                None if run.began.elapsed() > limit + GRACE => {
                    run.kill();
                    results.push(run.result(None)?);
                }
                None => {
                    if run.began.elapsed() > limit && !run.stopped {
                        run.stop();
                    }
                    still_running.push(run);
                }
            }
        }
        running = still_running;
        let step = Step {
            done: results.len(),
            total,
            running: running.iter().map(|run| (run.tool, run.command)).collect(),
            elapsed: began.elapsed(),
        };
        if !progress(&step) {
            return Ok(None);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(Some(results))
}

/// A running process. Dropping it kills the process and its descendants.
struct ValgrindProcess {
    tool: Tool,
    command: usize,
    child: Child,
    began: Instant,
    folder: PathBuf,
    /// True if the tool was asked to exit because the run exceeded the time limit.
    stopped: bool,
    /// True if the program waited for child processes.
    had_children: bool,
}

impl ValgrindProcess {
    fn start(
        tool: Tool,
        command: usize,
        profiled: Profiled,
        folder: &Path,
    ) -> io::Result<ValgrindProcess> {
        let folder = folder.join(format!("{}-{}", tool.id(), command + 1));
        std::fs::create_dir_all(&folder)?;
        remove_earlier_files(&folder)?;
        // Each process writes its own file.
        let out = folder.join("%p");
        let mut call = Command::new("valgrind");
        call.arg(NO_DEBUGGER)
            .arg(format!("--tool={}", tool.name()))
            .arg(format!("--{}-out-file={}", tool.name(), out.display()))
            .arg(format!(
                "--log-file={}",
                folder.join(log_name("%p")).display()
            ))
            .args(tool.options())
            .args(profiled.program)
            .envs(profiled.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(profiled.folder)
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("stdout"))?)
            .stderr(File::create(folder.join("stderr"))?)
            .process_group(0);
        // SAFETY: only prctl(2) is called between fork and exec.
        unsafe {
            call.pre_exec(
                || match libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) {
                    0 => Ok(()),
                    _ => Err(io::Error::last_os_error()),
                },
            );
        }
        Ok(ValgrindProcess {
            tool,
            command,
            child: call.spawn()?,
            began: Instant::now(),
            folder,
            stopped: false,
            had_children: false,
        })
    }

    /// Returns the exit status if the program has exited.
    fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        let pid = Pid::from_raw(self.child.id() as i32);
        let flags = WaitPidFlag::WEXITED | WaitPidFlag::WNOHANG | WaitPidFlag::WNOWAIT;
        if waitid(Id::Pid(pid), flags)? == WaitStatus::StillAlive {
            return Ok(None);
        }
        // Every process has page faults. After `try_wait`, the process has no entry in /proc.
        let has_reaped = procfs::process_stat(pid).is_some_and(|stat| stat.child_faults > 0);
        self.had_children = has_reaped && !fetches_debug_info();
        self.child.try_wait()
    }

    /// Asks the tool to exit, so that it writes its output file.
    fn stop(&mut self) {
        let group = Pid::from_raw(self.child.id() as i32);
        let _ = killpg(group, Signal::SIGTERM);
        self.stopped = true;
    }

    fn kill(&mut self) {
        let group = Pid::from_raw(self.child.id() as i32);
        let _ = killpg(group, Signal::SIGKILL);
        let _ = self.child.wait();
    }

    fn result(&self, status: Option<ExitStatus>) -> io::Result<ValgrindRun> {
        let files = OutputFiles::list(&self.folder)?;
        let main = self.child.id();
        let file = |pid: u32| self.folder.join(pid.to_string());
        let others = files.counts.iter().filter(|pid| **pid != main);
        let others: Vec<PathBuf> = others.map(|pid| file(*pid)).collect();
        let log = File::open(self.folder.join(log_name(main)));
        let lines = log.map(|log| {
            BufReader::new(log)
                .lines()
                .map_while(Result::ok)
                .skip(BANNER)
                .take(5)
                .collect()
        });
        Ok(ValgrindRun {
            tool: self.tool,
            command: self.command,
            status,
            took: self.began.elapsed(),
            file: files.counts.contains(&main).then(|| file(main)),
            output: sha256(&self.folder.join("stdout"))?,
            log: lines.unwrap_or_default(),
            children: match others.len() {
                0 if self.had_children => Children::Uncounted,
                0 => Children::None,
                count => Children::Forked(count),
            },
            others,
            gap: files.gap(&self.folder)?,
        })
    }
}

/// The files that Valgrind wrote into a directory.
#[derive(Debug, Default)]
struct OutputFiles {
    /// The IDs of the processes that wrote counts.
    counts: Vec<u32>,
    /// The IDs of the processes that have a log. A process that executed no program under Valgrind has
    /// none, or one with the command of its parent.
    logs: Vec<u32>,
}

impl OutputFiles {
    fn list(folder: &Path) -> io::Result<OutputFiles> {
        let mut files = OutputFiles::default();
        for entry in std::fs::read_dir(folder)? {
            let name = entry?.file_name();
            let name = name.to_string_lossy();
            match name
                .strip_prefix(LOG)
                .and_then(|rest| rest.strip_prefix('.'))
            {
                Some(pid) => files.logs.extend(pid.parse::<u32>()),
                None => files.counts.extend(name.parse::<u32>()),
            }
        }
        files.counts.sort_unstable();
        Ok(files)
    }

    /// Returns the part of the work that was not counted, if any.
    fn gap(&self, folder: &Path) -> io::Result<Option<Gap>> {
        let mut logs = HashMap::new();
        for pid in &self.logs {
            logs.insert(*pid, ProcessLog::read(&folder.join(log_name(pid)))?);
        }
        if let Some(signal) = logs.values().find_map(|log| log.fault.clone()) {
            return Ok(Some(Gap::Ended(signal)));
        }
        if self.logs.iter().any(|pid| !self.counts.contains(pid)) {
            return Ok(Some(Gap::NoCounts));
        }
        let executed = |pid: &u32| {
            let log = logs.get(pid)?;
            let parent = log.parent.and_then(|parent| logs.get(&parent));
            Some(parent.is_none_or(|parent| parent.command != log.command))
        };
        let has_forked = !self.counts.iter().all(|pid| executed(pid) == Some(true));
        Ok(has_forked.then_some(Gap::Forked))
    }
}

/// The facts in Valgrind's log of a process.
#[derive(Debug, Default)]
struct ProcessLog {
    command: String,
    parent: Option<u32>,
    /// The signal, if a fault ended the process.
    fault: Option<String>,
}

impl ProcessLog {
    fn read(file: &Path) -> io::Result<ProcessLog> {
        let mut log = ProcessLog::default();
        for line in BufReader::new(File::open(file)?)
            .lines()
            .map_while(Result::ok)
        {
            if let Some((_, command)) = line.split_once("== Command: ") {
                log.command = command.into();
            }
            if let Some((_, parent)) = line.split_once("== Parent PID: ") {
                log.parent = parent.trim().parse().ok();
            }
            log.fault = log.fault.or_else(|| fault(&line));
        }
        Ok(log)
    }
}

/// Returns the name of the log of a process.
fn log_name(pid: impl Display) -> String {
    format!("{LOG}.{pid}")
}

/// Returns the name of the signal from a line of Valgrind's log, if the line says that a fault of the
/// program ended a process. Processes may end others with signals such as SIGTERM.
fn fault(line: &str) -> Option<String> {
    let (_, signal) = line.split_once(" Process terminating ")?;
    let (_, name) = signal.split_once('(')?;
    let name = name.split(')').next()?;
    FAULTS.contains(&name).then(|| name.to_owned())
}

/// Removes the files of an earlier run.
fn remove_earlier_files(folder: &Path) -> io::Result<()> {
    let files = OutputFiles::list(folder)?;
    for pid in files.counts {
        std::fs::remove_file(folder.join(pid.to_string()))?;
    }
    for pid in files.logs {
        std::fs::remove_file(folder.join(log_name(pid)))?;
    }
    Ok(())
}

/// Returns true if Valgrind itself may start child processes, which fetch debug information.
fn fetches_debug_info() -> bool {
    let is_set = std::env::var_os("DEBUGINFOD_URLS").is_some_and(|urls| !urls.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    is_set && std::env::split_paths(&path).any(|folder| folder.join("debuginfod-find").is_file())
}

/// Computes the SHA-256 digest of a file.
fn sha256(path: &Path) -> io::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hash.finalize().into())
}

impl Drop for ValgrindProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
