// SPDX-License-Identifier: Apache-2.0
//! `benchlab run`: plans, builds, measures and reports.

use crate::cli::{Cli, RunArgs};
use crate::dry_run;
use crate::exit::Exit;
use crate::fixtures::{Fixtures, with_states};
use crate::hosts;
use crate::measuring;
use crate::options::set_values;
use crate::output::say;
use crate::own_sql;
use crate::prepared::{Prepared, prepare, with_scratch};
use crate::services;
use crate::verbs::list::missing_toolchains;
use crate::verbs::{experiment, explain, forecast::forecast, report};
use crate::working_directories;
use lab_bench::{
    BatchWorkload, LocalExecutor, MountedDirectory, Scratch, ServerWorkload, Servers, Workload,
    generator_threads, interrupt, unix_seconds,
};
use lab_document::say;
use lab_many::experiment::{BlockAgents, Hosts};
use lab_model::{Ending, Host, Measure, Plan, Serving, TargetId, distinct};
use lab_plan::{Experiment, Extent, Project, Selection, Toolchain, Toolchains, visit_ns};
use lab_stats::gate::GateCondition;
use lab_stats::load::peaks::Peaks;
use lab_store::RunWriter;
use std::collections::HashSet;
use std::process::ExitCode;
use std::time::Duration;

/// The number of blocks of a quick run.
///
/// With fewer blocks, simultaneous intervals for all comparisons would require assuming a normal
/// distribution.
const QUICK_BLOCKS: u32 = 12;

/// The number of blocks of a run whose default time is too short for more blocks.
///
/// Intervals from up to five blocks assume a normal distribution, and are narrower than intervals
/// from six to ten blocks.
const FEW_BLOCKS: u32 = 5;

/// The equivalence margin of a quick run. The run is meant to detect differences of twice the
/// margin: 20 %.
const QUICK_MARGIN: f64 = 0.1;
/// The equivalence margin of a longer run. The run is meant to detect differences of twice the
/// margin: 4 %.
const MARGIN: f64 = 0.02;

/// The maximum duration of a block's warm-up for one subject at one point, in ns.
const MAX_WARM_UP_NS: u64 = 500_000_000;

/// The maximum duration of a run if no option specifies the duration.
const MAX_DEFAULT_BUDGET: Duration = Duration::from_secs(600);

/// The time limit of a quick run, including about ten seconds for the pilot.
///
/// If fewer than [`QUICK_BLOCKS`] blocks fit into this time, the run has fewer blocks.
const QUICK_BUDGET: Duration = Duration::from_secs(70);

/// The time limit of a quick run of servers.
const QUICK_SERVERS_BUDGET: Duration = Duration::from_secs(60);

/// The number of process sets in a run of servers: the minimum for simultaneous intervals that do
/// not assume a normal distribution.
const PROCESS_SETS: u32 = 12;

/// The number of mirrored pairs of passes over the servers in a block.
const SERVER_PAIRS: u32 = 1;

/// The maximum number of blocks that one set of server processes serves.
const MAX_BLOCKS_OF_SET: u32 = lab_stats::nesting::MAX_BLOCKS;

/// Measures an experiment.
pub fn run(cli: &Cli, args: &RunArgs) -> Result<ExitCode, Exit> {
    let (project, experiment) = experiment(cli, &args.experiment)?;
    let experiment = own_sql::replace_cases(experiment, args)?;
    let planned_hosts = hosts::requested(args)?;
    let directories = match planned_hosts {
        None => working_directories::working_directories(&experiment, args)?,
        Some(_) => {
            hosts::check_experiment(&experiment)?;
            Vec::new()
        }
    };
    let mut selection = selection(args, &directories)?;
    let fixtures = Fixtures {
        project: &project,
        experiment: &experiment,
        installs: args.install,
    };
    let mut plan = match args.dry_run {
        // A dry run does not build the fixtures, so it does not know which states this machine
        // supports.
        true => selection.plan(&experiment)?,
        false => fixtures.plan(&mut selection)?,
    };
    let points_left_out = match selection.extent {
        Extent::Quick => points_left_out(selection, &experiment, &plan)?,
        Extent::Usual | Extent::Thorough => 0,
    };
    set_measure(&mut plan, args, experiment.quick_s);
    plan.measure.fail_if = fail_if(args, &plan);
    plan.measure.on_inconclusive = args.inconclusive.on;
    GateCondition::of_plan(&plan).map_err(|e| Exit::invalid(format!("--fail-if: {e}")))?;
    if args.plan.is_some() && plan.load().is_some() {
        return Err(Exit::invalid(
            "--plan supports only programs that run in batches, not servers, which are also compared by percentiles",
        ));
    }
    let folder = match &args.measuring.runs {
        Some(folder) => folder.clone(),
        None => project.folder().join("runs"),
    };
    if args.dry_run {
        let needed = requirements(&project, &experiment, &plan)?;
        dry_run::print(&plan, needed, &folder)?;
        return Ok(ExitCode::SUCCESS);
    }
    interrupt::watch().map_err(Exit::failed)?;
    let prepared = prepare(&project, &experiment, &plan, args.install)?;
    plan.hosts = planned_hosts;
    let host = match plan.hosts {
        None => measuring::fit_host(args.measuring.strict, measuring::CORES)?,
        Some(_) => hosts::coordinator(),
    };
    let measurers = match plan.hosts {
        None => {
            let scratch = measuring::scratch(args.scratch.as_deref())?;
            let servers = services::start(&plan, &args.service, &scratch, &prepared.failures)?;
            own_sql::study(&mut plan, &servers)?;
            Measurers::Local { scratch, servers }
        }
        Some(_) => Measurers::hosts((&project, &plan), &prepared, 0)?,
    };
    let Prepared { hashes, failures } = prepared;
    if let Some(blocks) = args.plan {
        return forecast(&plan, blocks, |plan, writer| {
            failures
                .iter()
                .try_for_each(|failure| writer.failure(failure))?;
            measure_rest(&project, plan, writer, measurers).map(drop)
        });
    }
    let path = measuring::new_file(&folder, &own_sql::run_name(&plan))?;
    let writer = RunWriter::create(&path, env!("CARGO_PKG_VERSION"), unix_seconds())?;
    let host = measuring::with_commit(host, project.folder());
    let host = if directories.is_empty() {
        measurers.with_scratch(host, &plan)
    } else {
        working_directories::with_directories(host, &directories)
    };
    let host = with_states(host, &plan);
    writer.host(&host)?;
    writer.plan(&plan)?;
    hashes
        .iter()
        .try_for_each(|(name, hash)| writer.hash(name, hash))?;
    failures
        .iter()
        .try_for_each(|failure| writer.failure(failure))?;
    let exit_code = run_plan(fixtures, &plan, writer, measurers)?;
    if points_left_out > 0 {
        let more = say::count(points_left_out, "more point");
        say!("Without --quick, this command measures {more}.");
    }
    if args.explain {
        explain::after_run(cli, &path, args)?;
    }
    if args.why {
        working_directories::run_why_program(&project, &experiment, &plan)?;
    }
    Ok(exit_code)
}

/// Returns the requirements of a run in addition to its subjects, for `--dry-run`: services,
/// fixtures, and missing toolchains.
fn requirements(
    project: &Project,
    experiment: &Experiment,
    plan: &Plan,
) -> Result<Vec<(String, String)>, Exit> {
    let mut lines = Vec::new();
    let private = plan
        .targets
        .iter()
        .filter(|t| t.kind.is_service() && !t.external);
    let private = distinct(private.map(|target| target.kind.title()));
    if !private.is_empty() {
        let text = format!("private {}", say::list(&private));
        lines.push(("starts".into(), text));
    }
    let fixtures: Vec<&str> = plan.fixtures.iter().map(|f| f.name.as_str()).collect();
    if !fixtures.is_empty() {
        let text = format!(
            "{}; points whose state this machine does not support are left out",
            fixtures.join(", ")
        );
        lines.push(("fixtures".into(), text));
    }
    let toolchains = Toolchains::read(project)?;
    let mut all: Vec<(&Toolchain, String)> = Vec::new();
    for subject in plan.subjects.ids() {
        let model = &plan.subjects[subject];
        let described = experiment
            .subject(plan, model)
            .filter(|_| model.control_of.is_none());
        let missing = described.map_or(Vec::new(), |described| {
            missing_toolchains(&toolchains, described)
        });
        let label = || plan.subject_label(subject);
        all.extend(missing.into_iter().map(|toolchain| (toolchain, label())));
    }
    for (title, missing) in
        say::grouped(all.iter().map(|(t, label)| (t.title.as_str(), (t, label))))
    {
        let subjects: Vec<&str> = missing.iter().map(|(_, label)| label.as_str()).collect();
        let how = missing[0].0.how();
        let text = format!("{title} ({how}), for {}", say::list(&subjects));
        lines.push(("not installed".into(), text));
    }
    Ok(lines)
}

/// Returns the conditions of `--gate` and `--fail-if`.
fn fail_if(args: &RunArgs, plan: &Plan) -> Vec<String> {
    let margin = plan.measure.margin;
    let gate = args.gate.then(|| GateCondition::text_of_gate(margin));
    gate.into_iter()
        .chain(args.fail_if.iter().cloned())
        .collect()
}

/// Sets the duration of a plan and the number of measurements. The duration and the number depend
/// on the plan's targets and servers.
fn set_measure(plan: &mut Plan, args: &RunArgs, quick_s: Option<u32>) {
    let turn_ns = visit_ns(plan, 2 * args.pairs.unwrap_or(SERVER_PAIRS), args.quick);
    match plan.load_mut() {
        None => {
            plan.measure.budget_ns = budget_ns(args, plan.targets.len(), quick_s);
            plan.measure.block_ns = block_ns(args, plan.targets.len(), quick_s);
        }
        Some(load) => {
            let cores = lab_host::allowed_cores().map_or(1, |cores| cores.len());
            load.threads = generator_threads(cores) as u32;
            load.stretch_ns = turn_ns;
            plan.measure = measure_servers(args, turn_ns, plan.serving(), quick_s);
        }
    }
}

/// The executor of a run: this machine or other hosts.
pub enum Measurers {
    /// This machine.
    Local {
        /// The directory for databases.
        scratch: Scratch,
        /// The services that subjects use.
        servers: Servers,
    },
    /// Other hosts, which are ready to measure.
    Hosts {
        /// The hosts with their agents.
        hosts: Box<Hosts>,
        /// True if the loss of a host ends the run.
        strict: bool,
    },
}

impl Measurers {
    /// Returns the hosts of the plan.
    ///
    /// # Errors
    /// Returns an error if the plan has no hosts, if an agent cannot be started, or if a host does
    /// not meet the requirements.
    pub fn hosts(
        (project, plan): (&Project, &Plan),
        prepared: &Prepared,
        earlier: usize,
    ) -> Result<Measurers, Exit> {
        let planned = plan.hosts.as_ref().ok_or_else(|| {
            Exit::invalid("the run file does not contain the hosts of its agents: start a new run")
        })?;
        let hosts = hosts::start(planned, (project, plan), prepared, earlier)?;
        Ok(Measurers::Hosts {
            hosts: Box::new(hosts),
            strict: planned.strict,
        })
    }

    fn with_scratch(&self, host: Host, plan: &Plan) -> Host {
        match self {
            Measurers::Local { scratch, .. } => with_scratch(host, scratch, plan),
            Measurers::Hosts { .. } => host,
        }
    }
}

/// Measures the remaining blocks of a run and reports the result.
pub fn run_plan(
    fixtures: Fixtures,
    plan: &Plan,
    writer: RunWriter,
    measurers: Measurers,
) -> Result<ExitCode, Exit> {
    let path = writer.path().to_path_buf();
    let ending = measure_rest(fixtures.project, plan, writer, measurers)?;
    let exit_code = report::after_run(&path)?;
    fixtures.print_permanent(plan, &path)?;
    match ending {
        Ending::Failed => measuring::exit_code(ending),
        _ => Ok(exit_code),
    }
}

fn measure_rest(
    project: &Project,
    plan: &Plan,
    writer: RunWriter,
    measurers: Measurers,
) -> Result<Ending, Exit> {
    let (scratch, servers) = match measurers {
        Measurers::Local { scratch, servers } => (scratch, servers),
        Measurers::Hosts { hosts, strict } => {
            for (id, agent) in hosts.described() {
                writer.agent(id, agent)?;
            }
            let run = writer.load()?;
            let peaks = Peaks::from_blocks(plan, &run);
            let agents = BlockAgents::new(plan, *hosts, strict, peaks, measuring::scratch(None)?);
            return measuring::measure(plan, writer, run, Box::new(agents));
        }
    };
    let run = writer.load()?;
    let folder = project.folder();
    let workload: Box<dyn Workload> = match plan.serving() {
        None => Box::new(BatchWorkload::new(plan, folder, &run, scratch, servers)?),
        Some(serving) => {
            let earlier = (&run, Peaks::from_blocks(plan, &run));
            let workload = ServerWorkload::new(plan, serving, folder, earlier, scratch)?;
            Box::new(workload.nested())
        }
    };
    measuring::measure(
        plan,
        writer,
        run,
        Box::new(LocalExecutor::new(plan, workload)),
    )
}

/// Returns the number of points that `--quick` leaves out.
fn points_left_out(quick: Selection, experiment: &Experiment, plan: &Plan) -> Result<usize, Exit> {
    let default_value = Selection {
        extent: Extent::Usual,
        ..quick
    };
    let default_value = default_value.plan(experiment)?;
    Ok(points(&default_value).difference(&points(plan)).count())
}

/// The key that identifies a point across two plans: its case, target and parameters.
type PointKey<'a> = (&'a str, TargetId, &'a [(String, String)]);

fn points(plan: &Plan) -> HashSet<PointKey<'_>> {
    let points = plan.points.iter();
    points
        .map(|p| (&*plan.cases[p.case].name, p.target, &*p.params))
        .collect()
}

fn selection(args: &RunArgs, directories: &[MountedDirectory]) -> Result<Selection, Exit> {
    let to_folder = |directory: &MountedDirectory| lab_plan::SubjectDirectory {
        folder: directory.folder.display().to_string(),
        in_memory: directory.is_in_memory(),
    };
    Ok(Selection {
        absent: Vec::new(),
        on: directories.iter().map(to_folder).collect(),
        subjects: args.subjects.clone(),
        cases: args.cases.clone(),
        targets: args.targets.clone(),
        service_set: args.service_set.clone(),
        external: args.service.iter().map(|(kind, _)| *kind).collect(),
        set: set_values(&args.set)?,
        baseline: args.baseline.clone(),
        control: !args.no_control,
        extent: match (args.quick, args.thorough) {
            (true, _) => Extent::Quick,
            (_, true) => Extent::Thorough,
            _ => Extent::Usual,
        },
        seed: measuring::seed(args.measuring.seed),
        measure: measure(args),
    })
}

/// Returns the time budget of the run in ns, or `None` if the number of blocks determines how long
/// the run takes.
///
/// The budget is the value of `--budget`, or else the default for `targets` targets.
fn budget_ns(args: &RunArgs, targets: usize, quick_s: Option<u32>) -> Option<u64> {
    let by_targets = Duration::from_secs(300) * targets.max(1) as u32;
    let default_value = if args.quick {
        quick_s.map_or(QUICK_BUDGET, |s| Duration::from_secs(s.into()))
    } else if args.thorough {
        by_targets
    } else {
        by_targets.min(MAX_DEFAULT_BUDGET)
    };
    let budget = match (args.budget, args.blocks) {
        (Some(budget), _) => budget.0,
        (None, None) => Some(default_value),
        (None, _) => None,
    };
    budget.map(|b| b.as_nanos() as u64)
}

/// Returns the maximum time in ns for the turns of a block, or `None` with `--pairs`.
///
/// The executor shortens blocks if startup and verification take so long that too few blocks would fit into the
/// time of the run.
fn block_ns(args: &RunArgs, targets: usize, quick_s: Option<u32>) -> Option<u64> {
    let targets = targets.max(1) as u32;
    // In a quick run, starting the processes of each additional target reduces the time for turns.
    let default_value = if args.quick {
        let short = Duration::from_millis(1_800);
        let longer = quick_s.map_or(short, |s| short * s / QUICK_BUDGET.as_secs() as u32);
        longer.saturating_sub(Duration::from_millis(300) * targets)
    } else {
        Duration::from_secs(8) * targets
    };
    args.pairs
        .is_none()
        .then_some(default_value.as_nanos() as u64)
}

/// Returns the settings for measuring servers: one visit per turn and one mirrored pair of passes per block.
///
/// With a budget, processes that need a long warm-up serve multiple blocks. Without a budget, each
/// block has its own processes, and the number of blocks is the minimum for simultaneous intervals
/// of all servers.
fn measure_servers(
    args: &RunArgs,
    turn_ns: u64,
    serving: Option<&Serving>,
    quick_s: Option<u32>,
) -> Measure {
    let sets = if args.quick { FEW_BLOCKS } else { PROCESS_SETS };
    let default_value = if args.quick {
        Some(quick_s.map_or(QUICK_SERVERS_BUDGET, |s| Duration::from_secs(s.into())))
    } else {
        let default_value = serving.and_then(|s| s.budget_s);
        default_value.map(|s| Duration::from_secs(s.into()))
    };
    let default_value = default_value.filter(|_| args.blocks.is_none() && !args.thorough);
    let budget = args.budget.map_or(default_value, |budget| budget.0);
    let few_blocks = args.budget.is_none().then_some(FEW_BLOCKS);
    let nests = budget.is_some() && args.blocks.is_none() && args.on.is_empty();
    let warm_up_s = serving.and_then(|s| s.warm_up_s);
    let warm_up_s = warm_up_s.filter(|_| !args.thorough).unwrap_or(60);
    Measure {
        pairs: args.pairs.unwrap_or(SERVER_PAIRS),
        turn_ns,
        max_blocks: match args.blocks {
            Some(blocks) => blocks,
            None if nests => sets * MAX_BLOCKS_OF_SET,
            None => sets,
        },
        max_process_sets: nests.then_some(sets),
        budget_ns: budget.map(|b| b.as_nanos() as u64),
        few_blocks: default_value.and(few_blocks),
        interim_analyses: Vec::new(),
        // A round takes 0.2 s.
        max_warmup: 5 * warm_up_s,
        age: args.age,
        ..measure(args)
    }
}

fn measure(args: &RunArgs) -> Measure {
    let short = args.quick && args.budget.is_none();
    let blocks = args.blocks.or(short.then_some(QUICK_BLOCKS));
    let margin = if args.quick { QUICK_MARGIN } else { MARGIN };
    Measure {
        pairs: args.pairs.unwrap_or(if args.quick { 8 } else { 40 }),
        turn_ns: 1_000_000,
        max_blocks: blocks.unwrap_or(80),
        interim_analyses: measuring::analysis_blocks(blocks),
        few_blocks: short.then_some(FEW_BLOCKS),
        alpha: measuring::ALPHA,
        margin: args.margin.unwrap_or(margin),
        precision: args.precision,
        redo: args.measuring.redo,
        time_limit_ns: args.time_limit.as_nanos() as u64,
        max_warmup: if args.quick { 120 } else { 480 },
        max_warm_up_ns: MAX_WARM_UP_NS,
        ..Measure::default()
    }
}
