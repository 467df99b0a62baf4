// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit cookies`: of URLs, which are asked, or of files.

use super::args::CookiesArgs;
use super::site::{looked, page};
use super::{finished, now, rules};
use crate::cli::Cli;
use crate::exit::{self, Exit};
use lab_audit::cookies::input::{Collector, LONGEST};
use lab_audit::{cookies, site};
use std::io::Read;
use std::process::ExitCode;

/// Audits cookies.
pub fn cookies(cli: &Cli, args: &CookiesArgs) -> Result<ExitCode, Exit> {
    let began = now();
    let rules = rules(cookies::rules(), &cookies::CLASSES, &args.auditing)?;
    let no_random = |e: std::io::Error| Exit::new(exit::FAILED, format!("/dev/urandom: {e}"));
    let mut collector = Collector::new().map_err(no_random)?;
    let mut targets = Vec::new();
    for from in &args.from {
        if from.starts_with("http://") || from.starts_with("https://") {
            let url = page(from)?;
            site::cookies(&looked(&url, &args.asking)?, &mut collector);
            targets.push(site::without_user(&url));
        } else {
            let text = text(from)?;
            let read = collector.text(&text);
            read.map_err(|why| Exit::wrong(format!("{from}: {why}")))?;
            targets.push(if from == "-" {
                "standard input".into()
            } else {
                from.clone()
            });
        }
    }
    let audit = cookies::audit(targets, &collector.done(), &rules, args.rate);
    finished(cli, &args.auditing, &audit, began)
}

/// A file, or standard input, as text.
fn text(from: &str) -> Result<String, Exit> {
    let wrong = |e: std::io::Error| Exit::wrong(format!("{from}: {e}"));
    let input: Box<dyn Read> = match from {
        "-" => Box::new(std::io::stdin()),
        path => Box::new(std::fs::File::open(path).map_err(wrong)?),
    };
    let mut bytes = Vec::new();
    input
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(wrong)?;
    if bytes.len() as u64 > LONGEST {
        let most = LONGEST >> 20;
        return Err(Exit::wrong(format!("{from}: it is longer than {most} MiB")));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
