// SPDX-License-Identifier: Apache-2.0
//! Output formats, and the results of rendering a document.

use crate::document::Document;
use std::fmt;

/// Settings of the terminal for which a document is rendered.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// The width in columns, at least 40. The default is 80.
    pub width: usize,
    /// True to use escape sequences for colors.
    pub color: bool,
    /// True to print all sections before the answer, false to print only the answer.
    pub full: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Terminal {
            width: 80,
            color: false,
            full: false,
        }
    }
}

/// An output format, defined in its own file in [`format`].
#[derive(Clone, Copy)]
pub struct Format {
    /// The name on the command line, such as `markdown`.
    pub name: &'static str,
    /// The file extension without the dot, such as `md`.
    pub extension: &'static str,
    /// The display name, such as `Text (Markdown)`.
    pub title: &'static str,
    /// True if a document is rendered as a directory with multiple files.
    pub is_folder: bool,
    /// True if the format can show a history. Other formats show the values of a single run.
    pub shows_history: bool,
    /// Returns false if the format shows only a part that the document lacks, such as a timeline.
    pub(crate) suits: fn(&Document) -> bool,
    /// Renders a document. Only the terminal format uses the second argument.
    pub(crate) render: fn(&Document, Terminal) -> Result<Rendered, Error>,
}

impl Format {
    /// Returns false if the format shows only flame graphs or only a timeline, and the document has
    /// none.
    pub fn suits(self, document: &Document) -> bool {
        (self.suits)(document)
    }

    /// Renders a document.
    ///
    /// Only the terminal format uses `terminal`. Returns an error if the format's library fails, or
    /// if the format does not suit the document.
    pub fn render(self, document: &Document, terminal: Terminal) -> Result<Rendered, Error> {
        (self.render)(document, terminal)
    }
}

/// Compares formats by name.
impl PartialEq for Format {
    fn eq(&self, other: &Format) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

impl fmt::Debug for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}

/// A file of a rendered document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The file name without a directory. It consists of letters, digits, `.`, `-` and `_`.
    pub name: String,
    /// The file's content.
    pub text: String,
}

/// A rendered document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rendered {
    /// One text, for a terminal, a pipe or a file.
    Text(String),
    /// One binary file.
    Bytes(Vec<u8>),
    /// Multiple files, to be written to a directory.
    Files(Vec<File>),
    /// Lines for the log of a CI system, and a summary that the system shows separately.
    Annotated {
        /// Workflow commands, one on each line. May be empty.
        commands: String,
        /// The summary as Markdown.
        summary: String,
    },
}

/// The error for a document that could not be rendered.
#[derive(Debug, thiserror::Error)]
#[error("cannot create the {what}: {source}")]
pub struct Error {
    what: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Error {
    /// Creates an error. `what` names the output, such as `workbook`; `source` is the library's error.
    pub(crate) fn new(
        what: impl Into<String>,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Error {
        Error {
            what: what.into(),
            source: source.into(),
        }
    }
}
