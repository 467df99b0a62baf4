// SPDX-License-Identifier: Apache-2.0
//! Standard output, which may be a pipe whose other end closes early.

use crate::exit::Exit;
use lab_document::clean;
use lab_document::format::text::wrap;
use std::io::Write;

/// Writes to standard output. A pipe that is closed early, as by `head`, is not an error.
pub fn to_stdout(bytes: &[u8]) -> Result<(), Exit> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => Err(Exit::failed(e)),
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

/// Indentation, in columns, of text whose lead is too long to share a line with it.
const INDENT: usize = 8;

/// Text behind its lead, wrapped to a screen and indented below the first line's text. A lead that is wider than half
/// of a screen has a line of its own.
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

/// Columns of the widest name; 0 if there is none.
pub fn widest<'n>(names: impl Iterator<Item = &'n str>) -> usize {
    names.map(|name| name.chars().count()).max().unwrap_or(0)
}
