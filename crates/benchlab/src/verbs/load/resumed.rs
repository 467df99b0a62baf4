// SPDX-License-Identifier: Apache-2.0
//! Continues a load that was stopped or killed: its run file has the command line that began it.

use crate::cli::{Cli, Sending};
use crate::exit::Exit;
use crate::measuring;
use clap::Parser;
use lab_model::Plan;
use lab_store::RunWriter;
use std::path::{Path, PathBuf};

/// A run that is resumed.
pub struct Resumed {
    file: PathBuf,
    plan: Plan,
    /// Agents that the run file has.
    agents: usize,
}

impl Resumed {
    /// A run of a load, and the command that began it. Error: its command line was not kept.
    pub fn new(file: &Path, plan: Plan, agents: usize) -> Result<(Resumed, Cli), Exit> {
        let name = file.display();
        let words = lab_store::command_line(file)?.ok_or_else(|| {
            Exit::wrong(format!(
                "{name} holds a load that cannot be resumed: it was asked for with a header, a body, a file of \
                 requests or a password, which are kept nowhere, or its rate changes while it lasts. \
                 `benchlab report {name}` shows what was measured; start the load again for more"
            ))
        })?;
        let command = parse(file, words)?;
        let file = file.to_path_buf();
        let resumed = Resumed { file, plan, agents };
        Ok((resumed, command))
    }

    /// Number of agents that the run file has.
    pub fn agents(&self) -> usize {
        self.agents
    }

    /// Writes on in the run file. Error: the plan is not the one that the file has.
    pub fn writer(&self, plan: &Plan) -> Result<RunWriter, Exit> {
        if *plan != self.plan {
            let file = self.file.display();
            return Err(Exit::wrong(format!(
                "the load is not what it was when {file} began: start a new one"
            )));
        }
        Ok(RunWriter::resume(&self.file)?)
    }
}

/// The command that began a run. Error: its command line was not kept.
pub fn original_command(file: &Path) -> Result<Cli, Exit> {
    let words = lab_store::command_line(file)?;
    let unknown = || Exit::wrong(format!("{} does not say how it was begun", file.display()));
    parse(file, words.ok_or_else(unknown)?)
}

fn parse(file: &Path, words: Vec<String>) -> Result<Cli, Exit> {
    let cli = Cli::try_parse_from([String::from("benchlab")].into_iter().chain(words));
    cli.map_err(|e| {
        let file = file.display();
        Exit::wrong(format!(
            "{file} was begun by another version of the lab: {e}"
        ))
    })
}

/// The seed of the run that is resumed, or else the given one or a new one.
pub fn seed(given: Option<u64>, resumed: Option<&Resumed>) -> u64 {
    match resumed {
        Some(resumed) => resumed.plan.seed,
        None => measuring::seed(given),
    }
}

/// True if the command line holds no secret, and the requests are made of nothing else.
pub fn can_keep_command_line(sending: &Sending, urls: &[String]) -> bool {
    sending.header.is_empty()
        && sending.body.is_none()
        && sending.body_file.is_none()
        && sending.requests.is_none()
        && !urls.iter().any(|url| url.contains('@'))
}

/// True if a plan's rate changes while its only server is loaded without a pause: the rest of such a load
/// alone would be another one.
pub fn has_one_changing_load(plan: &Plan) -> bool {
    plan.points.len() * plan.subjects.len() == 1
        && plan.load().is_some_and(|load| load.arrivals.changes())
}

/// The words of this process's command line, without the program.
pub fn command_line() -> Vec<String> {
    std::env::args().skip(1).collect()
}
