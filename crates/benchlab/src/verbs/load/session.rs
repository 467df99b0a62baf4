// SPDX-License-Identifier: Apache-2.0
//! A session of a load: a new load, or the remaining part of a load that was stopped or killed.

use crate::cli::AgentLoss;
use crate::exit::Exit;
use crate::options::stored_launcher;
use lab_document::Format;
use lab_load::Request;
use lab_many::launcher::Launcher;
use lab_model::{LoadSpec, Plan};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A session of a load, and the destinations of its results.
pub struct LoadSession<'a> {
    /// A plan with a load. It contains everything about the load except its secrets.
    pub plan: Plan,
    /// The requests to each subject of the plan, with secrets.
    pub requests: Vec<Vec<Request>>,
    pub file: SessionFile,
    pub exports: Vec<(&'a Path, Format)>,
    pub hlog: Option<&'a Path>,
    pub strict: bool,
    /// True to print nothing on standard output.
    pub is_quiet: bool,
}

/// The run file of a session.
pub enum SessionFile {
    /// A new file in the given directory.
    New(PathBuf),
    /// An existing file to continue. `agents` is the number of agents that earlier sessions stored in it.
    Resumed { file: PathBuf, agents: usize },
}

impl LoadSession<'_> {
    pub fn load(&self) -> &LoadSpec {
        self.plan.load().expect("a plan with a load")
    }

    /// Returns the launcher of the agents, if agents generate the load.
    pub fn agents(&self) -> Result<Option<Arc<dyn Launcher>>, Exit> {
        launcher(self.load().agents.as_deref())
    }

    /// Returns the launcher of the agent on the servers' machine, or `None` if the load has no such
    /// agent.
    pub fn server_agent(&self) -> Result<Option<Arc<dyn Launcher>>, Exit> {
        launcher(self.load().server_agent.as_deref())
    }

    /// Returns the options for lost agents.
    pub fn agent_loss(&self) -> AgentLoss {
        AgentLoss {
            lost_after: self.load().lost_after_ns.map(Duration::from_nanos),
        }
    }

    /// Returns the number of agents that earlier sessions stored in the run file.
    pub fn earlier_agents(&self) -> usize {
        match self.file {
            SessionFile::New(_) => 0,
            SessionFile::Resumed { agents, .. } => agents,
        }
    }
}

/// Parses a stored launcher. Returns an error if this version does not know it.
fn launcher(text: Option<&str>) -> Result<Option<Arc<dyn Launcher>>, Exit> {
    let launcher = text.map(|text| stored_launcher(text, "agents", "load"));
    launcher.transpose()
}
