// SPDX-License-Identifier: Apache-2.0
//! Writes a report of a made-up run in every format into a folder, to look at:
//! `cargo run --release -p lab-report --example sample -- FOLDER [BLOCKS]`.

#[path = "../tests/support/mod.rs"]
mod support;

use lab_report::{Format, Rendered, Terminal, render};
use std::path::Path;
use std::{env, fs, io};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("which folder? Name it as the first argument.")?;
    let blocks = env::args().nth(2).map_or(Ok(24), |n| n.parse())?;
    fs::create_dir_all(&folder)?;
    let (run, analysis) = support::sample(blocks);
    let others = [support::imported()];
    let report = support::report(&run, &analysis, &others);
    for format in Format::ALL {
        write(
            Path::new(&folder),
            format,
            render(format, &report, Terminal::default())?,
        )?;
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
