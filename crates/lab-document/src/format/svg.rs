// SPDX-License-Identifier: Apache-2.0
//! A document's charts as standalone SVG files.

use crate::chart::{file_name, standalone};
use crate::document::Document;
use crate::output::{Error, File, Format, Rendered};

/// The SVG format.
pub const FORMAT: Format = Format {
    name: "svg",
    extension: "svg",
    title: "Plots (SVG)",
    is_folder: true,
    shows_history: false,
    suits: |_| true,
    render: |document, _| files(document).map(Rendered::Files),
};

/// Renders one file for each chart, named after its ID.
///
/// Returns an error if the drawing library fails.
pub fn files(document: &Document) -> Result<Vec<File>, Error> {
    let mut files: Vec<File> = Vec::new();
    for chart in document.charts() {
        let id = file_name(&chart.id);
        let names = std::iter::once(format!("{id}.svg"));
        let mut names = names.chain((2..).map(|n| format!("{id}-{n}.svg")));
        let free = |name: &String| files.iter().all(|file| file.name != *name);
        files.push(File {
            name: names.find(free).unwrap_or_default(),
            text: standalone(chart)?,
        });
    }
    Ok(files)
}
