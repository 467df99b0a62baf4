// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit cookies`: of URLs, which are asked, or of files.

use super::args::CookiesArgs;
use super::site::{inspected, page};
use super::{finished, now, rules, text};
use crate::cli::Cli;
use crate::exit::{self, Exit};
use lab_audit::cookies::input::Collector;
use lab_audit::{cookies, site};
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
            let seen = inspected(&url, &args.asking, site::load)?;
            site::cookies(&seen, &mut collector);
            targets.push(site::redacted(&url));
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
