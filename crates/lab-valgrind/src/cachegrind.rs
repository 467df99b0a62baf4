// SPDX-License-Identifier: Apache-2.0
//! Parses Cachegrind output files (Valgrind's manual, section 5.10: "Cachegrind Output File Format").

use crate::ProfileError;
use crate::costs::CostProfile;
use crate::error::foreign;
use crate::lines::{LineReader, costs, number, text, words};
use std::io::BufRead;

const TOOL: &str = "Cachegrind";

/// Reads a Cachegrind file.
///
/// Returns an error if the file was written by another tool or is incomplete.
pub fn read(from: impl BufRead) -> Result<CostProfile, ProfileError> {
    let mut lines = LineReader::new(from);
    let mut profile = header(&mut lines)?;
    let width = profile.events.len();
    let mut counted = Vec::with_capacity(width);
    let (mut file, mut function, mut summary) = (None, None, None);
    let mut line = Vec::new();
    while lines.next(&mut line)? {
        let fault = match &line[..] {
            [] | [b'#', ..] => None,
            [b'0'..=b'9', ..] => {
                let end = line.iter().position(|c| *c == b' ').unwrap_or(line.len());
                let line_number = number(&line[..end]).and_then(|n| u32::try_from(n).ok());
                match (
                    line_number,
                    function,
                    costs(&line[end..], width, &mut counted),
                ) {
                    (Some(line_number), Some(function), Ok(())) => {
                        profile.add(function, line_number, &counted)?;
                        None
                    }
                    (_, _, Err(reason)) => Some(reason),
                    (None, ..) => Some("the line number is too large"),
                    (_, None, _) => Some("costs come before the first `fn=` line"),
                }
            }
            [b'f', b'n', b'=', name @ ..] => match file {
                Some(file) => {
                    let name = profile.name(name)?;
                    function = Some(profile.function(file, name)?);
                    None
                }
                None => Some("a function comes before the first `fl=` line"),
            },
            [b'f', b'l', b'=', name @ ..] => {
                file = Some(profile.name(name)?);
                function = None;
                None
            }
            line => match line.strip_prefix(b"summary:") {
                Some(rest) => match costs(rest, width, &mut counted) {
                    Ok(()) => {
                        summary = Some(counted.clone());
                        None
                    }
                    Err(reason) => Some(reason),
                },
                None => Some("this is not Cachegrind output"),
            },
        };
        if let Some(reason) = fault {
            return Err(if lines.ended {
                lines.wrong(reason)
            } else {
                ProfileError::Truncated(format!("line {} is incomplete", lines.number))
            });
        }
    }
    profile.totals = summary
        .ok_or_else(|| ProfileError::Truncated("the final `summary:` line is missing".into()))?;
    profile.sum_lines();
    if profile.totals == profile.summed() {
        Ok(profile)
    } else {
        Err(lines.wrong("the summary is not the sum of the functions: the file has been changed"))
    }
}

/// Reads the header: `desc:` lines, `cmd:` and `events:`.
fn header<R: BufRead>(lines: &mut LineReader<R>) -> Result<CostProfile, ProfileError> {
    let mut description = Vec::new();
    let mut command = None;
    let mut line = Vec::new();
    while lines.next(&mut line)? {
        if let Some(rest) = line.strip_prefix(b"desc:") {
            description.push(text(rest));
        } else if let Some(rest) = line.strip_prefix(b"cmd:") {
            command = Some(text(rest));
        } else if let (Some(rest), Some(command)) = (line.strip_prefix(b"events:"), &command) {
            let events: Vec<&[u8]> = words(rest).collect();
            let profile = CostProfile::with_events(&events);
            let mut profile = profile.map_err(|reason| lines.wrong(reason))?;
            (profile.command, profile.description) = (command.clone(), description);
            return Ok(profile);
        } else {
            return Err(match lines.number {
                1 => foreign(TOOL, &line),
                _ => foreign(TOOL, b"desc:"),
            });
        }
    }
    Err(match lines.number {
        0 => foreign(TOOL, b""),
        _ => ProfileError::Truncated("the `events:` line is missing".into()),
    })
}
