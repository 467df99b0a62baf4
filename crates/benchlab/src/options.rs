// SPDX-License-Identifier: Apache-2.0
//! Command-line options that multiple verbs have.

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

/// Options for agents that do the work.
#[derive(Args, Default)]
pub struct AgentPlacement {
    /// Have agents do it, there: local:4 (four on this machine), ssh:HOST,HOST, netns:NAME,NAME (network
    /// namespaces), slurm:8, k8s:8 (or k8s:8,FILE: made of an edited `benchlab manifest`); they are started for it and
    /// gone after it
    #[arg(long, value_name = "WHERE", value_parser = launcher::parse)]
    pub on: Option<Arc<dyn Launcher>>,
    #[command(flatten)]
    pub lost: AgentLoss,
}

/// Options for lost agents.
#[derive(Args, Default)]
pub struct AgentLoss {
    /// An agent that is silent for this long is lost [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = silence)]
    pub lost_after: Option<Duration>,
}

/// The default of `--lost-after`.
const LOST_AFTER: Duration = Duration::from_secs(10);

impl AgentLoss {
    /// How agents are started by a launcher.
    pub fn starting(&self, launcher: &Arc<dyn Launcher>) -> AgentStart {
        AgentStart {
            launcher: launcher.clone(),
            lost_after: self.lost_after.unwrap_or(LOST_AFTER),
            stops: interrupt::requested,
            tells: |line| eprintln!("benchlab: {}", lab_document::clean(line)),
        }
    }
}

/// How a document is shown.
#[derive(Args)]
pub struct DisplayArgs {
    /// The form
    #[arg(long, short, default_value = "terminal", value_parser = formats(&FORMATS))]
    pub format: Format,
    /// Output file, or a folder for svg [default: standard output]
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// In a terminal, all tables and warnings, not the answer alone
    #[arg(long)]
    pub full: bool,
    /// Colours
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// The value of `--color`.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Parses the name of one of these formats.
pub fn formats(allowed: &'static [Format]) -> impl TypedValueParser<Value = Format> {
    let names = PossibleValuesParser::new(allowed.iter().map(|format| format.name));
    names.try_map(|name| {
        let format = allowed.iter().find(|format| format.name == name);
        format.copied().ok_or("unknown format")
    })
}

/// How long an agent may be silent, 3 s or more: agents say every second that they are there.
fn silence(text: &str) -> Result<Duration, String> {
    let duration = time(text)?;
    if duration >= Duration::from_secs(3) {
        Ok(duration)
    } else {
        Err("expected at least 3s: agents report once per second".into())
    }
}

/// Parameters, each with its values.
pub fn sweeps(words: &[String]) -> Result<Vec<(String, Vec<String>)>, Exit> {
    words.iter().map(|word| sweep(word)).collect()
}

/// A parameter and its values: `NAME=VALUE,…`.
fn sweep(word: &str) -> Result<(String, Vec<String>), Exit> {
    let error = || {
        Exit::wrong(format!(
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

/// Names and values of `--set`, such as `limit=1,100`. Error: a word has another form.
pub fn set_values(words: &[String]) -> Result<Vec<(String, Vec<String>)>, Exit> {
    let values = |word: &String| {
        let (name, values) = word
            .split_once('=')
            .filter(|(n, v)| !n.is_empty() && !v.is_empty())
            .ok_or_else(|| {
                Exit::wrong(format!(
                    "--set {word}: expected NAME=VALUE,… such as --set limit=1,100"
                ))
            })?;
        let mut further = values.split(',').skip(1);
        if let Some((other, _)) = further.find_map(|value| value.split_once('=')) {
            return Err(Exit::wrong(format!(
                "--set {word}: repeat --set for each parameter: --set {name}=… --set {other}=…"
            )));
        }
        let values = values.split(',').map(str::to_owned).collect();
        Ok((name.to_owned(), values))
    };
    words.iter().map(values).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_parameter_has_a_set_of_its_own() {
        let set = |word: &str| set_values(&[word.to_owned()]);
        let values = set("limit=1,100").ok();
        let expected = ["1", "100"].map(String::from).to_vec();
        assert_eq!(values, Some(vec![("limit".to_owned(), expected)]));
        assert!(set("connections=8,16,files=50").is_err());
    }
}
