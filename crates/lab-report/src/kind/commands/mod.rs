// SPDX-License-Identifier: Apache-2.0
//! Runs of commands. Every run starts a new process.

mod commit_steps;
mod estimate;

use super::work_kind::{DocumentParts, WorkKind};
use crate::parts::kind_traits::{KindTraits, Words};
use crate::parts::measured::Measured;
use crate::parts::respect::ComparedMetric;
use crate::parts::scope::{PointGroup, Scope};
use crate::parts::{charts, costs, findings, method, sentence, table};
use crate::wording::{self, CommandStatuses};
use lab_document::chart::file_name;
use lab_document::say::{self, count};
use lab_document::{
    Answer, Axis, Cell, Chart, Distribution, DistributionLine, Drawing, Finding, Scale, Section,
    Table, Tone,
};
use lab_model::{Command, Commands, Cores, Metric, Plan, PointId, Subject, SubjectId, Unit};
use lab_stats::analysis::{ExclusionKind, StatusCount};
use lab_stats::results::Over;
use std::collections::{BTreeMap, BTreeSet};

/// The time metrics of a run.
static TIMES: [Metric; 3] = [Metric::WALL, Metric::MEAN_WALL, Metric::PAUSES];

/// The metrics of the table on the first screen.
static ANSWER: [Metric; 5] = [
    Metric::WALL,
    Metric::MEAN_WALL,
    Metric::USER_CPU,
    Metric::SYSTEM_CPU,
    Metric::PEAK_MEMORY,
];

/// Resources used by one run.
static USES: [Metric; 11] = [
    Metric::USER_CPU,
    Metric::SYSTEM_CPU,
    Metric::PEAK_MEMORY,
    Metric::MINOR_FAULTS,
    Metric::MAJOR_FAULTS,
    Metric::VOLUNTARY_SWITCHES,
    Metric::INVOLUNTARY_SWITCHES,
    Metric::INSTRUCTIONS,
    Metric::CYCLES,
    Metric::CACHE_MISSES,
    Metric::BRANCH_MISSES,
];

static TRAITS: KindTraits = KindTraits {
    words: Words {
        subject: "command",
        subjects: "commands",
        operation: "run",
        an_operation: "a run",
    },
    is_concurrent: false,
    limits_warm_up: false,
    takes_core_each: false,
    compares_answer: false,
    unit_is_swept: true,
    compared_on_hosts: "Typical time",
};

impl WorkKind for Commands {
    fn traits(&self) -> &'static KindTraits {
        &TRAITS
    }

    fn parts(&self, scopes: &[Scope]) -> DocumentParts {
        parts(&scopes[0], self)
    }

    fn title(&self, scope: &Scope) -> Option<String> {
        title(scope)
    }

    fn estimate(&self) -> Option<fn(&Measured) -> String> {
        Some(estimate::line)
    }

    fn compared_metrics(&self, scope: &Scope) -> Vec<ComparedMetric> {
        vec![ComparedMetric::everywhere(scope, Metric::WALL)]
    }

    fn advice_on_one_run(&self) -> &'static str {
        "Measure the old and the new command in turns: `benchlab compare 'OLD' 'NEW'`, or `benchlab compare --rev \
             OLD --rev NEW -- COMMAND`."
    }
}

/// Builds the parts of the document for a run of commands.
fn parts(scope: &Scope, commands: &Commands) -> DocumentParts {
    let mut sections = vec![listing(scope)];
    sections.extend(
        scope
            .groups(Cores::One)
            .iter()
            .map(|group| runs(scope, group)),
    );
    sections.push(costs::section(scope));
    let is_range = !commands.commit_messages.is_empty();
    let steps = is_range.then(|| commit_steps::steps(scope));
    let mut findings = match &steps {
        Some(steps) => commit_steps::findings(scope, steps),
        None => findings(scope),
    };
    // The answer comes first, and the document shows only the first findings.
    let second = findings.len().min(1);
    findings.splice(second..second, exit_statuses(scope));
    DocumentParts {
        headline: steps.as_ref().map_or_else(String::new, |steps| {
            wording::commit_steps::answer(scope, steps)
        }),
        table: if is_range {
            commit_steps::table(scope)
        } else {
            answer_table(scope)
        },
        chart: charts::answer(std::slice::from_ref(scope), &Metric::WALL),
        findings,
        sections,
        method: method(scope, commands),
        ..DocumentParts::default()
    }
}

/// Builds the table of the times and memory of all commands, with ratios.
///
/// Returns `None` for a sweep, because a chart shows it better.
fn answer_table(scope: &Scope) -> Option<Table> {
    let [point] = scope.points()[..] else {
        return None;
    };
    let subject_scopes = scope.subject_scopes(&scope.compared(), &[point]);
    let table = table::figures(scope, "Time and memory of a run", &subject_scopes, &ANSWER)
        .with_caption("The typical time, and the mean including pauses.");
    (!table.rows.is_empty()).then_some(table)
}

/// Builds a title from the commands and their names in the findings, such as `A: sort a, B: sort b`. Returns `None` for
/// a single command.
fn title(scope: &Scope) -> Option<String> {
    let named = |s: SubjectId| {
        let line = &scope.plan.subjects[s].command.as_ref()?.line;
        Some((line, format!("{}: {line}", scope.name(s))))
    };
    let all: Vec<_> = scope.compared().into_iter().filter_map(named).collect();
    let differ = all.iter().any(|(line, _)| *line != all[0].0);
    let words: Vec<String> = all.into_iter().map(|(_, words)| words).collect();
    differ.then(|| words.join(", "))
}

/// Compares each command with the baseline.
///
/// If there are many commands, describes the fastest one. For a single command, describes its time.
fn findings(scope: &Scope) -> Vec<Finding> {
    let others = scope.others().into_iter();
    let pairs = others.filter_map(|s| findings::pair(scope, s, &Metric::WALL));
    let pairs: Vec<Finding> = pairs.collect();
    if pairs.is_empty() {
        let levels = scope.compared().into_iter();
        return levels.filter_map(|s| level(scope, s)).collect();
    }
    let same = same_program(scope).map(Finding::plain);
    if pairs.len() + usize::from(same.is_some()) <= Answer::MAX_FINDINGS {
        return pairs.into_iter().chain(same).collect();
    }
    let all = Over::all(&scope.points());
    let points = findings::points(scope);
    let exceptions = findings::exceptions(scope, &Metric::WALL, all, &points);
    let leader = findings::overall(scope, &Metric::WALL).into_iter();
    leader
        .chain(same)
        .chain(exceptions.map(Finding::plain))
        .collect()
}

/// Describes the commands that run the baseline's program. Returns `None` if no other command runs
/// this program.
fn same_program(scope: &Scope) -> Option<String> {
    let plan = scope.plan;
    let others = scope.others().into_iter();
    let copies = others.filter(|&s| plan.runs_same_program(s, scope.base()));
    let names = std::iter::once(scope.base()).chain(copies);
    let names: Vec<String> = names.map(|s| scope.name(s).to_owned()).collect();
    let commit = plan.subjects[scope.base()]
        .command
        .as_ref()?
        .revision
        .as_deref();
    (names.len() > 1).then(|| wording::same_program(&names, commit))
}

/// Describes the time of a command without a comparison: `A takes 12.3 ms (12.1 to 12.6).`
fn level(scope: &Scope, subject: SubjectId) -> Option<Finding> {
    let name = scope.name(subject);
    let figure = |i| say::figure(i, &Unit::Nanoseconds, scope.level());
    let mut fits = scope.results.fits.iter();
    let fit = fits.find(|fit| fit.subject == subject && say::is_bounded(&fit.fixed_ns));
    if let Some(fit) = fit {
        let sweep = scope.plan.cases[fit.case].sweep.as_deref()?;
        let [fixed, marginal] = [&fit.fixed_ns, &fit.marginal_ns].map(figure);
        let text = format!("{name} takes {fixed}, plus {marginal} for each {sweep}.");
        return Some(Finding::plain(text));
    }
    let points = scope.points();
    let time = |p: &PointId| Some((*p, scope.interval((subject, Some(*p)), &Metric::WALL)?));
    let (point, time) = points.iter().find_map(time)?;
    let at = sentence::location(scope, point);
    Some(Finding::plain(if say::is_bounded(time) {
        format!("{name} takes {}{at}.", figure(time))
    } else {
        format!(
            "{name}'s time has no confidence interval yet{at}: one block does not show the variation."
        )
    }))
}

/// Returns the headings and cells that describe a command, except for its name.
fn descriptions(scope: &Scope, command: &Command) -> [(&'static str, String); 7] {
    let words =
        |program: &Option<Vec<String>>| program.as_ref().map_or(String::new(), |p| p.join(" "));
    let shell = if command.shell {
        shell(scope).into()
    } else {
        String::new()
    };
    [
        ("line", command.line.clone()),
        ("run by", shell),
        ("revision", command.revision.clone().unwrap_or_default()),
        ("directory", command.folder.clone().unwrap_or_default()),
        ("once before", words(&command.setup)),
        ("before each run", words(&command.prepare)),
        ("once after", words(&command.cleanup)),
    ]
}

/// Returns the shell that runs commands.
fn shell<'a>(scope: &Scope<'a>) -> &'a str {
    let plan = scope.plan;
    let shell = plan.start_cost(true);
    let program = shell.and_then(|s| plan.subjects[s].program.first());
    program.map_or("sh", String::as_str)
}

/// Builds the section on the commands, their settings, their startup cost and the noise floor.
fn listing(scope: &Scope) -> Section {
    let mut section = Section::new("The commands");
    let headings = descriptions(scope, &Command::default()).map(|(heading, _)| heading);
    let mut table = Table::new("", std::iter::once("command").chain(headings))
        .with_caption("The commands and how they were run.");
    for id in scope.subjects() {
        if let Some(command) = &scope.plan.subjects[id].command {
            let cells = descriptions(scope, command).map(|(_, words)| Cell::from(words));
            table.named_row(scope.name(id), cells);
        }
    }
    section.table(table.without_empty_columns());
    let by_shell = |s: &Subject| s.command.as_ref().is_some_and(|c| c.shell);
    let uses_shell = scope.plan.subjects.iter().any(by_shell);
    if let Some(time) = start_cost(scope, true).filter(|_| uses_shell) {
        let sh = shell(scope);
        section.text(format!(
            "{sh} itself takes {time} of each run that uses it (not subtracted)."
        ));
    }
    if let Some(time) = start_cost(scope, false) {
        section.text(format!(
            "Starting a process that does nothing takes {time} (not subtracted)."
        ));
    }
    section
}

/// Returns the cost of starting a process or a shell, or `None` if it was not measured.
fn start_cost(scope: &Scope, shell: bool) -> Option<String> {
    let subject = scope.plan.start_cost(shell)?;
    let points = scope.points().into_iter();
    let mut times = points.filter_map(|p| scope.interval((subject, Some(p)), &Metric::WALL));
    Some(say::figure(
        times.next()?,
        &Unit::Nanoseconds,
        scope.level(),
    ))
}

/// Builds the section on a group of points that differ only in the value of the sweep.
fn runs(scope: &Scope, group: &PointGroup) -> Section {
    let mut section = Section::new(match scope.group_label(group) {
        label if label.is_empty() => "The runs".into(),
        label => format!("The runs with {label}"),
    });
    let subject_scopes = scope.subject_scopes(&scope.subjects(), &group.points);
    section.chart(charts::over_sweep(scope, group, &Metric::WALL));
    section.table(
        table::figures(scope, "Time of a run", &subject_scopes, &TIMES)
            .with_caption("The typical time, and the mean including pauses."),
    );
    if group.points.len() > 1 {
        section.table(table::overall(scope, &Metric::WALL, None));
    }
    let mut uses = table::figures(scope, "Resource usage of a run", &subject_scopes, &USES);
    uses.notes.extend(statuses(scope, group));
    section.table(uses.with_caption("Medians over blocks of the mean of a block's processes."));
    let mut spread = Section::folded("Distribution of run times");
    for &point in &group.points {
        spread.chart(distribution(scope, point));
    }
    section.section(spread);
    section
}

/// Lists the commands with a nonzero exit status in any run.
fn statuses(scope: &Scope, group: &PointGroup) -> Vec<String> {
    let note = |subject: SubjectId| {
        let all = scope.results.statuses.iter();
        let mine = all.filter(|(s, p, _)| *s == subject && group.points.contains(p));
        let mut statuses: Vec<i32> = mine.flat_map(|(.., statuses)| statuses.clone()).collect();
        statuses.sort_unstable();
        statuses.dedup();
        let words: Vec<String> = statuses.iter().map(i32::to_string).collect();
        let (name, words) = (scope.name(subject), words.join(" or "));
        let failed = statuses.iter().any(|status| *status != 0);
        failed.then(|| format!("{name} exited with status {words}."))
    };
    scope.subjects().into_iter().filter_map(note).collect()
}

/// Lists the commands that exited with a nonzero status in any run.
///
/// Returns `None` if there are no such commands, or if the first screen already explains that
/// commands are not compared because of their exit statuses.
fn exit_statuses(scope: &Scope) -> Option<Finding> {
    let mut exclusions = scope.exclusions();
    if exclusions.any(|exclusion| exclusion.kind() == ExclusionKind::ExitStatus) {
        return None;
    }
    let mut counts: BTreeMap<SubjectId, BTreeMap<i32, usize>> = BTreeMap::new();
    for exit in scope.run.complete_blocks().flat_map(|block| &block.exits) {
        let own = counts.entry(exit.subject).or_default();
        *own.entry(exit.status).or_default() += 1;
    }
    let commands = scope.compared().into_iter().filter_map(|subject| {
        let counts = counts.get(&subject)?.iter();
        let counts = counts.map(|(&status, &runs)| StatusCount { status, runs });
        Some(CommandStatuses {
            command: scope.name(subject),
            counts: counts.collect(),
        })
    });
    let commands: Vec<CommandStatuses> = commands.collect();
    let text = wording::exit_statuses(&commands)?;
    Some(Finding::new(wording::EXIT_STATUS, text, Tone::Plain))
}

/// Builds the chart of the cumulative distribution of each command's run times.
fn distribution(scope: &Scope, point: PointId) -> Option<Chart> {
    let mut counts: BTreeMap<SubjectId, BTreeMap<u64, u64>> = BTreeMap::new();
    let samples = scope.run.complete_blocks().flat_map(|b| &b.samples);
    for sample in samples.filter(|s| s.point == point) {
        let each = sample.batch.wall_ns / sample.batch.operations.max(1);
        let mine = counts.entry(sample.subject).or_default();
        *mine.entry(each).or_default() += 1;
    }
    let lines = scope.subjects().into_iter().filter_map(|subject| {
        let counts = counts.get(&subject)?.iter();
        scope.cell((subject, Some(point)), &Metric::WALL)?;
        Some(DistributionLine {
            name: scope.name(subject).into(),
            color: scope.color(subject),
            counts: counts.map(|(ns, n)| (*ns as f64, *n)).collect(),
        })
    });
    let lines: Vec<DistributionLine> = lines.collect();
    let at = sentence::location(scope, point);
    (!lines.is_empty()).then(|| Chart {
        id: file_name(&format!("distribution-{at}")),
        title: format!("Distribution of run times{at}"),
        caption: "The fraction of a command's runs that take at most a given time; the steeper, the less they vary."
            .into(),
        drawing: Drawing::Distribution(Distribution {
            values: Axis::new("time of a run", Unit::Nanoseconds, Scale::Log),
            shares: Scale::Linear,
            lines,
        }),
    })
}

fn method(scope: &Scope, commands: &Commands) -> Vec<String> {
    let blocks = count(scope.results.blocks as usize, "block");
    let cores_text = match cores(scope, commands) {
        Some(Cores::One) => "on the same core",
        Some(Cores::All) => "on the cores that the scheduler chose",
        None => "in turn",
    };
    let input = commands.input.as_deref().unwrap_or("/dev/null");
    let output = match (commands.same_output, commands.ignore_failure) {
        (true, _) => " The output of every run was the same as the baseline's.",
        (false, true) => " Runs with a nonzero exit status were measured, too.",
        (false, false) => "",
    };
    vec![
        format!(
            "In each of {blocks}, the commands were run one after the other {cores_text}, in a random order and then in reverse order: {} \
             of passes for each point, a fresh process each time. All blocks together took {}.",
            pairs(scope),
            took(scope),
        ),
        builds(scope.plan),
        format!("Each run had {input} on its standard input.{output}"),
        "Times are typical times: the median over blocks of the interquartile mean. Mean times include every run."
            .into(),
    ]
}

/// Returns a note about revisions: the number of builds of each revision, and the variation that
/// the intervals exclude.
fn builds(plan: &Plan) -> String {
    match plan.builds() {
        _ if !plan.compares_revisions() => String::new(),
        1 => "There was one build of each revision (n = 1 build). Intervals do not include the variation between \
              builds, such as that of link order or paths; `--builds 10` measures it."
            .into(),
        n => format!(
            "There were {n} builds of each revision (n = {n} builds), in directories whose names have random \
             lengths. Blocks used the builds in turn, with an environment of random size for each process. All \
             blocks of a build count as one value, so intervals include the variation between builds."
        ),
    }
}

/// Returns the cores that the commands ran on, either planned or chosen by the pilot.
fn cores(scope: &Scope, commands: &Commands) -> Option<Cores> {
    let mut settings = scope.run.settings.iter();
    commands.cores.or_else(
        || match settings.find(|s| s.key == "cores")?.value.as_str() {
            "one" => Some(Cores::One),
            "all" => Some(Cores::All),
            _ => None,
        },
    )
}

/// Formats the number of mirrored pairs in the blocks, which is lower than planned if commands are slow.
fn pairs(scope: &Scope) -> String {
    let blocks = scope.run.complete_blocks();
    let passes = blocks.map(|b| b.samples.iter().map(|s| s.pass).max().unwrap_or(0));
    let pairs: BTreeSet<usize> = passes.map(|last| last as usize / 2 + 1).collect();
    method::mirrored_pairs(scope, &pairs)
}

/// Formats the time from the start of the run to the end of its last block.
fn took(scope: &Scope) -> String {
    let run = scope.run;
    let ends = run.blocks.iter();
    let ends = ends.map(|b| b.started_unix_s + b.duration_ns as f64 / 1e9);
    let seconds = ends.fold(run.started_unix_s, f64::max) - run.started_unix_s;
    match seconds {
        s if s < 100.0 => say::reading(s * 1e9, &Unit::Nanoseconds),
        s => format!("{:.0} min", s / 60.0),
    }
}
