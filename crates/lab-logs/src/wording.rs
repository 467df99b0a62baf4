// SPDX-License-Identifier: Apache-2.0
//! The sentences about logs. Only this module turns findings into English.

use crate::analysis::between::MIN_DAYS_PER_LOG;
use crate::analysis::changes::MIN_DAYS;
use crate::analysis::gate::GateMetric;
use crate::analysis::pareto::PageOrder;
use crate::analysis::week::MIN_WEEKS;
use crate::finding::{
    CapacityProblem, ComparedLog, GateProblem, LogsFinding, PageFraction, UnknownChange,
};
use crate::format::{ForeignLog, unit_name};
use lab_document::format::quantity;
use lab_document::say;
use lab_model::{FieldRole, Interval, LogAdvice, LogAssumption, PageKind, Unit};

/// Weekdays, from Monday.
pub const WEEKDAYS: [&str; 7] = [
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
];

/// The maximum length of a name in a sentence, in characters.
const MAX_NAME: usize = 40;

/// Joins pages and their predicates.
///
/// Each page is named only once, followed by all of its predicates.
fn each_page_once<'p>(leaders: impl IntoIterator<Item = (&'p String, &'p str)>) -> String {
    let mut pages: Vec<(&String, Vec<&str>)> = Vec::new();
    for (page, predicate) in leaders {
        match pages.iter_mut().find(|(known, _)| *known == page) {
            Some((_, predicates)) => predicates.push(predicate),
            None => pages.push((page, vec![predicate])),
        }
    }
    let clauses = pages
        .iter()
        .map(|(page, predicates)| format!("{} {}", shortened(page), say::list(predicates)));
    let clauses: Vec<String> = clauses.collect();
    match clauses.as_slice() {
        [first @ .., last] if !first.is_empty() => format!("{}, and {last}", first.join(", ")),
        clauses => clauses.concat(),
    }
}

/// Formats a finding as one or two sentences.
pub fn sentence(finding: &LogsFinding) -> String {
    match finding {
        LogsFinding::SmallestSet { .. } => smallest_set(finding),
        LogsFinding::Orders {
            most_used,
            slowest,
            slowest_mean_ns,
            most_time,
            saving,
        } => {
            let saved = saving.as_ref().map_or(String::new(), |saving| {
                format!(
                    " If {} were as fast as the median of the others, {} of the time would be saved.",
                    shortened(&saving.page),
                    whole_percent(saving.share)
                )
            });
            let slowest_is = format!(
                "is the slowest (mean {})",
                say::time(*slowest_mean_ns as u64)
            );
            let most_used = most_used.iter().map(|page| (page, "gets the most requests"));
            let others = [
                (slowest, slowest_is.as_str()),
                (most_time, "takes the most time"),
            ];
            format!("{}.{saved}", each_page_once(most_used.chain(others)))
        }
        LogsFinding::RepeatedQuery {
            page,
            query,
            per_request,
            share,
            one_in,
        } => {
            let share = share.map_or(String::new(), |share| {
                format!(", which takes {} of its time", whole_percent(share))
            });
            let sample = match one_in {
                0 | 1 => String::new(),
                n => format!(" (in a sample of 1 in {n} request IDs)"),
            };
            format!(
                "{} runs `{}` {per_request:.0} times per request{share}{sample}.",
                shortened(page),
                shortened(query),
            )
        }
        LogsFinding::Headroom {
            used,
            times,
            is_lower_bound,
            limit_ns,
        } => format!(
            "The busiest minute uses {} of the capacity: the server can handle {}{} times as many users before its p99 exceeds {}.",
            say::figure(used, &Unit::Share, used.level),
            if *is_lower_bound { "at least " } else { "" },
            say::figure(times, &Unit::Ratio, times.level),
            say::time(*limit_ns as u64),
        ),
        LogsFinding::Changed {
            page,
            ratio,
            day,
            release,
        } => {
            let since = match release {
                Some(release) => format!("since {release}"),
                None => format!("since {day}"),
            };
            let as_long = as_long(ratio, "as long");
            format!("{page} has taken {as_long} {since}.")
        }
        LogsFinding::WeeklySpike {
            weekday,
            hour,
            ratio,
            more,
        } => {
            let more = match more {
                0 => String::new(),
                1 => "; 1 more hour stands out every week".into(),
                n => format!("; {n} more hours stand out every week"),
            };
            format!(
                "Every {} at {hour}:00, the log has {}{more}.",
                WEEKDAYS[weekday % 7],
                as_long(ratio, "as many requests as on other days"),
            )
        }
        LogsFinding::SingleSpikes {
            hours,
            local_s,
            ratio,
        } => {
            let began = say::minute(*local_s as f64);
            let usual = say::times(ratio, "the usual number of requests", ratio.level);
            match hours {
                1 => format!("1 hour stands out: it began at {began} and had {usual}."),
                n => format!(
                    "{} hours stand out; the largest spike began at {began} and had {usual}.",
                    quantity::integer(*n as u64)
                ),
            }
        }
        LogsFinding::Busiest {
            hour,
            start_s,
            offset_s,
            requests,
        } => {
            let named = |local_s: i64| {
                let weekday = WEEKDAYS[(local_s.div_euclid(86_400) + 3).rem_euclid(7) as usize];
                format!("{weekday} {}", say::minute(local_s as f64))
            };
            let hour = hour.as_ref().map_or(String::new(), |hour| {
                format!(
                    "The busiest hour began on {} and had {} times as many requests as the average hour. ",
                    named(hour.local_s),
                    say::reading(hour.of_average, &Unit::Ratio),
                )
            });
            let began = named(start_s + offset_s);
            let rate = Unit::PerSecond("requests".into());
            let rate = say::reading(*requests as f64 / 60.0, &rate);
            let zone = say::zone(*offset_s);
            format!("{hour}The busiest minute began on {began} {zone}, with {rate}.")
        }
        LogsFinding::Assumed {
            assumption: assumed,
            log,
        } => match log {
            Some(log) => format!("{}: {}", say::capital(compared(*log)), assumption(assumed)),
            None => assumption(assumed),
        },
        LogsFinding::Malformed { lines, of } => {
            let (be, part) = (be(*lines), of_lines(*lines, *of));
            format!("{part} could not be parsed and {be} not counted.")
        }
        LogsFinding::TooLong { lines, of } => {
            let (be, part) = (be(*lines), of_lines(*lines, *of));
            format!("{part} {be} longer than 64 KiB (16 MiB in logs of databases) and {be} skipped.")
        }
        LogsFinding::WithoutStatus { requests, of } if requests == of => {
            "The log has no status, so errors are unknown.".into()
        }
        LogsFinding::WithoutStatus { requests, of } => format!(
            "{} {} no status, so errors may be missing.",
            of_requests(*requests, *of),
            have(*requests)
        ),
        LogsFinding::WithoutOutcome { statements, of } if statements == of => {
            "The log does not show whether statements failed, so errors are unknown.".into()
        }
        LogsFinding::WithoutOutcome { statements, of } => format!(
            "For {}, it is unknown whether {} failed, so errors may be missing.",
            counted_part(*statements, *of, "statement"),
            if *statements == 1 { "it" } else { "they" }
        ),
        LogsFinding::WithoutDuration { requests, of } => without_duration(*requests, *of),
        LogsFinding::UntimedStatements { statements, of } => untimed_statements(*statements, *of),
        LogsFinding::CutOff => "The last line of a log may be cut off and is not counted.".into(),
        LogsFinding::ClockJumps { times } => format!(
            "The log's clock went backward by more than a minute {}.",
            match times {
                1 => "once".into(),
                n => say::count(*n as usize, "time"),
            }
        ),
        LogsFinding::WholeSecondsOfStatements => {
            "Durations are whole seconds, so means and fractions can be far off, and percentiles below a few seconds are \
             meaningless. MySQL 5.1.21 and later log microseconds."
                .into()
        }
        LogsFinding::WholeSeconds {
            are_mostly_zero,
            is_log_format,
        } => whole_seconds(*are_mostly_zero, *is_log_format),
        LogsFinding::LongDurations { is_sum_capped: true } => {
            "Some durations exceed an hour: in percentiles they count as an hour. Sums exceed 292 years and are cut off there, so \
             sums and means are too low. Check the unit and the field of the durations."
                .into()
        }
        LogsFinding::LongDurations { .. } => {
            "Some durations exceed an hour: in percentiles they count as an hour. Sums, means and the maximum are exact."
                .into()
        }
        LogsFinding::Advice { advice: given } => advice(given),
        LogsFinding::StatementsOutside { statements } => format!(
            "{} ran before or after the request with the same ID and {} not joined to it. A connection can keep the ID of an \
             earlier request; if this applies to most statements, the clocks or time zones of the logs differ.",
            say::count(*statements as usize, "statement"),
            be(*statements),
        ),
        LogsFinding::SharedIds { requests } => format!(
            "{} {} not joined to statements, because another request has the same ID.",
            say::count(*requests as usize, "request"),
            be(*requests),
        ),
        LogsFinding::CrowdedIds { ids } => format!(
            "{} with more than 10,000 distinct combinations of a statement and a second {} not joined.",
            say::count(*ids as usize, "request ID"),
            be(*ids),
        ),
        LogsFinding::UnmatchedIds { statements } => format!(
            "{} with an ID {} not joined, because no request has the same ID: log the same ID in both logs, or choose its \
             field with --fields id=NAME.",
            say::count(*statements as usize, "statement"),
            be(*statements),
        ),
        LogsFinding::NoRequests => "The log has no requests.".into(),
        LogsFinding::NoTimes => {
            "There are no timestamps, so hours, changes, releases and confidence intervals are unknown.".into()
        }
        LogsFinding::TooShort => {
            "The log is too short for confidence intervals, which need at least eight minutes with requests."
                .into()
        }
        LogsFinding::TooFewWeeks { weeks, needed } => format!(
            "Not enough weeks to find {}spikes: the log has {weeks} of the {needed} whole weeks needed.",
            if *needed > MIN_WEEKS { "single " } else { "" },
        ),
        LogsFinding::NoCapacity => {
            "To see the headroom, add --capacity with a run of `benchlab load`.".into()
        }
        LogsFinding::PageChanged {
            page,
            ratio,
            shares: [first, second],
        } => format!(
            "{page} takes {}; its fraction of the total time went from {} to {}.",
            as_long(ratio, "as long as in the first log"),
            say::percent(*first),
            say::percent(*second),
        ),
        LogsFinding::NoneChanged { pages: 1 } => {
            "The only compared page did not change significantly.".into()
        }
        LogsFinding::NoneChanged { pages } => format!(
            "None of the {} changed significantly.",
            say::count(*pages, "page")
        ),
        LogsFinding::NoCommonDays { needed } => format!(
            "No page has {needed} days with at least 20 requests in both logs, so changes are unknown."
        ),
    }
}

/// Returns a short label for the subject of a finding. Empty for most findings.
pub fn label(finding: &LogsFinding) -> &'static str {
    match finding {
        LogsFinding::RepeatedQuery { .. } => "N+1",
        LogsFinding::Assumed { .. } => "assumed",
        LogsFinding::Malformed { .. } => "malformed",
        LogsFinding::TooLong { .. } => "too long",
        LogsFinding::WithoutStatus { .. } => "no status",
        LogsFinding::WithoutOutcome { .. } => "errors",
        LogsFinding::WithoutDuration { .. } | LogsFinding::UntimedStatements { .. } => {
            "no duration"
        }
        LogsFinding::CutOff => "cut off",
        LogsFinding::ClockJumps { .. } => "clock",
        LogsFinding::WholeSeconds { .. } | LogsFinding::WholeSecondsOfStatements => "whole seconds",
        LogsFinding::LongDurations { .. } => "longer than an hour",
        LogsFinding::Advice { .. } => "log",
        LogsFinding::StatementsOutside { .. }
        | LogsFinding::SharedIds { .. }
        | LogsFinding::CrowdedIds { .. }
        | LogsFinding::UnmatchedIds { .. } => "not joined",
        _ => "",
    }
}

fn whole_seconds(are_mostly_zero: bool, is_log_format: bool) -> String {
    let (rounded, advice) = match is_log_format {
        true => (", rounded down", " Apache: log %D instead of %T."),
        false => ("", ""),
    };
    let effect = match are_mostly_zero {
        true => {
            "Most are 0, so means and fractions are too low, and percentiles below a few seconds are meaningless."
        }
        false => "Percentiles below a few seconds are meaningless.",
    };
    format!("Durations are whole seconds{rounded}. {effect}{advice}")
}

fn without_duration(requests: u64, of: u64) -> String {
    format!(
        "{} {} no duration and {} not part of the statistics on durations.",
        of_requests(requests, of),
        have(requests),
        be(requests)
    )
}

fn untimed_statements(statements: u64, of: u64) -> String {
    format!(
        "{} {} no duration and {} not part of the statistics on durations, which may cover only the slowest statements. \
         PostgreSQL: set log_min_duration_statement = 0.",
        counted_part(statements, of, "statement"),
        have(statements),
        be(statements)
    )
}

fn smallest_set(finding: &LogsFinding) -> String {
    let LogsFinding::SmallestSet {
        ranked,
        by,
        size,
        bounds,
        of,
        part,
        first,
    } = finding
    else {
        return String::new();
    };
    if let ([only], 1) = (first.as_slice(), *of) {
        let page = shortened(&only.page);
        let [kind, _] = nouns(*ranked);
        return format!(
            "{page}, the only {kind}, accounts for all of the {}.",
            measure(*by)
        );
    }
    let bounds = match bounds {
        Some([low, high]) if low != high => format!(" ({low} to {high})"),
        _ => String::new(),
    };
    let accounts = if *size == 1 { "accounts" } else { "account" };
    let named = |p: &PageFraction| format!("{} {}", shortened(&p.page), whole_percent(p.share));
    let named = first.iter().map(named);
    let more = size.saturating_sub(first.len());
    let more = (more > 0).then(|| format!("{more} more"));
    let named: Vec<String> = named.into_iter().chain(more).collect();
    format!(
        "{size}{bounds} of {} {accounts} for {} of the {}: {}.",
        counted(*of, *ranked),
        say::percent(*part),
        measure(*by),
        say::list(&named),
    )
}

/// Returns the text of an assumption, with the option that replaces the assumption.
pub fn assumption(assumption: &LogAssumption) -> String {
    match assumption {
        LogAssumption::Unit {
            place,
            unit_ns,
            others_ns,
        } => format!(
            "Durations ({place}) are assumed to be in {}{}: specify the unit with --duration-unit.",
            unit_name(*unit_ns),
            other_units(others_ns)
        ),
        LogAssumption::BareNumber {
            place,
            unit_ns,
            others_ns,
        } => format!(
            "Durations are assumed to be in {place}, in {}{}: specify the unit with --duration-unit, or, if they are not \
             durations, describe the lines with --log-format.",
            unit_name(*unit_ns),
            other_units(others_ns)
        ),
        LogAssumption::DoubtfulUnit { place, unit_ns } => format!(
            "Durations ({place}) are assumed to be in {}, which makes the values implausible: specify the unit with --duration-unit.",
            unit_name(*unit_ns)
        ),
        LogAssumption::DurationField { place } => format!(
            "Durations are assumed to be in {place}, but other fields may contain durations, too: describe the lines with --log-format."
        ),
        LogAssumption::DurationFields { field, other } => format!(
            "Durations are assumed to be in the field {field}, but the field {other} contains other durations: choose the \
             field with --fields duration=NAME."
        ),
        LogAssumption::SharedIds { requests } => format!(
            "{} ended with an ID that multiple unfinished requests shared. {} assumed to be the one that began last: \
             log the path with the duration, or name a unique ID with --fields id=NAME.",
            say::count(*requests as usize, "request"),
            if *requests == 1 { "It is" } else { "Each is" },
        ),
        LogAssumption::UncountedLines { lines } => format!(
            "{} {} a path but, unlike other lines, no status or duration, and {} not counted as {}: if {}, \
             name the fields with --fields status=NAME,duration=NAME.",
            say::count(*lines as usize, "line"),
            have(*lines),
            be(*lines),
            if *lines == 1 { "a request" } else { "requests" },
            if *lines == 1 { "it is a request" } else { "they are requests" },
        ),
        LogAssumption::UnfinishedRequests { requests } => format!(
            "{} {} a path, but no status or duration, and no later line has {} ID. {} counted as {} that did not end: \
             name the ID field with --fields id=NAME.",
            say::count(*requests as usize, "line"),
            have(*requests),
            if *requests == 1 { "its" } else { "their" },
            if *requests == 1 { "It is" } else { "They are" },
            if *requests == 1 { "a request" } else { "requests" },
        ),
        LogAssumption::MixedForms { place, unit_ns } => format!(
            "Durations ({place}) are assumed to be in {}, but some have a fraction and others do not, as if the unit had \
             changed: split the log where it changed, or specify the unit with --duration-unit.",
            unit_name(*unit_ns)
        ),
        LogAssumption::ChangedUnit {
            place,
            unit_ns,
            times,
        } => format!(
            "Durations ({place}) are assumed to be in {}, but the typical duration changes by a factor of {} within the log, \
             as if the unit had changed: split the log where it changed, or, if it did not, specify the unit with --duration-unit.",
            unit_name(*unit_ns),
            quantity::integer(*times),
        ),
        LogAssumption::ImplausibleDurations { place, unit_ns } => format!(
            "Most durations ({place}) are longer than a day in {}, as specified: correct --duration-unit, or, if they are not \
             durations, describe the lines with --log-format.",
            unit_name(*unit_ns)
        ),
        LogAssumption::FieldsDiffer { place, lines } => format!(
            "Durations are assumed to be in {place}, but {} {} not have the same number of fields as the first lines: split the log \
             where its format changed, or describe the lines with --log-format.",
            say::count(*lines as usize, "line"),
            if *lines == 1 { "does" } else { "do" },
        ),
        LogAssumption::MoreFields { lines } => format!(
            "{} {} more fields than the format, so values may be read from the wrong fields: pass the whole format from the \
             server's configuration with --log-format.",
            say::count(*lines as usize, "line"),
            have(*lines),
        ),
        LogAssumption::UnparsedDurations {
            field,
            example,
            requests,
        } => format!(
            "{} {} a duration in the field {field} that cannot be parsed, such as `{example}`, and {} not part of the statistics on durations.",
            say::count(*requests as usize, "request"),
            have(*requests),
            be(*requests),
        ),
        LogAssumption::UntimedSpans { spans } => format!(
            "{} {} no start, no end, or an end before the start, and {} not part of the statistics on durations.",
            say::count(*spans as usize, "span"),
            have(*spans),
            be(*spans),
        ),
        LogAssumption::UnparsedRows { rows, example } => format!(
            "{} {} numbers that cannot be parsed and {} not counted; the first has the total time `{example}`.",
            say::count(*rows as usize, "row"),
            have(*rows),
            be(*rows),
        ),
        LogAssumption::SampledStatements { one_in } => format!(
            "The server logged 1 in {one_in} statements (log_slow_rate_limit), so counts and sums cover only the sample."
        ),
        LogAssumption::MissingDurations { requests, of } => without_duration(*requests, *of),
        LogAssumption::UntimedStatements { statements, of } => untimed_statements(*statements, *of),
        LogAssumption::StatementsCountedTwice { statements } => format!(
            "Statements and durations are in separate lines that cannot be joined, so {} {} counted twice.",
            say::count(*statements as usize, "statement"),
            be(*statements),
        ),
        LogAssumption::LowerBounds => {
            "Durations that begin with + are lower bounds: HAProxy logged them before the responses ended (option logasap). \
             Without this option, HAProxy logs the full duration."
                .into()
        }
        LogAssumption::MissingTimes { requests, of } => format!(
            "{} {} no time that can be read and {} not part of the hours and the busiest minute.",
            of_requests(*requests, *of),
            have(*requests),
            be(*requests),
        ),
        LogAssumption::NoZone => {
            "The log's timestamps have no time zone and are read as UTC: specify the zone with --zone.".into()
        }
        LogAssumption::RepeatedHour => {
            "Timestamps in an hour that the clock showed twice are assumed to be in the first of the two hours.".into()
        }
        LogAssumption::SkippedHour => {
            "Some timestamps are in an hour that did not occur in this zone, because the clock was set forward: the log may be in \
             another zone, so check --zone."
                .into()
        }
        LogAssumption::NoHalfDay => {
            "The format has hours from 1 to 12 without AM or PM, so afternoons are read as mornings: log HH instead of hh, or %H \
             instead of %I."
                .into()
        }
        LogAssumption::AmbiguousZone {
            word,
            offset_s,
            region,
            others,
        } => format!(
            "The time zone {word} is assumed to be that of {region}, {}, but {others} use it, too: specify the zone with --zone.",
            say::zone(i64::from(*offset_s))
        ),
        LogAssumption::UnknownZone { word } => format!(
            "The time zone {word} is unknown, and its timestamps are read as UTC: specify the zone with --zone."
        ),
    }
}

/// Names the other units that durations may have.
fn other_units(others_ns: &[u64]) -> String {
    let others: Vec<&str> = others_ns.iter().map(|unit| unit_name(*unit)).collect();
    match others.as_slice() {
        [] => String::new(),
        others => format!(", but {} would fit too", say::list(others)),
    }
}

/// Returns the text of a piece of advice about a log.
pub fn advice(advice: &LogAdvice) -> String {
    match advice {
        LogAdvice::Unread { reason } => {
            let reason = reason.trim_end_matches('.');
            format!("A log could not be read to the end: {reason}.")
        }
        LogAdvice::NoDurations => {
            "The log has no durations that benchlab recognizes. Apache and Tomcat: add %D to the LogFormat or pattern. nginx: \
             add $request_time to log_format. If the lines contain durations, describe the lines with --log-format."
                .into()
        }
        LogAdvice::FormatMismatch {
            field: Some(field),
            column,
        } => format!("No line fits --log-format: the first one differs at {field}, in column {column}."),
        LogAdvice::FormatMismatch {
            field: None,
            column,
        } => format!(
            "No line fits --log-format: the first one continues after the last field, in column {column}."
        ),
        LogAdvice::NoDurationInFormat => {
            "The format has no durations: add %D, or $request_time in nginx.".into()
        }
        LogAdvice::NoDateInFormat => {
            "The format has no time with a date, so hours are unknown: add %t, or $time_local in nginx.".into()
        }
        LogAdvice::NoYearInFormat => {
            "The time in the format has no year, so hours are unknown: add %Y, or yyyy in Tomcat.".into()
        }
        LogAdvice::SyslogTimesWithoutYear => {
            "The timestamps that syslog wrote have no year, so hours are unknown: add %m to log_line_prefix, or have syslog write \
             timestamps in the format of RFC 5424."
                .into()
        }
        LogAdvice::UpstreamTimes => {
            "Durations are $upstream_response_time, without the time that nginx itself takes: log $request_time to include it."
                .into()
        }
        LogAdvice::UnitsDiffer {
            before,
            before_ns,
            after,
            after_ns,
        } => format!(
            "Durations are read as {} in {before} and as {} in {after}: if the unit did not change, specify it with --duration-unit.",
            unit_name(*before_ns),
            unit_name(*after_ns)
        ),
        LogAdvice::FilesMissing { log, numbers } => format!(
            "Rotated files of {log} are missing ({numbers}), so the log has a gap."
        ),
        LogAdvice::AnsiQuotes => {
            "If a statement uses a word in double quotes as the name of a table or column (sql_mode ANSI_QUOTES), all its words in \
             double quotes are read as names. Other statements are read the same way if all their words in double quotes are \
             among these names. In all other statements, words in double quotes are read as strings."
                .into()
        }
        LogAdvice::StatementsCutOff { statements } => format!(
            "{} {} within quotes, as if cut off, and {}.",
            say::count(*statements as usize, "statement"),
            if *statements == 1 { "ends" } else { "end" },
            if *statements == 1 {
                "its name may differ from that of the whole statement"
            } else {
                "their names may differ from those of the whole statements"
            },
        ),
        LogAdvice::InternalStatements { statements } => format!(
            "{} that TiDB itself executed (Is_internal) {} not counted.",
            say::count(*statements as usize, "statement"),
            be(*statements),
        ),
        LogAdvice::TimesInUtc => {
            "The log's timestamps are in UTC: to see hours in the server's local time, specify the server's time zone with --zone.".into()
        }
        LogAdvice::ZoneRead { word, offset_s } => {
            format!("{word} is read as {}.", say::zone(i64::from(*offset_s)))
        }
        LogAdvice::DatesDerived => {
            "Lines have no date: dates come from the #Date line above, plus one day after each midnight.".into()
        }
        LogAdvice::NoDates => {
            "Lines have no date, and no #Date line is above them in a file of the same log, so their hours are unknown: \
             configure the server to log the fields date and time."
                .into()
        }
        LogAdvice::NoTimeTaken => {
            "The log has no durations: configure the server to log the field time-taken.".into()
        }
        LogAdvice::TranslatedMessages { messages } => format!(
            "{} {} in a language other than English and {} not counted: set lc_messages = 'C'.",
            say::count(*messages as usize, "message"),
            be(*messages),
            be(*messages),
        ),
        LogAdvice::NestedStatements { statements } => format!(
            "{} ran inside {}, so {} time is also part of the outer {} time and is counted twice: set \
             auto_explain.log_nested_statements = off.",
            say::count(*statements as usize, "statement"),
            if *statements == 1 { "a function" } else { "functions" },
            if *statements == 1 { "its" } else { "their" },
            if *statements == 1 { "statement's" } else { "statements'" },
        ),
        LogAdvice::ErrorsWithoutStatement { errors } => format!(
            "{} {} no statement and {} as {}: set log_min_error_statement = error.",
            say::count(*errors as usize, "error"),
            have(*errors),
            if *errors == 1 { "counts" } else { "count" },
            if *errors == 1 {
                "a failure of an unknown statement"
            } else {
                "failures of unknown statements"
            },
        ),
        LogAdvice::NoProcessNumbers => {
            "Lines have no process ID, so statements and durations in separate lines cannot be joined: add %p to \
             log_line_prefix."
                .into()
        }
        LogAdvice::UnclearProcessNumbers => {
            "Lines have multiple numbers that may be the process ID, so statements and durations in separate lines are not \
             joined: specify the log_line_prefix of PostgreSQL with --log-format."
                .into()
        }
        LogAdvice::UnknownProcessNumbers => {
            "The process ID was not found in the lines, so statements and durations in separate lines are not joined: specify \
             the log_line_prefix of PostgreSQL with --log-format, or add %p to log_line_prefix if it is missing."
                .into()
        }
        LogAdvice::DurationsWithoutStatement { durations } => format!(
            "{} {} no statement: set log_min_duration_statement = 0 instead of log_duration.",
            say::count(*durations as usize, "duration"),
            have(*durations),
        ),
        LogAdvice::StatementsWithoutDurations => {
            "The log has statements without durations: set log_min_duration_statement = 0.".into()
        }
        LogAdvice::NoStatements => {
            "The log has no statements with durations: set log_min_duration_statement = 0.".into()
        }
        LogAdvice::NoSlowStatements => {
            "The log has no statements: set slow_query_log = ON, and long_query_time to 0 or to the shortest duration, in \
             seconds, that the log should contain."
                .into()
        }
        LogAdvice::FieldMissing { role, candidates } => {
            let (what, option) = match role {
                FieldRole::Time => ("timestamps", "time"),
                FieldRole::Duration => ("durations", "duration"),
                FieldRole::Path => ("paths of requests", "path"),
                FieldRole::Status => ("statuses", "status"),
            };
            let (candidates, example) = match candidates.as_slice() {
                [] => (String::new(), "NAME"),
                [first, ..] => (
                    format!(" (candidates: {})", candidates.join(", ")),
                    first.as_str(),
                ),
            };
            format!(
                "The log has no {what} under a known name{candidates}: name the field with --fields {option}={example}."
            )
        }
        LogAdvice::FieldsNeverOccur { fields } => format!(
            "A log has neither text nor numbers in these fields that --fields specifies: {}.",
            fields.join(", ")
        ),
        LogAdvice::PathField {
            field,
            other,
            example,
        } => format!(
            "Paths are read from the field {field}, because the field {other} seems to contain other values, such as `{example}`. \
             If that field contains the paths, specify --fields path={other}."
        ),
        LogAdvice::PartialDurations { field } => format!(
            "The log has no durations of whole requests: {field} covers only a part of each request. Envoy: log %DURATION%."
        ),
        LogAdvice::DurationsWithoutRequest { field } => format!(
            "Only lines without a request have durations (field {field}): if these lines share an ID with the requests, name its \
             field with --fields id=NAME."
        ),
        LogAdvice::JsonInText { field } => format!(
            "The log has no paths of requests under a known name, but the text of the field {field} is JSON: convert it with \
             `jq -c '.{field} |= (fromjson? // .)'`."
        ),
        LogAdvice::TimesUnparsed { field, example } => format!(
            "Timestamps in the field {field}, such as `{example}`, cannot be parsed: name another field with --fields time=NAME."
        ),
        LogAdvice::StatusesUnparsed { field, example } => format!(
            "Statuses in the field {field}, such as `{example}`, cannot be parsed: name another field with --fields status=NAME."
        ),
        LogAdvice::DurationsEmpty { field } => format!(
            "The field {field} contains no durations: name another field with --fields duration=NAME, if there is one."
        ),
        LogAdvice::NoDurationValues { field } => {
            format!("No line has a duration in the field {field}, so durations are unknown.")
        }
        LogAdvice::LinesWithoutEnd { lines } => format!(
            "{} {} a path, but no status or duration, and {} not counted, because a later line with the same path has them.",
            say::count(*lines as usize, "line"),
            have(*lines),
            be(*lines),
        ),
        LogAdvice::RepeatedLines { lines } => format!(
            "{} with the ID and the path of a request that was counted before {} not counted again.",
            say::count(*lines as usize, "line"),
            be(*lines),
        ),
        LogAdvice::LinesOfParts { lines } => format!(
            "{} about a part of a request, such as a query or a call to another server, {} skipped.",
            say::count(*lines as usize, "line"),
            be(*lines),
        ),
        LogAdvice::LinesWithoutRequest { lines } => format!(
            "{} {} fields but no request, like other messages of a program, and {} skipped.",
            say::count(*lines as usize, "line"),
            have(*lines),
            be(*lines),
        ),
        LogAdvice::RecordsWithoutRequest { records } => format!(
            "{} {} no request and {} skipped. Lifecycle rules write such lines, for example.",
            say::count(*records as usize, "line"),
            have(*records),
            be(*records),
        ),
        LogAdvice::ConnectionLines { lines } => format!(
            "{} about {} {} skipped.",
            say::count(*lines as usize, "line"),
            if *lines == 1 {
                "a connection without a request"
            } else {
                "connections without requests"
            },
            be(*lines),
        ),
        LogAdvice::ServerMessages { lines } => format!(
            "{} with {} of the server {} skipped.",
            say::count(*lines as usize, "line"),
            if *lines == 1 { "another message" } else { "other messages" },
            be(*lines),
        ),
        LogAdvice::ApplicationMessages { lines: 1 } => {
            "1 line is not a request but another message from the application; it is skipped.".into()
        }
        LogAdvice::ApplicationMessages { lines } => format!(
            "{} are not requests but other messages from the application; they are skipped.",
            say::count(*lines as usize, "line")
        ),
        LogAdvice::ConsumerSpans { spans } => format!(
            "{} of {} {} skipped.",
            say::count(*spans as usize, "span"),
            if *spans == 1 { "a message consumer" } else { "message consumers" },
            be(*spans),
        ),
        LogAdvice::NoServerSpans { spans } => format!(
            "{} a server span: read the spans of the service that receives the requests.",
            match spans {
                1 => "The only span is not".to_string(),
                n => format!("None of {} is", say::count(*n as usize, "span")),
            },
        ),
        LogAdvice::RouterLines { lines } => format!(
            "{} of Heroku's router, which measures requests separately, {} skipped.",
            say::count(*lines as usize, "line"),
            be(*lines),
        ),
    }
}

/// States what an unknown log is, and what to do.
pub fn foreign_log(log: &ForeignLog) -> String {
    match log {
        ForeignLog::Compressed { format, command } => format!(
            "The file is compressed or packed with {format}, which benchlab does not read: run `{command} | benchlab logs -`."
        ),
        ForeignLog::Utf16 { encoding } => format!(
            "The text is UTF-16: run `iconv -f {encoding} -t UTF-8 FILE | benchlab logs -`."
        ),
        ForeignLog::Journal => {
            "The file is a journal of systemd: run `journalctl --file FILE -o json | benchlab logs -`.".into()
        }
        ForeignLog::InvalidJson {
            line,
            column,
            error,
            has_other_encoding: true,
        } => format!(
            "It looks like JSON with one object per line, but line {line} is invalid at column {column} ({error}): if its \
             text is Latin-1, convert it with `iconv -f ISO-8859-1 -t UTF-8`; otherwise write JSON in UTF-8."
        ),
        ForeignLog::InvalidJson {
            line,
            column,
            error,
            ..
        } => format!(
            "It looks like JSON with one object per line, but line {line} is invalid at column {column} ({error}): quote \
             values that are not always numbers. nginx: use log_format with escape=json."
        ),
        ForeignLog::PrefixedJson => {
            "Its lines are JSON after a prefix: remove the prefix with `sed 's/^[^{]*//' FILE | benchlab logs -`.".into()
        }
        ForeignLog::Logfmt => {
            "Its lines are key=value pairs (logfmt), which benchlab reads only from lograge and Heroku's router: write JSON \
             lines instead."
                .into()
        }
        ForeignLog::HaProxyTcp => {
            "It looks like HAProxy's TCP log, which has no requests: set `mode http` and `option httplog`.".into()
        }
        ForeignLog::CloudWatchEvents => {
            "It looks like events of Amazon CloudWatch Logs: run `jq -r '.events[].message' FILE | benchlab logs -`.".into()
        }
        ForeignLog::AzurePostgresql => {
            "It looks like PostgreSQL's log of Azure Database (Single Server): run \
             `jq -r '.properties | .prefix + .errorLevel + \":  \" + .message' FILE | benchlab logs -`."
                .into()
        }
        ForeignLog::SlowLogSummary { program } => format!(
            "It looks like the output of {program}, which is a summary: read the slow query log itself."
        ),
        ForeignLog::SlowLogTable => {
            "It looks like the table mysql.slow_log: set log_output = FILE, then read the slow query log.".into()
        }
        ForeignLog::GeneralLog => {
            "It looks like the general query log of MySQL or MariaDB, which has no durations: set slow_query_log = ON and \
             long_query_time = 0, then read the slow query log."
                .into()
        }
        ForeignLog::MysqlErrors => {
            "It looks like the error log of MySQL or MariaDB, which has no statements: set slow_query_log = ON, then read the \
             slow query log."
                .into()
        }
        ForeignLog::MariadbAudit => {
            "It looks like the log of MariaDB's audit plugin, which has no durations: set slow_query_log = ON, then read the \
             slow query log."
                .into()
        }
        ForeignLog::TranslatedPostgresql => {
            "It looks like PostgreSQL's log in a language other than English: set lc_messages = 'C', so that benchlab \
             recognizes its messages."
                .into()
        }
        ForeignLog::DatabaseProxy { name, database } => {
            format!("It looks like the log of {name}, which benchlab does not read: read {database} instead.")
        }
        ForeignLog::OtherDatabase { name } => format!(
            "It looks like the {name}, which benchlab does not read. To analyze its statements, read the OpenTelemetry \
             spans of the programs that use the database."
        ),
    }
}

/// Formats the value of a gate.
pub fn gate_value(metric: GateMetric, value: f64) -> String {
    match metric {
        GateMetric::Quantile(_) | GateMetric::Mean | GateMetric::Max => match value {
            ns if ns >= 1e9 => format!("{:.2} s", ns / 1e9),
            ns if ns >= 1e6 => format!("{:.1} ms", ns / 1e6),
            ns => format!("{:.1} µs", ns / 1e3),
        },
        GateMetric::Errors | GateMetric::Fraction => format!("{:.2} %", value * 100.0),
        GateMetric::Requests => format!("{value:.0}"),
        GateMetric::Rate => format!("{value:.1}/s"),
    }
}

/// Explains why a gate on `metric` cannot be judged.
pub fn gate_problem(metric: GateMetric, problem: &GateProblem) -> String {
    match problem {
        GateProblem::Assumed(assumed) => {
            format!(
                "the metric depends on an assumption. {}",
                assumption(assumed)
            )
        }
        GateProblem::Translated { messages } => {
            let advice = advice(&LogAdvice::TranslatedMessages {
                messages: *messages,
            });
            format!("statements are missing. {advice}")
        }
        GateProblem::NoPeak => NO_PEAK.into(),
        GateProblem::NoPage {
            page,
            nearest: Some(nearest),
        } => format!("the log has no page {page}; did you mean {nearest}?"),
        GateProblem::NoPage { page, .. } => format!("the log has no page {page}"),
        GateProblem::NoDurations => "the log has no durations".into(),
        GateProblem::NoMax => "the log does not contain the maximum duration".into(),
        GateProblem::NoRequests => "the log has no requests".into(),
        GateProblem::NoStatus => "the log has no status".into(),
        GateProblem::NoOutcome => "the log does not show whether statements failed".into(),
        GateProblem::UnknownOutcome { statements, of } => format!(
            "for {}, it is unknown whether {} failed, which could change the result",
            counted_part(*statements, *of, "statement"),
            if *statements == 1 { "it" } else { "they" }
        ),
        GateProblem::UnknownStatus { requests, of } => format!(
            "{} {} no status, which could change the result",
            of_requests(*requests, *of),
            have(*requests)
        ),
        GateProblem::Malformed { lines, of } => format!(
            "{} could not be parsed, which could change the result",
            of_lines(*lines, *of)
        ),
        GateProblem::BeyondHour => {
            "the value is longer than an hour, and percentiles do not distinguish such durations"
                .into()
        }
        GateProblem::CappedSum => {
            "the sum of the durations exceeds 292 years, so the value is unknown: check the unit and the field of the durations"
                .into()
        }
        GateProblem::LowerBound(value) => format!(
            "the value is at least {}, which leaves the gate inconclusive. {}",
            gate_value(metric, *value),
            assumption(&LogAssumption::LowerBounds)
        ),
        GateProblem::BoundedFraction => format!(
            "the metric depends on durations that are only lower bounds. {}",
            assumption(&LogAssumption::LowerBounds)
        ),
    }
}

/// Explains why a gate is inconclusive if a log could not be read to its end.
pub fn unread_log(reason: &str) -> String {
    format!("inconclusive, because a log was not read to its end: {reason}")
}

/// Describes a page that takes longer in the second log.
pub fn slower_page(page: &str, ratio: &Interval) -> String {
    let times = say::times(ratio, "as long as in the first log", 0.0);
    format!("{page} takes {times}")
}

/// States that no page is slower in the second log or, for a condition on a single page, that this
/// page is not slower.
pub fn no_page_slower(page: Option<&str>) -> String {
    match page {
        Some(page) => format!("{page} is not slower in the second log"),
        None => "no page is slower in the second log".into(),
    }
}

/// Returns the reasons why a condition on two logs is inconclusive.
pub fn unknown_changes(reasons: &[UnknownChange]) -> String {
    let reasons: Vec<String> = reasons.iter().map(unknown_change).collect();
    reasons.join("; ")
}

fn unknown_change(reason: &UnknownChange) -> String {
    match reason {
        UnknownChange::Assumed(log, assumed) => format!(
            "the result depends on an assumption about {}. {}",
            compared(*log),
            assumption(assumed).trim_end_matches('.')
        ),
        UnknownChange::PageAssumed {
            page,
            log,
            assumption: assumed,
        } => format!(
            "the result for {page} depends on an assumption about {}. {}",
            compared(*log),
            assumption(assumed).trim_end_matches('.')
        ),
        UnknownChange::Malformed { log, lines, of } => format!(
            "in {}, {} could not be parsed, which could change the result",
            compared(*log),
            of_lines(*lines, *of)
        ),
        UnknownChange::Unread(log, reason) => {
            format!("{} was not read to its end: {reason}", compared(*log))
        }
        UnknownChange::Translated { log, messages } => {
            let advice = advice(&LogAdvice::TranslatedMessages {
                messages: *messages,
            });
            let advice = advice.trim_end_matches('.');
            format!("statements are missing in {}. {advice}", compared(*log))
        }
        UnknownChange::NotInBoth(page) => format!("{page} is not in both logs"),
        UnknownChange::NoDays => {
            format!("no page has {MIN_DAYS_PER_LOG} days with at least 20 requests in both logs")
        }
        UnknownChange::TooFewDays(page) => {
            format!(
                "{page} does not have {MIN_DAYS_PER_LOG} days with at least 20 requests in both logs"
            )
        }
        UnknownChange::Open { page, low, high } => {
            format!("{page} takes {low:.2} to {high:.2} times as long as in the first log")
        }
    }
}

const NO_PEAK: &str = "the busiest minute is unknown: the log has no timestamps of requests, or they are in more than 200,000 different hours";

/// Explains why the headroom is unknown.
pub fn capacity_problem(problem: CapacityProblem) -> &'static str {
    match problem {
        CapacityProblem::NotALoad => "the run was not recorded by `benchlab load`",
        CapacityProblem::NoPeak => NO_PEAK,
        CapacityProblem::MissingTimes => {
            "the busiest minute is unknown: many requests have no time that can be read"
        }
        CapacityProblem::NoResponseTimes => {
            "the load run has no p99: it was overloaded or has too few requests"
        }
        CapacityProblem::AlwaysExceeded => {
            "the load run exceeded the bound on p99 at every load, so the capacity is unknown"
        }
    }
}

/// The questions of a report on one log and of a report on two logs.
pub const QUESTIONS: [&str; 2] = [
    "Which few pages and queries cost the most, when, and how much headroom is left?",
    "Which pages take more or less time in the second log than in the first?",
];

/// States where the counts of a run are stored.
pub fn source(file: Option<&str>) -> String {
    file.map_or("The run was not saved.".into(), |file| {
        format!("{file} contains every count.")
    })
}

/// Returns the assumptions behind the headroom.
pub fn headroom_assumptions(is_known: bool) -> [&'static str; 4] {
    [
        "The load run's requests cost as much as the log's: the same mix of pages on the same data.",
        "The server and its machine are the same as in the load run, and nothing else runs there.",
        "Twice as many users make twice as many requests in the busiest minute.",
        if is_known {
            "The load run exceeded the bound at a higher load."
        } else {
            "The load run never exceeded the bound: the capacity can be higher."
        },
    ]
}

/// Explains how a log is read. `error` is the maximum relative error of a percentile, compared with
/// the logged durations, which can be rounded to whole seconds.
pub fn reading_method(error: f64, has_whole_seconds: bool) -> String {
    let rounding = if has_whole_seconds {
        ", in addition to the rounding to whole seconds"
    } else {
        ""
    };
    format!(
        "Counts and sums are exact. Percentiles come from buckets and are off by at most {} of their value{rounding}. Path segments \
         become placeholders if they look like IDs or if new values keep appearing; --rules overrides this. Addresses \
         and user names are not read. The server measured the durations.",
        say::percent(error)
    )
}

/// Explains how the smallest set and its interval are computed.
///
/// The bootstrap uses `blocks` blocks of `length_s` seconds each.
pub fn interval_method(length_s: i64, blocks: usize) -> String {
    let block_length = match length_s {
        60 => "one-minute",
        3600 => "one-hour",
        86_400 => "one-day",
        _ => "one-week",
    };
    format!(
        "The size of the smallest set and each fraction have a 95 % confidence interval from a bootstrap over {blocks} {block_length} blocks, \
         which are assumed to be independent and identically distributed."
    )
}

/// Explains how two logs are compared.
pub fn comparison_method() -> String {
    format!(
        "A day's value is the geometric mean of a page's durations on a day with at least 20 requests; a change is the \
         Hodges-Lehmann estimate over the days of both logs. All intervals hold simultaneously at 95 % and need {MIN_DAYS_PER_LOG} \
         days of each log. The change includes all differences between the machines and the data."
    )
}

/// Returns the caption of the chart of pages or queries.
pub fn ranking_caption(pages: usize, ranked: PageKind, by: PageOrder) -> String {
    let measure = measure(by);
    match pages {
        1 => format!("The {} with the most {measure}.", nouns(ranked)[0]),
        n => {
            let pages = counted(n, ranked);
            format!("The {pages} with the most {measure}, cumulative.")
        }
    }
}

/// Returns the note below a truncated table of pages. `share` is the omitted pages' fraction of the
/// total.
pub fn ranking_rest(pages: usize, ranked: PageKind, share: f64) -> String {
    let [one, many] = nouns(ranked);
    let share = say::percent(share);
    match pages {
        1 => format!("1 more {one}, {share} of the total, is not shown; CSV and JSON contain it."),
        n => format!(
            "{} more {many}, {share} of the total, are not shown; CSV and JSON contain them.",
            quantity::integer(n as u64)
        ),
    }
}

/// The caption of the table of pages or queries.
pub const RANKING_TABLE: &str = "Would save: the fraction of the total time that would be saved if the mean became the median of the other means.";
/// The caption of the table of the top pages in each order.
pub const ORDERS_TABLE: &str = "The top pages by requests, by mean and by total time.";
/// The caption of the table of bots.
pub const BOTS_TABLE: &str = "The tables above do not include these clients.";
/// The caption of the chart of a week.
pub const WEEK_CHART: &str = "Weekdays from left to right and hours from bottom to top, in the log's time. A darker cell has a higher value compared with the day's other hours.";
/// Returns the title of a table of pages that are sorted by `by`.
pub fn ranking_title(by: PageOrder) -> String {
    format!("Most {} first", measure(by))
}

/// The caption of a table by hour and weekday.
pub const HOURS_TABLE: &str = "A row for each hour of the day, a column for each day of the week.";
/// The caption of the table of weekly spikes.
pub const WEEKLY_TABLE: &str =
    "The ratio of an hour's requests to the requests at the same hour of other days.";
/// The caption of the table of change points and releases.
pub const CHANGES_TABLE: &str =
    "Geometric means of each day's durations; the intervals hold simultaneously for all pages.";
/// The caption of the table of trends.
pub const TRENDS_TABLE: &str = "The ratio of a week's durations to those of the previous week, for pages without a change point.";
/// The caption of the chart that compares two logs.
pub const COMPARISON_CHART: &str =
    "The pages that take the most time. Values left of 1 are faster.";
/// The caption of the table that compares two logs.
pub const COMPARISON_TABLE: &str = "The means cover all requests. The column \"second / first\" is the ratio of the typical durations, which are geometric means of each day's requests.";
/// The caption of the table of pages that are in only one log.
pub const ALONE_TABLE: &str = "Pages that occur in only one log.";

/// Returns the caption of the table of single spikes. `hours` is the number of tested hours.
pub fn single_table(hours: usize) -> String {
    format!(
        "The ratio of an hour's requests to the requests at the same hour of the same weekday in other weeks; the \
         intervals hold simultaneously for {}.",
        say::count(hours, "hour")
    )
}

/// Returns the note below a truncated table of spikes.
pub fn fewer_spikes(hours: usize) -> String {
    format!(
        "{} with smaller spikes {} not shown.",
        say::count(hours, "hour"),
        be(hours as u64)
    )
}

/// States that none of the tested hours stands out.
pub fn no_spikes(hours: usize) -> String {
    match hours {
        1 => "The only tested hour does not stand out.".into(),
        n => format!("None of the {} stands out.", say::count(n, "hour")),
    }
}

/// Returns the caption of the table of queries within pages.
pub fn within_table(one_in: u64) -> String {
    let sample = match one_in {
        0 | 1 => String::new(),
        n => format!(", joined from a sample of 1 in {n} request IDs"),
    };
    format!(
        "Requests and statements that have the same ID in their logs{sample}. Share: the fraction of these requests' time."
    )
}

/// Returns the title of the table of a release.
pub fn release_title(name: &str, at_s: i64) -> String {
    format!("Release {name} of {}", say::minute(at_s as f64))
}

/// States that no page can be compared before and after the release with the title `title`.
pub fn no_days_around(title: &str) -> String {
    format!("{title}: no page has 3 days with at least 20 requests both before and after it.")
}

/// Returns the note on pages that cannot be compared before and after a release.
pub fn too_few_days_around(pages: usize) -> String {
    format!(
        "{} {} omitted: fewer than 3 days with at least 20 requests before or after the release.",
        say::count(pages, "page"),
        be(pages as u64)
    )
}

/// Returns the note below a truncated table of changes.
pub fn smaller_changes(pages: usize) -> String {
    format!(
        "{} with smaller changes {} not shown.",
        say::count(pages, "page"),
        be(pages as u64)
    )
}

/// States that the log has too few days for change points.
pub fn too_few_days(days: usize) -> String {
    format!(
        "The page with the most data has {} with at least 20 requests: change points need {MIN_DAYS}.",
        say::count(days, "day")
    )
}

/// States that no page changed.
pub fn no_changes(pages: usize) -> String {
    match pages {
        1 => format!("The only page with at least {MIN_DAYS} days did not change significantly."),
        n => format!(
            "None of the {} with at least {MIN_DAYS} days changed significantly.",
            say::count(n, "page")
        ),
    }
}

/// Returns the names of a run's logs: `access.log and 6 others`.
pub fn sources(names: &[&str]) -> String {
    let file = |name: &str| name.rsplit('/').next().unwrap_or(name).to_string();
    match names {
        [] => "nothing".into(),
        ["-"] => "standard input".into(),
        [only] => file(only),
        [first, rest @ ..] => format!("{} and {}", file(first), say::count(rest.len(), "other")),
    }
}

/// Returns the singular and plural noun for the ranked items.
pub fn nouns(ranked: PageKind) -> [&'static str; 2] {
    match ranked {
        PageKind::Query => ["query", "queries"],
        _ => ["page", "pages"],
    }
}

/// Returns the noun of the ranking's quantity.
pub fn measure(by: PageOrder) -> &'static str {
    match by {
        PageOrder::Time => "time",
        PageOrder::Requests => "requests",
    }
}

/// Shortens a name so that it fits into a sentence.
pub fn shortened(name: &str) -> String {
    if name.chars().count() > MAX_NAME {
        format!("{}…", name.chars().take(MAX_NAME).collect::<String>())
    } else {
        name.into()
    }
}

fn compared(log: ComparedLog) -> &'static str {
    match log {
        ComparedLog::First => "the first log",
        ComparedLog::Second => "the second log",
        ComparedLog::Both => "both logs",
    }
}

fn counted(n: usize, ranked: PageKind) -> String {
    let [one, many] = nouns(ranked);
    match n {
        1 => format!("1 {one}"),
        n => format!("{} {many}", quantity::integer(n as u64)),
    }
}

/// Formats a ratio: `2.03 times as long as before (1.97 to 2.09)`.
fn as_long(ratio: &lab_model::Interval, than: &str) -> String {
    say::times(ratio, than, ratio.level)
}

/// Formats a count of lines: `3 of 1800 lines (0.17 %)`.
fn of_lines(lines: u64, of: u64) -> String {
    let part = say::percent(lines as f64 / of.max(1) as f64);
    let (lines, of) = (quantity::integer(lines), say::count(of as usize, "line"));
    format!("{lines} of {of} ({part})")
}

/// Formats a count of requests: `3 of 1800 requests (0.17 %)`.
fn of_requests(requests: u64, of: u64) -> String {
    counted_part(requests, of, "request")
}

fn counted_part(number: u64, of: u64, noun: &str) -> String {
    let part = say::percent(number as f64 / of.max(1) as f64);
    let (number, of) = (quantity::integer(number), say::count(of as usize, noun));
    format!("{number} of {of} ({part})")
}

/// Formats a fraction in whole percent. A fraction that is almost 1 is not rounded up to 100 %.
fn whole_percent(part: f64) -> String {
    let rounded = (part * 100.0).round() / 100.0;
    if rounded >= 1.0 && part < 1.0 {
        say::percent((part * 1000.0 + 1e-6).floor() / 1000.0)
    } else {
        say::percent(rounded)
    }
}

fn be(n: u64) -> &'static str {
    if n == 1 { "is" } else { "are" }
}

fn have(n: u64) -> &'static str {
    if n == 1 { "has" } else { "have" }
}
