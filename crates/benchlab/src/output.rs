// SPDX-License-Identifier: Apache-2.0
//! Standard output, which may be a pipe that its reader closes.

use crate::exit::{self, Exit};
use lab_report::clean;
use lab_report::format::text::wrap;
use std::io::Write;

/// A reader that closes the pipe early, such as `head`, has seen what it wanted.
pub fn to_stdout(bytes: &[u8]) -> Result<(), Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Exit::new(exit::FAILED, e.to_string()))
        }
        _ => Ok(()),
    }
}

/// `println!` for standard output that may be such a pipe.
macro_rules! say {
    ($($word:tt)*) => {
        $crate::output::to_stdout(format!("{}\n", format_args!($($word)*)).as_bytes())?
    };
}
pub(crate) use say;

/// Columns of a screen.
pub const SCREEN: usize = 80;

/// Of text whose lead is too long to stand beside it.
const INDENT: usize = 8;

/// Text behind what leads to it, in lines that fit a screen, the further ones below the first one's text; below a lead
/// that takes more than half of a screen.
pub fn hanging_indent(lead: &str, text: &str) -> String {
    let width = lead.chars().count();
    let (indent, lead) = match lead.trim_end() {
        _ if width <= SCREEN / 2 => (width, lead.to_owned()),
        "" => (INDENT, " ".repeat(INDENT)),
        long => (INDENT, format!("{long}\n{}", " ".repeat(INDENT))),
    };
    let lines = wrap(&clean(text), SCREEN - indent);
    lead + &lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// The columns of the widest of some names.
pub fn widest<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}
