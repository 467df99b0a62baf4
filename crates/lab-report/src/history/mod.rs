// SPDX-License-Identifier: Apache-2.0
//! Many runs of one experiment or comparison, one row for each run and subject: how a ratio came out
//! from day to day.

mod past;
mod record;
mod sheet;

pub use past::Past;
pub(crate) use sheet::Sheet;

use crate::content::Room;
use crate::{Error, Format, Terminal, csv, json, markdown, terminal};
use serde::Serialize;

/// The formats that a history has.
pub const HISTORY_FORMATS: [Format; 4] = [
    Format::Terminal,
    Format::Markdown,
    Format::Csv,
    Format::Json,
];

/// What there are runs of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Known {
    /// The experiment's or the comparison's name.
    pub name: String,
    /// How many runs.
    pub runs: usize,
    /// When the last one began, in seconds since 1970.
    pub last_unix_s: f64,
}

/// The runs of one name, the oldest first, with those subjects alone that are named, or all. Error:
/// the format is none of [`HISTORY_FORMATS`].
pub fn render_history(
    format: Format,
    name: &str,
    runs: &[Past],
    subjects: &[String],
    terminal: Terminal,
) -> Result<String, Error> {
    let records = record::records(runs, subjects);
    let sheet = |room| sheet::history(name, &records, room);
    form(format, Some(name), &records, sheet, terminal)
}

/// The names in a folder. Error: the format is none of [`HISTORY_FORMATS`].
pub fn render_names(
    format: Format,
    folder: &str,
    names: &[Known],
    terminal: Terminal,
) -> Result<String, Error> {
    form(
        format,
        None,
        names,
        |_| sheet::names(folder, names),
        terminal,
    )
}

fn form<T: Serialize>(
    format: Format,
    name: Option<&str>,
    rows: &[T],
    sheet: impl FnOnce(Room) -> Sheet,
    terminal: Terminal,
) -> Result<String, Error> {
    match format {
        Format::Terminal => Ok(terminal::sheet(&sheet(Room::Narrow), terminal)),
        Format::Markdown => Ok(markdown::sheet(&sheet(Room::Wide))),
        Format::Csv => csv::rows(rows),
        Format::Json => json::rows(name, rows),
        other => Err(Error::NoSuchForm(other.name())),
    }
}
