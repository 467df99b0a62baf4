// SPDX-License-Identifier: Apache-2.0
//! Command-line options shared by multiple commands.

use crate::exit::Exit;
use crate::option_values::time;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use lab_bench::interrupt;
use lab_document::{FORMATS, Format};
use lab_many::AgentStart;
use lab_many::launcher::{self, Launcher};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Options for agents, which do the command's work on this machine or on other hosts.
#[derive(Args, Default)]
pub struct AgentPlacement {
    /// Hosts for agents, which do the work: local:4 (four on this machine), ssh:HOST,HOST, netns:NAME,NAME
    /// (network namespaces), slurm:8, or k8s:8 (k8s:8,FILE uses an edited `benchlab manifest`).
    /// benchlab starts the agents for the run and removes them afterwards
    #[arg(long, value_name = "WHERE", value_parser = NamedLauncher::parse)]
    pub on: Option<NamedLauncher>,
    #[command(flatten)]
    pub lost: AgentLoss,
}

/// A launcher, and the text that selects it.
#[derive(Clone)]
pub struct NamedLauncher {
    /// The text, such as `ssh:HOST`. It does not depend on the current directory.
    pub words: String,
    /// The launcher that the text selects.
    pub launcher: Arc<dyn Launcher>,
}

impl NamedLauncher {
    /// Parses a launcher; see [`launcher::parse`].
    pub fn parse(words: &str) -> Result<NamedLauncher, String> {
        Ok(NamedLauncher {
            launcher: launcher::parse(words)?,
            words: launcher::absolute(words)?,
        })
    }
}

/// Parses the launcher in a run file. In the error message, `agents` is the noun for the launched
/// agents, and `work` is the noun for the run.
///
/// # Errors
/// Returns an error if this version does not know the launcher.
pub fn stored_launcher(text: &str, agents: &str, work: &str) -> Result<Arc<dyn Launcher>, Exit> {
    launcher::parse(text).map_err(|reason| {
        Exit::invalid(format!(
            "the run file has the {agents} `{}`, which cannot be started: {reason}. Start a new {work}",
            text.escape_default()
        ))
    })
}

/// Options for lost agents.
#[derive(Args, Default)]
pub struct AgentLoss {
    /// Consider an agent lost if it is silent for this long [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = silence)]
    pub lost_after: Option<Duration>,
}

/// The default of `--lost-after`.
const LOST_AFTER: Duration = Duration::from_secs(10);

impl AgentLoss {
    /// Returns the settings for starting agents with a launcher.
    pub fn starting(&self, launcher: &Arc<dyn Launcher>) -> AgentStart {
        AgentStart {
            launcher: launcher.clone(),
            lost_after: self.lost_after.unwrap_or(LOST_AFTER),
            stops: interrupt::requested,
            on_obstacle: |line| eprintln!("benchlab: {}", lab_document::clean(line)),
        }
    }
}

/// Options for the output of a document.
#[derive(Args, Clone)]
pub struct DisplayArgs {
    /// The output format
    #[arg(long, short, default_value = "terminal", value_parser = formats(|_| true))]
    pub format: Format,
    /// Output file, or a directory for svg [default: standard output]
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// In a terminal, show all tables and warnings rather than only the result
    #[arg(long)]
    pub full: bool,
    /// When to use colors
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// The option for the format of a listing.
#[derive(Args)]
pub struct ListingArgs {
    /// The output format
    #[arg(long, short, default_value = "text", value_name = "FORMAT")]
    pub format: ListingFormat,
}

/// The format of a listing.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListingFormat {
    /// Text for people
    Text,
    /// JSON
    Json,
}

/// The value of `--color`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// In a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Returns a parser for the names of the formats that `is_allowed` selects.
pub fn formats(is_allowed: fn(&Format) -> bool) -> impl TypedValueParser<Value = Format> {
    let allowed = move || FORMATS.into_iter().filter(is_allowed);
    let names = PossibleValuesParser::new(allowed().map(|format| format.name));
    names.try_map(move |name| {
        let format = allowed().find(|format| format.name == name);
        format.ok_or("unknown format")
    })
}

/// Parses how long an agent may be silent: at least 3 s, because agents report once per second.
fn silence(text: &str) -> Result<Duration, String> {
    let duration = time(text)?;
    if duration >= Duration::from_secs(3) {
        Ok(duration)
    } else {
        Err("expected at least 3s: agents report once per second".into())
    }
}

/// Parses multiple parameters with their values.
pub fn sweeps(words: &[String]) -> Result<Vec<(String, Vec<String>)>, Exit> {
    words.iter().map(|word| sweep(word)).collect()
}

/// Parses a parameter with its values: `NAME=VALUE,…`.
fn sweep(word: &str) -> Result<(String, Vec<String>), Exit> {
    let error = || {
        Exit::invalid(format!(
            "--sweep {word}: expected NAME=VALUE,… such as --sweep n=1,10,100"
        ))
    };
    let (name, values) = word.split_once('=').ok_or_else(error)?;
    let values: Vec<String> = values.split(',').map(str::to_owned).collect();
    if values.iter().any(String::is_empty) {
        Err(error())
    } else {
        Ok((name.to_owned(), values))
    }
}

/// Parses the names and values of `--set`, such as `limit=1,100`.
///
/// # Errors
/// Returns an error if a word does not have this form.
pub fn set_values(words: &[String]) -> Result<Vec<(String, Vec<String>)>, Exit> {
    let values = |word: &String| {
        let (name, values) = word
            .split_once('=')
            .filter(|(n, v)| !n.is_empty() && !v.is_empty())
            .ok_or_else(|| {
                Exit::invalid(format!(
                    "--set {word}: expected NAME=VALUE,… such as --set limit=1,100"
                ))
            })?;
        let mut further = values.split(',').skip(1);
        if let Some((other, _)) = further.find_map(|value| value.split_once('=')) {
            return Err(Exit::invalid(format!(
                "--set {word}: repeat --set for each parameter: --set {name}=… --set {other}=…"
            )));
        }
        let values = values.split(',').map(str::to_owned).collect();
        Ok((name.to_owned(), values))
    };
    words.iter().map(values).collect()
}

/// Parses a unit of time and returns it in ns.
pub fn unit_of_time(text: &str) -> Result<u64, String> {
    match text {
        "ns" => Ok(1),
        "us" | "µs" => Ok(1_000),
        "ms" => Ok(1_000_000),
        "s" => Ok(1_000_000_000),
        _ => Err("expected ns, us, ms or s".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_has_its_own_set() {
        let set = |word: &str| set_values(&[word.to_owned()]);
        let values = set("limit=1,100").ok();
        let expected = ["1", "100"].map(String::from).to_vec();
        assert_eq!(values, Some(vec![("limit".to_owned(), expected)]));
        assert!(set("connections=8,16,files=50").is_err());
    }
}
