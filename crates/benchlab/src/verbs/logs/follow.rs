// SPDX-License-Identifier: Apache-2.0
//! `--follow`: redraws a screen as logs grow, or prints lines if the output is not a terminal.

use super::{LogsCommand, with_progress};
use crate::exit::Exit;
use crate::verbs::report::deliver_document;
use lab_bench::interrupt;
use lab_document::say;
use lab_logs::{Follower, LogSource};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// The interval between two reads of the files.
const POLL: Duration = Duration::from_millis(250);
/// The interval between two screens on a terminal.
const SCREEN: Duration = Duration::from_secs(1);
/// The interval between two lines if the output is not a terminal.
const LINE: Duration = Duration::from_secs(10);

/// Reads logs until Ctrl-C.
///
/// # Errors
/// Returns an error if a log is not a plain file, or if its format is unknown.
pub fn follow(command: &mut LogsCommand, sources: &[LogSource]) -> Result<(), Exit> {
    let args = command.args;
    let session = &mut command.session;
    let mut follower = with_progress(|progress| Follower::new(session, sources, progress))?;
    command.report_unread();
    let is_live = io::stdout().is_terminal() && args.display.output.is_none() && !args.nagios;
    let interval = if is_live { SCREEN } else { LINE };
    let mut last_shown = Instant::now();
    loop {
        let bytes = follower.read(&mut command.session)?;
        if interrupt::requested() {
            break;
        }
        if last_shown.elapsed() >= interval {
            last_shown = Instant::now();
            follower.update(&mut command.session);
            if is_live {
                redraw(command)?;
            } else {
                eprintln!(
                    "benchlab: {}, {}",
                    say::count(command.session.entries() as usize, "request"),
                    say::count(command.session.lines() as usize, "line")
                );
            }
        }
        if bytes == 0 {
            std::thread::sleep(POLL);
        }
    }
    Ok(follower.end(&mut command.session)?)
}

/// Clears the screen and prints the current result.
fn redraw(command: &mut LogsCommand) -> Result<(), Exit> {
    let analysis = command.session.analysis();
    let document = command.document(&command.run(), &analysis, None)?;
    let failed = |e: io::Error| Exit::failed(e);
    // Moves the cursor to the top and clears the screen (ECMA-48, CUP and ED).
    io::stdout().write_all(b"\x1b[H\x1b[2J").map_err(failed)?;
    deliver_document(&document, &command.args.display)?;
    let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
    println!("{time}  Press Ctrl-C to stop and save the run.");
    io::stdout().flush().map_err(failed)
}
