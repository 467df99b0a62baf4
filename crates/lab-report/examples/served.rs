// SPDX-License-Identifier: Apache-2.0
//! Writes a report of a made-up run of the experiment `rest` in every format into a folder, to look at:
//! `cargo run --release -p lab-report --example served -- FOLDER [BLOCKS]`.

#[path = "../tests/support/mod.rs"]
mod support;

use lab_report::{Format, Rendered, Report, Terminal, render};
use std::path::Path;
use std::time::Instant;
use std::{env, fs, io};
use support::served::{Wanted, failing, run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("which folder? Name it as the first argument.")?;
    let blocks = env::args().nth(2).map_or(Ok(12), |n| n.parse())?;
    fs::create_dir_all(&folder)?;
    let wanted = Wanted {
        blocks,
        ..Wanted::default()
    };
    let run = failing(run(&wanted), "java-jdk");
    let begin = Instant::now();
    let report = Report::new(&run, "runs/20261121-101500-rest.lab");
    eprintln!("analysed in {:.2?}", begin.elapsed());
    // XML has no form for load.
    for format in Format::ALL.into_iter().filter(|f| *f != Format::Xml) {
        let begin = Instant::now();
        let rendered = render(format, &report, Terminal::default())?;
        eprintln!("{:9} in {:.2?}", format.name(), begin.elapsed());
        write(Path::new(&folder), format, rendered)?;
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
