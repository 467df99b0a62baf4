// SPDX-License-Identifier: Apache-2.0
//! The end of an agent that is beside a server.

use super::{Order, Report, listening};
use crate::agent::Coordinator;
use lab_bench::{ServerWatch, Watch};
use nix::unistd::Pid;

/// The processes that an agent watches.
#[derive(Default)]
pub struct UsageAgent {
    watch: Option<Watch>,
}

impl UsageAgent {
    /// Does what is asked for. Error: it cannot be done, in words for people.
    pub fn carry_out(&mut self, order: Order, to: &Coordinator) -> Result<(), String> {
        let report = match order {
            Order::Process(pid) => self.watch(&[Pid::from_raw(pid)])?,
            Order::Port(port) => self.watch(&listening::on(port)?)?,
            Order::Read => {
                let watch = self.watch.as_mut().ok_or("no process is watched")?;
                Report::Used(ServerWatch::read(watch)?)
            }
        };
        to.say(&report, &[])
    }

    /// What cannot be read now is told now.
    fn watch(&mut self, processes: &[Pid]) -> Result<Report, String> {
        let mut watch = Watch::of(processes);
        ServerWatch::read(&mut watch)?;
        self.watch = Some(watch);
        Ok(Report::Watched)
    }
}
