// SPDX-License-Identifier: Apache-2.0
//! A format, and a document in it.

use crate::document::Document;
use std::fmt;

/// How a document is drawn for a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Columns, at least 40: 80.
    pub width: usize,
    /// Escape sequences for colours.
    pub colour: bool,
    /// All sections before the answer, not the answer alone.
    pub full: bool,
}

impl Default for Terminal {
    fn default() -> Self {
        Terminal {
            width: 80,
            colour: false,
            full: false,
        }
    }
}

/// A format that a document can be rendered in. Its file in [`format`] defines it.
#[derive(Clone, Copy)]
pub struct Format {
    /// The name that a command line takes: `markdown`.
    pub name: &'static str,
    /// The extension of its files, without the dot: `md`.
    pub extension: &'static str,
    /// The name for people: `Text (Markdown)`.
    pub title: &'static str,
    /// A document becomes a folder of files.
    pub is_folder: bool,
    /// Renders a document; terminals alone heed the second.
    pub(crate) render: fn(&Document, Terminal) -> Result<Rendered, Error>,
}

impl Format {
    /// Renders a document. `terminal`: how it is drawn, if this is the terminal's format. Error: the format's library
    /// refused something.
    pub fn render(self, document: &Document, terminal: Terminal) -> Result<Rendered, Error> {
        (self.render)(document, terminal)
    }
}

/// Formats are the same if their names are.
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
    /// Its name, without a folder; letters, digits, `.`, `-` and `_` only.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// A document in some format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rendered {
    /// One text, for a terminal, a pipe or a file.
    Text(String),
    /// One binary file.
    Bytes(Vec<u8>),
    /// Several files, for a folder.
    Files(Vec<File>),
}

/// A document that could not be rendered.
#[derive(Debug, thiserror::Error)]
#[error("cannot make the {what}: {source}")]
pub struct Error {
    what: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl Error {
    /// `what`: what could not be made, such as `workbook`. `source`: what the library reported.
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
