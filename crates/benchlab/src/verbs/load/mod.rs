// SPDX-License-Identifier: Apache-2.0
//! `benchlab load`: plan, ask once, put load on, report, judge.

mod asked;
mod check;
mod follow;
mod view;
mod words;

use crate::cli::{Cli, LoadArgs, Sending};
use crate::exit::{self, Exit};
use crate::measuring;
use crate::verbs::compare::{exports, sweep};
use crate::verbs::{report, runs_folder};
pub use asked::Asked;
use follow::Follower;
use lab_bench::{LoadRun, LoadedServers, give_back, interrupt, unix_seconds};
use lab_load::Ports;
use lab_model::host::Finding;
use lab_model::{Arrivals, Ending, Host, Plan};
use lab_plan::{Loading, Server};
use lab_report::{Format, Report};
use lab_stats::load::threshold::{Threshold, judge};
use lab_store::RunWriter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Loads one server.
pub fn load(cli: &Cli, args: &LoadArgs) -> Result<ExitCode, Exit> {
    let exports = exports(&args.export)?;
    let seed = measuring::seed(args.seed);
    let servers = args.sending.servers(&args.urls, &args.weights, seed)?;
    let families = args.sending.families().iter();
    let names: Vec<Option<String>> = match servers.len() {
        1 => vec![args.name.clone()],
        _ => families
            .map(|family| Some(family.name().to_owned()))
            .collect(),
    };
    let loading = Loading {
        name: args.title.clone(),
        connections: args.connections,
        sweeps: args
            .sweep
            .iter()
            .map(|word| sweep(word))
            .collect::<Result<_, _>>()?,
        length: args.length,
        seed,
        ..loading(&args.sending, &servers, &names)?
    };
    let errand = Errand {
        loading,
        sending: &args.sending,
        processes: vec![args.server_pid; servers.len()],
        servers,
        exports,
        runs: runs_folder(cli, args.runs.as_deref())?,
        strict: args.strict,
    };
    errand.carry_out(|report| judged(report, &args.fail_if))
}

/// Load that is to be put on, and what is made of it.
pub struct Errand<'a> {
    pub loading: Loading,
    pub sending: &'a Sending,
    /// Those of the plan, in its order.
    pub servers: Vec<Asked>,
    /// Their processes on this machine, where they were named.
    pub processes: Vec<Option<i32>>,
    pub exports: Vec<(&'a Path, Format)>,
    pub runs: PathBuf,
    pub strict: bool,
}

/// The part of a load that the options of both verbs say.
pub fn loading(
    sending: &Sending,
    servers: &[Asked],
    names: &[Option<String>],
) -> Result<Loading, Exit> {
    let named = servers.iter().zip(names).map(|(asked, name)| {
        let origin = asked.origin.to_string();
        Server {
            name: name.clone().unwrap_or_else(|| origin.clone()),
            asked: asked.server.requests.asked().to_vec(),
            origin,
        }
    });
    Ok(Loading {
        servers: named.collect(),
        rate: sending.rate,
        stages: sending.stages.clone(),
        poisson: sending.poisson,
        load: sending.how()?,
        margin: 0.02,
        alpha: measuring::ALPHA,
        ..Loading::default()
    })
}

impl Errand<'_> {
    /// Puts the load on, reports, and has a run of which something came judged.
    pub fn carry_out(
        mut self,
        judge: impl FnOnce(&Report) -> Result<ExitCode, Exit>,
    ) -> Result<ExitCode, Exit> {
        let known = self.processes.iter().flatten();
        let mut known: Vec<i32> = known.copied().collect();
        known.dedup();
        if let [one] = known[..] {
            self.loading.load.server_pid = Some(one);
        }
        let plan = self.loading.plan()?;
        give_back();
        interrupt::watch().map_err(|e| Exit::new(exit::FAILED, e.to_string()))?;
        let loopback = self.servers.iter().all(|s| s.server.is_here());
        ports(&plan, loopback);
        let servers = self.servers.into_iter().map(|asked| asked.server);
        let servers = LoadedServers::new(&plan, servers.collect());
        check::check(&plan, &servers)?;
        let host = with_trust(measuring::fit_host(self.strict)?, self.sending);
        let path = measuring::new_file(&self.runs, &plan.experiment)?;
        let writer = RunWriter::create(&path, env!("CARGO_PKG_VERSION"), unix_seconds())?;
        writer.host(&host)?;
        writer.plan(&plan)?;
        let mut follower = Follower::new(&plan);
        give_back();
        let run = LoadRun::new(&plan, writer, &servers, &self.processes);
        let ending = run.measure(&mut |progress| follower.step(progress));
        follower.end();
        let ending = ending?;
        report::with_report(&path, &[], |report| {
            report::show(report, &path)?;
            write(report, &self.exports, self.sending.hlog.as_deref())?;
            ended(report, ending)?;
            judge(report)
        })
    }
}

/// Writes exports, and the log of histograms.
fn write(report: &Report, exports: &[(&Path, Format)], hlog: Option<&Path>) -> Result<(), Exit> {
    for &(file, format) in exports {
        report::write(report::render(report, format, false)?, file)?;
    }
    let Some(file) = hlog else { return Ok(()) };
    let failed = |why: String| Exit::new(exit::FAILED, format!("--hlog {}: {why}", file.display()));
    let log = lab_store::hlog(report.run).map_err(failed)?;
    std::fs::write(file, log).map_err(|e| failed(e.to_string()))
}

/// Error: the run was stopped, or nothing came of it.
fn ended(report: &Report, ending: Ending) -> Result<(), Exit> {
    if ending == Ending::Interrupted {
        let message = "stopped; what was measured until then is kept and shown";
        return Err(Exit::new(exit::INTERRUPTED, message));
    }
    let cells = report.load.iter().flat_map(|load| &load.cells);
    match cells.map(|cell| cell.served).sum::<u64>() {
        0 => Err(Exit::new(
            exit::FAILED,
            "no request was served: the report says why",
        )),
        _ => Ok(()),
    }
}

/// What the conditions of `--fail-if` say of the run.
fn judged(report: &Report, conditions: &[Threshold]) -> Result<ExitCode, Exit> {
    let (Some(load), Some(plan)) = (&report.load, &report.run.plan) else {
        return Ok(ExitCode::SUCCESS);
    };
    let judgement = judge(conditions, load, plan);
    let crossed = judgement.crossed.iter();
    let crossed = crossed.map(|c| ("--fail-if is so", c.subject, c.point, &c.text));
    let undecided = judgement.undecided.iter();
    let undecided = undecided.map(|u| ("--fail-if is not decided", u.subject, u.point, &u.text));
    for (what, _, point, text) in crossed.chain(undecided) {
        let at = match plan.points.len() {
            1 => String::new(),
            _ => format!(" at {}", plan.label(point)),
        };
        eprintln!("benchlab: {what}{at}: {text}");
    }
    Ok(
        match (judgement.crossed.is_empty(), judgement.undecided.is_empty()) {
            (false, _) => ExitCode::from(exit::REGRESSION),
            (true, false) => ExitCode::from(exit::UNDECIDED),
            (true, true) => ExitCode::SUCCESS,
        },
    )
}

/// A connection per request uses up ports: says beforehand what would happen, and what helps.
fn ports(plan: &Plan, loopback: bool) {
    let how = plan.load.as_ref().expect("a plan with a load");
    if how.keep_alive {
        return;
    }
    let rate = match &how.arrivals {
        Arrivals::Closed => None,
        Arrivals::Open { stages, .. } => {
            let highest = stages.iter().map(|s| s.from.max(s.to));
            highest.max_by(f64::total_cmp)
        }
    };
    let visits = plan.points.len() * plan.subjects.len() * plan.measure.max_blocks as usize;
    let visits = if plan.points.len() * plan.subjects.len() == 1 {
        1
    } else {
        visits
    };
    let length = Duration::from_nanos(how.stretch_ns) * visits as u32;
    let outlook = Ports::read().outlook(rate, length, loopback);
    if outlook.short {
        outlook
            .words
            .iter()
            .for_each(|line| eprintln!("benchlab: {line}"));
    }
}

/// Whose certificate was not looked at is said in the report.
fn with_trust(mut host: Host, sending: &Sending) -> Host {
    if sending.trust().words().is_some() {
        host.findings.push(Finding {
            unfit: false,
            what: "the server's certificate was not verified (--insecure)".into(),
            advice: "name its authority with --ca".into(),
        });
    }
    host
}
