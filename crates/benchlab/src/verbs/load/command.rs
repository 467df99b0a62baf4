// SPDX-License-Identifier: Apache-2.0
//! Load that is to be put on.

use super::requested::RequestedServer;
use super::resumed::Resumed;
use crate::cli::Sending;
use lab_many::launcher::Launcher;
use lab_plan::Loading;
use lab_report::Format;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Load that is to be put on, and what is made of it.
pub struct LoadCommand<'a> {
    pub loading: Loading,
    pub sending: &'a Sending,
    /// Those of the plan, in its order.
    pub servers: Vec<RequestedServer>,
    /// Their processes, where they were named.
    pub processes: Vec<Option<i32>>,
    /// Where they run, if not on this machine.
    pub server_host: Option<Arc<dyn Launcher>>,
    pub exports: Vec<(&'a Path, Format)>,
    pub runs: PathBuf,
    pub strict: bool,
    /// The command line may be kept in the run file, from which the run can be resumed.
    pub keeps_words: bool,
    /// The run that is resumed; `None`: a new one.
    pub resumed: Option<Resumed>,
}
