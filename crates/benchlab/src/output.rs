// SPDX-License-Identifier: Apache-2.0
//! Functions that write to standard output, which may be a pipe that the reader closes early.

use crate::exit::Exit;
use lab_document::clean;
use lab_document::format::text::wrap;
use std::io::Write;

/// Writes to standard output. A pipe that its reader closes early, as `head` does, is not an error.
pub fn write_stdout(bytes: &[u8]) -> Result<(), Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Exit::failed(e)),
        _ => Ok(()),
    }
}

/// Writes a value to standard output as JSON.
pub fn write_json(value: &serde_json::Value) -> Result<(), Exit> {
    let text = serde_json::to_string_pretty(value).map_err(Exit::failed)?;
    write_stdout((text + "\n").as_bytes())
}

/// Prints a line to standard output like `println!`, but accepts a pipe that was closed early.
macro_rules! say {
    ($($word:tt)*) => {
        $crate::output::write_stdout(format!("{}\n", format_args!($($word)*)).as_bytes())?
    };
}
pub(crate) use say;

/// Width of the screen, in columns.
pub const SCREEN: usize = 80;

/// The indentation of the text, in columns, if the lead has its own line.
const INDENT: usize = 8;

/// Formats a lead, such as a name, and the text that follows it.
///
/// The text is wrapped to the screen, and its other lines are indented to align with the first. A
/// lead that is wider than half of the screen gets its own line.
pub fn hanging_indent(lead: &str, text: &str) -> String {
    let width = lead.chars().count();
    let (indent, lead) = if width <= SCREEN / 2 {
        (width, lead.to_owned())
    } else if lead.trim().is_empty() {
        (INDENT, " ".repeat(INDENT))
    } else {
        (
            INDENT,
            format!("{}\n{}", lead.trim_end(), " ".repeat(INDENT)),
        )
    };
    let lines = wrap(&clean(text), SCREEN - indent);
    lead + &lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// Returns the width of the widest name in columns, or 0 if there are no names.
pub fn widest<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}
