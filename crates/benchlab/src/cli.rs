// SPDX-License-Identifier: Apache-2.0
//! The command line: its subcommands and options.

use crate::completion;
use crate::gate::InconclusiveArg;
use crate::option_values::{ExpectedStatuses, expected_statuses, fraction, rate, stage, time};
pub use crate::options::{
    AgentLoss, AgentPlacement, Color, DisplayArgs, ListingArgs, NamedLauncher,
};
use crate::options::{formats, unit_of_time};
pub use crate::verbs::audit::args::{AuditArgs, AuditVerb};
pub use crate::verbs::logs::args::LogsArgs;
use crate::verbs::new::args::NewArgs;
use crate::verbs::serve::args::ServeArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::engine::{ArgValueCandidates, ArgValueCompleter};
use lab_document::Format;
use lab_import::ImportFormat;
use lab_load::IpFamily;
use lab_many::launcher;
use lab_model::{Stage, TargetKind};
use lab_report::history::HistoryCondition;
use lab_stats::bisection::BisectedMetric;
use std::path::PathBuf;
use std::time::Duration;

/// Measure what a stack really costs on your machine, with results that hold up
#[derive(Parser)]
#[command(
    name = "benchlab",
    version,
    after_help = "Example:\n  benchlab run sql --quick\n\nExit codes: 0 success, 1 a run failed, 2 invalid command or \
                  file,\n3 a gate found a regression, 4 a gate is inconclusive,\n5 the host is unfit for measuring (--strict), 130 stopped by Ctrl-C."
)]
pub struct Cli {
    /// The project's directory [default: the nearest parent directory that contains experiments/]
    #[arg(long, global = true, value_name = "DIR", env = "BENCHLAB_PROJECT")]
    pub project: Option<PathBuf>,
    /// The command to run
    #[command(subcommand)]
    pub verb: Verb,
}

/// The subcommands of benchlab.
#[derive(Subcommand)]
pub enum Verb {
    /// Measure an experiment and report the results
    Run(Box<RunArgs>),
    /// Measure commands or revisions in turns and report which is faster
    Compare(Box<CompareArgs>),
    /// Find the commits that changed a command's time
    Bisect(Box<BisectArgs>),
    /// Show the differences between two runs of the same kind
    Diff(DiffArgs),
    /// Load an HTTP server to measure its capacity and response times, or compare servers in turns
    Load(Box<LoadArgs>),
    /// Show where memory and cache misses come from, before and after a change, with Valgrind or from its
    /// output files
    Profile(Box<ProfileArgs>),
    /// Explain why one subject is faster than another by counting the system calls, allocations and
    /// instructions of each operation
    Explain(Box<ExplainArgs>),
    /// Analyze logs: the pages and queries that cost the most, their busiest times, and the
    /// remaining capacity
    Logs(Box<LogsArgs>),
    /// Check whether a machine, network or site is set up well: findings, their cost, and how to fix them
    Audit(Box<AuditArgs>),
    /// Create a working experiment, or a working subject of an experiment
    New(NewArgs),
    /// Build the subjects without measuring
    Build(BuildArgs),
    /// Continue a run that was stopped or killed
    Resume(ResumeArgs),
    /// Show a run in the terminal, or as Markdown, CSV, JSON, XML, XLSX, SVG or HTML
    Report(ReportArgs),
    /// Show how the results of an experiment or a comparison changed from run to run
    History(HistoryArgs),
    /// Serve all runs as local web pages, including runs in progress
    Serve(ServeArgs),
    /// Import the results of other tools: hyperfine, JMH, Go, Criterion, k6 and more
    Import(ImportArgs),
    /// Measure everything that benchlab.toml marks for CI: compare a change with its base, and
    /// judge the gates
    Ci(CiArgs),
    /// Write a commented benchlab.toml for this project
    Init(InitArgs),
    /// List experiments, their cases and subjects, and missing requirements
    List(ListArgs),
    /// Check this host for conditions that disturb measurements, and for missing packages
    Doctor(DoctorArgs),
    /// Print a script that lets a shell complete commands, options, and names: experiments, subjects,
    /// cases, runs, and entries of benchlab.toml
    #[command(
        after_help = "Examples:\n  benchlab completions bash \\\n      > ~/.local/share/bash-completion/completions/benchlab\n  \
                      benchlab completions zsh > ~/.zfunc/_benchlab\n  \
                      benchlab completions fish > ~/.config/fish/completions/benchlab.fish"
    )]
    Completions(CompletionsArgs),
    /// Write man pages
    #[command(after_help = "Example:\n  benchlab man ~/.local/share/man/man1")]
    Man(ManArgs),
    /// Print the Job manifest that --on k8s:N uses, as a template to edit
    #[command(
        after_help = "Example:\n  benchlab manifest > job.yaml\n  benchlab load --on k8s:8,job.yaml http://web/"
    )]
    Manifest,
    /// Work for a coordinator; started by --on
    #[command(hide = true)]
    Agent(AgentArgs),
    /// Create a Job and connect to its agent; started by --on k8s:N
    #[command(hide = true)]
    KubernetesJob(KubernetesJobArgs),
}

/// The arguments of `benchlab agent`.
#[derive(Args)]
pub struct AgentArgs {
    /// Print the program's hash
    #[arg(long)]
    pub hash: bool,
    /// Delete the program file, which the coordinator copied to this host
    #[arg(long)]
    pub copied: bool,
}

/// The arguments of `benchlab kubernetes-job`.
#[derive(Args)]
pub struct KubernetesJobArgs {
    /// The Job's name
    pub name: String,
    /// Size in bytes of the program on standard input
    #[arg(long, required_unless_present = "delete")]
    pub bytes: Option<usize>,
    /// Delete the Job
    #[arg(long)]
    pub delete: bool,
    /// A manifest for the Job [default: the output of `benchlab manifest`]
    #[arg(long)]
    pub manifest: Option<PathBuf>,
}

/// The value of `run --on`: hosts or directories.
#[derive(Clone)]
pub enum RunOn {
    /// Hosts that measure blocks.
    Hosts(NamedLauncher),
    /// Directories for subjects to work in.
    Folders(Vec<PathBuf>),
}

impl RunOn {
    /// Returns the launcher of agents on the hosts, or `None` for directories.
    pub fn launcher(&self) -> Option<&NamedLauncher> {
        match self {
            RunOn::Hosts(launcher) => Some(launcher),
            RunOn::Folders(_) => None,
        }
    }

    /// Returns the directories, or an empty slice for hosts.
    pub fn folders(&self) -> &[PathBuf] {
        match self {
            RunOn::Hosts(_) => &[],
            RunOn::Folders(folders) => folders,
        }
    }
}

/// The arguments of `benchlab run`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab run sql --install\n  benchlab run sql --subjects c,python --cases select --set limit=1,1000\n  \
                        benchlab run sql --targets postgresql --cases point,connections\n  \
                        benchlab run sql --subjects java --cases point --blocks 12\n\nThe run is saved in runs/<time>-<experiment>.lab, with an HTML report next to it."
)]
pub struct RunArgs {
    /// The experiment: a name in experiments/, or a directory such as ./parse
    #[arg(add = ArgValueCandidates::new(completion::experiments))]
    pub experiment: String,
    /// Only these subjects, or named selections of subjects
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…",
          add = ArgValueCandidates::new(completion::subjects))]
    pub subjects: Vec<String>,
    /// Only these cases
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…",
          add = ArgValueCandidates::new(completion::cases))]
    pub cases: Vec<String>,
    /// Only these targets, such as sqlite
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…", value_parser = kind)]
    pub targets: Vec<TargetKind>,
    /// Values for a sweep or a factor; `all` selects all of its values
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub set: Vec<String>,
    /// Hosts that measure blocks in parallel: ssh:HOST,HOST, slurm:8, k8s:8, local:2 or
    /// netns:NAME,NAME. For experiments about disks: directories for subjects to work in, or block
    /// devices with a mounted filesystem [default: every writable filesystem on a separate disk,
    /// and one in memory]
    #[arg(long, value_name = "WHERE|DIR|DEVICE,…", value_parser = run_on)]
    pub on: Vec<RunOn>,
    #[command(flatten)]
    pub lost: AgentLoss,
    /// The subject that the other subjects are compared with [default: the experiment's]
    #[arg(long, short, value_name = "NAME", add = ArgValueCandidates::new(completion::subjects))]
    pub baseline: Option<String>,
    /// Do not measure a second copy of the baseline
    #[arg(long)]
    pub no_control: bool,
    /// Measure for about a minute to find differences of 20 %: short blocks of the points that the experiment
    /// selects for quick runs
    #[arg(long, short)]
    pub quick: bool,
    /// Measure all cases with all values, not only the cases and values that answer the
    /// experiment's main question
    #[arg(long, conflicts_with = "quick")]
    pub thorough: bool,
    /// Time limit for measuring, such as 90s or 10m; `none` measures until every comparison is decided
    /// [default: 5m per target, at most 10m; --thorough: 5m per target; --quick: 70s for 12 blocks, or for 5 if
    /// 12 do not fit]
    #[arg(long, visible_alias = "for", value_name = "TIME", value_parser = budget)]
    pub budget: Option<Budget>,
    /// Measure exactly this many blocks, regardless of the results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub blocks: Option<u32>,
    /// Compare servers after each process has served this many requests, such as 10000, rather than
    /// at their steady level
    #[arg(long, value_name = "REQUESTS", value_parser = clap::value_parser!(u64).range(1..))]
    pub age: Option<u64>,
    /// Mirrored pairs of passes per block [default: as many as fit into the block's time, at most 40; --quick:
    /// 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub pairs: Option<u32>,
    /// Treat ratios within ± PERCENT of 1 as equivalent [default: 2%; --quick: 10%]
    #[arg(long, value_name = "PERCENT", value_parser = fraction)]
    pub margin: Option<f64>,
    /// Stop when every ratio is known to within ± PERCENT
    #[arg(long, value_name = "PERCENT", value_parser = fraction)]
    pub precision: Option<f64>,
    /// Exit with code 3 if a subject is slower than the baseline by more than the margin, and with
    /// code 4 if the comparison is inconclusive: short for --fail-if 'any>+MARGIN'
    #[arg(long)]
    pub gate: bool,
    /// Exit with code 3 if this condition holds. A condition is about a change from the baseline,
    /// such as 'time>+5%', or about a value, such as 'time>2ms'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    #[command(flatten)]
    pub inconclusive: InconclusiveArg,
    /// Print what would be measured and how long it takes, without running anything
    #[arg(long, conflicts_with = "plan")]
    pub dry_run: bool,
    /// Only measure this many blocks as a pilot, and print how long a run would take to find differences of 1,
    /// 2, 5 and 10 %; saves no run
    #[arg(long, value_name = "BLOCKS", num_args = 0..=1, require_equals = true, default_missing_value = "8",
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub plan: Option<u32>,
    /// After measuring, count the cost of each subject's operations: see `benchlab explain`
    #[arg(long, conflicts_with = "plan")]
    pub explain: bool,
    /// After measuring, show which processes wait while the subject is slow, for experiments that support it
    #[arg(long, conflicts_with = "plan")]
    pub why: bool,
    /// Fail a subject that takes longer than this to reply
    #[arg(long, default_value = "30s", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Directory for the databases, for example on a disk [default: in memory, so that no commit waits for a
    /// disk]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Use your own server instead of a private one, in a separate schema that is removed afterwards:
    /// postgresql=URL or mariadb=URL
    #[arg(long, value_name = "KIND=URL", value_parser = service)]
    pub service: Vec<(TargetKind, String)>,
    /// Start a private server with this setting instead of its default, such as postgresql.shared_buffers=1GB;
    /// the report shows it
    #[arg(long, value_name = "KIND.NAME=VALUE", value_parser = service_set)]
    pub service_set: Vec<(TargetKind, String, String)>,
    /// Measure your own SQL instead of the experiment's: a schema, data, and statements with parameters, in a TOML or a
    /// .sql file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["on", "explain"])]
    pub workload: Option<PathBuf>,
    /// Also measure the workload after running this statement on its schema and data, and compare:
    /// 'CREATE INDEX …', or 'NAME: CREATE INDEX …'
    #[arg(long, value_name = "SQL", requires = "workload")]
    pub variant: Vec<String>,
    /// Install missing Debian packages with apt-get
    #[arg(long)]
    pub install: bool,
    #[command(flatten)]
    pub measuring: Measuring,
}

/// Options shared by all commands that measure.
#[derive(Args)]
pub struct Measuring {
    /// Seed for the order of turns and for the inputs [default: a new one]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Repeat a disturbed block or turn up to this many times; use 0 if requests to a server must not be
    /// repeated
    #[arg(long, default_value = "2", value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    pub redo: u32,
    /// Directory for the run file [default: runs/ in the project, or ~/.local/share/benchlab/runs outside of a
    /// project]
    #[arg(long, value_name = "DIR", value_parser = runs_folder)]
    pub runs: Option<PathBuf>,
    /// Exit with code 5 if the host is unfit for measuring, and with code 1 as soon as an agent is lost
    #[arg(long)]
    pub strict: bool,
}

/// The arguments of `benchlab compare`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab compare 'sort a.txt' './mysort a.txt'\n  benchlab compare parse   # an entry of benchlab.toml\n  \
                        benchlab compare --sweep size=1,10,100 --prepare 'rm -f out' 'prog {size} out'\n  \
                        benchlab compare --rev main --rev . --setup 'cargo build --release' \\\n      -- target/release/prog x\n  \
                        benchlab compare --rev v1.4..HEAD --setup make -- ./prog x\n  \
                        benchlab compare --fail-if 'time>+5%' --export page.html 'old/prog' 'new/prog'\n  \
\nA command with shell syntax (| > * $ …) is run with sh, any other command directly.\nExit codes: 1 a command failed; with --gate or --fail-if: 3 a command is slower or a condition holds, 4 inconclusive.\nThe run is saved; `benchlab history NAME` shows it with earlier ones."
)]
pub struct CompareArgs {
    /// The commands, as you would type them into a shell; the first command is the baseline. Or the
    /// name of a comparison in benchlab.toml
    #[arg(value_name = "COMMAND", add = ArgValueCompleter::new(completion::comparisons))]
    pub commands: Vec<String>,
    /// The words of a single command, which is run without a shell
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// Run the command in this revision, in a separate worktree; `.` is the working tree with its
    /// uncommitted changes. Specify two or more revisions, with the baseline first. Or specify a
    /// range A..B to measure all commits from A to B and find those that changed the time
    #[arg(long, value_name = "REVISION")]
    pub rev: Vec<String>,
    /// Make this many builds of each revision, in directories with names of random length. Blocks take turns
    /// among the builds, so the result does not depend on a single build. --setup gets a seed in
    /// BENCHLAB_BUILD_SEED
    #[arg(long, value_name = "N", requires = "rev", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub builds: Option<u32>,
    /// A name for each command, in order [default: A, B, …]
    #[arg(long, short, value_name = "NAME")]
    pub name: Vec<String>,
    /// The name of the command that the other commands are compared with [default: the first
    /// command]
    #[arg(long, short, value_name = "NAME")]
    pub baseline: Option<String>,
    /// Values for {NAME} in the commands: for numbers, benchlab measures each command at each
    /// number and fits a curve; for other values, it measures a separate command per value
    #[arg(long, short = 'L', value_name = "NAME=VALUE,…")]
    pub sweep: Vec<String>,
    /// Run this once before a command's first process, for example to build it. Specify it once for all
    /// commands, or once per command
    #[arg(long, short, value_name = "COMMAND")]
    pub setup: Vec<String>,
    /// Run this before every process, untimed. Specify it once for all commands, or once per command
    #[arg(long, short, value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// Run this once after a command's last process. Specify it once for all commands, or once per command
    #[arg(long, short, value_name = "COMMAND")]
    pub cleanup: Vec<String>,
    /// The file that every command reads from its standard input [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Fail a command if its standard output differs from the baseline's
    #[arg(long)]
    pub same_output: bool,
    /// Also measure commands that exit with a nonzero status. Commands are then compared only if all of their
    /// runs exit with the same status, or with one of the specified statuses
    #[arg(long, short, value_name = "STATUS,…", num_args = 0..=1, require_equals = true, default_missing_value = "any",
          value_parser = expected_statuses)]
    pub ignore_failure: Option<ExpectedStatuses>,
    /// Kill a process that takes longer than this; the command then counts as failed
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Cores for the commands [default: all on the same core, or chosen by the system if a command uses more
    /// than one core]
    #[arg(long, value_name = "WHERE")]
    pub cores: Option<CommandCores>,
    /// Treat ratios within ± PERCENT of 1 as equivalent
    #[arg(long, default_value = "2%", value_name = "PERCENT", value_parser = fraction)]
    pub margin: f64,
    /// Time limit for measuring, such as 10s; stops earlier if the result is clear [default: 30s,
    /// or 120s with --precision; longer if the confidence level requires more blocks]
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// Stop when every ratio is known to within ± PERCENT
    #[arg(long, value_name = "PERCENT", value_parser = fraction)]
    pub precision: Option<f64>,
    /// Measure exactly this many blocks, regardless of the results
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub blocks: Option<u32>,
    /// Mirrored pairs of passes per block [default: as many as fit into the block's time, at most 40]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub pairs: Option<u32>,
    /// Print what would be measured and how long it takes, without running anything
    #[arg(long, conflicts_with = "plan")]
    pub dry_run: bool,
    /// Only measure this many blocks as a pilot, and print how long a run would take to find differences of 1,
    /// 2, 5 and 10 %; saves no run
    #[arg(long, value_name = "BLOCKS", num_args = 0..=1, require_equals = true, default_missing_value = "8",
          value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub plan: Option<u32>,
    /// Also measure a second copy of the baseline, to show the noise of the run
    #[arg(long)]
    pub control: bool,
    /// After measuring, count the system calls, allocations and instructions of a run of each command, with
    /// strace, a counting allocator, and Callgrind if there are no hardware counters
    // The counted runs come after the cleanup, and a preparation would be counted with them.
    #[arg(long, conflicts_with_all = ["plan", "prepare", "cleanup"])]
    pub explain: bool,
    /// Exit with code 3 if a command is slower than the baseline by more than the margin, and with
    /// code 4 if the comparison is inconclusive: short for --fail-if 'any>+MARGIN'
    #[arg(long)]
    pub gate: bool,
    /// The metric that --gate judges. Other processes on a shared machine disturb CPU time less
    /// than wall time. Valgrind counts instructions in each build of --builds, or in environments
    /// of different sizes, and the gate judges the range of the counts, so a different layout alone
    /// does not fail it
    #[arg(long, value_name = "METRIC", default_value = "wall", requires = "gate")]
    pub gate_on: GateOn,
    /// Exit with code 3 if this condition holds. A condition is about a change from the baseline,
    /// such as 'time>+5%', or about a value, such as 'time>50ms' or 'memory>64MiB'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    #[command(flatten)]
    pub inconclusive: InconclusiveArg,
    /// Also write a report; the file extension selects the format (.txt .md .csv .json .xml .xlsx .html; a
    /// directory gets .svg plots)
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    /// The comparison's name in the history [default: the first command's program]
    #[arg(long = "as", value_name = "NAME")]
    pub title: Option<String>,
    #[command(flatten)]
    pub measuring: Measuring,
    /// If true, nothing is printed.
    #[arg(skip)]
    pub quiet: bool,
}

/// The arguments of `benchlab bisect`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
         benchlab bisect --good v1.4 --bad HEAD --setup 'cargo build --release' \\\n      -- target/release/prog x\n  \
         benchlab bisect --good v1.4 --bad HEAD --setup make --metric cpu \\\n      './prog x > /dev/null'\n  \
         benchlab bisect --good v1.4 --bad HEAD --setup make --dry-run ./prog\n\n\
         Each commit is measured in turns with both ends of its range until the result is clear. Commits that do \
         not build or run are skipped.\n\
         The results are saved in runs/<time>-<name>.bisect; `benchlab resume` continues after Ctrl-C, and \
         `benchlab report` shows them again.\n\
         Exit codes: 0 conclusive, 4 inconclusive.")]
pub struct BisectArgs {
    /// The command, as you would type it into a shell
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
    /// The words of the command, which is run without a shell
    #[arg(last = true, value_name = "WORD", conflicts_with = "command")]
    pub words: Vec<String>,
    /// A commit before the change
    #[arg(long, value_name = "REVISION")]
    pub good: String,
    /// A commit after the change
    #[arg(long, value_name = "REVISION")]
    pub bad: String,
    /// Build a commit with this command, in its own worktree. If it fails, the commit is skipped
    #[arg(long, short, value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Run this before every process, untimed
    #[arg(long, short, value_name = "COMMAND")]
    pub prepare: Option<String>,
    /// Run this for each commit after its last process in a measurement
    #[arg(long, short, value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// The file that the command reads from its standard input [default: /dev/null]
    #[arg(long, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// The compared metric. If other programs are running, CPU time varies less than wall time
    #[arg(long, default_value = "wall", value_name = "METRIC")]
    pub metric: MetricName,
    /// Ignore changes by less than this percentage. If the two ends differ by less than three times
    /// this percentage, the search finds changes down to a third of their difference
    #[arg(long, default_value = "2%", value_name = "PERCENT", value_parser = fraction)]
    pub margin: f64,
    /// Time limit for measuring each commit, such as 5m; most commits need far less
    #[arg(long = "for", default_value = "10m", value_name = "TIME", value_parser = time)]
    pub budget: Duration,
    /// Kill a process that takes longer than this; its commit is skipped
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Only build and run the good commit, and print how many measurements a bisection needs and how long it takes
    #[arg(long)]
    pub dry_run: bool,
    /// Also write a report; the file extension selects the format (.txt .md .csv .json .xml .xlsx .html; a
    /// directory gets .svg plots)
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    /// The name in the history [default: the command's program]
    #[arg(long = "as", value_name = "NAME")]
    pub title: Option<String>,
    #[command(flatten)]
    pub measuring: Measuring,
}

/// The value of `--metric`.
#[derive(Clone, Copy, ValueEnum)]
pub enum MetricName {
    /// Wall time
    Wall,
    /// CPU time
    Cpu,
    /// Instructions, if the processor's counters are available
    Instructions,
    /// Peak memory
    Memory,
}

impl From<MetricName> for BisectedMetric {
    fn from(name: MetricName) -> BisectedMetric {
        match name {
            MetricName::Wall => BisectedMetric::Wall,
            MetricName::Cpu => BisectedMetric::Cpu,
            MetricName::Instructions => BisectedMetric::Instructions,
            MetricName::Memory => BisectedMetric::Memory,
        }
    }
}

/// The arguments of `benchlab diff`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab diff runs/MONDAY.lab runs/FRIDAY.lab\n  \
                        benchlab diff --full BEFORE.lab AFTER.lab\n  \
                        benchlab diff --export changes.html BEFORE.lab AFTER.lab\n\nBoth runs must be of the same kind: the same experiment, commands, load, logs, or the same audit."
)]
pub struct DiffArgs {
    /// The baseline: a run file, or a file from another tool
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(completion::runs))]
    pub first: PathBuf,
    /// The run to compare with the baseline: a run file, or a file from another tool
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(completion::runs))]
    pub second: PathBuf,
    /// Exit with code 3 if the second run is worse (by more than the margin for measured runs, by
    /// more than 2 % for a page of logs, with a worse finding for audits), and with code 4 if the
    /// comparison is inconclusive
    #[arg(long)]
    pub gate: bool,
    /// Exit with code 3 if this condition on the change holds: 'time>+5%' or 'p99>+10%' for measured runs,
    /// 'mean(/search)>+5%' for logs, 'worse>0' for audits
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    #[command(flatten)]
    pub inconclusive: InconclusiveArg,
    /// Also write a report; the file extension selects the format (.txt .md .csv .json .xml .xlsx .html; a
    /// directory gets .svg plots)
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// The arguments of `benchlab load`.
#[derive(Args)]
#[command(after_help = "Examples:\n  benchlab load http://127.0.0.1:8080/\n  \
                        benchlab load --rate 5000 --for 30s --fail-if 'p99>20ms' \\\n      http://127.0.0.1:8080/\n  \
                        benchlab load --sweep connections=1,2,4,8,16,32,64 --server-pid 4711 \\\n      http://127.0.0.1:8080/\n  \
                        benchlab load --header 'Accept: application/json' --expect-json ok=true \\\n      --weights 3,1 \\\n    http://127.0.0.1:8080/list http://127.0.0.1:8080/item\n  \
                        benchlab load --on ssh:gen1,gen2 --rate 400000 --server-host ssh:web1 \\\n      https://web1/\n  \
                        benchlab load http://127.0.0.1:8080/ http://127.0.0.1:8081/\n\nURLs of the same server are requested in a mix. If the URLs belong to different servers, the servers are compared, and the first \
                  is the baseline. With --requests each URL is a server, and the servers are compared in turns.\nWithout --rate each connection waits for a response before it sends the next request. With --rate requests are \
                  sent when they are due, and their response time is measured from then.\nThe run is saved in \
                  runs/<time>-<name>.lab, with an HTML report next to it.\nExit codes: 1 no request was served, 3 a --fail-if condition holds or, with --gate, a server is slower than \
                  the baseline, 4 the condition or comparison is inconclusive.")]
pub struct LoadArgs {
    /// The URLs to request: of one server, or of servers to compare in turns, with the baseline first. Or the name of
    /// a load in benchlab.toml
    #[arg(value_name = "URL", required_unless_present = "requests",
          add = ArgValueCandidates::new(completion::loads))]
    pub urls: Vec<String>,
    /// Compare the URLs in turns even if they belong to the same server
    #[arg(long)]
    pub in_turns: bool,
    /// The number of connections to keep open
    #[arg(long, short, default_value = "50", value_name = "N", value_parser = connections())]
    pub connections: u32,
    /// The duration of the load at each point [default: 10s, or the total duration of --stages]
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub length: Option<Duration>,
    /// Measure repeatedly with each number of connections, in random order, and fit a scaling law:
    /// connections=1,2,4,8
    #[arg(long, short = 'L', value_name = "NAME=VALUE,…")]
    pub sweep: Vec<String>,
    /// Relative frequencies of the URLs, in order [default: equal]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..))]
    pub weights: Vec<u32>,
    /// The process ID of each server on this machine, in order, or a single process ID for all URLs of one
    /// server: also measures its CPU time, memory and threads
    #[arg(long, value_name = "PID,…", value_delimiter = ',', value_parser = pid())]
    pub server_pid: Vec<i32>,
    /// The host of the servers, such as ssh:HOST: an agent there measures the CPU time, memory and threads of
    /// --server-pid, or of the process that listens on the URL's port
    #[arg(long, value_name = "WHERE", value_parser = NamedLauncher::parse)]
    pub server_host: Option<NamedLauncher>,
    /// Exit with code 3 if this condition holds: a bound on a value, such as 'p99>20ms' or
    /// 'errors>0.1%', or a bound on the change from the first server, such as 'p99>+5%'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<String>,
    #[command(flatten)]
    pub inconclusive: InconclusiveArg,
    /// Exit with code 3 if a server is slower than the baseline by more than the margin, and with
    /// code 4 if the comparison is inconclusive: short for --fail-if 'any>+MARGIN'
    #[arg(long)]
    pub gate: bool,
    /// Treat ratios of servers within ± PERCENT of 1 as equivalent
    #[arg(long, default_value = "2%", value_name = "PERCENT", value_parser = fraction)]
    pub margin: f64,
    /// A name for each server, in order [default: its scheme, host and port]
    #[arg(long, short, value_name = "NAME")]
    pub name: Vec<String>,
    /// Also write a report; the file extension selects the format (.txt .md .csv .json .xlsx .html; a directory
    /// gets .svg plots)
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    /// The load's name in the history [default: host and port]
    #[arg(long = "as", value_name = "NAME")]
    pub title: Option<String>,
    /// Send this many requests per second when they are due, regardless of earlier requests (open loop)
    #[arg(long, value_name = "N", value_parser = rate, conflicts_with = "stages")]
    pub rate: Option<f64>,
    /// Request rates that change linearly, in consecutive stages, such as 0:1000:5s,1000:1000:20s
    #[arg(long, value_name = "FROM:TO:TIME,…", value_delimiter = ',', value_parser = stage)]
    pub stages: Vec<Stage>,
    /// With --rate or --stages, send requests at equal intervals. By default, the intervals are
    /// random, as with many independent users
    #[arg(long)]
    pub even: bool,
    /// Threads that generate load, at most one per core [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub threads: Option<u32>,
    /// Open a new connection for every request
    #[arg(long)]
    pub no_keep_alive: bool,
    /// Maximum number of pipelined requests per connection [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub pipeline: Option<u32>,
    /// Use HTTP/2
    #[arg(long)]
    pub http2: bool,
    /// Use only IPv4 or only IPv6 addresses; 4,6 compares IPv4 with IPv6
    #[arg(long, value_name = "4|6|4,6", value_parser = families)]
    pub family: Option<Families>,
    /// The HTTP method [default: GET, or POST with a body]
    #[arg(long, short = 'X', value_name = "METHOD", conflicts_with = "requests")]
    pub method: Option<String>,
    /// A header to send with every request; its value is not stored, except for public headers such as Accept
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// The body of every request
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["body_file", "requests"])]
    pub body: Option<String>,
    /// A file with the body of every request
    #[arg(long, value_name = "FILE", conflicts_with = "requests")]
    pub body_file: Option<PathBuf>,
    /// A file with requests in the .http format of editors; paths in the file refer to the URL's server
    #[arg(long, value_name = "FILE", conflicts_with = "weights")]
    pub requests: Option<PathBuf>,
    /// Require one of these response statuses [default: 2xx,3xx]
    #[arg(long, value_name = "STATUS,…")]
    pub expect_status: Option<String>,
    /// Require this response body
    #[arg(long, value_name = "TEXT")]
    pub expect_body: Option<String>,
    /// Require a JSON response with this value at this path, such as items.0.name="x"
    #[arg(long, value_name = "PATH=VALUE")]
    pub expect_json: Vec<String>,
    /// Fail a request that takes longer than this [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub timeout: Option<Duration>,
    /// Trust only certificates issued by the authorities in this PEM file
    #[arg(long, value_name = "FILE", conflicts_with = "insecure")]
    pub ca: Option<PathBuf>,
    /// Skip certificate verification
    #[arg(long)]
    pub insecure: bool,
    /// Confirm that you may load this host, which is neither this machine nor in a private network
    #[arg(long, value_name = "HOST")]
    pub i_may_load: Option<String>,
    /// Also write the response and service times of every slice as an HdrHistogram log
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// Print what would be measured and how long it takes, without running anything
    #[arg(long)]
    pub dry_run: bool,
    #[command(flatten)]
    pub agents: AgentPlacement,
    #[command(flatten)]
    pub measuring: Measuring,
    /// If true, nothing is printed.
    #[arg(skip)]
    pub quiet: bool,
}

/// The address families of the servers, in the order of the command line.
#[derive(Clone)]
pub struct Families(pub Vec<IpFamily>);

/// The metric that a gate judges.
#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum GateOn {
    /// The wall time
    #[default]
    Wall,
    /// The CPU time
    Cpu,
    /// The instructions that Valgrind counts, which do not depend on other processes
    Instructions,
}

/// The cores on which commands run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CommandCores {
    /// The same core for all commands, and a different core in each block
    One,
    /// The cores that the scheduler chooses
    All,
}

/// The arguments of `benchlab profile`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab profile './prog old' './prog new'\n  benchlab profile -- ./prog x\n  benchlab profile --rev HEAD~1 --rev . --setup make -- ./prog x\n  \
                        benchlab profile --massif massif.out.1 massif.out.2 \\\n      --cachegrind cg.before cg.after\n  \
                        benchlab profile --fail-if 'peak>2MB' --fail-if 'D1mw>+5%' \\\n      'old/prog' 'new/prog'\n\nValgrind simulates a processor. Afterwards the commands are measured as with `benchlab compare`.\nExit codes with --fail-if: 3 a condition holds, 4 a condition is inconclusive."
)]
pub struct ProfileArgs {
    /// One command, or two for before and after, as you would type them into a shell
    #[arg(value_name = "COMMAND", num_args = 0..=2)]
    pub commands: Vec<String>,
    /// The words of a single command, which is run without a shell
    #[arg(last = true, value_name = "WORD")]
    pub words: Vec<String>,
    /// Massif output files, before and after
    #[arg(long, value_name = "FILE", num_args = 1..=2, conflicts_with_all = ["commands", "words"])]
    pub massif: Vec<PathBuf>,
    /// Profile the command in this revision, in a separate worktree; `.` is the working tree as it is. Specify
    /// it twice for before and after
    #[arg(long, value_name = "REVISION", conflicts_with_all = ["massif", "cachegrind", "callgrind", "dhat"])]
    pub rev: Vec<String>,
    /// Make this many builds of each revision, in directories with names of random length, and
    /// count each build's events. A condition on a change such as 'Ir>+1%' then holds only if it
    /// holds for all builds, so that a different layout alone does not fail the gate. --setup gets
    /// a seed in BENCHLAB_BUILD_SEED
    #[arg(long, value_name = "N", requires = "rev", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub builds: Option<u32>,
    /// Run this once before each command, for example to build it. Specify it once for all commands, or once
    /// per command
    #[arg(long, short, value_name = "COMMAND")]
    pub setup: Vec<String>,
    /// The name in the history [default: the first command's program]
    #[arg(long = "as", value_name = "NAME")]
    pub title: Option<String>,
    /// Cachegrind output files, before and after
    #[arg(long, value_name = "FILE", num_args = 1..=2, conflicts_with_all = ["commands", "words"])]
    pub cachegrind: Vec<PathBuf>,
    /// Callgrind output files, before and after; separate the files of multiple parts or threads with commas:
    /// one,two
    #[arg(long, value_name = "FILE", num_args = 1..=2, conflicts_with_all = ["commands", "words"])]
    pub callgrind: Vec<String>,
    /// DHAT output files, before and after
    #[arg(long, value_name = "FILE", num_args = 1..=2, conflicts_with_all = ["commands", "words"])]
    pub dhat: Vec<PathBuf>,
    /// A name for each profile, in order [default: before, after; for a single profile: program]
    #[arg(long, short, value_name = "NAME")]
    pub name: Vec<String>,
    /// Stop a run under Valgrind that takes longer than this; its values cover the time until then
    #[arg(long, default_value = "10m", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Time limit for measuring without Valgrind afterwards [default: 30s]
    #[arg(long = "for", value_name = "TIME", value_parser = time)]
    pub budget: Option<Duration>,
    /// Run only these of Valgrind's tools [default: all]
    #[arg(long, value_delimiter = ',', value_name = "TOOL,…",
          value_parser = ["massif", "dhat", "cachegrind", "callgrind"],
          conflicts_with_all = ["massif", "cachegrind", "callgrind", "dhat"])]
    pub only: Vec<String>,
    /// Profile without measuring afterwards
    #[arg(long)]
    pub no_measure: bool,
    /// Save Valgrind's files in this directory
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Exit with code 3 if this condition holds: a bound on a value of the second program, such as
    /// 'peak>2MB', or a bound on the change, such as 'D1mw>+5%'
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<lab_profile::GateCondition>,
    #[command(flatten)]
    pub inconclusive: InconclusiveArg,
    /// Install Valgrind's Debian packages with apt-get
    #[arg(long)]
    pub install: bool,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Directory for the run file of the measurement [default: runs/ in the project, or
    /// ~/.local/share/benchlab/runs outside of a project]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
}

/// The arguments of `benchlab explain`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab explain sql --targets postgresql --cases insert_tx --set rows_tx=1 \\\n      --subjects c,java\n  \
                        benchlab explain sql --targets sqlite --cases select_1 \\\n      --subjects c,rust --full\n  \
                        benchlab explain runs/MONDAY.lab --cases connect\n\nEach subject is run again, separately from measuring: without a tracer, under strace, with a counting allocator, \
                  and under Callgrind if there are no hardware counters. `benchlab run --explain` and \
                  `benchlab compare --explain` do this after measuring."
)]
pub struct ExplainArgs {
    /// The experiment (a directory in experiments/), or a run file with the subjects and cases to explain
    #[arg(value_name = "EXPERIMENT|RUN", add = ArgValueCompleter::new(completion::experiments_and_runs))]
    pub of: String,
    /// Only these subjects, or named selections of subjects
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…",
          add = ArgValueCandidates::new(completion::subjects))]
    pub subjects: Vec<String>,
    /// Only these cases
    #[arg(
        long,
        short,
        visible_alias = "case",
        value_delimiter = ',',
        value_name = "NAME,…",
        add = ArgValueCandidates::new(completion::cases)
    )]
    pub cases: Vec<String>,
    /// Only these targets, such as sqlite
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…", value_parser = kind)]
    pub targets: Vec<TargetKind>,
    /// Values for a sweep or a factor; `all` selects all of its values [default: for a sweep, its first and
    /// last value]
    #[arg(long, value_name = "NAME=VALUE,…")]
    pub set: Vec<String>,
    /// The subject that the other subjects are compared with [default: the experiment's]
    #[arg(long, short, value_name = "NAME", add = ArgValueCandidates::new(completion::subjects))]
    pub baseline: Option<String>,
    /// Operations in the smaller batch; the larger batch has twice as many [default: as many as take about 50
    /// ms, between 2 and 200]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    pub operations: Option<u64>,
    /// Seed for the inputs [default: a new one, or the run's]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Fail a subject that takes longer than this to reply
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = time)]
    pub time_limit: Duration,
    /// Directory for the databases [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Use your own server, in a separate schema that is removed afterwards: postgresql=URL or mariadb=URL
    #[arg(long, value_name = "KIND=URL", value_parser = service)]
    pub service: Vec<(TargetKind, String)>,
    /// Start a private server with this setting instead of its default
    #[arg(long, value_name = "KIND.NAME=VALUE", value_parser = service_set)]
    pub service_set: Vec<(TargetKind, String, String)>,
    /// Install missing Debian packages, including strace, with apt-get
    #[arg(long)]
    pub install: bool,
    #[command(flatten)]
    pub display: DisplayArgs,
}

/// The arguments of `benchlab build`.
#[derive(Args)]
#[command(after_help = "Example:\n  benchlab build sql --install")]
pub struct BuildArgs {
    /// The experiment [default: all]
    #[arg(add = ArgValueCandidates::new(completion::experiments))]
    pub experiment: Option<String>,
    /// Install missing Debian packages with apt-get
    #[arg(long)]
    pub install: bool,
}

/// The arguments of `benchlab resume`.
#[derive(Args)]
#[command(after_help = "Example:\n  benchlab resume runs/20261121-093000-sql.lab")]
pub struct ResumeArgs {
    /// The run file, or the directory of a bisection
    #[arg(add = ArgValueCompleter::new(completion::runs))]
    pub file: PathBuf,
    /// Time limit for measuring, including the blocks measured so far [default: as planned]
    #[arg(long, visible_alias = "for", value_name = "TIME", value_parser = budget)]
    pub budget: Option<Budget>,
    /// Directory for the databases [default: in memory]
    #[arg(long, value_name = "DIR")]
    pub scratch: Option<PathBuf>,
    /// Your own server, if the run used one: postgresql=URL or mariadb=URL
    #[arg(long, value_name = "KIND=URL", value_parser = service)]
    pub service: Vec<(TargetKind, String)>,
    #[command(flatten)]
    pub load: ResumedLoadArgs,
}

/// The options of `benchlab resume` for a load: its secrets, which the run file does not contain, and its outputs.
#[derive(Args)]
pub struct ResumedLoadArgs {
    /// A header of the load, with its secret value, which the run file does not contain [default:
    /// the environment variable BENCHLAB_HEADER_NAME, such as BENCHLAB_HEADER_AUTHORIZATION]
    #[arg(long, short = 'H', value_name = "NAME: VALUE")]
    pub header: Vec<String>,
    /// The body of the load's requests, which the run file does not contain [default: the
    /// environment variable BENCHLAB_BODY]
    #[arg(long, value_name = "TEXT", conflicts_with = "body_file")]
    pub body: Option<String>,
    /// A file with the body of the load's requests [default: the load's --body-file]
    #[arg(long, value_name = "FILE")]
    pub body_file: Option<PathBuf>,
    /// User and password of the load's URLs, which the run file does not contain: once for all, or
    /// once for each URL that has them [default: the environment variable BENCHLAB_USER]
    #[arg(long, value_name = "NAME:PASSWORD")]
    pub user: Vec<String>,
    /// Also write a report of the load, like `benchlab load --export`
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    /// Also write the load's response and service times as an HdrHistogram log
    #[arg(long, value_name = "FILE")]
    pub hlog: Option<PathBuf>,
    /// Exit with code 5 if a host of the load is unfit for measuring, and with code 1 as soon as an agent is lost
    #[arg(long)]
    pub strict: bool,
}

/// The arguments of `benchlab report`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab report runs/20261121-093000-sql.lab\n  benchlab report RUN.lab --format html --output report.html\n  \
                        benchlab report RUN.lab --format csv | head\n  benchlab report NEW.lab --with old.lab"
)]
pub struct ReportArgs {
    /// The run file, the directory of a bisection, or a file from another tool
    #[arg(add = ArgValueCompleter::new(completion::runs))]
    pub file: PathBuf,
    /// Exclude these agents from all results: the requests that they sent for a load, or the blocks that they
    /// measured for an experiment. The report mentions the exclusion
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub without: Vec<String>,
    /// The output format
    #[arg(long, short, default_value = "terminal", value_parser = formats(|_| true))]
    pub format: Format,
    /// Output file; a directory for svg, or for xml with one file per subject [default: standard output]
    #[arg(long, short, value_name = "PATH")]
    pub output: Option<PathBuf>,
    /// In a terminal, show all tables and warnings rather than only the result
    #[arg(long)]
    pub full: bool,
    /// Imported values to show next to the measured values, without intervals
    #[arg(long, value_name = "FILE")]
    pub with: Vec<PathBuf>,
    /// When to use colors
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// The arguments of `benchlab history`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab history\n  benchlab history sql --subjects java --last 50\n  \
                        benchlab history sql --format csv > history.csv\n  benchlab history nightly --fail-if 'change>3%'"
)]
pub struct HistoryArgs {
    /// The experiment or the comparison [default: list what is available]
    #[arg(add = ArgValueCandidates::new(completion::histories))]
    pub name: Option<String>,
    /// Only these subjects
    #[arg(long, short, value_delimiter = ',', value_name = "NAME,…",
          add = ArgValueCandidates::new(completion::subjects))]
    pub subjects: Vec<String>,
    /// In a terminal, show all tables rather than only the result
    #[arg(long)]
    pub full: bool,
    /// Exit with code 3 if the latest change of a ratio meets this condition, such as 'change>3%',
    /// and print the run and its commit
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<HistoryCondition>,
    #[command(flatten)]
    pub inconclusive: InconclusiveArg,
    /// Only the latest runs, at most this many
    #[arg(long, default_value = "20", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub last: u32,
    /// The output format
    #[arg(long, short, default_value = "terminal", value_parser = formats(|format| format.shows_history))]
    pub format: Format,
    /// Directory of the run files [default: runs/ in the project, or ~/.local/share/benchlab/runs outside of a
    /// project]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// When to use colors
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// The arguments of `benchlab import`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab import bench.json\n  benchlab import old.json new.json\n  \
                        benchlab import --from go --name parser bench.txt\n  \
                        benchlab import --join run-*.json --output runs/monday.lab\n\nThe format is detected. Two files are compared. \
                  `report`, `diff`, `history` and `serve` show imported runs as they show benchlab's own. \
                  `benchlab report FILE` and `benchlab diff FILE FILE` show files without importing them.\nResults from multiple \
                  processes (forks, runs, launches) get intervals and verdicts. Results from a single process get none."
)]
pub struct ImportArgs {
    /// Files of other tools, or Criterion's directory target/criterion
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// The format of the files [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = import_formats())]
    pub from: Option<ImportFormat>,
    /// The unit of the values of HdrHistogram's logs: ns, us, ms or s [default: ns]
    #[arg(long, value_name = "UNIT", value_parser = unit_of_time)]
    pub duration_unit: Option<u64>,
    /// Join all files into one run, in which each file counts as one more process of its benchmarks
    #[arg(long)]
    pub join: bool,
    /// The name under which `benchlab history` lists the run [default: the tool's name]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The run file to create [default: the imported file's name with the extension .lab, in the directory of
    /// the other runs]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format of the report
    #[arg(long, short, default_value = "terminal", value_parser = formats(|_| true))]
    pub format: Format,
    /// In a terminal, show all tables and warnings rather than only the result
    #[arg(long)]
    pub full: bool,
    /// When to use colors
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    pub color: Color,
}

/// Returns a parser for the name of a format of another tool.
fn import_formats() -> impl TypedValueParser<Value = ImportFormat> {
    let names = PossibleValuesParser::new(
        lab_import::FORMATS.map(|format| PossibleValue::new(format.name).help(format.title)),
    );
    names.try_map(|name| {
        let mut formats = lab_import::FORMATS.into_iter();
        formats
            .find(|format| format.name == name)
            .ok_or("unknown format")
    })
}

/// The arguments of `benchlab ci`.
#[derive(Args)]
#[command(after_help = "Examples:\n  \
         benchlab ci\n  \
         benchlab ci parse --base main\n  \
         benchlab ci --format markdown --output summary.md\n\n\
         The base is the merge base of HEAD and a branch. The branch comes from --base, or else from \
         the CI service (GITHUB_BASE_REF, CI_MERGE_REQUEST_TARGET_BRANCH_NAME and others), or else \
         from `base` in benchlab.toml. \
         benchlab builds the base and the working tree, and measures them in turns with a second copy of the \
         base.\n\
         Exit codes: 1 something could not be measured, 3 a gate failed, 4 a gate is inconclusive.")]
pub struct CiArgs {
    /// Only these entries of benchlab.toml [default: all with ci = true]
    #[arg(value_name = "NAME", add = ArgValueCandidates::new(completion::ci_entries))]
    pub names: Vec<String>,
    /// The branch or the commit that the change is compared with
    #[arg(long, value_name = "REVISION")]
    pub base: Option<String>,
    /// Print the commands without running them
    #[arg(long)]
    pub dry_run: bool,
    /// Also write a report; the file extension selects the format
    #[arg(long, value_name = "FILE")]
    pub export: Vec<PathBuf>,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Directory for the run files [default: runs/ in the project, or ~/.local/share/benchlab/runs outside of a
    /// project]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
}

/// The arguments of `benchlab init`.
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab init\n  benchlab init --schema > benchlab.schema.json\n\nLooks for the files of Cargo, Go, npm, Maven, pytest-benchmark and Make."
)]
pub struct InitArgs {
    /// The project's directory [default: the current directory]
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Print the JSON Schema of benchlab.toml instead, for editors
    #[arg(long)]
    pub schema: bool,
}

/// The arguments of `benchlab list`.
#[derive(Args)]
#[command(after_help = "Examples:\n  benchlab list\n  benchlab list sql\n  benchlab list --runs")]
pub struct ListArgs {
    /// Only this experiment
    #[arg(add = ArgValueCandidates::new(completion::experiments))]
    pub experiment: Option<String>,
    /// Also show each subject's driver, each case's values, and the commands that install missing
    /// packages
    #[arg(long, requires = "experiment")]
    pub full: bool,
    /// List runs instead: the runs of the project or, outside of a project, the runs in
    /// ~/.local/share/benchlab/runs
    #[arg(long)]
    pub runs: bool,
    #[command(flatten)]
    pub listing: ListingArgs,
}

/// The arguments of `benchlab doctor`.
#[derive(Args)]
#[command(after_help = "Examples:\n  benchlab doctor\n  benchlab doctor --format json")]
pub struct DoctorArgs {
    #[command(flatten)]
    pub listing: ListingArgs,
}

/// The arguments of `benchlab completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell that the script is for
    pub shell: clap_complete::Shell,
}

/// The arguments of `benchlab man`.
#[derive(Args)]
pub struct ManArgs {
    /// The directory for benchlab.1 and a page for each command
    pub folder: PathBuf,
}

/// A time limit for measuring, or `None` for no limit.
#[derive(Clone, Copy)]
pub struct Budget(pub Option<Duration>);

fn budget(text: &str) -> Result<Budget, String> {
    match text {
        "none" => Ok(Budget(None)),
        text => time(text).map(|t| Budget(Some(t))),
    }
}

/// Parses the directory of `--runs`. The error helps users of tools whose `--runs` is a number of
/// runs.
fn runs_folder(text: &str) -> Result<PathBuf, String> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    if is_number && !PathBuf::from(text).is_dir() {
        return Err(format!(
            "expected a directory for run files. To set how long to measure, use --for 30s or, except with `load`, \
             --blocks {text}. For a new directory of this name, write ./{text}"
        ));
    }
    Ok(text.into())
}

fn families(text: &str) -> Result<Families, String> {
    IpFamily::parse(text).map(Families)
}

fn connections() -> impl TypedValueParser<Value = u32> {
    clap::value_parser!(u32).range(1..=1_000_000)
}

fn pid() -> impl TypedValueParser<Value = i32> {
    clap::value_parser!(i32).range(1..)
}

/// Parses directories, or hosts in the format of the other `--on` options.
fn run_on(text: &str) -> Result<RunOn, String> {
    let kind = text.split_once(':').map_or("", |(kind, _)| kind);
    if launcher::KINDS.contains(&kind) {
        Ok(RunOn::Hosts(NamedLauncher::parse(text)?))
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

    /// Checks that examples fit into 80 columns, at which help is wrapped. A wrapped example could
    /// not be pasted.
    #[test]
    fn examples_fit_on_a_line() {
        use clap::CommandFactory;
        fn check(command: &clap::Command) {
            let after = command.get_after_help().map(ToString::to_string);
            for line in after.unwrap_or_default().lines() {
                let is_example = line.starts_with("  ");
                assert!(!is_example || line.chars().count() <= 80, "{line}");
            }
            command.get_subcommands().for_each(check);
        }
        check(&Cli::command());
    }
}
