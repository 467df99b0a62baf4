// SPDX-License-Identifier: Apache-2.0
//! Commands run by Valgrind's tools, as many at once as there are cores, each in a process group of its own.

use lab_host::allowed_cores;
use lab_valgrind::{CACHES, NO_DEBUGGER, TimeUnit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Allocators of run-time systems that stand between a program and malloc.
const ALLOC_FNS: [&str; 4] = [
    "--alloc-fn=__gnat_malloc",
    "--alloc-fn=__rust_alloc",
    "--alloc-fn=__rust_alloc_zeroed",
    "--alloc-fn=__rust_realloc",
];

/// Lines of Valgrind's log that are always the same.
const BANNER: usize = 6;

/// How long a tool may take to write its file after it was asked to end.
const GRACE: Duration = Duration::from_secs(10);

/// How long to wait between two checks whether runs have ended.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// A tool of Valgrind's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// The heap over time, which counts instructions, milliseconds or bytes.
    Massif(TimeUnit),
    /// Blocks and their places.
    Dhat,
    /// Instructions, accesses, misses and mispredicts.
    Cachegrind,
    /// Cachegrind's events, and calls.
    Callgrind,
}

impl Tool {
    /// The slowest first, so that none is left alone at the end.
    pub const ALL: [Tool; 6] = [
        Tool::Callgrind,
        Tool::Cachegrind,
        Tool::Dhat,
        Tool::Massif(TimeUnit::Instructions),
        Tool::Massif(TimeUnit::Milliseconds),
        Tool::Massif(TimeUnit::Bytes),
    ];

    /// The value of Valgrind's `--tool`.
    pub fn name(self) -> &'static str {
        match self {
            Tool::Massif(_) => "massif",
            Tool::Dhat => "dhat",
            Tool::Cachegrind => "cachegrind",
            Tool::Callgrind => "callgrind",
        }
    }

    /// The name of the folder of a run, which differs between the runs of one tool.
    fn folder(self) -> &'static str {
        match self {
            Tool::Massif(TimeUnit::Milliseconds) => "massif-by-time",
            Tool::Massif(TimeUnit::Bytes) => "massif-by-bytes",
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
            // Whole paths, by which sources are found.
            Tool::Dhat => vec!["--fullpath-after="],
            Tool::Cachegrind | Tool::Callgrind => {
                [&["--cache-sim=yes", "--branch-sim=yes"], &CACHES[..]].concat()
            }
        }
    }
}

/// A run under a tool that has ended.
#[derive(Debug)]
pub struct ValgrindRun {
    /// The tool.
    pub tool: Tool,
    /// The index of the command.
    pub command: usize,
    /// Its exit status; `None`: it was stopped because it took too long.
    pub status: Option<ExitStatus>,
    /// How long it took.
    pub took: Duration,
    /// The tool's file, if it wrote one.
    pub file: Option<PathBuf>,
    /// SHA-256 of the program's standard output.
    pub output: [u8; 32],
    /// The first lines of Valgrind's log after those that say which tool it is.
    pub log: Vec<String>,
    /// How many processes it started that are in no figure.
    pub children: usize,
}

/// A command to be run under the tools.
#[derive(Clone, Copy, Debug)]
pub struct Profiled<'a> {
    /// Program and arguments.
    pub program: &'a [String],
    /// Where it runs.
    pub folder: &'a Path,
}

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It was stopped because it took too long: after this time.
    Stopped(Duration),
    /// With an exit status.
    Exited(i32),
    /// By a signal, of this name.
    Signaled(Option<&'static str>),
}

impl ValgrindRun {
    /// How the program ended.
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
    /// Runs that have ended.
    pub done: usize,
    /// All runs.
    pub total: usize,
    /// Tools that run, with the indexes of their commands.
    pub running: Vec<(Tool, usize)>,
    /// Since the first began.
    pub elapsed: Duration,
}

/// Runs each command under each tool, which writes into a subfolder. `progress` returns false to stop. `None`: it was stopped.
/// No process is left running.
///
/// # Errors
/// Valgrind cannot be started, or its files cannot be read.
pub fn valgrind(
    commands: &[Profiled],
    folder: &Path,
    limit: Duration,
    progress: &mut dyn FnMut(&Step) -> bool,
) -> io::Result<Option<Vec<ValgrindRun>>> {
    let jobs = Tool::ALL.into_iter();
    let jobs = jobs.flat_map(|tool| (0..commands.len()).map(move |command| (tool, command)));
    let mut waiting: Vec<(Tool, usize)> = jobs.rev().collect();
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
            match run.child.try_wait()? {
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

/// A run. Dropping it kills it with all processes that it started.
struct ValgrindProcess {
    tool: Tool,
    command: usize,
    child: Child,
    began: Instant,
    folder: PathBuf,
    /// True if it was asked to end because it took too long.
    stopped: bool,
}

impl ValgrindProcess {
    fn start(
        tool: Tool,
        command: usize,
        profiled: Profiled,
        folder: &Path,
    ) -> io::Result<ValgrindProcess> {
        let folder = folder.join(format!("{}-{}", tool.folder(), command + 1));
        std::fs::create_dir_all(&folder)?;
        // Each process of a program that forks writes a file of its own.
        let out = folder.join("%p");
        let mut call = Command::new("valgrind");
        call.arg(NO_DEBUGGER)
            .arg(format!("--tool={}", tool.name()))
            .arg(format!("--{}-out-file={}", tool.name(), out.display()))
            .arg(format!("--log-file={}", folder.join("log").display()))
            .args(tool.options())
            .args(profiled.program)
            .current_dir(profiled.folder)
            .stdin(Stdio::null())
            .stdout(File::create(folder.join("stdout"))?)
            .stderr(File::create(folder.join("stderr"))?)
            .process_group(0);
        // SAFETY: prctl(2) alone is called between fork and exec.
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
        })
    }

    /// Asks the tool to end: it writes its file then.
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
        let file = self.folder.join(self.child.id().to_string());
        let log = File::open(self.folder.join("log"));
        let lines = log.map(|log| {
            BufReader::new(log)
                .lines()
                .map_while(Result::ok)
                .skip(BANNER)
                .take(5)
                .collect()
        });
        // A file's name is the number of its process.
        let names =
            std::fs::read_dir(&self.folder)?.filter_map(|entry| Some(entry.ok()?.file_name()));
        let processes = names
            .filter(|name| name.to_string_lossy().parse::<u32>().is_ok())
            .count();
        Ok(ValgrindRun {
            tool: self.tool,
            command: self.command,
            status,
            took: self.began.elapsed(),
            file: file.is_file().then_some(file),
            output: sha256(&self.folder.join("stdout"))?,
            log: lines.unwrap_or_default(),
            children: processes.saturating_sub(1),
        })
    }
}

/// The SHA-256 of a file.
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
