// SPDX-License-Identifier: Apache-2.0
//! `benchlab load`: plan, send one request, put load on, report, judge.

mod check;
mod command;
mod follow;
mod generators;
mod requested;
mod resumed;
mod servers;
mod view;
mod words;

use crate::cli::{Cli, LoadArgs, Sending};
use crate::exit::Exit;
use crate::exports::exports;
use crate::gate::{GateResult, load_gate};
use crate::measuring;
use crate::options::sweeps;
use crate::verbs::{report, runs_folder};
use command::LoadCommand;
use follow::LoadFollower;
use generators::LoadGenerators;
use lab_audit::host;
use lab_bench::{BenchError, LoadWorkload, Session, interrupt, unix_seconds};
use lab_model::host::HostFinding;
use lab_model::{Ending, Host, Metric, Plan, Run};
use lab_plan::Loading;
use lab_report::{Report, wording};
use lab_stats::load::threshold::{Threshold, judge};
use lab_store::RunWriter;
pub use resumed::{Resumed, command_line, original_command};
use resumed::{can_keep_command_line, has_one_changing_load, seed};
use servers::{planned, processes, servers};
use std::path::Path;
use std::process::ExitCode;

/// Puts load on one server, or on multiple servers in turns.
pub fn load(cli: &Cli, args: &LoadArgs) -> Result<ExitCode, Exit> {
    load_or_resume(cli, args, None)
}

/// Puts on a load, in a new run or in one that was stopped.
pub fn load_or_resume(
    cli: &Cli,
    args: &LoadArgs,
    resumed: Option<Resumed>,
) -> Result<ExitCode, Exit> {
    let sending = &args.sending;
    let exports = exports(&args.export)?;
    let seed = seed(args.measuring.seed, resumed.as_ref());
    let servers = servers(args, seed)?;
    if args.gate && servers.len() == 1 {
        return Err(Exit::wrong(
            "--gate is for servers that are compared: --fail-if judges one, such as --fail-if 'p99>20ms'",
        ));
    }
    let loading = Loading {
        name: args.title.clone(),
        servers: planned(args, &servers)?,
        agents: sending.agents.on.as_ref().map_or(0, |on| on.places().len()),
        connections: args.connections,
        sweeps: sweeps(&args.sweep)?,
        length: args.length,
        rate: sending.rate,
        stages: sending.stages.clone(),
        even: sending.even,
        load: sending.load()?,
        margin: args.margin,
        alpha: measuring::ALPHA,
        gate: args.gate,
        redo: args.measuring.redo,
        seed,
    };
    let command = LoadCommand {
        loading,
        sending,
        processes: processes(args, &servers)?,
        server_host: args.server_host.clone(),
        servers,
        exports,
        runs: runs_folder(cli, args.measuring.runs.as_deref())?,
        strict: args.measuring.strict,
        keeps_command_line: can_keep_command_line(sending, &args.urls),
        resumed,
    };
    command.carry_out(|report| {
        let found = judge_conditions(report, &args.fail_if);
        if args.gate {
            found.max(load_gate(&report.results))
        } else {
            found
        }
    })
}

impl LoadCommand<'_> {
    /// Puts the load on, reports, and judges a run in which requests were served.
    pub fn carry_out(
        mut self,
        judge: impl FnOnce(&Report) -> GateResult,
    ) -> Result<ExitCode, Exit> {
        let pids = self.processes.iter().flatten();
        let mut pids: Vec<i32> = pids.copied().collect();
        pids.dedup();
        self.loading.load.server_pids = pids;
        let place = self.server_host.as_ref().and_then(|on| on.places().first());
        self.loading.load.server_host = place.cloned();
        let plan = self.loading.plan()?;
        interrupt::watch().map_err(Exit::failed)?;
        let generators = LoadGenerators::start(&self, &plan)?;
        // One core: the generator's.
        let mut host = with_trust(host::inspect(1), self.sending);
        let watches = generators::watches(&self, &mut host)?;
        generators.report_unfit(&plan, &host, self.strict)?;
        let resumable = self.keeps_command_line && !has_one_changing_load(&plan);
        let writer = match &self.resumed {
            Some(resumed) => resumed.writer(&plan)?,
            None => {
                let path = measuring::new_file(&self.runs, &plan.experiment)?;
                let writer = RunWriter::create(&path, env!("CARGO_PKG_VERSION"), unix_seconds())?;
                writer.host(&host)?;
                writer.plan(&plan)?;
                if resumable {
                    writer.command_line(&command_line())?;
                }
                writer
            }
        };
        generators.describe(&writer)?;
        let path = writer.path().to_path_buf();
        // A resumed run has its first host, of which a restart has changed the machine's id.
        let run = Run {
            host,
            ..writer.load()?
        };
        let load = plan.load().expect("a plan with a load");
        let workload = LoadWorkload::new(&plan, load, &run, generators.all(), watches);
        let ending = measure(&plan, writer, run, workload.resumable(resumable))?;
        let failed = generators.failed(self.strict);
        // Agents are gone when the report is made.
        drop(generators);
        report::with_report(&path, &[], |report| {
            let document = lab_kinds::document(report);
            report::show(&document, &path)?;
            report::export(&document, &self.exports)?;
            write_log(report, self.sending.hlog.as_deref())?;
            let resumable = resumable.then_some(path.as_path());
            match ending {
                Ok(ending) => check_ending(report, ending, resumable)?,
                Err(lost) => return Err(Exit::failed(lost + &resume_hint(resumable))),
            }
            match failed {
                Some(reason) => Err(Exit::failed(reason)),
                None => Ok(judge(report).into()),
            }
        })
    }
}

/// How to go on with a run, to follow the reason why it ended.
fn resume_hint(resumable: Option<&Path>) -> String {
    resumable.map_or(String::new(), |file| {
        format!("; continue with `benchlab resume {}`", file.display())
    })
}

/// Puts on the load that is missing in a run file: how it ended, or a sentence that says that all agents were lost.
fn measure(
    plan: &Plan,
    writer: RunWriter,
    run: Run,
    workload: LoadWorkload,
) -> Result<Result<Ending, String>, Exit> {
    let mut follower = LoadFollower::new(plan);
    let session = Session::new(plan, writer, run, Box::new(workload));
    let ending = session.measure(&mut |progress| follower.step(progress));
    follower.end();
    match ending {
        Err(BenchError::AgentsLost(reason)) => Ok(Err(reason)),
        ending => Ok(Ok(ending?)),
    }
}

/// Writes the log of histograms.
fn write_log(report: &Report, hlog: Option<&Path>) -> Result<(), Exit> {
    let Some(file) = hlog else { return Ok(()) };
    let failed = |reason: String| Exit::failed(format!("--hlog {}: {reason}", file.display()));
    let log = lab_store::hlog(report.run).map_err(failed)?;
    std::fs::write(file, log).map_err(|e| failed(e.to_string()))
}

/// Errors: the run was stopped, or no request was served.
fn check_ending(report: &Report, ending: Ending, resumable: Option<&Path>) -> Result<(), Exit> {
    if ending == Ending::Interrupted {
        let message = format!(
            "stopped; what was measured until then is kept and shown{}",
            resume_hint(resumable)
        );
        return Err(Exit::interrupted(message));
    }
    let cells = report.results.cells.iter();
    let served = cells.filter(|cell| cell.key.metric == Metric::SERVED);
    match served.map(|cell| cell.value.value() as u64).sum::<u64>() {
        0 => Err(Exit::failed("no request was served: the report says why")),
        _ => Ok(()),
    }
}

/// Prints which conditions of `--fail-if` hold or are inconclusive.
fn judge_conditions(report: &Report, conditions: &[Threshold]) -> GateResult {
    let Some(plan) = report.run.plan() else {
        return GateResult::Passed;
    };
    let judgement = judge(conditions, &report.results, plan);
    let crossed = judgement.crossed.iter();
    let crossed = crossed.map(|c| ("--fail-if holds", c.subject, c.point, wording::crossed(c)));
    let undecided = judgement.undecided.iter();
    let undecided = undecided.map(|u| {
        let text = wording::undecided(u);
        ("--fail-if is inconclusive", u.subject, u.point, text)
    });
    for (state, subject, point, text) in crossed.chain(undecided) {
        let of = match plan.subjects.len() {
            1 => String::new(),
            _ => format!(" of {}", plan.subjects[subject].name),
        };
        let at = match plan.points.len() {
            1 => String::new(),
            _ => format!(" at {}", plan.label(point)),
        };
        eprintln!("benchlab: {state}{of}{at}: {text}");
    }
    match (judgement.crossed.is_empty(), judgement.undecided.is_empty()) {
        (false, _) => GateResult::Failed,
        (true, false) => GateResult::Inconclusive,
        (true, true) => GateResult::Passed,
    }
}

/// The host, with a finding if the servers' certificates are not verified.
fn with_trust(mut host: Host, sending: &Sending) -> Host {
    if sending.trust().words().is_some() {
        host.findings.push(HostFinding {
            unfit: false,
            what: "the server's certificate was not verified (--insecure)".into(),
            advice: "name its authority with --ca".into(),
        });
    }
    host
}
