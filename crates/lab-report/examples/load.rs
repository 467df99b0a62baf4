// SPDX-License-Identifier: Apache-2.0
//! Prints reports of made-up load runs as a terminal shows them, and writes each in every format into a
//! folder, to look at: `cargo run --release -p lab-report --example load -- FOLDER`.

#[path = "../tests/support/mod.rs"]
mod support;

use lab_report::{Format, Rendered, Report, Terminal, render};
use std::path::Path;
use std::{env, fs, io};
use support::load;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("which folder? Name it as the first argument.")?;
    let runs = [
        ("plain", load::plain(10)),
        ("stalling", load::stalling(30)),
        ("sweep", load::sweep(10)),
        ("two", load::two(12)),
        ("families", load::families(10)),
        ("refusing", load::refusing(10)),
        ("hostile", load::hostile()),
    ];
    for (name, run) in &runs {
        let report = Report::new(run, "runs/20261121-091500-load.lab");
        println!("===== {name}\n");
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder)?;
        // XML has no form for load.
        for format in Format::ALL.into_iter().filter(|f| *f != Format::Xml) {
            let rendered = render(format, &report, Terminal::default())?;
            write(&folder, format, rendered)?;
        }
    }
    Ok(())
}

/// Into the folder, and what is for a terminal also to standard output.
fn write(folder: &Path, format: Format, rendered: Rendered) -> io::Result<()> {
    let path = folder.join(format!("report.{}", format.extension()));
    match rendered {
        Rendered::Text(text) => {
            if format == Format::Terminal {
                println!("{text}");
            }
            fs::write(path, text)
        }
        Rendered::Bytes(bytes) => fs::write(path, bytes),
        Rendered::Files(files) => files
            .into_iter()
            .try_for_each(|f| fs::write(folder.join(f.name), f.text)),
    }
}
