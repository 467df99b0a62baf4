// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit site`: audits a page, the files that it loads, and its server.

use super::args::{SiteArgs, SiteRequestArgs};
use super::{finish, read_text, rules};
use crate::cli::Cli;
use crate::exit::Exit;
use crate::progress::progress;
use lab_audit::site::{self, Site, SiteOptions, Url};
use lab_bench::unix_seconds;
use lab_document::Document;
use std::path::Path;

/// Audits a site.
pub fn site(cli: &Cli, args: &SiteArgs) -> Result<Document, Exit> {
    let began = unix_seconds();
    let rules = rules(site::rules(), &site::CLASSES, &args.auditing)?;
    let (url, site) = if is_file_name(&args.of) {
        let read = site::of_har(&read_text(&args.of)?);
        read.map_err(|reason| Exit::invalid(format!("{}: {reason}", args.of)))?
    } else {
        let url = page(&args.of)?;
        let site = inspect_site(&url, &args.requests, site::inspect)?;
        (url, site)
    };
    finish(
        cli,
        &args.auditing,
        &site::audit(&url, &site, &rules),
        began,
    )
}

/// Returns true if a text is the name of a file: the file exists, or the text is not a URL and ends
/// like the name of a HAR file.
fn is_file_name(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let ends_like_har = [".har", ".har.gz", ".json"]
        .iter()
        .any(|end| lower.ends_with(end));
    Path::new(text).is_file() || ends_like_har && !text.contains("://")
}

/// Parses the URL of a page.
///
/// # Errors
/// Returns an error if the URL is invalid.
pub fn page(text: &str) -> Result<Url, Exit> {
    // The parser of lab-load has better error messages.
    lab_load::LoadUrl::parse(text)?;
    Url::parse(text).map_err(Exit::invalid)
}

/// A function that sends requests to a site, to audit either the whole site or only its cookies.
type Inspect = fn(&Url, &SiteOptions, &mut dyn FnMut(&str)) -> Result<Site, String>;

/// Sends requests to a site and shows progress on a terminal.
pub fn inspect_site(url: &Url, requests: &SiteRequestArgs, inspect: Inspect) -> Result<Site, Exit> {
    let bar = progress();
    let options = SiteOptions {
        rate: requests.ask_rate,
        resources: requests.resources as usize,
        ajp_port: requests.ajp_port,
    };
    let site = inspect(url, &options, &mut |step| {
        bar.set_message(lab_document::clean(step));
        bar.tick();
    });
    bar.finish_and_clear();
    site.map_err(|reason| Exit::failed(lab_document::clean(&reason)))
}
