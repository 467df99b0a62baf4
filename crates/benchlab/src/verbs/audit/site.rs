// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit site`: a page, the files that it loads, the server behind it.

use super::args::{SiteArgs, SiteRequestArgs};
use super::{finished, now, rules, text};
use crate::cli::Cli;
use crate::exit::{self, Exit};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab_audit::site::{self, Options, Site, Url};
use std::process::ExitCode;

/// Audits a site.
pub fn site(cli: &Cli, args: &SiteArgs) -> Result<ExitCode, Exit> {
    let began = now();
    let rules = rules(site::rules(), &site::CLASSES, &args.auditing)?;
    let (url, seen) = if std::path::Path::new(&args.of).is_file() {
        let read = site::of_har(&text(&args.of)?);
        read.map_err(|why| Exit::wrong(format!("{}: {why}", args.of)))?
    } else {
        let url = page(&args.of)?;
        let seen = inspected(&url, &args.asking, site::inspect)?;
        (url, seen)
    };
    finished(
        cli,
        &args.auditing,
        &site::audit(&url, &seen, &rules),
        began,
    )
}

/// A URL of a page. Error: what is wrong with it.
pub fn page(text: &str) -> Result<Url, Exit> {
    // lab-load says best what is wrong with a URL.
    lab_load::Link::parse(text)?;
    Url::parse(text).map_err(|e| Exit::wrong(e.to_string()))
}

/// How a site is asked: all of it, or its cookies.
type Inspect = fn(&Url, &Options, &mut dyn FnMut(&str)) -> Result<Site, String>;

/// Asks a site, with progress on a terminal.
pub fn inspected(url: &Url, asking: &SiteRequestArgs, inspect: Inspect) -> Result<Site, Exit> {
    let bar = progress();
    let options = Options {
        rate: asking.ask_rate,
        resources: asking.resources as usize,
        ajp_port: asking.ajp_port,
    };
    let seen = inspect(url, &options, &mut |step| {
        bar.set_message(lab_report::clean(step));
        bar.tick();
    });
    bar.finish_and_clear();
    seen.map_err(|why| Exit::new(exit::FAILED, lab_report::clean(&why)))
}

/// A line of what is done, on a terminal.
pub fn progress() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{spinner} {wide_msg}");
    bar.set_style(style.expect("the template is sound"));
    bar
}
