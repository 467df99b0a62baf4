// SPDX-License-Identifier: Apache-2.0
//! The arguments of `benchlab audit`.

use crate::completion;
use crate::option_values::{rate, time};
use crate::options::{DisplayArgs, ListingArgs};
use clap::{Args, Subcommand};
use clap_complete::engine::{ArgValueCandidates, SubcommandCandidates};
use lab_audit::gate::AuditCondition;
use std::path::PathBuf;
use std::time::Duration;

/// `benchlab audit`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit host\n  benchlab audit host --fail-if 'bad>0' --format json\n  \
                        benchlab audit host --waive clock-synchronized \\\n      --reason 'the host has no network' --until 2027-03-31\n  \
                        benchlab diff runs/BEFORE.lab runs/AFTER.lab\n\nAudits change nothing. Each audit is saved as a run \
                        in runs/<time>-audit-<what>.lab, with an HTML report next to it.\nExit code 3: a --fail-if condition holds."
)]
pub struct AuditArgs {
    /// The audit to run
    #[command(subcommand)]
    pub verb: AuditVerb,
}

/// The subcommands of `benchlab audit`, one per kind of audit.
#[derive(Subcommand)]
#[command(add = SubcommandCandidates::new(completion::audits))]
pub enum AuditVerb {
    /// Check whether this machine is set up well: disks, memory, processor, clock, network, limits
    Host(HostArgs),
    /// Show what a site's cookies cost on the network, who set them, and how to set them properly
    Cookies(CookiesArgs),
    /// Check a page, the files that it loads and its server, with GET and HEAD requests only
    Site(SiteArgs),
    /// Compare IPv4 with IPv6 on the path to a server, in mirrored turns
    Net(NetArgs),
    /// List the values that your own rules can use: all classes of objects, or the values of one class
    Values(ValuesArgs),
    /// An audit of benchlab.toml, with its options
    #[command(external_subcommand)]
    Named(Vec<String>),
}

impl AuditArgs {
    /// Returns the options that audits have in common, or `None` if nothing is audited.
    pub fn auditing(&self) -> Option<&Auditing> {
        match &self.verb {
            AuditVerb::Host(args) => Some(&args.auditing),
            AuditVerb::Cookies(args) => Some(&args.auditing),
            AuditVerb::Site(args) => Some(&args.auditing),
            AuditVerb::Net(args) => Some(&args.auditing),
            AuditVerb::Values(_) | AuditVerb::Named(_) => None,
        }
    }

    /// Returns the same options as [`AuditArgs::auditing`], as a mutable reference.
    pub fn auditing_mut(&mut self) -> Option<&mut Auditing> {
        match &mut self.verb {
            AuditVerb::Host(args) => Some(&mut args.auditing),
            AuditVerb::Cookies(args) => Some(&mut args.auditing),
            AuditVerb::Site(args) => Some(&mut args.auditing),
            AuditVerb::Net(args) => Some(&mut args.auditing),
            AuditVerb::Values(_) | AuditVerb::Named(_) => None,
        }
    }
}

/// Options shared by all audits.
#[derive(Args)]
pub struct Auditing {
    /// Exit with code 3 if this condition on the number of findings holds: 'bad>0', 'advice>3', 'unknown>0', or on
    /// the findings of one rule, such as 'bad(net-ports)>0'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<AuditCondition>,
    /// Accept the findings of a rule (disk-scheduler), or of a rule on one object
    /// (disk-scheduler:sda). Accepted findings are shown, but do not count up to and including the
    /// day of --until. Give --reason and --until once for each --waive, or once for all
    #[arg(
        long,
        value_name = "RULE[:OBJECT]",
        requires = "reason",
        requires = "until"
    )]
    pub waive: Vec<String>,
    /// The reason for --waive
    #[arg(long, value_name = "TEXT", requires = "waive")]
    pub reason: Vec<String>,
    /// The last day on which --waive applies, such as 2027-03-31
    #[arg(long, value_name = "DATE", requires = "waive")]
    pub until: Vec<String>,
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
    /// If true, nothing is printed.
    #[arg(skip)]
    pub quiet: bool,
}

/// `benchlab audit host`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab audit host\n  benchlab audit host --full\n  \
                        # Another machine's proc/, sys/, etc/ and df.txt\n  \
                        benchlab audit host --root copied/\n  \
                        # A scratch file in /srv, and a disk, which is only read\n  \
                        benchlab audit host --measure /srv /dev/sda\n  \
                        # What to move to the fast disk\n  \
                        benchlab audit host --watch 10m --fast /mnt/ssd --script move.sh"
)]
pub struct HostArgs {
    /// Measure the speed of these disks concurrently. In a directory, benchlab writes a scratch
    /// file; it only reads a device or a file [default: a scratch file in the current directory]
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
    /// Write to this file a script that moves the directories; benchlab does not run the script
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
                        # A cookie table or a `Cookie:` line copied from a browser\n  \
                        pbpaste | benchlab audit cookies -\n\n\
                        Cookie values are not saved, only their length and a hash with a discarded salt. Save a HAR file with \
                        sensitive data; otherwise the browser omits cookies."
)]
pub struct CookiesArgs {
    /// URLs of pages to request, with the files that they load; or HAR, a curl cookie jar, or text
    /// copied from a browser's developer tools; `-` for standard input
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
    after_help = "Examples:\n  benchlab audit site https://www.example.org/\n  benchlab audit site http://127.0.0.1:8080/ --fail-if 'bad>0'\n\n\
                        Requests go only to the host of the URL, use GET and HEAD, and are limited to five per second (--ask-rate)."
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
    /// A class of objects, such as disk
    #[arg(add = ArgValueCandidates::new(completion::classes))]
    pub class: Option<String>,
    /// Explain each value, even if the output does not fit on a screen
    #[arg(long, requires = "class")]
    pub full: bool,
    #[command(flatten)]
    pub listing: ListingArgs,
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
    /// The TCP port of the servers
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
