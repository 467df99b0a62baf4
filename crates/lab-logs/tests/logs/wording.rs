// SPDX-License-Identifier: Apache-2.0
//! Prints every sentence with sample values into one snapshot.

use lab_logs::analysis::gate::GateMetric;
use lab_logs::analysis::pareto::PageOrder;
use lab_logs::finding::{
    BusiestHour, CapacityProblem, ComparedLog, GateProblem, LogsFinding, PageFraction,
    UnknownChange,
};
use lab_logs::format::ForeignLog;
use lab_logs::wording;
use lab_model::{FieldRole, Interval, LogAdvice, LogAssumption, PageKind};

fn ratio(estimate: f64) -> Interval {
    Interval {
        estimate,
        low: estimate * 0.9,
        high: estimate * 1.1,
        level: 0.95,
    }
}

fn page_fraction(page: &str, share: f64) -> PageFraction {
    PageFraction {
        page: page.into(),
        share,
    }
}

fn assumptions() -> Vec<LogAssumption> {
    let unit = |others_ns: &[u64]| LogAssumption::Unit {
        place: "the field duration".into(),
        unit_ns: 1_000_000,
        others_ns: others_ns.into(),
    };
    vec![
        unit(&[]),
        unit(&[1_000]),
        unit(&[1, 1_000, 1_000_000_000]),
        LogAssumption::DoubtfulUnit {
            place: "%D".into(),
            unit_ns: 1_000,
        },
        LogAssumption::DurationField {
            place: "field 2 after the agent".into(),
        },
        LogAssumption::BareNumber {
            place: "the field after the agent".into(),
            unit_ns: 1_000,
            others_ns: vec![],
        },
        LogAssumption::BareNumber {
            place: "field 2 after the agent".into(),
            unit_ns: 1_000,
            others_ns: vec![1_000_000],
        },
        LogAssumption::DurationFields {
            field: "latency_ms".into(),
            other: "total_ms".into(),
        },
        LogAssumption::SharedIds { requests: 1 },
        LogAssumption::SharedIds { requests: 20 },
        LogAssumption::UncountedLines { lines: 1 },
        LogAssumption::UncountedLines { lines: 20 },
        LogAssumption::UnfinishedRequests { requests: 20 },
        LogAssumption::MixedForms {
            place: "rt".into(),
            unit_ns: 1_000_000_000,
        },
        LogAssumption::ChangedUnit {
            place: "the field duration".into(),
            unit_ns: 1_000_000,
            times: 1_000,
        },
        LogAssumption::ImplausibleDurations {
            place: "%D".into(),
            unit_ns: 1_000_000_000,
        },
        LogAssumption::FieldsDiffer {
            place: "the field after the agent".into(),
            lines: 1_500,
        },
        LogAssumption::MoreFields { lines: 1 },
        LogAssumption::MoreFields { lines: 1_500 },
        LogAssumption::UnparsedDurations {
            field: "elapsed".into(),
            example: "1 fortnight".into(),
            requests: 20,
        },
        LogAssumption::UntimedSpans { spans: 1 },
        LogAssumption::UnparsedRows {
            rows: 2,
            example: "1,234".into(),
        },
        LogAssumption::SampledStatements { one_in: 100 },
        LogAssumption::MissingDurations {
            requests: 1_200,
            of: 1_240,
        },
        LogAssumption::UntimedStatements {
            statements: 990,
            of: 1_000,
        },
        LogAssumption::StatementsCountedTwice { statements: 6 },
        LogAssumption::LowerBounds,
        LogAssumption::MissingTimes {
            requests: 300,
            of: 1_000,
        },
        LogAssumption::NoZone,
        LogAssumption::RepeatedHour,
        LogAssumption::SkippedHour,
        LogAssumption::NoHalfDay,
        LogAssumption::AmbiguousZone {
            word: "IST".into(),
            offset_s: 19_800,
            region: "India".into(),
            others: "Israel and Ireland".into(),
        },
        LogAssumption::UnknownZone { word: "XQT".into() },
    ]
}

fn advice() -> Vec<LogAdvice> {
    let mut advice = vec![
        LogAdvice::Unread {
            reason: "a.log: Permission denied".into(),
        },
        LogAdvice::NoDurations,
        LogAdvice::FormatMismatch {
            field: Some("%{ms}T".into()),
            column: 61,
        },
        LogAdvice::FormatMismatch {
            field: None,
            column: 61,
        },
        LogAdvice::NoDurationInFormat,
        LogAdvice::NoDateInFormat,
        LogAdvice::NoYearInFormat,
        LogAdvice::SyslogTimesWithoutYear,
        LogAdvice::UpstreamTimes,
        LogAdvice::UnitsDiffer {
            before: "access.log.1".into(),
            before_ns: 1_000_000,
            after: "access.log".into(),
            after_ns: 1_000_000_000,
        },
        LogAdvice::FilesMissing {
            log: "access.log".into(),
            numbers: "2, 4 to 6".into(),
        },
        LogAdvice::AnsiQuotes,
        LogAdvice::TimesInUtc,
        LogAdvice::ZoneRead {
            word: "EET".into(),
            offset_s: 7_200,
        },
        LogAdvice::DatesDerived,
        LogAdvice::NoDates,
        LogAdvice::NoTimeTaken,
        LogAdvice::NoProcessNumbers,
        LogAdvice::UnclearProcessNumbers,
        LogAdvice::UnknownProcessNumbers,
        LogAdvice::StatementsWithoutDurations,
        LogAdvice::NoStatements,
        LogAdvice::NoSlowStatements,
        LogAdvice::PartialDurations {
            field: "request_duration".into(),
        },
        LogAdvice::DurationsWithoutRequest {
            field: "duration".into(),
        },
        LogAdvice::JsonInText {
            field: "properties".into(),
        },
        LogAdvice::TimesUnparsed {
            field: "when".into(),
            example: "yesterday".into(),
        },
        LogAdvice::StatusesUnparsed {
            field: "status".into(),
            example: "broken".into(),
        },
        LogAdvice::DurationsEmpty {
            field: "duration_ms".into(),
        },
        LogAdvice::NoDurationValues {
            field: "time-taken".into(),
        },
    ];
    let fields = vec!["status=code".to_string(), "agent=ua".into()];
    advice.push(LogAdvice::FieldsNeverOccur { fields });
    advice.push(LogAdvice::PathField {
        field: "http.url".into(),
        other: "path".into(),
        example: "/var/log/app.log".into(),
    });
    let roles = [
        FieldRole::Time,
        FieldRole::Duration,
        FieldRole::Path,
        FieldRole::Status,
    ];
    for role in roles {
        for candidates in [vec![], vec!["a".to_string(), "b".to_string()]] {
            advice.push(LogAdvice::FieldMissing { role, candidates });
        }
    }
    for n in [1, 2_000] {
        advice.extend([
            LogAdvice::TranslatedMessages { messages: n },
            LogAdvice::NestedStatements { statements: n },
            LogAdvice::ErrorsWithoutStatement { errors: n },
            LogAdvice::DurationsWithoutStatement { durations: n },
            LogAdvice::StatementsCutOff { statements: n },
            LogAdvice::InternalStatements { statements: n },
            LogAdvice::LinesWithoutEnd { lines: n },
            LogAdvice::RepeatedLines { lines: n },
            LogAdvice::LinesOfParts { lines: n },
            LogAdvice::LinesWithoutRequest { lines: n },
            LogAdvice::RecordsWithoutRequest { records: n },
            LogAdvice::ConnectionLines { lines: n },
            LogAdvice::ServerMessages { lines: n },
            LogAdvice::ApplicationMessages { lines: n },
            LogAdvice::ConsumerSpans { spans: n },
            LogAdvice::NoServerSpans { spans: n },
            LogAdvice::RouterLines { lines: n },
        ]);
    }
    advice
}

/// Returns the sentences about logs that benchlab cannot read.
fn foreign_logs() -> Vec<String> {
    let invalid = |has_other_encoding| ForeignLog::InvalidJson {
        line: 1,
        column: 118,
        error: "expected value".into(),
        has_other_encoding,
    };
    let logs = [
        ForeignLog::Compressed {
            format: "xz",
            command: "xzcat FILE",
        },
        ForeignLog::Utf16 { encoding: "UTF-16" },
        ForeignLog::Journal,
        invalid(false),
        invalid(true),
        ForeignLog::PrefixedJson,
        ForeignLog::Logfmt,
        ForeignLog::HaProxyTcp,
        ForeignLog::CloudWatchEvents,
        ForeignLog::AzurePostgresql,
        ForeignLog::SlowLogSummary {
            program: "mysqldumpslow",
        },
        ForeignLog::SlowLogTable,
        ForeignLog::GeneralLog,
        ForeignLog::MysqlErrors,
        ForeignLog::MariadbAudit,
        ForeignLog::TranslatedPostgresql,
        ForeignLog::DatabaseProxy {
            name: "ProxySQL",
            database: "the slow query log of MySQL",
        },
        ForeignLog::OtherDatabase {
            name: "log of MongoDB",
        },
    ];
    logs.iter().map(wording::foreign_log).collect()
}

fn findings() -> Vec<LogsFinding> {
    let smallest = |ranked, by, size: usize, bounds| LogsFinding::SmallestSet {
        ranked,
        by,
        size,
        bounds,
        of: 1_200,
        part: 0.8,
        first: [
            page_fraction("/search", 0.62),
            page_fraction("/report", 0.25),
        ][..size.min(2)]
            .into(),
    };
    let only = LogsFinding::SmallestSet {
        ranked: PageKind::Page,
        by: PageOrder::Time,
        size: 1,
        bounds: None,
        of: 1,
        part: 0.8,
        first: vec![page_fraction("/search", 1.0)],
    };
    let leaders = |[most_used, slowest, most_time]: [&str; 3], saving| LogsFinding::Orders {
        most_used: Some(most_used.to_string()).filter(|page| !page.is_empty()),
        slowest: slowest.into(),
        slowest_mean_ns: 1.25e9,
        most_time: most_time.into(),
        saving,
    };
    let long = "/report/a-name-that-is-too-long-for-a-sentence";
    let orders = |saving| leaders(["/", long, "/search"], saving);
    let repeated = |share, one_in| LogsFinding::RepeatedQuery {
        page: "/orders".into(),
        query: "SELECT ?".into(),
        per_request: 52.4,
        share,
        one_in,
    };
    let headroom = |is_lower_bound| LogsFinding::Headroom {
        used: ratio(0.4),
        times: ratio(2.5),
        is_lower_bound,
        limit_ns: 2e8,
    };
    let changed = |estimate, release: Option<&str>| LogsFinding::Changed {
        page: "/search".into(),
        ratio: ratio(estimate),
        day: "2026-05-07".into(),
        release: release.map(String::from),
    };
    let weekly = |more| LogsFinding::WeeklySpike {
        weekday: 0,
        hour: 9,
        ratio: ratio(3.4),
        more,
    };
    let single = |hours| LogsFinding::SingleSpikes {
        hours,
        local_s: 1_777_629_600,
        ratio: ratio(4.1),
    };
    let assumed = |log| LogsFinding::Assumed {
        assumption: LogAssumption::NoZone,
        log,
    };
    let whole_seconds = |are_mostly_zero, is_log_format| LogsFinding::WholeSeconds {
        are_mostly_zero,
        is_log_format,
    };
    let mut findings = vec![
        smallest(PageKind::Page, PageOrder::Time, 1, None),
        smallest(PageKind::Page, PageOrder::Time, 2, Some([1.0, 3.0])),
        smallest(PageKind::Query, PageOrder::Requests, 30, Some([30.0, 30.0])),
        only,
        orders(None),
        orders(Some(page_fraction("/search", 0.12))),
        leaders(["", "/search", "/"], None),
        leaders(["/", "/search", "/"], None),
        leaders(["/", "/search", "/search"], None),
        leaders(["/", "/", "/"], None),
        repeated(None, 0),
        repeated(Some(0.31), 8),
        headroom(false),
        headroom(true),
        changed(2.0, None),
        changed(0.5, Some("v12")),
        weekly(0),
        weekly(1),
        weekly(2),
        single(1),
        single(3),
        LogsFinding::Busiest {
            hour: None,
            start_s: 1_777_629_600,
            offset_s: 0,
            requests: 600,
        },
        LogsFinding::Busiest {
            hour: Some(BusiestHour {
                local_s: 1_777_629_600,
                of_average: 3.1,
            }),
            start_s: 1_777_629_600,
            offset_s: 7_200,
            requests: 600,
        },
        assumed(None),
        assumed(Some(ComparedLog::First)),
        assumed(Some(ComparedLog::Second)),
        assumed(Some(ComparedLog::Both)),
        LogsFinding::CutOff,
        whole_seconds(true, true),
        whole_seconds(false, true),
        whole_seconds(true, false),
        whole_seconds(false, false),
        LogsFinding::WithoutStatus { requests: 7, of: 7 },
        LogsFinding::WithoutOutcome {
            statements: 7,
            of: 7,
        },
        LogsFinding::WholeSecondsOfStatements,
        LogsFinding::LongDurations {
            is_sum_capped: false,
        },
        LogsFinding::LongDurations {
            is_sum_capped: true,
        },
        LogsFinding::Advice {
            advice: LogAdvice::NoDurations,
        },
        LogsFinding::NoRequests,
        LogsFinding::NoTimes,
        LogsFinding::TooShort,
        LogsFinding::TooFewWeeks {
            weeks: 1,
            needed: 4,
        },
        LogsFinding::NoCapacity,
        LogsFinding::PageChanged {
            page: "/search".into(),
            ratio: ratio(1.5),
            shares: [0.41, 0.62],
        },
        LogsFinding::NoneChanged { pages: 12 },
        LogsFinding::NoCommonDays { needed: 3 },
    ];
    for n in [1, 3] {
        findings.extend([
            LogsFinding::Malformed {
                lines: n,
                of: 1_800,
            },
            LogsFinding::TooLong {
                lines: n,
                of: 1_800,
            },
            LogsFinding::WithoutStatus {
                requests: n,
                of: 1_800,
            },
            LogsFinding::WithoutOutcome {
                statements: n,
                of: 1_800,
            },
            LogsFinding::WithoutDuration {
                requests: n,
                of: 1_800,
            },
            LogsFinding::UntimedStatements {
                statements: n,
                of: 1_800,
            },
            LogsFinding::ClockJumps { times: n },
            LogsFinding::StatementsOutside { statements: n },
            LogsFinding::SharedIds { requests: n },
            LogsFinding::CrowdedIds { ids: n },
            LogsFinding::UnmatchedIds { statements: n },
        ]);
    }
    findings
}

fn gate_problems() -> Vec<String> {
    let problems = [
        GateProblem::Assumed(LogAssumption::NoZone),
        GateProblem::Translated { messages: 2 },
        GateProblem::NoPeak,
        GateProblem::NoPage {
            page: "/x".into(),
            nearest: None,
        },
        GateProblem::NoPage {
            page: "/serach".into(),
            nearest: Some("/search".into()),
        },
        GateProblem::NoDurations,
        GateProblem::NoMax,
        GateProblem::NoRequests,
        GateProblem::NoStatus,
        GateProblem::NoOutcome,
        GateProblem::UnknownOutcome {
            statements: 20,
            of: 100,
        },
        GateProblem::UnknownStatus {
            requests: 20,
            of: 100,
        },
        GateProblem::Malformed { lines: 30, of: 40 },
        GateProblem::BeyondHour,
        GateProblem::CappedSum,
        GateProblem::LowerBound(4.2e8),
        GateProblem::BoundedFraction,
    ];
    let figures = [
        (GateMetric::Quantile(0.99), 4_200.0),
        (GateMetric::Mean, 4.2e8),
        (GateMetric::Max, 4.2e9),
        (GateMetric::Errors, 0.012),
        (GateMetric::Fraction, 0.5),
        (GateMetric::Requests, 1_200.0),
        (GateMetric::Rate, 2.5),
    ];
    let values = figures.map(|(figure, value)| wording::gate_value(figure, value));
    let problems = problems.map(|problem| wording::gate_problem(GateMetric::Mean, &problem));
    let unknown = wording::unknown_changes(&[
        UnknownChange::Assumed(ComparedLog::First, LogAssumption::LowerBounds),
        UnknownChange::PageAssumed {
            page: "/a".into(),
            log: ComparedLog::Second,
            assumption: LogAssumption::MissingDurations {
                requests: 40,
                of: 100,
            },
        },
        UnknownChange::Malformed {
            log: ComparedLog::Second,
            lines: 30,
            of: 40,
        },
        UnknownChange::Unread(ComparedLog::First, "a.log: Permission denied".into()),
        UnknownChange::Translated {
            log: ComparedLog::First,
            messages: 2,
        },
        UnknownChange::NotInBoth("/x".into()),
        UnknownChange::NoDays,
        UnknownChange::TooFewDays("/a".into()),
        UnknownChange::Open {
            page: "/b".into(),
            low: 0.5,
            high: 3.0,
        },
    ]);
    let mut all: Vec<String> = values.into_iter().chain(problems).collect();
    all.extend([
        wording::unread_log("a.log: Permission denied"),
        wording::slower_page(
            "/a",
            &Interval {
                estimate: 1.2,
                low: 1.1,
                high: 1.3,
                level: 0.95,
            },
        ),
        wording::no_page_slower(None),
        wording::no_page_slower(Some("/a")),
        unknown,
    ]);
    let problems = [
        CapacityProblem::NotALoad,
        CapacityProblem::NoPeak,
        CapacityProblem::MissingTimes,
        CapacityProblem::NoResponseTimes,
        CapacityProblem::AlwaysExceeded,
    ];
    all.extend(problems.map(|problem| wording::capacity_problem(problem).to_string()));
    all
}

/// Returns the texts of sections and tables.
fn texts() -> Vec<String> {
    let mut all = vec![
        wording::source(None),
        wording::source(Some("runs/a.lab")),
        wording::reading_method(0.01, false),
        wording::reading_method(0.01, true),
        wording::comparison_method(),
        wording::ranking_caption(12, PageKind::Page, PageOrder::Time),
        wording::ranking_caption(1, PageKind::Query, PageOrder::Requests),
        wording::ranking_rest(40, PageKind::Page, 0.02),
        wording::single_table(1_000),
        wording::no_spikes(1_000),
        wording::within_table(0),
        wording::within_table(8),
        wording::release_title("v12", 1_777_629_600),
        wording::no_days_around("Release v12"),
        wording::too_few_days(4),
        wording::no_changes(7),
        wording::sources(&[]),
        wording::sources(&["-"]),
        wording::sources(&["/var/log/access.log"]),
        wording::sources(&["/var/log/access.log", "b.log", "c.log"]),
    ];
    for n in [1, 20] {
        all.extend([
            wording::fewer_spikes(n),
            wording::too_few_days_around(n),
            wording::smaller_changes(n),
        ]);
    }
    for length_s in [60, 3_600, 86_400, 604_800] {
        all.push(wording::interval_method(length_s, 12));
    }
    for is_known in [false, true] {
        all.extend(wording::headroom_assumptions(is_known).map(String::from));
    }
    let captions = [
        wording::QUESTIONS[0],
        wording::QUESTIONS[1],
        wording::RANKING_TABLE,
        wording::ORDERS_TABLE,
        wording::BOTS_TABLE,
        wording::WEEK_CHART,
        wording::HOURS_TABLE,
        wording::WEEKLY_TABLE,
        wording::CHANGES_TABLE,
        wording::TRENDS_TABLE,
        wording::COMPARISON_CHART,
        wording::COMPARISON_TABLE,
        wording::ALONE_TABLE,
    ];
    all.extend(captions.map(String::from));
    all
}

#[test]
fn every_sentence() {
    let findings = findings();
    let findings = findings.iter().map(|finding| {
        let label = wording::label(finding);
        let separator = if label.is_empty() { "" } else { ": " };
        format!("{label}{separator}{}", wording::sentence(finding))
    });
    let lists: [(&str, Vec<String>); 6] = [
        ("Findings", findings.collect()),
        (
            "Assumptions",
            assumptions().iter().map(wording::assumption).collect(),
        ),
        ("Advice", advice().iter().map(wording::advice).collect()),
        ("Unknown logs", foreign_logs()),
        ("Gates", gate_problems()),
        ("Texts", texts()),
    ];
    let lists = lists.map(|(title, list)| format!("## {title}\n{}\n", list.join("\n")));
    insta::assert_snapshot!("sentences", lists.join("\n"));
}

/// A finding's JSON contains its code and its numbers, so that programs do not have to parse the
/// text.
#[test]
fn findings_are_data() {
    let finding = LogsFinding::Advice {
        advice: LogAdvice::RouterLines { lines: 3 },
    };
    assert_eq!(
        serde_json::to_value(finding).unwrap(),
        serde_json::json!({"code": "advice", "advice": {"code": "router-lines", "lines": 3}})
    );
}

#[test]
fn a_fraction_below_one_is_not_100_percent() {
    for (share, percent) in [
        (0.614, "61 %"),
        (0.9951, "99.5 %"),
        (0.99999, "99.9 %"),
        (1.0, "100 %"),
    ] {
        let finding = LogsFinding::RepeatedQuery {
            page: "/orders".into(),
            query: "SELECT a FROM t".into(),
            per_request: 52.0,
            share: Some(share),
            one_in: 1,
        };
        let sentence = wording::sentence(&finding);
        assert!(
            sentence.contains(&format!("takes {percent} of")),
            "{sentence}"
        );
    }
}
