// SPDX-License-Identifier: Apache-2.0
//! The end of an agent that is beside logs.

use super::{Order, Report};
use crate::agent::{Coordinator, is_stopped};
use lab_watch::{Hints, Log, LogsRead, ReadError, Rules, Tally, Zone, files, read};
use std::fs::File;
use std::path::Path;

/// Reads all logs, and tells what was counted. Errors: words of the order cannot be understood, or nobody listens.
pub fn carry_out(order: Order, to: &Coordinator) -> Result<(), String> {
    let rules = order.rules.as_deref().map(Rules::new).transpose()?;
    let zone = order.zone.as_deref().map(Zone::named).transpose()?;
    let hints = Hints {
        format: order.format,
        unit: order.unit,
        zone: zone.unwrap_or_default(),
    };
    let mut tally = Tally::in_parts(rules.unwrap_or_default());
    let (mut all, mut failed) = (LogsRead::default(), Vec::new());
    for log in &order.logs {
        let found = files(Path::new(log), order.rotated);
        failed.extend(found.as_ref().err().cloned());
        for path in found.unwrap_or_default() {
            let name = path.display().to_string();
            let mut log = Log::new(&name, &hints);
            let mut goes_on = |_| !is_stopped();
            let outcome = match File::open(&path) {
                Ok(input) => read::read(input, &mut log, &mut tally, &mut goes_on),
                Err(e) => Err(e.into()),
            };
            match outcome {
                Err(ReadError::Stopped) => return Err("stopped".into()),
                Err(why) => failed.push(format!("{name}: {why}")),
                Ok(()) => {}
            }
            all.add(&log);
        }
    }
    let body = tally.into_part().pack()?;
    to.say(&Report { read: all, failed }, &body)
}
