// SPDX-License-Identifier: Apache-2.0
//! The agent's side of monitoring the processes of a server.

use super::{UsageOrder, UsageReport, listening};
use crate::agent::Coordinator;
use lab_bench::{ServerWatch, Watch};
use nix::unistd::Pid;

/// The processes that an agent monitors.
#[derive(Default)]
pub struct UsageAgent {
    watch: Option<Watch>,
}

impl UsageAgent {
    /// Executes an order. Returns an error with the reason if the order fails.
    pub fn run_order(
        &mut self,
        order: UsageOrder,
        coordinator: &Coordinator,
    ) -> Result<(), String> {
        let report = match order {
            UsageOrder::Process(pid) => self.watch(&[Pid::from_raw(pid)])?,
            UsageOrder::Port(port) => self.watch(&listening::listeners(port)?)?,
            UsageOrder::Read => {
                let watch = self.watch.as_mut().ok_or("no process is being monitored")?;
                UsageReport::Used(ServerWatch::read(watch)?)
            }
        };
        coordinator.report(&report, &[])
    }

    /// Starts monitoring. Returns an error if the processes cannot be read.
    fn watch(&mut self, processes: &[Pid]) -> Result<UsageReport, String> {
        let mut watch = Watch::start_all(processes);
        ServerWatch::read(&mut watch)?;
        self.watch = Some(watch);
        Ok(UsageReport::Watched)
    }
}
