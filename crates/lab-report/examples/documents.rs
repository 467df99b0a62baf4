// SPDX-License-Identifier: Apache-2.0
//! Writes made-up runs of every kind in every format into folders, to look at:
//! `cargo run -p lab-report --example documents -- FOLDER`.

#[path = "../tests/report/support/mod.rs"]
mod support;

use lab_document::{Document, FORMATS, Format, Rendered, Terminal};
use lab_model::Run;
use lab_report::Report;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("which folder? Name it as the first argument.")?;
    for (name, run) in runs() {
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder)?;
        let document = lab_report::document(&Report::new(&run, &format!("runs/{}", run.name)));
        for format in FORMATS {
            write(&folder, format, &document)?;
        }
    }
    Ok(())
}

fn runs() -> [(&'static str, Run); 7] {
    [
        ("batches", support::sample(12)),
        (
            "targets",
            support::targets::run(&support::targets::DATABASES, 12),
        ),
        ("commands", support::commands::three(12)),
        ("load", support::load::stalling(20)),
        ("sweep", support::load::sweep(8)),
        ("two-servers", support::load::two(10)),
        ("servers", support::served::run(&Default::default())),
    ]
}

fn write(
    folder: &Path,
    format: Format,
    document: &Document,
) -> Result<(), Box<dyn std::error::Error>> {
    let path = folder.join(format!("report.{}", format.extension));
    match format.render(document, Terminal::default())? {
        Rendered::Text(text) => fs::write(path, text)?,
        Rendered::Bytes(bytes) => fs::write(path, bytes)?,
        Rendered::Files(files) => {
            for file in files {
                fs::write(folder.join(file.name), file.text)?;
            }
        }
    }
    Ok(())
}
