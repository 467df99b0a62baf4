// SPDX-License-Identifier: Apache-2.0
//! A load as the options of `load` ask for it.

use super::requested::RequestedServer;
use super::resumed::Resumed;
use crate::cli::Sending;
use lab_document::Format;
use lab_many::launcher::Launcher;
use lab_plan::Loading;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A load that is to be put on, and how it is kept and exported.
pub struct LoadCommand<'a> {
    pub loading: Loading,
    pub sending: &'a Sending,
    /// In the order of the plan's subjects.
    pub servers: Vec<RequestedServer>,
    /// The servers' process IDs, where they were given.
    pub processes: Vec<Option<i32>>,
    /// The machine of the servers; `None`: this one.
    pub server_host: Option<Arc<dyn Launcher>>,
    pub exports: Vec<(&'a Path, Format)>,
    pub runs: PathBuf,
    pub strict: bool,
    /// True if the command line may be kept in the run file, from which the run can be resumed.
    pub keeps_command_line: bool,
    /// The run that is resumed; `None`: a new one.
    pub resumed: Option<Resumed>,
}
