// SPDX-License-Identifier: Apache-2.0
//! Reads the output files of runs under Valgrind's tools, and checks that all runs did the same work.

use crate::Profile;
use crate::files;
use crate::valgrind::{Children, Ending, Tool, ValgrindRun};
use lab_valgrind::{
    CallgrindReader, ProfileError, TimeUnit, read_cachegrind, read_dhat, read_massif,
};
use std::io::BufRead;
use std::os::unix::process::ExitStatusExt;
use std::time::Duration;

/// The profiles of executed programs.
#[derive(Debug, Default)]
pub struct ProgramRuns {
    /// One profile per program.
    pub profiles: Vec<Profile>,
    /// The outcome of each run.
    pub runs: Vec<RunRecord>,
    /// True if all runs wrote the same standard output. Runs that were stopped are ignored.
    pub same_output: bool,
    /// Caveats for users.
    pub warnings: Vec<RunWarning>,
}

/// The outcome of a run.
#[derive(Clone, Debug)]
pub struct RunRecord {
    /// The tool under which the program ran.
    pub tool: Tool,
    /// The program's name.
    pub name: String,
    /// The exit status or signal of the program, or the time limit that stopped it.
    pub ending: Ending,
    /// The duration of the run.
    pub took: Duration,
    /// The child processes, which are not included in the profile.
    pub children: Children,
}

/// A caveat of a profile.
#[derive(Clone, Debug, PartialEq)]
pub enum RunWarning {
    /// A run was stopped because it exceeded the time limit.
    Stopped {
        /// The tool under which the program ran.
        tool: Tool,
        /// The program's name.
        name: String,
    },
    /// A run produced no values.
    NoFigures {
        /// The tool under which the program ran.
        tool: Tool,
        /// The program's name.
        name: String,
        /// The exit status or signal of the program, or the time limit that stopped it.
        ending: Ending,
        /// The reason, as reported by the tool or by the parser of its file.
        reason: String,
    },
    /// The output of a program differs between runs.
    OutputChanges,
    /// The two programs wrote different outputs.
    OutputsDiffer,
    /// A signal terminated a program.
    Signal {
        /// The index of the command, from 0.
        command: usize,
        /// The exit status or signal of the program, or the time limit that stopped it.
        ending: Ending,
    },
    /// A program started child processes, which are not included in its profile.
    Children {
        /// The index of the command, from 0.
        command: usize,
    },
    /// The programs had different exit statuses or signals.
    ExitStatus {
        /// The exit status or signal of the earlier program.
        before: Ending,
        /// The exit status or signal of the later program.
        after: Ending,
    },
    /// A large fraction of a program has no symbol.
    NoSymbols {
        /// The program's name.
        name: String,
        /// The fraction of the program's costs in code without symbols, from 0 to 1.
        part: f64,
        /// The counted event.
        event: String,
        /// The object that contains most of the code without symbols.
        object: Option<String>,
    },
}

impl ProgramRuns {
    /// Reads the output files of all runs. A failed run becomes a warning. `names` are the names of the programs.
    ///
    /// # Errors
    /// Returns the warnings if a program has no profile at all.
    pub fn read(runs: &[ValgrindRun], names: &[String]) -> Result<ProgramRuns, Vec<RunWarning>> {
        let mut read = ProgramRuns {
            profiles: vec![Profile::default(); names.len()],
            ..ProgramRuns::default()
        };
        for run in runs {
            let name = &names[run.command];
            read.runs.push(RunRecord {
                tool: run.tool,
                name: name.clone(),
                ending: run.ending(),
                took: run.took,
                children: run.children,
            });
            let profile = &mut read.profiles[run.command];
            let outcome = match &run.file {
                Some(file) => {
                    let add = |output| add_output(profile, run.tool, output);
                    files::read(file, add).map_err(|e| e.to_string())
                }
                None => Err(run.log.join(" ")),
            };
            if !run.covers_the_program() {
                profile.partial.push(run.tool);
            }
            if let Ending::Exited(status) = run.ending() {
                profile.statuses.push((run.tool, status));
            }
            match outcome {
                Ok(()) if run.status.is_none() => read.warnings.push(RunWarning::Stopped {
                    tool: run.tool,
                    name: name.clone(),
                }),
                Ok(()) => {}
                Err(reason) => read.warnings.push(RunWarning::NoFigures {
                    tool: run.tool,
                    name: name.clone(),
                    ending: run.ending(),
                    reason,
                }),
            }
        }
        if read.profiles.iter().any(|p| p.command().is_empty()) {
            return Err(read.warnings);
        }
        read.compare_work(runs);
        Ok(read)
    }

    /// Compares the exit status and the output of all runs.
    fn compare_work(&mut self, runs: &[ValgrindRun]) {
        let ended = |command: Option<usize>| {
            let ended = runs.iter().filter(|run| run.status.is_some());
            ended.filter(move |run| command.is_none_or(|command| run.command == command))
        };
        self.same_output = !differ(ended(None));
        if (0..2).any(|command| differ(ended(Some(command)))) {
            self.warnings.push(RunWarning::OutputChanges);
        } else if !self.same_output {
            self.warnings.push(RunWarning::OutputsDiffer);
        }
        for command in 0..2 {
            let is_signal =
                |run: &&ValgrindRun| run.status.is_some_and(|status| status.signal().is_some());
            let signaled = ended(Some(command)).find(is_signal);
            self.warnings.extend(signaled.map(|run| RunWarning::Signal {
                command,
                ending: run.ending(),
            }));
            let has_children = ended(Some(command)).any(|run| run.children != Children::None);
            self.warnings
                .extend(has_children.then_some(RunWarning::Children { command }));
        }
        let ending = |command: usize| {
            let mut runs = runs.iter().filter(move |run| run.command == command);
            runs.next().map(ValgrindRun::ending)
        };
        if let (Some(before), Some(after)) = (ending(0), ending(1))
            && !is_same(&before, &after)
        {
            self.warnings.push(RunWarning::ExitStatus { before, after });
        }
    }
}

/// Returns true if two programs ended in the same way. Ignores the times after which they were
/// stopped.
fn is_same(before: &Ending, after: &Ending) -> bool {
    let is_stopped = |ending: &Ending| matches!(ending, Ending::Stopped(_));
    before == after || is_stopped(before) && is_stopped(after)
}

/// Returns true if the outputs of the runs differ.
fn differ<'r>(runs: impl Iterator<Item = &'r ValgrindRun>) -> bool {
    let mut outputs: Vec<[u8; 32]> = runs.map(|run| run.output).collect();
    outputs.sort_unstable();
    outputs.dedup();
    outputs.len() > 1
}

/// Adds the output of a tool to a profile.
///
/// # Errors
/// Returns an error if a different tool wrote the output, or if it is incomplete.
pub fn add_output(
    profile: &mut Profile,
    tool: Tool,
    output: impl BufRead,
) -> Result<(), ProfileError> {
    match tool {
        Tool::Massif(TimeUnit::Instructions) => profile.massif = Some(read_massif(output)?),
        Tool::Massif(_) => profile.heaps.push(read_massif(output)?),
        Tool::Dhat => profile.dhat = Some(read_dhat(output)?),
        Tool::Cachegrind | Tool::Instructions => {
            profile.cachegrind = Some(read_cachegrind(output)?);
        }
        Tool::Callgrind => {
            let mut reader = CallgrindReader::default();
            reader.add(output)?;
            profile.callgrind = Some(reader.done()?);
        }
    }
    Ok(())
}
