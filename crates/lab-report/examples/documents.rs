// SPDX-License-Identifier: Apache-2.0
//! Writes made-up runs of every kind in every format to directories for viewing:
//! `cargo run -p lab-report --example documents -- DIRECTORY`.

#[path = "../tests/report/support/mod.rs"]
mod support;

use lab_document::{Document, FORMATS, Format, Rendered, Terminal};
use lab_model::Run;
use lab_report::Report;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let directory = env::args()
        .nth(1)
        .ok_or("missing directory; pass it as the first argument")?;
    for (name, run) in runs() {
        let directory = Path::new(&directory).join(name);
        fs::create_dir_all(&directory)?;
        let document = lab_report::document(&Report::new(&run, &format!("runs/{}", run.name)));
        for format in FORMATS {
            write(&directory, format, &document)?;
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
    directory: &Path,
    format: Format,
    document: &Document,
) -> Result<(), Box<dyn std::error::Error>> {
    let path = directory.join(format!("{}.{}", format.name, format.extension));
    let rendered = match format.render(document, Terminal::default()) {
        Ok(rendered) => rendered,
        // Only some documents have call stacks or a timeline.
        Err(_) if ["folded", "speedscope", "perfetto"].contains(&format.name) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    match rendered {
        Rendered::Text(text) => fs::write(path, text)?,
        Rendered::Bytes(bytes) => fs::write(path, bytes)?,
        Rendered::Annotated { summary, .. } => fs::write(path, summary)?,
        Rendered::Files(files) => {
            for file in files {
                fs::write(directory.join(file.name), file.text)?;
            }
        }
    }
    Ok(())
}
