// SPDX-License-Identifier: Apache-2.0
//! The arguments of `benchlab audit`.

use crate::option_values::{rate, time};
use crate::options::DisplayArgs;
use clap::{Args, Subcommand, ValueEnum};
use lab_model::audit::State;
use std::path::PathBuf;
use std::time::Duration;

/// `benchlab audit`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit host\n  benchlab audit host --fail-on bad --format json\n  \
                        benchlab diff runs/BEFORE.lab runs/AFTER.lab\n\nAudits change nothing. Each audit is saved as a run \
                        in runs/<time>-audit-<what>.lab, with an HTML report next to it.\nExit codes: 3 a finding has the state of --fail-on, or a worse one."
)]
pub struct AuditArgs {
    /// The audit to run
    #[command(subcommand)]
    pub verb: AuditVerb,
}

/// The audits.
#[derive(Subcommand)]
pub enum AuditVerb {
    /// Check whether this machine is set up well: disks, memory, processor, clock, network, limits
    Host(HostArgs),
    /// Show what a site's cookies cost on the network, who set them, and how to set them properly
    Cookies(CookiesArgs),
    /// Check a page, the files that it loads and its server, with GET and HEAD requests only
    Site(SiteArgs),
    /// Compare IPv4 with IPv6 on the path to a server, in mirrored turns
    Net(NetArgs),
    /// List the values that your own rules can use: all classes of things, or the values of one class
    Values(ValuesArgs),
}

/// Options shared by all audits.
#[derive(Args)]
pub struct Auditing {
    /// Exit with code 3 if a finding has this state or a worse one
    #[arg(long, value_name = "STATE")]
    pub fail_on: Option<FailOn>,
    /// Also use the rules in this directory, one TOML file per rule
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Directory for the run file [default: runs/ in the project, or ~/.local/share/benchlab/runs outside of a
    /// project]
    #[arg(long, value_name = "DIR", conflicts_with = "no_run")]
    pub runs: Option<PathBuf>,
    /// Do not save a run file
    #[arg(long)]
    pub no_run: bool,
}

/// The value of `--fail-on`: the findings that count as failures.
#[derive(Clone, Copy, ValueEnum)]
pub enum FailOn {
    /// Bad findings
    Bad,
    /// Bad findings and advice
    Advice,
    /// Bad findings, advice, and findings that could not be checked
    Unknown,
}

impl FailOn {
    /// Returns the mildest state that counts as a failure.
    pub fn state(self) -> State {
        match self {
            FailOn::Bad => State::Bad,
            FailOn::Advice => State::Advice,
            FailOn::Unknown => State::Unknown,
        }
    }
}

/// `benchlab audit host`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit host\n  benchlab audit host --full\n  \
                        benchlab audit host --root copied/   # another machine's proc/, sys/, etc/ and df.txt\n  \
                        benchlab audit host --measure /srv /dev/sda   # a scratch file in /srv, and a disk, which is only read\n  \
                        benchlab audit host --watch 10m --fast /mnt/ssd --script move.sh   # what to move to the fast disk"
)]
pub struct HostArgs {
    /// Measure these disks concurrently: in a directory with a scratch file, on a device or a file with reads
    /// only [default: a scratch file in the current directory]
    #[arg(long, value_name = "DIR|DEVICE", num_args = 0.., default_missing_value = ".", conflicts_with = "root")]
    pub measure: Vec<PathBuf>,
    /// Record for this long which directories are read and written; Ctrl-C stops early
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "root")]
    pub watch: Option<Duration>,
    /// Record only files below this directory
    #[arg(long, value_name = "DIR", default_value = "/", requires = "watch")]
    pub under: PathBuf,
    /// Plan what to move to the filesystem of this directory
    #[arg(long, value_name = "DIR", requires = "watch")]
    pub fast: Option<PathBuf>,
    /// Write a script that moves the directories to this file; it is not run
    #[arg(long, value_name = "FILE", requires = "fast")]
    pub script: Option<PathBuf>,
    /// Audit a copy of another machine's files: a directory with proc/, sys/ and etc/
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    #[command(flatten)]
    pub auditing: Auditing,
}

/// `benchlab audit cookies`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit cookies page.har --rate 50\n  benchlab audit cookies https://www.example.org/\n  \
                        pbpaste | benchlab audit cookies -   # a cookie table or a `Cookie:` line copied from a browser\n\n\
                        Cookie values are not saved, only their length and a hash with a discarded salt. Save a HAR file with \
                        sensitive data; otherwise the browser omits cookies."
)]
pub struct CookiesArgs {
    /// URLs, whose pages and files are requested; or files: HAR, a curl cookie jar, or text copied from a
    /// browser's developer tools; `-` reads standard input
    #[arg(required = true, value_name = "URL|FILE")]
    pub from: Vec<String>,
    /// Requests per second, for the cost per day
    #[arg(long, default_value = "10", value_name = "N", value_parser = rate)]
    pub rate: f64,
    #[command(flatten)]
    pub requests: SiteRequestArgs,
    #[command(flatten)]
    pub auditing: Auditing,
}

/// Options for requests to a site.
#[derive(Args)]
pub struct SiteRequestArgs {
    /// Maximum number of the page's files to request
    #[arg(long, default_value = "50", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=500))]
    pub resources: u32,
    /// Maximum number of requests per second to the site
    #[arg(long, default_value = "5", value_name = "N", value_parser = rate)]
    pub ask_rate: f64,
    /// The AJP port, which must not respond
    #[arg(long, default_value = "8009", value_name = "PORT")]
    pub ajp_port: u16,
}

/// `benchlab audit site`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit site https://www.example.org/\n  benchlab audit site http://127.0.0.1:8080/ --fail-on bad\n\n\
                        Requests go only to the host of the URL, use GET and HEAD, and are limited to five per second."
)]
pub struct SiteArgs {
    /// The page, or a HAR file saved with a browser
    #[arg(value_name = "URL|FILE.har")]
    pub of: String,
    #[command(flatten)]
    pub requests: SiteRequestArgs,
    #[command(flatten)]
    pub auditing: Auditing,
}

/// `benchlab audit values`
#[derive(Args)]
pub struct ValuesArgs {
    /// A class of things, such as disk
    pub class: Option<String>,
    /// Explain each value, even if the output does not fit on a screen
    #[arg(long, requires = "class")]
    pub full: bool,
}

/// `benchlab audit net`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit net www.example.org\n  benchlab audit net --local   # the cost of the protocols \
                        on this machine alone\n\nEach address gets two connections per round, with a HEAD request each."
)]
pub struct NetArgs {
    /// Host names of servers
    #[arg(value_name = "HOST", required_unless_present = "local")]
    pub hosts: Vec<String>,
    /// The port
    #[arg(long, default_value = "443", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Do not use TLS
    #[arg(long)]
    pub plain: bool,
    /// Rounds, with two turns per address family
    #[arg(long, default_value = "20", value_name = "N", value_parser = clap::value_parser!(u32).range(20..=1000))]
    pub rounds: u32,
    /// Also compare 127.0.0.1 with ::1, as a control
    #[arg(long)]
    pub local: bool,
    #[command(flatten)]
    pub auditing: Auditing,
}
