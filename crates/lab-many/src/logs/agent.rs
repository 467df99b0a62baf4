// SPDX-License-Identifier: Apache-2.0
//! An agent that reads logs.

use super::{LogsOrder, LogsReport};
use crate::agent::{Coordinator, is_stopped};
use lab_logs::{
    FieldMap, Hints, LogsRead, ReadError, Rules, ServerLog, Tally, UniqueFiles, Zone, files, read,
};
use std::fs::File;
use std::path::Path;

/// Reads all logs and sends the counts. Returns an error if the order is invalid or the coordinator is unreachable.
pub fn run_order(order: LogsOrder, coordinator: &Coordinator) -> Result<(), String> {
    let rules = order.rules.as_deref().map(Rules::new).transpose()?;
    let zone = order.zone.as_deref().map(Zone::named).transpose()?;
    let fields = order.fields.as_deref().map(FieldMap::new).transpose()?;
    let hints = Hints {
        fields: fields.unwrap_or_default(),
        format: order.format,
        unit: order.unit,
        zone: zone.unwrap_or_default(),
    };
    let mut tally = Tally::in_parts(rules.unwrap_or_default());
    let (mut read_log, mut failed) = (None::<ServerLog>, Vec::new());
    let (mut unique, mut skipped) = (UniqueFiles::default(), Vec::new());
    for path in &order.logs {
        let found = files(Path::new(path), order.rotated);
        failed.extend(found.as_ref().err().cloned());
        let found = found.unwrap_or_default();
        skipped.extend(found.skipped);
        for path in found.paths {
            if let Some(reason) = unique.skip(&path) {
                skipped.push(reason);
                continue;
            }
            let name = path.display().to_string();
            let log = match &mut read_log {
                Some(log) => {
                    log.begin_file(&name);
                    log
                }
                None => read_log.insert(ServerLog::new(&name, &hints)),
            };
            let mut can_go_on = |_| !is_stopped();
            let outcome = match File::open(&path) {
                Ok(input) => read::read(input, log, &mut tally, &mut can_go_on),
                Err(e) => Err(e.into()),
            };
            match outcome {
                Err(ReadError::Stopped) => return Err("stopped".into()),
                Err(reason) => failed.push(format!("{name}: {reason}")),
                Ok(()) => {}
            }
        }
    }
    let logs = match read_log {
        Some(mut log) => {
            log.close(&mut tally);
            log.logs_read()
        }
        None => LogsRead::default(),
    };
    let body = tally.into_part().pack()?;
    let report = LogsReport {
        read: logs,
        failed,
        skipped,
    };
    coordinator.report(&report, &body)
}
