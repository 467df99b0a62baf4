// SPDX-License-Identifier: Apache-2.0
//! Snapshots of every sentence of `lab_report::wording` with sample values, so that they can be read as a whole.
//! `INSTA_UPDATE=always` updates them.

use lab_model::{ErrorKind, Interval, Metric, PointId, SubjectId, Unit};
use lab_report::wording::changes::{self, BaselineTime};
use lab_report::wording::gates::GateWords;
use lab_report::wording::{
    self, Counted, LongerRun, Omission, PairOverPoints, WouldResolve, gates,
};
use lab_stats::analysis::{ExclusionReason, FirstPoint, StatusCount, TurnsCause, TurnsNotSteady};
use lab_stats::between::{Caveat, NotCompared, ProgramMatch, WhichRun};
use lab_stats::forecast::TimeBudget;
use lab_stats::gate::InconclusiveReason;
use lab_stats::load::agents::MissingLoad;
use lab_stats::results::Value;
use lab_stats::results::warning::*;
use lab_stats::results::{AgeState, ServerAge, WarningFact};

fn texts<const N: usize>(all: [&str; N]) -> Vec<String> {
    all.map(String::from).into()
}

fn interval(estimate: f64, low: f64, high: f64) -> Interval {
    Interval {
        estimate,
        low,
        high,
        level: 0.95,
    }
}

fn place(subject: &str, point: &str) -> CellName {
    let filled = |text: &str| (!text.is_empty()).then(|| text.to_string());
    CellName {
        subject: filled(subject),
        point: filled(point),
    }
}

/// Returns four lists of subjects and points: a list without names, a list with one item, a list
/// with three, and a list that is so long that sentences only count its items.
fn places() -> [Vec<CellName>; 4] {
    let points = |subject: &str, n: u32| -> Vec<CellName> {
        let points = (1..=n).map(|i| place(subject, &format!("json connections={i}")));
        points.collect()
    };
    let many = [points("go", 2), points("c", 7), points("ada", 4)].concat();
    let three = [
        place("", "connections=8"),
        place("", "connections=16"),
        place("", "connections=32"),
    ];
    [
        vec![place("", "")],
        vec![place("A", "connections=8")],
        three.into(),
        many,
    ]
}

/// Creates values for each of the four lists of subjects and points, in increasing order.
fn at_places<T>(make: impl Fn(CellName, f64) -> T) -> [Vec<T>; 4] {
    places().map(|places| {
        let numbered = places.into_iter().zip(1..);
        let made = numbered.map(|(place, i)| make(place, f64::from(i)));
        made.collect()
    })
}

fn setting(value: &str, subject: &str) -> SettingOf {
    SettingOf {
        value: (!value.is_empty()).then(|| value.to_string()),
        subject: subject.into(),
    }
}

fn differing_setting() -> SettingDiffers {
    SettingDiffers {
        key: "sqlite_version".into(),
        baseline: setting("3.40.1", "c"),
        others: vec![setting("", "go"), setting("3.50.3", "java")],
    }
}

fn age(state: AgeState, steady: bool, processes_off: u32) -> ServerAge {
    ServerAge {
        subject: SubjectId(2),
        point: PointId(0),
        first_ns: [Some(3e6), Some(45e3), None],
        steady_ns: 20e3,
        requests: 20_400,
        seconds: 2.04,
        steady,
        turns_ns: Some(37e3),
        expected_ns: Some(22e3),
        processes: 12,
        processes_off,
        state,
    }
}

fn interrupted_and_failed() -> Vec<WarningFact> {
    let interrupted = |state, can_resume| WarningFact::Interrupted {
        run: "sort.lab".into(),
        state,
        can_resume,
    };
    let failed = |at| WarningFact::SubjectFailed {
        subject: "go".into(),
        at,
        message: "it ended with exit status: 1".into(),
    };
    vec![
        interrupted(Unfinished::Stopped, true),
        interrupted(Unfinished::Running, false),
        failed(FailedAt::OnlyPoint),
        failed(FailedAt::Everywhere),
        failed(FailedAt::Points(texts(["select limit=10"]))),
        failed(FailedAt::Points(texts(["connect", "select limit=10"]))),
        WarningFact::CleanupFailed {
            subject: "B".into(),
            message: "--cleanup `make drop` ended with exit status: 2".into(),
        },
    ]
}

fn of_agents_and_hosts() -> Vec<WarningFact> {
    let agent = |name: &str, not_sent| LostAgent {
        name: name.into(),
        reason: "its process ended".into(),
        not_sent,
    };
    let lost = |agents: Vec<LostAgent>, end| WarningFact::AgentsLost { agents, end };
    let end = |due| {
        Some(MissingLoad {
            complete: 1,
            planned: 5,
            due,
        })
    };
    let unlike = |name: &str, differences: Vec<AgentDifference>| UnlikeAgent {
        name: name.into(),
        differences,
    };
    let differences = vec![
        AgentDifference::BeganLate {
            late_ns: 12_000_000,
        },
        AgentDifference::SentLate,
        AgentDifference::Saturated { busy: 0.953 },
    ];
    let others = vec![
        AgentDifference::SlowPath {
            ratio: interval(1.3, 1.24, 1.37),
        },
        AgentDifference::Errors {
            own: 0.031,
            others: 0.0004,
        },
    ];
    let host = |name: &str, moved_blocks: &[u32]| LostHost {
        name: name.into(),
        reason: "its process ended".into(),
        moved_blocks: moved_blocks.into(),
    };
    let spread = |subject: &str, point: &str| RatioSpread {
        place: place(subject, point),
        least: RatioOn {
            host: "gen1".into(),
            ratio: 1.2,
        },
        greatest: RatioOn {
            host: "gen3".into(),
            ratio: 1.504,
        },
    };
    let unfit = |name: &str| UnfitHost {
        name: name.into(),
        findings: texts(["other programs use 95 % of the cores", "it swaps"]),
    };
    let unknown = |known| WarningFact::ServerUnknown {
        known,
        blocks: 5,
        reason: "its agent was lost".into(),
    };
    vec![
        lost(vec![agent("gen1", 0), agent("gen2", 1500)], None),
        lost(vec![agent("gen1", 0)], end(0)),
        lost(vec![agent("gen1", 0)], end(12_000)),
        WarningFact::AgentsLeftOut {
            agents: texts(["gen1"]),
        },
        WarningFact::AgentsLeftOut {
            agents: texts(["gen1", "gen2"]),
        },
        WarningFact::AgentsDiffer {
            agents: vec![unlike("gen1", differences), unlike("gen2", others)],
        },
        WarningFact::UnfitHosts {
            hosts: ["gen1", "gen2"].map(unfit).into(),
        },
        unknown(0),
        unknown(2),
        WarningFact::HostsLost {
            hosts: vec![host("gen1", &[]), host("gen2", &[9]), host("gen3", &[4, 7])],
        },
        WarningFact::HostsLeftOut {
            hosts: texts(["gen1", "gen2"]),
        },
        WarningFact::HostsDiffer {
            ratios: vec![spread("go", "")],
        },
        WarningFact::HostKindsDiffer {
            ratios: ["connect", "select", "insert", "update"]
                .map(|point| spread("go", point))
                .into(),
        },
    ]
}

fn of_load() -> Vec<WarningFact> {
    let errors = at_places(|place, i| ErrorsAt {
        place,
        fraction: 0.000_04 * i * i,
        kinds: vec![(ErrorKind::Timeout, 30 * i as u64), (ErrorKind::Reset, 1)],
    });
    let busy = at_places(|place, i| BusyAt {
        place,
        busy: 0.91 + i / 200.0,
    });
    let late = at_places(|place, i| LateAt {
        place,
        percentiles: ["p50", "p99"]
            .map(|percentile| OwnLatency {
                percentile: percentile.into(),
                delay_ns: 1.1e6 * i,
            })
            .into(),
        p99_ns: 1.1e6 * i,
    });
    let overload = at_places(|place, i| OverloadAt {
        place,
        served: 1600.0 + i,
        offered: 2000.0,
        drain_ns: 254e6,
    });
    let starved = at_places(|place, i| StarvedAt {
        place,
        longest_ns: 8e9 * i,
    });
    let mut facts = Vec::new();
    for (at, hide_percentiles) in errors.into_iter().zip([false, false, true, true]) {
        facts.push(WarningFact::Errors {
            at,
            hide_percentiles,
        });
    }
    let started = [false, false, true, true];
    facts.extend(
        busy.into_iter()
            .zip(started)
            .map(|(at, started)| WarningFact::GeneratorSaturated { at, started }),
    );
    facts.extend(
        late.into_iter()
            .zip(started)
            .map(|(at, started)| WarningFact::GeneratorLate { at, started }),
    );
    let read = |agent: Option<&str>| ReadBy {
        agent: agent.map(String::from),
        fraction: 0.25,
    };
    facts.push(WarningFact::TimedByReading {
        generators: vec![read(None)],
    });
    facts.push(WarningFact::TimedByReading {
        generators: vec![read(Some("gen1")), read(Some("gen2"))],
    });
    facts.extend(
        overload
            .into_iter()
            .zip(started)
            .map(|(at, started)| WarningFact::Overloaded { at, started }),
    );
    facts.extend(
        starved
            .into_iter()
            .zip(started)
            .map(|(at, started)| WarningFact::ConnectionsStarved { at, started }),
    );
    let [nowhere, one, ..] = places();
    facts.extend([
        WarningFact::CoresFull {
            agents: Vec::new(),
            cores: 2.0,
            at: nowhere,
        },
        WarningFact::CoresFull {
            agents: texts(["gen1"]),
            cores: 1.0,
            at: one,
        },
        WarningFact::OneCore,
        WarningFact::RateChanges,
        WarningFact::ClosedLoop,
    ]);
    facts
}

fn of_blocks() -> Vec<WarningFact> {
    let few = |replicates, unit| WarningFact::TooFewBlocks {
        replicates,
        needed: 6,
        unit,
        time: None,
    };
    let not_reached = |unit| WarningFact::LevelNotReached {
        replicates: 4,
        needed: 6,
        unit,
        level: 0.95,
        time: None,
    };
    let tail = |percentile: &str, needed| TailWithoutInterval {
        percentile: percentile.into(),
        needed,
    };
    let tails = |percentiles: Vec<TailWithoutInterval>, blocks| WarningFact::TailsUnknown {
        percentiles,
        blocks,
        seen: 6,
        time: None,
    };
    let copies = |at: Vec<CopyDiffers>, one_point| {
        WarningFact::CopiesDiffer(CopiesDiffer {
            baseline: "c".into(),
            at,
            controls: 38,
            by_chance: 2.0,
            margin: 0.02,
            one_point,
        })
    };
    let copy = |point: &str, margin| CopyDiffers {
        metric: Metric::SERVER_CPU,
        point: point.into(),
        margin,
    };
    let many = ["json", "echo", "rows", "file"].map(|point| copy(point, 0.0392));
    let [nowhere, one, three, many_places] = places();
    let depend = |at: Vec<CellName>, comparisons, merged| WarningFact::BlocksDepend {
        at,
        comparisons,
        merged,
    };
    vec![
        few(1, Replicate::Block),
        few(1, Replicate::ProcessSet),
        few(1, Replicate::Build),
        few(3, Replicate::Block),
        few(3, Replicate::ProcessSet),
        few(3, Replicate::Build),
        not_reached(Replicate::Block),
        not_reached(Replicate::Build),
        WarningFact::PeaksUnknown {
            blocks: 2,
            needed: 3,
        },
        tails(
            vec![
                tail("p75", Some(13)),
                tail("p90", Some(59)),
                tail("p99", Some(90)),
                tail("p99.9", None),
            ],
            8,
        ),
        tails(vec![tail("p99.9", None)], 120),
        copies(vec![copy("", 0.031)], true),
        copies(vec![copy("json", 0.02)], false),
        copies(many.into(), false),
        depend(nowhere, None, true),
        depend(one, None, false),
        depend(three, Some(40), false),
        depend(many_places, Some(40), true),
        WarningFact::BlocksRedone {
            blocks: 1,
            stolen: 0.051,
            foreign: 0.0,
        },
        WarningFact::BlocksRedone {
            blocks: 3,
            stolen: 0.051,
            foreign: 0.2,
        },
    ]
}

fn of_subjects() -> Vec<WarningFact> {
    let steady = |name: &str, case: Option<&str>, age| UnsteadyServer {
        name: name.into(),
        case: case.map(String::from),
        age,
    };
    let changing = |name: &str, at: Vec<String>| ChangingSubject {
        name: name.into(),
        at,
    };
    let no_steady = |subjects: Vec<ChangingSubject>, cut_short| WarningFact::NoSteadyState {
        subjects,
        cut_short,
    };
    let short = |point: &str, shell| WarningFact::ShortRun {
        place: place("B", point),
        run: interval(2.31e6, 2.2e6, 2.42e6),
        start: interval(0.61e6, 0.6e6, 0.62e6),
        shell,
    };
    let beaten = |points: Vec<String>, settings, cheaper| {
        WarningFact::ReferenceBeaten(ReferenceBeaten {
            reference: "c".into(),
            faster: texts(["ada", "rust"]),
            points,
            settings,
            cheaper,
            explain: "benchlab explain sql --cases select --subjects ada,c,rust".into(),
        })
    };
    let cheaper = CheaperSubject {
        place: place("ada", "select limit=10"),
        cpu_ns: 12_345.0,
        reference: "c".into(),
        reference_cpu_ns: 15_678.0,
    };
    vec![
        WarningFact::NotSteady {
            servers: vec![
                steady("java-jdk", Some("json"), age(AgeState::WarmingUp, true, 3)),
                steady("node", None, age(AgeState::LeftOut, false, 0)),
            ],
        },
        no_steady(vec![changing("java", texts(["connect", "select"]))], true),
        no_steady(vec![changing("java", texts(["connect"]))], false),
        no_steady(
            vec![
                changing("java", texts(["json", "echo"])),
                changing("node", texts(["json"])),
            ],
            false,
        ),
        short("", false),
        short("n=10", true),
        WarningFact::ShortRun {
            place: place("B", ""),
            run: interval(0.55e6, 0.5e6, 0.6e6),
            start: interval(0.61e6, 0.6e6, 0.62e6),
            shell: false,
        },
        beaten(Vec::new(), Vec::new(), Vec::new()),
        beaten(
            texts(["select limit=10", "connect"]),
            vec![differing_setting()],
            vec![cheaper],
        ),
        WarningFact::ConditionDiffers(differing_setting()),
        WarningFact::UnfitHost {
            what: "other programs use 95 % of the cores".into(),
            advice: "end them".into(),
        },
    ]
}

#[test]
fn warnings() {
    let facts = [
        interrupted_and_failed(),
        of_agents_and_hosts(),
        of_load(),
        of_blocks(),
        of_subjects(),
    ]
    .concat();
    let line = |fact: &WarningFact| format!("[{}] {}", fact.kind().name(), wording::warning(fact));
    let lines: Vec<String> = facts.iter().map(line).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

fn exclusion_reasons() -> Vec<ExclusionReason> {
    use ExclusionReason as R;
    let baseline = || Some("c".to_string());
    let setting = |value: Option<&str>| R::SettingDiffers {
        key: "journal_mode".into(),
        value: value.map(String::from),
        baseline_value: Some("delete".into()),
        baseline: "c".into(),
    };
    let count = |status, runs| StatusCount { status, runs };
    let at = |more| FirstPoint {
        first: "select limit=10".into(),
        more,
    };
    let cut_short = |baseline, more, budget_s| R::PilotCutShort {
        baseline,
        at: at(more),
        pilot_ns: 6_400_000,
        budget_s,
    };
    let turns = |processes_off, more, cause| {
        R::TurnsNotSteady(TurnsNotSteady {
            at: at(more),
            processes_off,
            processes: 8,
            turns_ns: 33_400.0,
            steady_ns: 20_100.0,
            cause,
        })
    };
    let warming = |pilot_steady| TurnsCause::WarmingUp {
        pilot_steady,
        operations: 401,
        wall_ns: 8_100_000,
    };
    let server = |baseline, age| R::ServerNotSteady { baseline, age };
    let nothing = |baseline, idle, mostly| R::ServedNothing {
        baseline,
        idle,
        blocks: 10,
        mostly,
    };
    let states = [
        (AgeState::WarmingUp, true, 12),
        (AgeState::WarmingUp, false, 3),
        (AgeState::Disturbed, true, 3),
        (AgeState::PilotTooShort, true, 12),
        (AgeState::StillFalling, false, 0),
        (AgeState::LeftOut, true, 0),
        (AgeState::LeftOut, false, 0),
    ];
    let mut all = vec![
        R::Failed {
            kind: "crash".into(),
            message: "it ended with signal: 11".into(),
        },
        R::BaselineFailed {
            baseline: "c".into(),
        },
        setting(Some("wal")),
        setting(None),
        R::ExitStatus {
            own: vec![count(1, 2), count(0, 18)],
            baseline: "A".into(),
            of_baseline: vec![count(0, 20)],
        },
        cut_short(None, 0, Some(70.0)),
        cut_short(None, 1, Some(100.0)),
        cut_short(baseline(), 3, None),
        turns(3, 0, TurnsCause::TwoLevels { other_ns: 20_000.0 }),
        turns(8, 1, TurnsCause::PilotTooShort),
        turns(3, 2, TurnsCause::Disturbed),
        turns(8, 0, warming(true)),
        turns(3, 0, warming(false)),
    ];
    let ages = states.map(|(state, steady, off)| age(state, steady, off));
    all.extend(ages.map(|age| server(None, age)));
    let warm = ServerAge {
        requests: 0,
        seconds: 0.0,
        ..age(AgeState::LeftOut, true, 0)
    };
    all.push(server(None, warm));
    all.push(server(baseline(), age(AgeState::WarmingUp, true, 12)));
    all.extend([None, baseline()].map(|baseline| R::PeakUnknown { baseline }));
    all.extend([
        nothing(None, 10, None),
        nothing(None, 1, Some(ErrorKind::Connect)),
        nothing(baseline(), 10, Some(ErrorKind::Timeout)),
    ]);
    all
}

#[test]
fn exclusions() {
    let reasons = exclusion_reasons();
    let lines = reasons.iter().map(wording::exclusion);
    insta::assert_snapshot!(lines.collect::<Vec<String>>().join("\n"));
}

/// Commands that exited with a nonzero status in any run are listed with their statuses. One sentence covers all
/// other runs.
#[test]
fn exit_statuses_are_counted_for_each_command() {
    let count = |status, runs| StatusCount { status, runs };
    let command = |command, counts: &[StatusCount]| wording::CommandStatuses {
        command,
        counts: counts.to_vec(),
    };
    let good = || command("A", &[count(0, 8)]);
    assert_eq!(wording::exit_statuses(&[good()]), None);
    assert_eq!(
        wording::exit_statuses(&[good(), command("B", &[count(2, 8)])]).as_deref(),
        Some("B: all 8 runs ended with status 2. All other runs ended with status 0.")
    );
    let flaky = command("C", &[count(0, 5), count(1, 2), count(137, 1)]);
    assert_eq!(
        wording::exit_statuses(&[flaky]).as_deref(),
        Some(
            "C: 2 of 8 runs ended with status 1, 1 of 8 runs ended with status 137. \
             All other runs ended with status 0."
        )
    );
    let many = ["A", "B", "C", "D", "E"].map(|name| command(name, &[count(1, 2)]));
    let text = wording::exit_statuses(&many).expect("statuses");
    assert!(
        text.ends_with("; 2 more commands also had statuses other than 0."),
        "{text}"
    );
}

/// The machine counts as changed only if an interval of the baseline's time excludes 1.
#[test]
fn the_machine_changed_if_the_baseline_shows_it() {
    let many = |longer, less| BaselineTime::Many {
        longer,
        less,
        all: 12,
    };
    let (slower, same) = (interval(1.2, 1.1, 1.3), interval(1.02, 0.97, 1.07));
    let single_block = Interval::from_single_block(1.2);
    let text = |program, time| changes::baseline_time("c", program, &time, 0.95);
    let lines = [
        text(ProgramMatch::Same, BaselineTime::Only(&slower)),
        text(ProgramMatch::Same, BaselineTime::Only(&same)),
        text(ProgramMatch::Same, BaselineTime::Only(&single_block)),
        text(ProgramMatch::Same, many(0, 2)),
        text(ProgramMatch::Same, many(0, 0)),
        text(ProgramMatch::Changed, many(3, 0)),
        text(ProgramMatch::Unknown, many(3, 0)),
    ];
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn caveats() {
    let runs = |names: &[&str]| -> Vec<String> { names.iter().map(|n| n.to_string()).collect() };
    let changed = |program| Caveat::BaselineChanged {
        baseline: "c".into(),
        program,
    };
    let few = |unit, loads| Caveat::TooFewBlocks {
        replicates: [4, 20],
        needed: 6,
        unit,
        loads,
    };
    let copy = |target: Option<&str>| Caveat::CopyChanged {
        points: 2,
        all: 11,
        target: target.map(String::from),
    };
    let all = [
        Caveat::GeneratorFigures {
            saturated: runs(&["1.lab"]),
            late: runs(&["1.lab", "2.lab"]),
        },
        Caveat::LoadsNotInterleaved,
        Caveat::OtherBaseline {
            first: "c".into(),
            second: "rust".into(),
        },
        Caveat::MeasuredAlone {
            subject: "A".into(),
        },
        changed(ProgramMatch::Changed),
        changed(ProgramMatch::Unknown),
        Caveat::HostsDiffer {
            facts: runs(&["cpu", "kernel", "governor", "memory"]),
        },
        Caveat::SettingsDiffer {
            facts: runs(&["journal_mode of ada"]),
        },
        Caveat::PlansDiffer {
            facts: runs(&["plan of orders"]),
        },
        Caveat::MeasuringDiffers {
            facts: runs(&["pairs of passes", "length of a turn"]),
        },
        few(Replicate::Block, false),
        few(Replicate::Block, true),
        few(Replicate::Build, false),
        copy(None),
        copy(Some("PostgreSQL")),
        Caveat::SameProgram {
            subjects: runs(&["ada", "go"]),
        },
        Caveat::Unfinished {
            run: "1.lab".into(),
            state: Unfinished::Stopped,
            can_resume: true,
        },
        Caveat::UnfitHost {
            run: "1.lab".into(),
            findings: runs(&["other programs use 95 % of the cores", "it swaps"]),
        },
    ];
    let apart = [
        NotCompared::Targets {
            run: WhichRun::First,
            names: runs(&["PostgreSQL"]),
        },
        NotCompared::Subjects {
            run: WhichRun::Second,
            names: runs(&["go", "rust"]),
        },
        NotCompared::Points {
            run: WhichRun::First,
            names: runs(&["select limit=10"]),
        },
        NotCompared::OtherWork {
            names: runs(&["connect"]),
        },
        NotCompared::Excluded {
            run: WhichRun::Second,
            subject: "go".into(),
            point: Some("connect".into()),
            reason: ExclusionReason::BaselineFailed {
                baseline: "c".into(),
            },
        },
    ];
    let line = |caveat: &Caveat| format!("[{}] {}", caveat.kind().name(), wording::caveat(caveat));
    let lines = all.iter().map(line);
    let lines = lines.chain(apart.iter().map(wording::not_compared));
    insta::assert_snapshot!(lines.collect::<Vec<String>>().join("\n"));
}

#[test]
fn gates() {
    let [
        ref errors,
        ref instructions,
        ref mean_cpu,
        ref p99,
        ref server_memory,
        ref wall,
    ] = [
        Metric::ERRORS,
        Metric::INSTRUCTIONS,
        Metric::MEAN_CPU,
        Metric::P99,
        Metric::SERVER_MEMORY,
        Metric::WALL,
    ];
    let words = |metric, is_only| GateWords {
        condition: "p99>20ms",
        subject: "new",
        at: " at connections=8",
        metric,
        is_only,
    };
    let estimate = Value::Estimate(interval(500e6, 1e6, 512e6));
    let ratio = interval(1.08, 1.05, 1.11);
    let counted = Interval {
        level: 0.0,
        ..interval(1.2, 1.2, 1.2)
    };
    let (time, bytes) = (Unit::Nanoseconds, Unit::Bytes);
    let of_p99 = words(p99, false);
    let mut lines = vec![
        gates::value(&words(p99, true), &Value::Reading(30e6), &time, 0.95),
        gates::value(&of_p99, &estimate, &time, 0.95),
        gates::value(
            &words(server_memory, false),
            &Value::Reading(65.0 * 1_048_576.0),
            &bytes,
            0.95,
        ),
        gates::value(
            &words(errors, true),
            &Value::Reading(0.0148),
            &Unit::Share,
            0.95,
        ),
        gates::ratio(&words(wall, false), "old", &ratio, 0.95),
        gates::ratio(&words(mean_cpu, false), "old", &ratio, 0.95),
        gates::ratio(&words(instructions, false), "old", &counted, 0.95),
        gates::raised(1.05, "old"),
        gates::lower_percentile(&of_p99, "the p50 is 201 ms (200 to 203)"),
        gates::overloaded(&of_p99),
    ];
    let reasons = [
        InconclusiveReason::NothingMeasured,
        InconclusiveReason::NothingServed,
        InconclusiveReason::NothingEnded,
        InconclusiveReason::Overloaded,
        InconclusiveReason::TooFewRequests { responses: 8000 },
        InconclusiveReason::ServerUnknown,
        InconclusiveReason::ErrorsHide { failed: 300 },
        InconclusiveReason::NotMeasured,
        InconclusiveReason::NotCompared,
        InconclusiveReason::NoRatio,
        InconclusiveReason::NoBaseline,
    ];
    lines.extend(reasons.map(|reason| gates::unknown(&of_p99, reason)));
    insta::assert_snapshot!(lines.join("\n"));
}

/// The sentences at the top of a report, and the advice on resolving inconclusive comparisons.
#[test]
fn answers() {
    let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
    let (one, two) = (names(&["go"]), names(&["go", "java"]));
    let minutes = TimeBudget::Minutes(15);
    let mut lines = vec![
        wording::no_answer("server", false),
        wording::no_answer("server", true),
        wording::so_far(1),
        wording::so_far(12),
        wording::no_answer_because("go", " at n=1", "it ended with status 1"),
        wording::last_lines("go"),
        wording::same_program(&two, None),
        wording::same_program(&two, Some("0123456789abcdef")),
        wording::apart_from_reference("c", "go is fastest."),
        format!("go is fastest{}.", wording::over_points(1)),
        format!("go is fastest{}.", wording::over_points(3)),
        wording::measured_alone("go"),
        wording::too_few_operations(40.0, "command"),
    ];
    for (overall, points) in [(None, 2), (Some(5), 5), (Some(3), 5)] {
        lines.push(wording::pair_over_points(&PairOverPoints {
            metric: &Metric::WALL,
            subject: "go",
            baseline: "c",
            overall: overall.map(|points| (interval(1.2, 1.1, 1.3), points)),
            points,
            verdicts: vec![
                ("slower", names(&["n=1", "n=10"])),
                ("equivalent", names(&["n=2", "n=3", "n=4", "n=5"])),
            ],
            level: 0.95,
        }));
    }
    let runs = [
        LongerRun::Builds(20),
        LongerRun::Blocks(40),
        LongerRun::TimeForBlocks(minutes, 40),
        LongerRun::TimeForSets(minutes, 5),
        LongerRun::MoreBlocks(minutes, 250),
    ];
    let mut resolved = |by, open, resumed| {
        let advice = wording::would_resolve(by, open, resumed);
        lines.push(format!("{}{advice}.", wording::inconclusive(open, 5)));
    };
    for run in runs {
        resolved(WouldResolve::All(run), 1, None);
        resolved(WouldResolve::Half(run), 5, Some("runs/some.lab"));
    }
    for counted in [
        Counted::Blocks(1),
        Counted::Blocks(4),
        Counted::ProcessSets(2),
        Counted::Builds(3),
    ] {
        resolved(WouldResolve::TooFew(counted, runs[2]), 2, None);
    }
    resolved(WouldResolve::Perhaps(runs[4]), 2, None);
    resolved(WouldResolve::Hardly(runs[4]), 2, None);
    for counted in [
        Counted::Blocks(12),
        Counted::ProcessSets(3),
        Counted::Builds(20),
    ] {
        lines.push(wording::replicates_would_resolve(counted));
    }
    for reason in [
        Omission::Lacking,
        Omission::Failed,
        Omission::BaselineFailed,
        Omission::OtherWork,
    ] {
        lines.extend(wording::omitted(&one, reason, false));
        lines.extend(wording::omitted(&two, reason, true));
    }
    lines.extend(wording::more_not_steady(&one));
    lines.extend(wording::more_not_steady(&two));
    insta::assert_snapshot!(lines.join("\n"));
}
