// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit cookies`: audits the cookies in files, or sends requests to URLs and audits the
//! cookies that they set.

use super::args::CookiesArgs;
use super::site::{inspect_site, page};
use super::{finish, read_text, rules};
use crate::cli::Cli;
use crate::exit::Exit;
use lab_audit::cookies::input::Collector;
use lab_audit::{cookies, site};
use lab_bench::unix_seconds;
use lab_document::Document;

/// Audits the cookies of URLs or files.
pub fn cookies(cli: &Cli, args: &CookiesArgs) -> Result<Document, Exit> {
    let began = unix_seconds();
    let rules = rules(cookies::rules(), &cookies::CLASSES, &args.auditing)?;
    let no_random = |e: std::io::Error| Exit::failed(format!("/dev/urandom: {e}"));
    let mut collector = Collector::new().map_err(no_random)?;
    let mut targets = Vec::new();
    for from in &args.from {
        if from.starts_with("http://") || from.starts_with("https://") {
            let url = page(from)?;
            let observed = inspect_site(&url, &args.requests, site::load)?;
            site::cookies(&observed, &mut collector);
            targets.push(site::redact(&url));
        } else {
            let text = read_text(from)?;
            let read = collector.text(&text);
            read.map_err(|reason| Exit::invalid(format!("{from}: {reason}")))?;
            targets.push(if from == "-" {
                "standard input".into()
            } else {
                from.clone()
            });
        }
    }
    let audit = cookies::audit(targets, &collector.done(), &rules, args.rate);
    finish(cli, &args.auditing, &audit, began)
}
