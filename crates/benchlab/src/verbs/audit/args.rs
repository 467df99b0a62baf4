// SPDX-License-Identifier: Apache-2.0
//! The words of `benchlab audit`.

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
                        benchlab diff runs/BEFORE.lab runs/AFTER.lab\n\nNothing is changed. Each audit is kept as a run \
                        in runs/<time>-audit-<what>.lab, with an HTML report next to it.\nExit codes: 3 a finding is as --fail-on says."
)]
pub struct AuditArgs {
    /// The audit to run
    #[command(subcommand)]
    pub verb: AuditVerb,
}

/// The audits.
#[derive(Subcommand)]
pub enum AuditVerb {
    /// Say whether this machine is set up well: disks, memory, processor, clock, network, limits
    Host(HostArgs),
    /// Say what a site's cookies cost on the wire, who set them, and how they should be set
    Cookies(CookiesArgs),
    /// Look at a page, the files that it loads and the server behind it; with GET and HEAD only
    Site(SiteArgs),
    /// Compare IPv4 with IPv6 on the way to a server, in mirrored turns
    Net(NetArgs),
    /// Say what rules of your own can look at: the classes of things, and the values of one
    Values(ValuesArgs),
}

/// Options shared by all audits.
#[derive(Args)]
pub struct Auditing {
    /// End with exit code 3 if a finding is in this state, or in a worse one
    #[arg(long, value_name = "STATE")]
    pub fail_on: Option<FailOn>,
    /// The rules in this folder too, a TOML file each
    #[arg(long, value_name = "DIR")]
    pub rules: Option<PathBuf>,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Where the run file goes [default: the project's runs/, or outside of a project
    /// ~/.local/share/benchlab/runs]
    #[arg(long, value_name = "DIR", conflicts_with = "no_run")]
    pub runs: Option<PathBuf>,
    /// Keep no run file
    #[arg(long)]
    pub no_run: bool,
}

/// The value of `--fail-on`: the findings that are failures.
#[derive(Clone, Copy, ValueEnum)]
pub enum FailOn {
    /// Bad ones
    Bad,
    /// Bad ones and advice
    Advice,
    /// Those that could not be seen, too
    Unknown,
}

impl FailOn {
    /// The least bad state that is a failure.
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
                        benchlab audit host --root copied/   # of another machine: its proc/, sys/ and etc/, and df.txt\n  \
                        benchlab audit host --measure /srv /dev/sda   # a scratch file in /srv next to a disk, which is only read\n  \
                        benchlab audit host --watch 10m --fast /mnt/ssd --script move.sh   # what belongs on the fast disk"
)]
pub struct HostArgs {
    /// Measure these disks, side by side: of a folder a scratch file in it, of a device or a file only reads
    /// [default: a scratch file here]
    #[arg(long, value_name = "DIR|DEVICE", num_args = 0.., default_missing_value = ".", conflicts_with = "root")]
    pub measure: Vec<PathBuf>,
    /// Watch for this long which folders are read and written; Ctrl-C ends it early
    #[arg(long, value_name = "TIME", value_parser = time, conflicts_with = "root")]
    pub watch: Option<Duration>,
    /// Watch files below this folder only
    #[arg(long, value_name = "DIR", default_value = "/", requires = "watch")]
    pub under: PathBuf,
    /// Plan what should lie on the filesystem of this folder
    #[arg(long, value_name = "DIR", requires = "watch")]
    pub fast: Option<PathBuf>,
    /// Write the script that moves to this file; it is not run
    #[arg(long, value_name = "FILE", requires = "fast")]
    pub script: Option<PathBuf>,
    /// Audit a copy of another machine's files: a folder with proc/, sys/ and etc/
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    #[command(flatten)]
    pub auditing: Auditing,
}

/// `benchlab audit cookies`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit cookies page.har --rate 50\n  benchlab audit cookies https://www.example.org/\n  \
                        pbpaste | benchlab audit cookies -   # a table of cookies or a `Cookie:` line, copied from a browser\n\n\
                        Values are not kept: their length, and a hash whose salt is thrown away. Save a HAR with sensitive data: \
                        else the browser leaves cookies out."
)]
pub struct CookiesArgs {
    /// URLs, whose pages and files are requested; or files: HAR, a cookie jar of curl, text copied from a
    /// browser's tools; `-`: standard input
    #[arg(required = true, value_name = "URL|FILE")]
    pub from: Vec<String>,
    /// Requests per second, for what a day costs
    #[arg(long, default_value = "10", value_name = "N", value_parser = rate)]
    pub rate: f64,
    #[command(flatten)]
    pub requests: SiteRequestArgs,
    #[command(flatten)]
    pub auditing: Auditing,
}

/// How a site is asked.
#[derive(Args)]
pub struct SiteRequestArgs {
    /// Files of the page that are requested, at most
    #[arg(long, default_value = "50", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=500))]
    pub resources: u32,
    /// Requests per second to the site, at most
    #[arg(long, default_value = "5", value_name = "N", value_parser = rate)]
    pub ask_rate: f64,
    /// The port of AJP, which must not answer
    #[arg(long, default_value = "8009", value_name = "PORT")]
    pub ajp_port: u16,
}

/// `benchlab audit site`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit site https://www.example.org/\n  benchlab audit site http://127.0.0.1:8080/ --fail-on bad\n\n\
                        Only the host of the URL is asked, with GET and HEAD, five times a second at most."
)]
pub struct SiteArgs {
    /// The page, or a HAR file that a browser saved
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
    /// Explain each of them, even if that takes more than a screen
    #[arg(long, requires = "class")]
    pub full: bool,
}

/// `benchlab audit net`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit net www.example.org\n  benchlab audit net --local   # what the protocols cost \
                        on this machine alone\n\nEach address gets two connections a round, with a HEAD request."
)]
pub struct NetArgs {
    /// Names of servers
    #[arg(value_name = "HOST", required_unless_present = "local")]
    pub hosts: Vec<String>,
    /// The port
    #[arg(long, default_value = "443", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: u16,
    /// Without TLS
    #[arg(long)]
    pub plain: bool,
    /// Rounds of two turns of each family
    #[arg(long, default_value = "20", value_name = "N", value_parser = clap::value_parser!(u32).range(20..=1000))]
    pub rounds: u32,
    /// Compare 127.0.0.1 with ::1 too: the control
    #[arg(long)]
    pub local: bool,
    #[command(flatten)]
    pub auditing: Auditing,
}
