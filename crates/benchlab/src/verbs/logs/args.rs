// SPDX-License-Identifier: Apache-2.0
//! The words of `benchlab logs`.

use crate::exit::Exit;
use crate::option_values::time;
use crate::options::{AgentPlacement, DisplayArgs};
use clap::Args;
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
                  benchlab diff runs/APRIL.lab runs/MAY.lab\n\nThe run is kept in runs/<time>-logs.lab, with an HTML report next to it.\n\
                  Exit codes: 3 a --fail-if holds, 4 it cannot be judged, as where the unit or zone of its figure is assumed; with --nagios 0 to 3 as Nagios has them."
)]
pub struct LogsArgs {
    /// Logs: files, plain or compressed by gzip or zstd; `-` for standard input; the URL of a monitor, or of
    /// a PostgreSQL or MariaDB that counts its statements
    #[arg(value_name = "LOG", required = true)]
    pub logs: Vec<String>,
    /// Also read the rotated files next to each log, the oldest first: LOG.1, LOG.2.gz, LOG-20260501.zst
    #[arg(long)]
    pub rotated: bool,
    /// The format of the logs, as in the server's configuration: a LogFormat of Apache, a log_format of nginx
    /// [default: detected]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
    /// The unit of durations, where the format does not define it: ns, us, ms or s
    #[arg(long, value_name = "UNIT", value_parser = unit)]
    pub duration_unit: Option<u64>,
    /// The fields of JSON lines, where their names are not known: time, method, path, request, status, bytes,
    /// agent, duration, id; time=ts,path=request.uri,duration=elapsed_ms
    #[arg(long, value_name = "ROLE=FIELD,…")]
    pub fields: Option<String>,
    /// Time zone of the server, for logs whose times have no offset, such as Europe/Berlin [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub zone: Option<String>,
    /// A file of routes, bots and health checks, which go before what is found out: /users/{id}, bot NAME,
    /// health /up
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// A release: pages are compared before and after it; 2026-05-01=v12, 2026-05-01T14:30=v12
    #[arg(long, value_name = "TIME=NAME")]
    pub release: Vec<String>,
    /// Use the tags of a git repository as releases, those made in the time of the log
    #[arg(long, value_name = "FOLDER")]
    pub git_tags: Option<PathBuf>,
    /// A run of `benchlab load` on the server: shows the log's peak as a fraction of the server's capacity
    #[arg(long, value_name = "RUN.lab")]
    pub capacity: Option<PathBuf>,
    /// The largest response time that counts as in time for --capacity
    #[arg(long, default_value = "200ms", value_name = "TIME", value_parser = time)]
    pub p99_limit: Duration,
    #[command(flatten)]
    pub agents: AgentPlacement,
    /// Keep the requests and statements themselves, with their pages, as Parquet files in this new folder, for DuckDB,
    /// Spark or DataFusion; with logs that are read to their end, on this machine
    #[arg(long, value_name = "DIR")]
    pub parquet: Option<PathBuf>,
    /// Continue with new lines of the log until Ctrl-C; rotated and truncated files are followed
    #[arg(long, conflicts_with = "on")]
    pub follow: bool,
    /// End with exit code 3 if that holds: p50, p95, p99, mean, max, errors, requests or share of a page or
    /// of all, or the rate; 'p99(/search)>300ms', 'errors>1%'
    #[arg(long, value_name = "GATE")]
    pub fail_if: Vec<Gate>,
    /// With --nagios: a warning if this holds
    #[arg(long, value_name = "GATE", requires = "nagios")]
    pub warn_if: Vec<Gate>,
    /// One line and an exit code as Nagios and its like want them, and no report
    #[arg(long)]
    pub nagios: bool,
    #[command(flatten)]
    pub display: DisplayArgs,
    /// Keep no run file and no page
    #[arg(long)]
    pub no_keep: bool,
    /// Where the run file goes [default: the project's runs/, or outside of a project
    /// ~/.local/share/benchlab/runs]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
}

impl LogsArgs {
    /// Rejects `--parquet` where records cannot be kept. Error: says what to do instead.
    pub fn check(&self) -> Result<(), Exit> {
        let message = match (&self.parquet, &self.agents.on, self.follow) {
            (Some(_), Some(_), _) => {
                "--parquet: records stay where the logs lie: call it on each machine, without --on, as in \
                 `ssh web1 benchlab logs --parquet host=web1 LOG`; docs/guides/many.md has the query for all of them"
            }
            (Some(_), None, true) => {
                "--parquet: a Parquet file is complete at its end: leave --follow out, and call it again for what is rotated"
            }
            _ => return Ok(()),
        };
        Err(Exit::wrong(message))
    }

    /// The options of reading the logs.
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

/// ns of a unit.
fn unit(text: &str) -> Result<u64, String> {
    match text {
        "ns" => Ok(1),
        "us" | "µs" => Ok(1_000),
        "ms" => Ok(1_000_000),
        "s" => Ok(1_000_000_000),
        _ => Err("expected ns, us, ms or s".into()),
    }
}
