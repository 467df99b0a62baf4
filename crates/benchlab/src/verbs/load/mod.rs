// SPDX-License-Identifier: Apache-2.0
//! `benchlab load`: plans and generates a load, reports the result, and judges it.

mod check;
mod follow;
mod generators;
mod requested;
mod servers;
mod session;
mod view;
mod words;

use crate::cli::{Cli, LoadArgs, ResumedLoadArgs};
use crate::dry_run;
use crate::exit::Exit;
use crate::exports::exports_of_measurement;
use crate::gate;
use crate::measuring;
use crate::options::sweeps;
use crate::verbs::{report, runs_folder};
use follow::LoadFollower;
use generators::LoadGenerators;
use lab_audit::host;
use lab_bench::{BenchError, LoadWorkload, Session, interrupt, unix_seconds};
use lab_document::{Document, say};
use lab_load::{Header, Secrets, Trust, restored_requests};
use lab_model::host::HostFinding;
use lab_model::{Ending, Host, LoadSpec, Metric, Plan, Run};
use lab_plan::Loading;
use lab_report::Report;
use lab_stats::gate::GateCondition;
use lab_store::RunWriter;
use requested::{RequestedLoad, read_body, requested_load};
use servers::{check_processes, names};
use session::{LoadSession, SessionFile};
use std::path::Path;
use std::process::ExitCode;

/// Puts one server under load, or multiple servers in turn.
pub fn load(cli: &Cli, args: &LoadArgs) -> Result<ExitCode, Exit> {
    let session = session(cli, args)?;
    if args.dry_run {
        print_plan(args, &session)?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(gate::exit_code(&run_load(&session)?))
}

/// Puts servers under load and returns the report.
pub fn run_new_load(cli: &Cli, args: &LoadArgs) -> Result<Document, Exit> {
    run_load(&session(cli, args)?)
}

/// Prints the planned load without sending any request.
fn print_plan(args: &LoadArgs, session: &LoadSession) -> Result<(), Exit> {
    let SessionFile::New(runs) = &session.file else {
        return Ok(());
    };
    let load = match (args.rate, args.stages.is_empty()) {
        (Some(rate), _) => format!("{rate} requests/s, sent when they are due"),
        (None, false) => format!("{} of rates", say::count(args.stages.len(), "stage")),
        (None, true) => "each connection sends its next request after the response".into(),
    };
    let connections = format!(
        "{}; {load}",
        say::count(args.connections as usize, "connection")
    );
    let hosts = args
        .agents
        .on
        .as_ref()
        .map(|on| ("agents".into(), on.words.clone()));
    let lines = std::iter::once(("load".into(), connections)).chain(hosts);
    dry_run::print(&session.plan, lines.collect(), runs)
}

/// Returns the load that the command line requests, without starting anything.
fn session<'a>(cli: &Cli, args: &'a LoadArgs) -> Result<LoadSession<'a>, Exit> {
    let exports = exports_of_measurement(&args.export)?;
    let seed = measuring::seed(args.measuring.seed);
    let RequestedLoad {
        spec,
        origins,
        requests,
    } = requested_load(args, seed)?;
    if args.gate && requests.len() == 1 {
        return Err(Exit::invalid(
            "--gate needs two or more servers; for one server use --fail-if 'p99>20ms'",
        ));
    }
    let servers = names(args, &origins)?;
    check_processes(args, &origins)?;
    let on = args.agents.on.as_ref();
    let gate = args.gate.then(|| GateCondition::text_of_gate(args.margin));
    let loading = Loading {
        name: args.title.clone(),
        servers,
        agents: on.map_or(0, |on| on.launcher.locations().len()),
        connections: args.connections,
        sweeps: sweeps(&args.sweep)?,
        length: args.length,
        rate: args.rate,
        stages: args.stages.clone(),
        even: args.even,
        load: spec,
        margin: args.margin,
        alpha: measuring::ALPHA,
        fail_if: gate
            .into_iter()
            .chain(args.fail_if.iter().cloned())
            .collect(),
        on_inconclusive: args.inconclusive.on,
        redo: args.measuring.redo,
        seed,
    };
    let plan = loading.plan()?;
    GateCondition::of_plan(&plan).map_err(|e| Exit::invalid(format!("--fail-if: {e}")))?;
    Ok(LoadSession {
        plan,
        requests,
        file: SessionFile::New(runs_folder(cli, args.measuring.runs.as_deref())?),
        exports,
        hlog: args.hlog.as_deref(),
        strict: args.measuring.strict,
        is_quiet: args.quiet,
    })
}

/// Resumes a load. `plan` and the number of agents come from its run file.
///
/// # Errors
/// Returns an error if a secret is missing, if the load cannot be resumed, or if it fails like a new load.
pub fn resume_load(
    file: &Path,
    plan: Plan,
    agents: usize,
    args: &ResumedLoadArgs,
) -> Result<ExitCode, Exit> {
    let load = plan.load().expect("a plan with a load");
    let name = file.display();
    let cannot = |reason: &str| {
        Err(Exit::invalid(format!(
            "{name} contains a load that cannot be resumed: {reason}. `benchlab report {name}` \
            shows the results so far. To measure more, start a new load"
        )))
    };
    if !plan.can_resume() {
        return cannot("the load's rate changes over time");
    }
    if load.trust.is_none() {
        return cannot(
            "the load was started by an earlier version of benchlab, which did not store all options",
        );
    }
    let headers = args.header.iter().map(|line| Header::parse(line));
    let body = match (&args.body, &args.body_file) {
        (Some(text), _) => Some(text.clone().into_bytes()),
        (None, Some(file)) => Some(read_body(file)?),
        (None, None) => None,
    };
    let secrets = Secrets {
        headers: headers.collect::<Result<_, _>>()?,
        body,
        users: args.user.clone(),
        environment: &|name| std::env::var(name).ok(),
    };
    let session = LoadSession {
        requests: restored_requests(load, &secrets)?,
        plan,
        file: SessionFile::Resumed {
            file: file.to_path_buf(),
            agents,
        },
        exports: exports_of_measurement(&args.export)?,
        hlog: args.hlog.as_deref(),
        strict: args.strict,
        is_quiet: false,
    };
    Ok(gate::exit_code(&run_load(&session)?))
}

/// Runs the load, reports it, and judges the result if requests were served.
fn run_load(session: &LoadSession) -> Result<Document, Exit> {
    let (plan, load) = (&session.plan, session.load());
    interrupt::watch().map_err(Exit::failed)?;
    let generators = LoadGenerators::start(session)?;
    // One core, for the generator.
    let mut host = with_verification_finding(host::inspect(1), load);
    let watches = generators::watches(session, &mut host)?;
    generators.report_unfit(plan, &host, session.strict)?;
    let writer = match &session.file {
        SessionFile::Resumed { file, .. } => RunWriter::resume(file)?,
        SessionFile::New(runs) => {
            let path = measuring::new_file(runs, &plan.experiment)?;
            let writer = RunWriter::create(&path, env!("CARGO_PKG_VERSION"), unix_seconds())?;
            writer.host(&host)?;
            writer.plan(plan)?;
            writer
        }
    };
    generators.describe(&writer)?;
    let path = writer.path().to_path_buf();
    // The run file of a resumed load contains the host of its first session. A restart changes the
    // machine's ID.
    let run = Run {
        host,
        ..writer.load()?
    };
    let workload = LoadWorkload::new(plan, load, &run, generators.all(), watches);
    let ending = measure(plan, writer, run, workload)?;
    let failed = generators.failed(session.strict);
    // The agents exit before the report is built.
    drop(generators);
    report::with_report(&path, &[], |report| {
        let document = lab_kinds::document(report);
        let shown = report::show_unless_quiet(&document, &path, session.is_quiet);
        report::export_after(shown, &document, &session.exports)?;
        write_log(report, session.hlog)?;
        let resumable = plan.can_resume().then_some(path.as_path());
        match ending {
            Ok(ending) => check_ending(report, ending, resumable)?,
            Err(lost) => return Err(Exit::failed(lost + &resume_hint(resumable))),
        }
        if let Some(reason) = failed {
            return Err(Exit::failed(reason));
        }
        Ok(document)
    })
}

/// Returns advice on how to resume a run, for the end of a message.
fn resume_hint(resumable: Option<&Path>) -> String {
    resumable.map_or(String::new(), |file| {
        format!("; continue with `benchlab resume {}`", file.display())
    })
}

/// Measures the remaining part of a load.
///
/// Returns the reason the load ended, or a message if all agents were lost.
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

/// Writes the HdrHistogram log of `--hlog`.
fn write_log(report: &Report, hlog: Option<&Path>) -> Result<(), Exit> {
    let Some(file) = hlog else { return Ok(()) };
    let failed = |reason: String| Exit::failed(format!("--hlog {}: {reason}", file.display()));
    let log = lab_store::hlog(report.run).map_err(failed)?;
    std::fs::write(file, log).map_err(|e| failed(e.to_string()))
}

/// Returns an error if the run was stopped, or no request was served.
fn check_ending(report: &Report, ending: Ending, resumable: Option<&Path>) -> Result<(), Exit> {
    if ending == Ending::Interrupted {
        let message = format!(
            "stopped; the results so far are saved and shown{}",
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

/// Adds a finding to the host if the servers' certificates are not verified.
fn with_verification_finding(mut host: Host, load: &LoadSpec) -> Host {
    if load.trust.as_ref().and_then(Trust::words).is_some() {
        host.findings.push(HostFinding {
            unfit: false,
            what: "the server's certificate was not verified (--insecure)".into(),
            advice: "specify its certificate authority with --ca".into(),
        });
    }
    host
}
