// SPDX-License-Identifier: Apache-2.0
//! Prints comparisons of made-up commands as a terminal shows them, and writes each in every format
//! into a folder, to look at: `cargo run --release -p lab-report --example commands -- FOLDER`.

#[path = "../tests/support/mod.rs"]
mod support;

use lab_report::{Format, Rendered, Terminal, estimate_line, render};
use std::path::Path;
use std::{env, fs, io};
use support::commands;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = env::args()
        .nth(1)
        .ok_or("which folder? Name it as the first argument.")?;
    let runs = [
        ("faster", commands::two(0.92, 12)),
        ("equivalent", commands::two(1.002, 24)),
        ("undecided", commands::two(1.012, 8)),
        ("few", commands::two(1.1, 3)),
        ("three", commands::three(12)),
        ("sweep", commands::sweep(12)),
        ("alone", commands::alone(12)),
        ("failing", commands::failing(12)),
    ];
    for (name, (run, analysis)) in &runs {
        let report = support::report(run, analysis, &[]);
        println!("===== {name}: {}\n", estimate_line(&report));
        let folder = Path::new(&folder).join(name);
        fs::create_dir_all(&folder)?;
        for format in Format::ALL {
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
