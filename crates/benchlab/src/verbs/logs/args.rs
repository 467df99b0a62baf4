// SPDX-License-Identifier: Apache-2.0
//! The arguments of `benchlab logs`.

use crate::completion;
use crate::exit::Exit;
use crate::gate::InconclusiveArg;
use crate::option_values::time;
use crate::options::{AgentPlacement, DisplayArgs, unit_of_time};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use lab_logs::SessionOptions;
use lab_logs::analysis::gate::Gate;
use std::path::PathBuf;
use std::time::Duration;

/// `benchlab logs`
#[derive(Args)]
#[command(
    after_help = "Examples:\n  benchlab logs /var/log/nginx/access.log\n  benchlab logs --rotated /var/log/apache2/access.log --full\n  \
                  zcat old.gz | benchlab logs -\n  \
                  benchlab logs --release 2026-05-01=v12 --capacity runs/LOAD.lab access.log\n  \
                  benchlab logs --follow --fail-if 'p99(/search)>300ms' access.log\n  \
                  benchlab logs http://127.0.0.1:9090/monitor\n  \
                  benchlab logs postgresql://USER:PASSWORD@127.0.0.1/DATABASE\n  \
                  benchlab logs --on ssh:web1,web2 /var/log/nginx/access.log\n  \
                  benchlab logs --parquet requests access.log\n  \
                  benchlab diff runs/APRIL.lab runs/MAY.lab\n\nThe run is saved in runs/<time>-logs.lab, with an HTML report next to it.\n\
                  Exit codes: 3 a --fail-if condition holds, 4 a condition is inconclusive, for example because its unit or time zone is assumed; with --nagios 0 to 3 as defined by Nagios."
)]
pub struct LogsArgs {
    /// Logs: files, plain or compressed with gzip or zstd; `-` for standard input; or the URL of a monitor, or
    /// of a PostgreSQL or MariaDB server that collects statement statistics
    #[arg(value_name = "LOG", required = true, add = ArgValueCompleter::new(completion::logs))]
    pub logs: Vec<String>,
    /// Also read the rotated files next to each log, oldest first: LOG.1, LOG.2.gz, LOG-20260501.zst
    #[arg(long)]
    pub rotated: bool,
    /// The format of the logs, as in the server's configuration: a LogFormat of Apache or a log_format of nginx
    /// [default: detected]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// The unit of durations, if the format does not define it: ns, us, ms or s
    #[arg(long, value_name = "UNIT", value_parser = unit_of_time)]
    pub duration_unit: Option<u64>,
    /// The fields of JSON lines, if their names are not recognized: time, method, path, request, status, bytes,
    /// agent, duration, id; for example time=ts,path=request.uri,duration=elapsed_ms
    #[arg(long, value_name = "ROLE=FIELD,…")]
    pub fields: Option<String>,
    /// Time zone of the server, for logs whose timestamps have no offset, such as Europe/Berlin
    /// [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// A file with routes, bots and health checks, which take precedence over automatic detection.
    /// Examples of lines: /users/{id}, bot NAME, health /up
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// The time and name of a release, such as 2026-05-01=v12 or 2026-05-01T14:30=v12: compares the
    /// pages before and after the release
    #[arg(long, value_name = "TIME=NAME")]
    pub release: Vec<String>,
    /// Use tags of this git repository as releases, if they were created during the time of the log
    #[arg(long, value_name = "DIR")]
    pub git_tags: Option<PathBuf>,
    /// A run of `benchlab load` on the server: shows the log's peak as a fraction of the server's capacity
    #[arg(long, value_name = "RUN.lab", add = ArgValueCompleter::new(completion::runs))]
    pub capacity: Option<PathBuf>,
    /// For --capacity, the maximum acceptable p99 response time
    #[arg(long, default_value = "200ms", value_name = "TIME", value_parser = time)]
    pub p99_limit: Duration,
    #[command(flatten)]
    pub agents: AgentPlacement,
    /// Also save the requests and statements, with their pages, as Parquet files in this new
    /// directory. DuckDB, Spark and DataFusion can read them. Works only for logs on this machine,
    /// and not with --follow
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
    /// Keep reading new lines of the log until Ctrl-C, even if the log is rotated or truncated
    #[arg(long, conflicts_with = "on")]
    pub follow: bool,
    /// Exit with code 3 if this condition holds. A condition is about p50, p95, p99, mean, max,
    /// errors, requests or share of a page or of all pages, or about the rate; for example
    /// 'p99(/search)>300ms' or 'errors>1%'
    #[arg(long, value_name = "GATE")]
    pub fail_if: Vec<Gate>,
    #[command(flatten)]
    pub inconclusive: InconclusiveArg,
    /// With --nagios: warn if this condition holds
    #[arg(long, value_name = "GATE", requires = "nagios")]
    pub warn_if: Vec<Gate>,
    /// Print one line and exit with a code for Nagios and compatible tools, without a report
    #[arg(long)]
    pub nagios: bool,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Do not save a run file or an HTML report
    #[arg(long)]
    pub no_keep: bool,
    /// Directory for the run file [default: runs/ in the project, or ~/.local/share/benchlab/runs outside of a
    /// project]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// If true, nothing is printed.
    #[arg(skip)]
    pub quiet: bool,
}

impl LogsArgs {
    /// Rejects combinations of options in which `--parquet` cannot save the records.
    ///
    /// # Errors
    /// Returns an error with advice on what to do instead.
    pub fn check(&self) -> Result<(), Exit> {
        let message = match (&self.parquet, &self.agents.on, self.follow) {
            (Some(_), Some(_), _) => {
                "--parquet saves records on the machine of the logs: run it on each machine without --on, as in \
                 `ssh web1 benchlab logs --parquet host=web1 LOG`; docs/guides/many.md shows a query over all of them"
            }
            (Some(_), None, true) => {
                "--parquet cannot be used with --follow, because a Parquet file must be complete: run it again after each rotation"
            }
            _ => return Ok(()),
        };
        Err(Exit::invalid(message))
    }

    /// Returns the options for reading the logs.
    pub fn session_options(&self) -> SessionOptions {
        SessionOptions {
            logs: self.logs.clone(),
            log_format: self.log_format.clone(),
            duration_unit: self.duration_unit,
            fields: self.fields.clone(),
            zone: self.zone.clone(),
            rules: self.rules.clone(),
            releases: self.release.clone(),
            git_tags: self.git_tags.clone(),
            parquet: self.parquet.clone(),
        }
    }
}
