// SPDX-License-Identifier: Apache-2.0
//! The words of the command line.

use crate::option_values::{ExpectedStatuses, expected_statuses, part, rate, stage, time};
use crate::options::formats;
pub use crate::options::{AgentLoss, AgentPlacement, Color, DisplayArgs};
use crate::verbs::audit::args::AuditArgs;
pub use crate::verbs::logs::args::LogsArgs;
use crate::verbs::serve::args::ServeArgs;
use clap::builder::TypedValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use lab_document::{FORMATS, Format, format};
use lab_load::IpFamily;
use lab_many::launcher::{self, Launcher};
use lab_model::{Stage, TargetKind};
use lab_stats::load::threshold::Threshold;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Finds out what a stack really costs, on your machine, with figures that hold.
#[derive(Parser)]
#[command(
    name = "benchlab",
    version,
    after_help = "Example:\n  benchlab run sql --quick\n\nExit codes: 0 done, 1 a run failed, 2 the command or a \
                  file is wrong,\n3 a gate found a regression, 4 a gate is inconclusive,\n5 the host is not fit (--strict), 130 stopped by Ctrl-C."
)]
pub struct Cli {
    /// The project's folder [default: the nearest one upwards that holds experiments/]
    #[arg(long, global = true, value_name = "DIR", env = "BENCHLAB_PROJECT")]
    pub project: Option<PathBuf>,
    /// The verb
    #[command(subcommand)]
    pub verb: Verb,
}

/// The verbs of the command line.
#[derive(Subcommand)]
pub enum Verb {
    /// Measure an experiment and report what it found
    Run(Box<RunArgs>),
    /// Measure commands or revisions in turns, and report which is faster
    Compare(Box<CompareArgs>),
    /// Show what changed between two runs of any kind
    Diff(DiffArgs),
    /// Put load on an HTTP server: what it can take, and what its users feel; or compare servers in turns
    Load(Box<LoadArgs>),
    /// Say where memory and cache misses go, before and after a change: with Valgrind, or of its files
    Profile(Box<ProfileArgs>),
    /// Say why one subject is faster than another: count what an operation of each asks of the system
    Explain(Box<ExplainArgs>),
    /// Say which few pages and queries cost the most, when, and how much room is left: from logs
    Logs(Box<LogsArgs>),
    /// Say whether this machine, a network, a site is set up well: findings, what they cost, the fix
    Audit(Box<AuditArgs>),
    /// Build the subjects, measure nothing
    Build(BuildArgs),
    /// Go on with a run that was stopped or killed
    Resume(ResumeArgs),
    /// Show a run: in the terminal, or as Markdown, CSV, JSON, XML, XLSX, SVG or HTML
    Report(ReportArgs),
    /// Show how the results of an experiment or a comparison changed from run to run
    History(HistoryArgs),
    /// Show all runs as local pages, and follow one while it is measured
    Serve(ServeArgs),
    /// Make a run file of figures that another tool exchanged as XML
    Import(ImportArgs),
    /// Show experiments, their cases and subjects, and what is missing for each
    List(ListArgs),
    /// Say what this host would do to a measurement, and what to install
    #[command(after_help = "Example:\n  benchlab doctor")]
    Doctor,
    /// Print completions for a shell
    #[command(
        after_help = "Example:\n  benchlab completions bash > ~/.local/share/bash-completion/completions/benchlab"
    )]
    Completions(CompletionsArgs),
    /// Write the man pages
    #[command(after_help = "Example:\n  benchlab man ~/.local/share/man/man1")]
    Man(ManArgs),
    /// Print the Job that --on k8s:N makes, to be edited
    #[command(
        after_help = "Example:\n  benchlab manifest > job.yaml\n  benchlab load --on k8s:8,job.yaml http://web/"
    )]
    Manifest,
    /// Do a part of a coordinator's work: what --on starts
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Make a Job and be connected to its agent: what --on k8s:N starts
    #[command(hide = true)]
    KubernetesJob(KubernetesJobArgs),
}

/// `benchlab agent`
#[derive(Args)]
pub struct AgentArgs {
    /// Say the program's hash
    #[arg(long)]
    pub hash: bool,
    /// The program was copied for this agent: delete it
    #[arg(long)]
    pub copied: bool,
}

/// `benchlab kubernetes-job`
#[derive(Args)]
pub struct KubernetesJobArgs {
    /// The Job's name
    pub name: String,
    /// Bytes of the program that comes on standard input
    #[arg(long, required_unless_present = "delete")]
    pub bytes: Option<usize>,
    /// Delete the Job
    #[arg(long)]
    pub delete: bool,
    /// A manifest for the Job [default: the one that `benchlab manifest` prints]
    #[arg(long)]
    pub manifest: Option<PathBuf>,
}

/// The value of `run --on`.
#[derive(Clone)]
pub enum RunOn {
    /// Hosts that measure blocks.
    Hosts(Arc<dyn Launcher>),
    /// Folders that subjects work in.
    Folders(Vec<PathBuf>),
}

impl RunOn {
    /// The launcher of agents on the hosts; `None` for folders.
    pub fn launcher(&self) -> Option<&Arc<dyn Launcher>> {
        match self {
            RunOn::Hosts(launcher) => Some(launcher),
            RunOn::Folders(_) => None,
        }
    }

    /// The folders.
    pub fn folders(&self) -> &[PathBuf] {
        match self {
            RunOn::Hosts(_) => &[],
            RunOn::Folders(folders) => folders,
        }
    }
}

/// `benchlab run`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab run sql --install\n  benchlab run sql --subjects c,python --cases select --set limit=1,1000\n  \
                        benchlab run sql --targets postgresql --cases point,connections\n  \
                        benchlab run sql --subjects java --cases point --blocks 12\n\nThe run is kept in runs/<time>-<experiment>.lab, with an HTML report next to it."
)]
pub struct RunArgs {
    /// The experiment: a folder under experiments/
    pub experiment: String,
    /// Only these subjects, or named selections of them
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…")]
    pub subjects: Vec<String>,
    /// Only these cases
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…")]
    pub cases: Vec<String>,
    /// Only these targets, such as sqlite
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…", value_parser = kind)]
    pub targets: Vec<TargetKind>,
    /// Values for a sweep or a factor; `all` for all of them
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub set: Vec<String>,
    /// Hosts that measure blocks in parallel: ssh:HOST,HOST, slurm:8, k8s:8, local:2, netns:NAME,NAME. For
    /// experiments about disks: the folders that subjects work in, or devices, each for a filesystem on it
    /// [default: every writable filesystem on a disk of its own, and one in memory]
    #[arg(long, value_name = "WHERE|DIR|DEVICE,…", value_parser = run_on)]
    pub on: Vec<RunOn>,
    #[command(flatten)]
    pub lost: AgentLoss,
    /// The subject that the others are compared with [default: the experiment's]
    #[arg(long, short, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Measure no second copy of the baseline
    #[arg(long)]
    pub no_control: bool,
    /// Measure for about a minute, to find differences of 20 %: short blocks of the points that the experiment
    /// names for it
    #[arg(long, short)]
    pub quick: bool,
    /// Measure all cases with all values, not only those that answer the experiment's main question
    #[arg(long, conflicts_with = "quick")]
    pub thorough: bool,
    /// Time for measuring, such as 90s or 10m; `none`: until every comparison is resolved [default: 5m a
    /// target, at most 10m; thorough: 5m a target; quick: 70s, in which it has 12 blocks, or else 5]
    #[arg(long, visible_alias = "for", value_name = "TIME", value_parser = budget)]
    pub budget: Option<Budget>,
    /// Measure this many blocks, whatever they show
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub blocks: Option<u32>,
    /// Compare servers when each process has served this many requests, such as 10000, instead of at their
    /// steady level
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub age: Option<u64>,
    /// Mirrored pairs of passes in a block [default: as many as fit into its time, at most 40; quick: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub pairs: Option<u32>,
    /// Ratios within ± this count as equivalent [default: 2%, quick: 10%]
    #[arg(long, value_name = "PERCENT", value_parser = part)]
    pub margin: Option<f64>,
    /// Stop when every ratio is known to ± this
    #[arg(long, value_name = "PERCENT", value_parser = part)]
    pub precision: Option<f64>,
    /// Measure this many blocks alone, as a pilot, and say what a run would take to find differences of 1, 2,
    /// 5 and 10 %; keep nothing
    #[arg(long, value_name = "BLOCKS", num_args = 0..=1, require_equals = true, default_missing_value = "8",
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub plan: Option<u32>,
    /// Count afterwards, outside of all measuring, what an operation of each subject costs: see `benchlab explain`
    #[arg(long, conflicts_with = "plan")]
    pub explain: bool,
    /// Show afterwards which processes wait while it is slow, for experiments that support it
    #[arg(long, conflicts_with = "plan")]
    pub why: bool,
    /// A subject that takes longer for one reply has failed
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Directory of the databases, such as a folder on a disk [default: in memory, so that no commit waits
    /// for a disk]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Use your own server, in a schema of its own that is removed afterwards, instead of a private one:
    /// postgresql=URL or mariadb=URL
    #[arg(long, value_name = "KIND=URL", value_parser = service)]
    pub service: Vec<(TargetKind, String)>,
    /// Start a private server with this setting instead of its default, such as
    /// postgresql.shared_buffers=1GB; shown in the report
    #[arg(long, value_name = "KIND.NAME=VALUE", value_parser = service_set)]
    pub service_set: Vec<(TargetKind, String, String)>,
    /// Install what is missing (Debian packages, by apt-get)
    #[arg(long)]
    pub install: bool,
    #[command(flatten)]
    pub measuring: Measuring,
}

/// Options shared by all verbs that measure.
#[derive(Args)]
pub struct Measuring {
    /// Seed of the order and of the inputs [default: a new one]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Repeat a block or a turn that was disturbed, up to this many times; 0 where a server must not be asked
    /// again
    #[arg(long, default_value = "2", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub redo: u32,
    /// Where the run file goes [default: the project's runs/, or outside of a project
    /// ~/.local/share/benchlab/runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// End with exit code 5 if the host is not fit to measure on, and with 1 as soon as an agent is lost
    #[arg(long)]
    pub strict: bool,
}

/// `benchlab compare`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab compare 'sort a.txt' './mysort a.txt'\n  \
                        benchlab compare --sweep size=1,10,100 --prepare 'rm -f out' 'prog {size} out'\n  \
                        benchlab compare --rev main --rev . --setup 'cargo build --release' -- target/release/prog x\n  \
                        benchlab compare --gate --margin 5% --export page.html 'old/prog' 'new/prog'\n  \
\nA command with shell syntax (| > * $ …) is run by sh, any other directly.\nExit codes with --gate: 3 a command is slower than the baseline, 4 inconclusive.\nThe run is kept; `benchlab history NAME` shows it with earlier ones."
)]
pub struct CompareArgs {
    /// The commands, as one would type them into a shell, the baseline first
    #[arg(value_name = "COMMAND")]
    pub commands: Vec<String>,
    /// The words of one command, which is run without a shell
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// Run the command in this revision, in a worktree of its own; `.` is the working tree as it
    /// is. Give two or more, the baseline first
    #[arg(long, value_name = "REVISION")]
    pub rev: Vec<String>,
    /// Make this many builds of each revision, in folders whose names have random lengths; blocks take turns
    /// among them, so that the result holds for builds and not for one of each. --setup gets a seed in
    /// BENCHLAB_BUILD_SEED
    #[arg(long, value_name = "N", requires = "rev", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub builds: Option<u32>,
    /// A name for each command, in their order [default: A, B, …]
    #[arg(long, short, value_name = "NAME")]
    pub name: Vec<String>,
    /// The name of the command that the others are compared with [default: the first]
    #[arg(long, short, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Values for {NAME} in the commands: each command is measured with each number, with a fit over
    /// them; values that are not numbers make commands of their own
    #[arg(long, short = 'L', value_name = "NAME=VALUE,…")]
    pub sweep: Vec<String>,
    /// Run this once before a command's first process, such as its build. Once for all, or once for
    /// each command
    #[arg(long, short, value_name = "COMMAND")]
    pub setup: Vec<String>,
    /// Run this before every process, untimed. Once for all, or once for each command
    #[arg(long, short, value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// Run this once after a command's last process. Once for all, or once for each command
    #[arg(long, short, value_name = "COMMAND")]
    pub cleanup: Vec<String>,
    /// The file that every command reads on its standard input [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// A command whose standard output is not the baseline's has failed
    #[arg(long)]
    pub same_output: bool,
    /// Measure commands that end with another exit status than 0 too. Commands are then compared only if all their runs
    /// ended with the same status, or with one of the statuses that are named
    #[arg(long, short, value_name = "STATUS,…", num_args = 0..=1, require_equals = true, default_missing_value = "any",
          value_parser = expected_statuses)]
    pub ignore_failure: Option<ExpectedStatuses>,
    /// A process that takes longer has failed, and is killed
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Cores for the commands [default: all on the same core, or wherever the system puts them if one of them
    /// uses more than one at a time]
    #[arg(long, value_name = "WHERE")]
    pub cores: Option<CommandCores>,
    /// Ratios within ± this count as equivalent
    #[arg(long, default_value = "2%", value_name = "PERCENT", value_parser = part)]
    pub margin: f64,
    /// Time for measuring, such as 10s; less is taken if the answer is known before [default: 30s,
    /// 120s with --precision, or what as many blocks take as the level needs]
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// Stop when every ratio is known to ± this
    #[arg(long, value_name = "PERCENT", value_parser = part)]
    pub precision: Option<f64>,
    /// Measure this many blocks, whatever they show
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub blocks: Option<u32>,
    /// Mirrored pairs of passes in a block [default: as many as fit into a block's time, at most 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub pairs: Option<u32>,
    /// Measure this many blocks alone, as a pilot, and say what a run would take to find differences of 1, 2,
    /// 5 and 10 %; keep nothing
    #[arg(long, value_name = "BLOCKS", num_args = 0..=1, require_equals = true, default_missing_value = "8",
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub plan: Option<u32>,
    /// Measure a second copy of the baseline too, to show the run's own noise
    #[arg(long)]
    pub control: bool,
    /// Count afterwards the system calls, allocations and instructions of a run of each command: under
    /// strace, an allocator that counts, and Callgrind where there are no hardware counters
    #[arg(long, conflicts_with = "plan")]
    pub explain: bool,
    /// End with exit code 3 if a command is slower than the baseline, 4 if that is inconclusive
    #[arg(long)]
    pub gate: bool,
    /// Write a report too; the name's ending says in which form (.txt .md .csv .json .xml .xlsx .html,
    /// or a folder for .svg plots)
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    /// The comparison's name in the history [default: the first command's program]
    #[arg(long = "as", value_name = "NAME")]
    pub title: Option<String>,
    #[command(flatten)]
    pub measuring: Measuring,
}

/// `benchlab diff`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab diff runs/MONDAY.lab runs/FRIDAY.lab\n  \
                        benchlab diff --full BEFORE.lab AFTER.lab\n  \
                        benchlab diff --export changes.html BEFORE.lab AFTER.lab\n\nBoth runs are of one kind: of one experiment, of commands, of load, of logs, or of one kind of audit."
)]
pub struct DiffArgs {
    /// The run file that the other is compared with
    #[arg(value_name = "RUN")]
    pub first: PathBuf,
    /// The other run file
    #[arg(value_name = "RUN")]
    pub second: PathBuf,
    /// For two logs: end with exit code 3 if a page takes more than 2 % longer in the second one, 4 if that
    /// is inconclusive
    #[arg(long)]
    pub gate: bool,
    /// Write a report too; the name's ending says in which form (.txt .md .csv .json .xml .xlsx .html,
    /// or a folder for .svg plots)
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// `benchlab load`
#[derive(Args)]
#[command(after_help = "Examples:\n  benchlab load http://127.0.0.1:8080/\n  \
                        benchlab load --rate 5000 --for 30s --fail-if 'p99>20ms' http://127.0.0.1:8080/\n  \
                        benchlab load --sweep connections=1,2,4,8,16,32,64 --server-pid 4711 http://127.0.0.1:8080/\n  \
                        benchlab load --header 'Accept: application/json' --expect-json ok=true --weights 3,1 \\\n    http://127.0.0.1:8080/list http://127.0.0.1:8080/item\n  \
                        benchlab load --on ssh:gen1,gen2 --rate 400000 --server-host ssh:web1 https://web1/\n  \
                        benchlab load http://127.0.0.1:8080/ http://127.0.0.1:8081/\n\nURLs of one server are requested in a mix; those of different servers compare the servers, the first \
                  being the baseline. With --requests each URL is a server, and they are compared in turns.\nWithout --rate each connection waits for its answer before it sends the next request; with it requests are \
                  sent when they are due, and their response time counts from then.\nThe run is kept in \
                  runs/<time>-<name>.lab, with an HTML report next to it.\nExit codes: 1 nothing was served, 3 a --fail-if holds or, with --gate, a server is slower than \
                  the baseline, 4 that is inconclusive.")]
pub struct LoadArgs {
    /// The URLs that are requested: of one server, or of servers that are compared in turns, the baseline first
    #[arg(value_name = "URL", required_unless_present = "requests")]
    pub urls: Vec<String>,
    /// Compare the URLs in turns, even if they are of one server
    #[arg(long)]
    pub in_turns: bool,
    /// Connections that are kept open
    #[arg(long, short, default_value = "50", value_name = "N", value_parser = connections())]
    pub connections: u32,
    /// How long each point is loaded [default: 10s, or as long as the stages take]
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub length: Option<Duration>,
    /// Each number of connections in one run, in random order again and again, with a fit of how the
    /// server scales: connections=1,2,4,8
    #[arg(long, short = 'L', value_name = "NAME=VALUE,…")]
    pub sweep: Vec<String>,
    /// How often each URL is requested, in their order [default: equally often]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub weights: Vec<u32>,
    /// The process of each server on this machine, in their order, or one for all URLs of one server: its CPU time, memory
    /// and threads are measured too
    #[arg(long, value_name = "PID,…", value_delimiter = ',', value_parser = pid())]
    pub server_pid: Vec<i32>,
    /// Where the servers run, such as ssh:HOST: an agent there reads the CPU time, memory and threads of
    /// --server-pid, or of the process that listens on the URL's port
    #[arg(long, value_name = "WHERE", value_parser = launcher::parse)]
    pub server_host: Option<Arc<dyn Launcher>>,
    /// End with exit code 3 if this holds, such as 'p99>20ms' or 'errors>0.1%'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Threshold>,
    /// End with exit code 3 if a server is slower than the baseline, 4 if that is inconclusive
    #[arg(long)]
    pub gate: bool,
    /// Ratios of servers within ± this count as equivalent
    #[arg(long, default_value = "2%", value_name = "PERCENT", value_parser = part)]
    pub margin: f64,
    /// A name for each server, in their order [default: its scheme, host and port]
    #[arg(long, short, value_name = "NAME")]
    pub name: Vec<String>,
    /// Write a report too; the name's ending says in which form (.txt .md .csv .json .xlsx .html, or a
    /// folder for .svg plots)
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    /// The load's name in the history [default: host and port]
    #[arg(long = "as", value_name = "NAME")]
    pub title: Option<String>,
    #[command(flatten)]
    pub measuring: Measuring,
    #[command(flatten)]
    pub sending: Sending,
}

/// The requests of a load: their schedule, how they are sent, and the expected responses.
#[derive(Args, Default)]
pub struct Sending {
    /// Requests per second, sent when they are due, whatever became of those before (open loop)
    #[arg(long, value_name = "N", value_parser = rate, conflicts_with = "stages")]
    pub rate: Option<f64>,
    /// Rates that change evenly, one stage after the other, such as 0:1000:5s,1000:1000:20s
    #[arg(long, value_name = "FROM:TO:TIME,…", value_delimiter = ',', value_parser = stage)]
    pub stages: Vec<Stage>,
    /// Requests are due at equal distances, not at random as those of many independent users (with --rate or --stages)
    #[arg(long)]
    pub even: bool,
    /// Threads that put load on, at most one per core [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Open a connection for every request
    #[arg(long)]
    pub no_keep_alive: bool,
    /// Requests that a connection has under way at once [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub pipeline: Option<u32>,
    /// Speak HTTP/2
    #[arg(long)]
    pub http2: bool,
    /// Only IPv4 addresses, or only IPv6 ones; 4,6 compares both
    #[arg(long, value_name = "4|6|4,6", value_parser = families)]
    pub family: Option<Families>,
    /// The method [default: GET, or POST with a body]
    #[arg(long, short = 'X', value_name = "METHOD", conflicts_with = "requests")]
    pub method: Option<String>,
    /// A header that every request has; its value is not kept anywhere
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// The body of every request
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["body_file", "requests"])]
    pub body: Option<String>,
    /// A file with the body of every request
    #[arg(long, value_name = "FILE", conflicts_with = "requests")]
    pub body_file: Option<PathBuf>,
    /// A file of requests, as editors know them (.http); paths in it are of the URL's server
    #[arg(long, value_name = "FILE")]
    pub requests: Option<PathBuf>,
    /// Answers must have one of these statuses [default: 2xx,3xx]
    #[arg(long, value_name = "STATUS,…")]
    pub expect_status: Option<String>,
    /// Answers must have this body
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Option<String>,
    /// Answers must be JSON that has this value there, such as items.0.name="x"
    #[arg(long, value_name = "PATH=VALUE")]
    pub expect_json: Vec<String>,
    /// A request that takes longer has failed [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,
    /// Believe servers whose certificate is by the authorities in this PEM file, and no others
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// Believe every server, whatever certificate it has
    #[arg(long)]
    pub insecure: bool,
    /// Load this host although it is neither this one nor in a private network: it is yours to load
    #[arg(long, value_name = "HOST")]
    pub i_may_load: Option<String>,
    /// Write the response and service times of every slice as an HdrHistogram log too
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    #[command(flatten)]
    pub agents: AgentPlacement,
}

/// Address families, in the order given.
#[derive(Clone)]
pub struct Families(pub Vec<IpFamily>);

/// Where commands run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CommandCores {
    /// All on the same core, another one in each block
    One,
    /// Wherever the system puts them
    All,
}

/// `benchlab profile`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab profile './prog old' './prog new'\n  benchlab profile -- ./prog x\n  benchlab profile --rev HEAD~1 --rev . --setup make -- ./prog x\n  \
                        benchlab profile --massif massif.out.1 massif.out.2 --cachegrind cg.before cg.after\n  \
                        benchlab profile --fail-if 'peak>2MB' --fail-if 'D1mw>+5%' 'old/prog' 'new/prog'\n\nValgrind's figures are of a simulated processor; then the commands are measured as `benchlab compare` does it.\nExit codes with --fail-if: 3 a condition holds, 4 that is inconclusive."
)]
pub struct ProfileArgs {
    /// One command, or the one before and the one after, as one would type them into a shell
    #[arg(value_name = "COMMAND", num_args = 0..=2)]
    pub commands: Vec<String>,
    /// The words of one command, which is run without a shell
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// Files of Massif, before and after
    #[arg(long, value_name = "FILE", num_args = 1..=2, conflicts_with_all = ["commands", "words"])]
    pub massif: Vec<PathBuf>,
    /// Profile the command in this revision, in a worktree of its own; `.` is the working tree as it is. Give it
    /// twice for before and after
    #[arg(long, value_name = "REVISION", conflicts_with_all = ["massif", "cachegrind", "callgrind", "dhat"])]
    pub rev: Vec<String>,
    /// Run this once before each command, such as its build. Once for all, or once for each command
    #[arg(long, short, value_name = "COMMAND")]
    pub setup: Vec<String>,
    /// The name in the history [default: the first command's program]
    #[arg(long = "as", value_name = "NAME")]
    pub title: Option<String>,
    /// Files of Cachegrind, before and after
    #[arg(long, value_name = "FILE", num_args = 1..=2, conflicts_with_all = ["commands", "words"])]
    pub cachegrind: Vec<PathBuf>,
    /// Files of Callgrind, before and after; those of multiple parts or threads with commas: one,two
    #[arg(long, value_name = "FILE", num_args = 1..=2, conflicts_with_all = ["commands", "words"])]
    pub callgrind: Vec<String>,
    /// Files of DHAT, before and after
    #[arg(long, value_name = "FILE", num_args = 1..=2, conflicts_with_all = ["commands", "words"])]
    pub dhat: Vec<PathBuf>,
    /// A name for each, in their order [default: before, after; of one: program]
    #[arg(long, short, value_name = "NAME")]
    pub name: Vec<String>,
    /// A run under a tool that takes longer is stopped: its figures are those until then
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Time for measuring without Valgrind afterwards [default: 30s]
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// Profile alone, measure nothing afterwards
    #[arg(long)]
    pub no_measure: bool,
    /// Keep Valgrind's files in this folder
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// End with exit code 3 if this holds for the later program, such as 'peak>2MB', or for the change, such
    /// as 'D1mw>+5%'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<lab_profile::GateCondition>,
    /// Install Valgrind (Debian packages, by apt-get)
    #[arg(long)]
    pub install: bool,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Where the run file of the measurement goes [default: the project's runs/, or outside of a project
    /// ~/.local/share/benchlab/runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
}

/// `benchlab explain`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab explain sql --targets postgresql --cases insert_tx --set rows_tx=1 --subjects c,java\n  \
                        benchlab explain sql --targets sqlite --cases select_1 --subjects c,rust --full\n  \
                        benchlab explain runs/MONDAY.lab --cases connect\n\nEach subject is run once more, outside of all measuring: without a tracer, under strace, with an allocator that \
                  counts, and under Callgrind where there are no hardware counters. `benchlab run --explain` and \
                  `benchlab compare --explain` do it after measuring."
)]
pub struct ExplainArgs {
    /// The experiment: a folder under experiments/; or a run file, whose subjects and cases are taken
    #[arg(value_name = "EXPERIMENT|RUN")]
    pub of: String,
    /// Only these subjects, or named selections of them
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…")]
    pub subjects: Vec<String>,
    /// Only these cases
    #[arg(
        long,
        short,
        visible_alias = "case",
        value_delimiter = ',',
        value_name = "NAME,…"
    )]
    pub cases: Vec<String>,
    /// Only these targets, such as sqlite
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…", value_parser = kind)]
    pub targets: Vec<TargetKind>,
    /// Values for a sweep or a factor; `all` for all of them [default: for a sweep its first and its last]
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub set: Vec<String>,
    /// The subject that the others are compared with [default: the experiment's]
    #[arg(long, short, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Operations of the smaller batch; the greater one has twice as many [default: as many as take about
    /// 50 ms, 2 to 200]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub operations: Option<u64>,
    /// Seed of the inputs [default: a new one, or the run's]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A subject that takes longer for one reply has failed
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Directory of the databases [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Use your own server, in a schema of its own that is removed afterwards: postgresql=URL or
    /// mariadb=URL
    #[arg(long, value_name = "KIND=URL", value_parser = service)]
    pub service: Vec<(TargetKind, String)>,
    /// Start a private server with this setting instead of its default
    #[arg(long, value_name = "KIND.NAME=VALUE", value_parser = service_set)]
    pub service_set: Vec<(TargetKind, String, String)>,
    /// Install what is missing, strace included (Debian packages, by apt-get)
    #[arg(long)]
    pub install: bool,
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// `benchlab build`
#[derive(Args)]
#[command(after_help = "Example:\n  benchlab build sql --install")]
pub struct BuildArgs {
    /// The experiment [default: all]
    pub experiment: Option<String>,
    /// Install what is missing (Debian packages, by apt-get)
    #[arg(long)]
    pub install: bool,
}

/// `benchlab resume`
#[derive(Args)]
#[command(after_help = "Example:\n  benchlab resume runs/20261121-093000-sql.lab")]
pub struct ResumeArgs {
    /// The run file
    pub file: PathBuf,
    /// Time for measuring, earlier blocks included [default: as planned]
    #[arg(long, visible_alias = "for", value_name = "TIME", value_parser = budget)]
    pub budget: Option<Budget>,
    /// Directory of the databases [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Your own server again, where the run used one: postgresql=URL or mariadb=URL
    #[arg(long, value_name = "KIND=URL", value_parser = service)]
    pub service: Vec<(TargetKind, String)>,
}

/// `benchlab report`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab report runs/20261121-093000-sql.lab\n  benchlab report RUN.lab --format html --output report.html\n  \
                        benchlab report RUN.lab --format csv | head\n  benchlab report NEW.lab --with old.lab"
)]
pub struct ReportArgs {
    /// The run file
    pub file: PathBuf,
    /// Leave these agents out of all figures: for a load, the requests that they sent; for an experiment, the
    /// blocks that they measured. The report says so
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub without: Vec<String>,
    /// The form
    #[arg(long, short, default_value = "terminal", value_parser = formats(&FORMATS))]
    pub format: Format,
    /// Output file; a folder for svg, and for xml with one file per subject [default: standard output]
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// In a terminal, all tables and warnings, not the answer alone
    #[arg(long)]
    pub full: bool,
    /// Imported figures to show next to the measured ones, marked as having no intervals
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// Colours
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// The formats of a history: those of one file.
const HISTORY_FORMATS: [Format; 6] = [
    format::terminal::FORMAT,
    format::markdown::FORMAT,
    format::csv::FORMAT,
    format::json::FORMAT,
    format::xlsx::FORMAT,
    format::html::FORMAT,
];

/// `benchlab history`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab history\n  benchlab history sql --subjects java --last 50\n  \
                        benchlab history sql --format csv > history.csv"
)]
pub struct HistoryArgs {
    /// The experiment or the comparison [default: shows which there are]
    pub name: Option<String>,
    /// Only these subjects
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…")]
    pub subjects: Vec<String>,
    /// In a terminal, all tables, not the answer alone
    #[arg(long)]
    pub full: bool,
    /// Only this many runs, the latest
    #[arg(long, default_value = "20", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub last: u32,
    /// The form
    #[arg(long, short, default_value = "terminal", value_parser = formats(&HISTORY_FORMATS))]
    pub format: Format,
    /// Where the run files are [default: the project's runs/, or outside of a project
    /// ~/.local/share/benchlab/runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// Colours
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// `benchlab import`
#[derive(Args)]
#[command(
    after_help = "Example:\n  benchlab import results-2019.xml\n  benchlab report runs/NEW.lab --with runs/results-2019.lab"
)]
pub struct ImportArgs {
    /// An XML file of <benchmark> elements
    pub file: PathBuf,
    /// The run file to make [default: the file's name with .lab, where other runs are]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `benchlab list`
#[derive(Args)]
#[command(after_help = "Examples:\n  benchlab list\n  benchlab list sql\n  benchlab list --runs")]
pub struct ListArgs {
    /// Only this experiment
    pub experiment: Option<String>,
    /// Each subject's driver, each case's values, and how to get what is missing
    #[arg(long, requires = "experiment")]
    pub full: bool,
    /// The runs instead: the project's, or outside of a project those in ~/.local/share/benchlab/runs
    #[arg(long)]
    pub runs: bool,
}

/// `benchlab completions`
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// `benchlab man`
#[derive(Args)]
pub struct ManArgs {
    /// The folder to write benchlab.1 and a page for each verb into
    pub folder: PathBuf,
}

/// A time for measuring, or none.
#[derive(Clone, Copy)]
pub struct Budget(pub Option<Duration>);

fn budget(text: &str) -> Result<Budget, String> {
    match text {
        "none" => Ok(Budget(None)),
        text => time(text).map(|t| Budget(Some(t))),
    }
}

fn families(text: &str) -> Result<Families, String> {
    let families = IpFamily::parse(text).map_err(|e| e.to_string());
    families.map(Families)
}

fn connections() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=1_000_000)
}

fn pid() -> impl TypedValueParser<Value = i32> {
    clap::value_parser!(i32).range(1..)
}

/// Hosts as `--on` has them everywhere, or folders.
fn run_on(text: &str) -> Result<RunOn, String> {
    let kind = text.split_once(':').map_or("", |(kind, _)| kind);
    if launcher::KINDS.contains(&kind) {
        Ok(RunOn::Hosts(launcher::parse(text)?))
    } else {
        let folders = text.split(',').map(PathBuf::from);
        Ok(RunOn::Folders(folders.collect()))
    }
}

fn kind(text: &str) -> Result<TargetKind, String> {
    let kind = TargetKind::ALL.iter().find(|k| k.name() == text).copied();
    let names = TargetKind::ALL.map(TargetKind::name).join(", ");
    kind.ok_or_else(|| format!("expected one of {names}"))
}

fn server(text: &str) -> Result<TargetKind, String> {
    let server = kind(text).ok().filter(|k| k.is_service());
    server.ok_or_else(|| "expected a server: postgresql or mariadb".into())
}

fn service(text: &str) -> Result<(TargetKind, String), String> {
    let usage =
        "expected KIND=URL, such as postgresql=postgresql://USER:PASSWORD@127.0.0.1:5432/DATABASE";
    let (name, url) = text.split_once('=').ok_or(usage)?;
    Ok((server(name)?, url.to_owned()))
}

fn service_set(text: &str) -> Result<(TargetKind, String, String), String> {
    let usage = "expected KIND.NAME=VALUE, such as postgresql.shared_buffers=1GB";
    let (setting, value) = text.split_once('=').ok_or(usage)?;
    let (name, setting) = setting.split_once('.').ok_or(usage)?;
    if setting.is_empty() || value.is_empty() {
        Err(usage.into())
    } else {
        Ok((server(name)?, setting.to_owned(), value.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_sound() {
        use clap::CommandFactory;
        Cli::command().debug_assert();
    }
}
