// SPDX-License-Identifier: Apache-2.0
//! Writes a report of a made-up run on three databases in every format into a folder, to look at:
//! `cargo run --release -p lab-report --example targets -- FOLDER [BLOCKS]`.

#[path = "../tests/support/mod.rs"]
mod support;

use lab_model::Kind;
use lab_report::{Format, Rendered, Report, Terminal, render};
use std::path::Path;
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("which folder? Name it as the first argument.")?;
    let blocks = env::args().nth(2).map_or(Ok(12), |n| n.parse())?;
    fs::create_dir_all(&folder)?;
    let run = support::targets::run(&Kind::ALL, blocks);
    let report = Report::new(&run, "runs/20261121-091500-sql.lab");
    for format in Format::ALL {
        let rendered = render(format, &report, Terminal::default())?;
        write(Path::new(&folder), format, rendered)?;
    }
    Ok(())
}

fn write(folder: &Path, format: Format, rendered: Rendered) -> io::Result<()> {
    let path = folder.join(format!("report.{}", format.extension()));
    match rendered {
        Rendered::Text(text) => fs::write(path, text),
        Rendered::Bytes(bytes) => fs::write(path, bytes),
        Rendered::Files(files) => files
            .into_iter()
            .try_for_each(|f| fs::write(folder.join(f.name), f.text)),
    }
}
