// SPDX-License-Identifier: Apache-2.0
//! The arguments of `benchlab new`.

use crate::completion;
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCandidates;

/// `benchlab new`
#[derive(Args)]
pub struct NewArgs {
    /// The item to create
    #[command(subcommand)]
    pub what: New,
}

/// The items that `benchlab new` creates.
#[derive(Subcommand)]
pub enum New {
    /// Create a working experiment with one subject per language
    #[command(
        after_help = "Examples:\n  benchlab new experiment parse --language python,c\n  benchlab new experiment ./bench/parse --language go\n\n\
                      A name alone is a directory in the project's experiments/, or, outside of a project, in the current\n\
                      directory. benchlab copies language kits that the project lacks into the project."
    )]
    Experiment(NewExperimentArgs),
    /// Add a subject to an experiment
    #[command(
        after_help = "Example:\n  benchlab new subject rust --language rust --experiment ./bench/parse"
    )]
    Subject(NewSubjectArgs),
}

/// `benchlab new experiment`
#[derive(Args)]
pub struct NewExperimentArgs {
    /// The experiment's name, or the directory to create, such as ./bench/parse
    pub name: String,
    /// The languages of the subjects; the first language is the baseline
    #[arg(long, short, value_delimiter = ',', required = true, value_name = "LANGUAGE,…", value_parser = language())]
    pub language: Vec<String>,
}

/// `benchlab new subject`
#[derive(Args)]
pub struct NewSubjectArgs {
    /// The subject's name, which is also the name of its directory
    pub name: String,
    /// The subject's language
    #[arg(long, short, value_parser = language())]
    pub language: String,
    /// The experiment: a name, or a directory such as ./bench/parse [default: the experiment in the
    /// current directory]
    #[arg(long, short, default_value = ".", hide_default_value = true,
          add = ArgValueCandidates::new(completion::experiments))]
    pub experiment: String,
}

fn language() -> PossibleValuesParser {
    PossibleValuesParser::new(lab_skeleton::languages())
}
