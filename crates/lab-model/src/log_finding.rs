// SPDX-License-Identifier: Apache-2.0
//! Findings about logs themselves: assumptions that their figures depend on, and advice.

use serde::{Deserialize, Serialize};

/// A fact that a log does not contain, that was assumed, and that figures depend on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum LogAssumption {
    /// Durations have no unit, and their values leave more than one possible.
    Unit {
        /// The field of the durations.
        place: String,
        /// The assumed unit, ns.
        unit_ns: u64,
        /// The other units that are possible, ns.
        others_ns: Vec<u64>,
    },
    /// Durations have no unit, and their values speak against the assumed one.
    DoubtfulUnit {
        /// The field of the durations.
        place: String,
        /// The assumed unit, ns.
        unit_ns: u64,
    },
    /// Durations end before their responses did.
    LowerBounds,
    /// Times have no zone and are read as UTC.
    NoZone,
    /// Times are in an hour that the clock showed twice.
    RepeatedHour,
    /// Zones have one abbreviation.
    AmbiguousZone {
        /// The abbreviation.
        word: String,
        /// The offset of the assumed zone, seconds east of UTC.
        offset_s: i32,
        /// The region of the assumed zone.
        region: String,
        /// Other regions that use the abbreviation.
        others: String,
    },
    /// No zone is known by an abbreviation, and its times are read as UTC.
    UnknownZone {
        /// The abbreviation.
        word: String,
    },
}

/// The figures that an assumption is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumptionKind {
    /// Durations: their unit, or the field that holds them.
    Durations,
    /// Points in time: their zone or date.
    Times,
    /// Durations that end before their requests did.
    LowerBounds,
}

impl LogAssumption {
    /// The figures that depend on it.
    pub fn about(&self) -> AssumptionKind {
        match self {
            LogAssumption::Unit { .. } | LogAssumption::DoubtfulUnit { .. } => {
                AssumptionKind::Durations
            }
            LogAssumption::LowerBounds => AssumptionKind::LowerBounds,
            LogAssumption::NoZone
            | LogAssumption::RepeatedHour
            | LogAssumption::AmbiguousZone { .. }
            | LogAssumption::UnknownZone { .. } => AssumptionKind::Times,
        }
    }
}

/// The role of a field in a log whose fields have names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldRole {
    /// The time of a request.
    Time,
    /// The duration of a request.
    Duration,
    /// The path of a request.
    Path,
}

/// A part of a log that is not in the figures, or a setting with which the next log contains more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum LogAdvice {
    /// A log could not be read to its end.
    Unread {
        /// Its name and the error.
        reason: String,
    },
    /// Lines of the common or combined log format have no known durations.
    NoDurations,
    /// A format that the user gave has no durations.
    NoDurationInFormat,
    /// A format that the user gave has no time with a date.
    NoDateInFormat,
    /// Durations are nginx's `$upstream_response_time`.
    UpstreamTimes,
    /// Times are in UTC, and the zone of the server is not known.
    TimesInUtc,
    /// The zone of a log's times is an abbreviation with one meaning.
    ZoneRead {
        /// The abbreviation.
        word: String,
        /// Its offset, seconds east of UTC.
        offset_s: i32,
    },
    /// W3C: lines have no date; it follows from the `#Date` line before them.
    DatesDerived,
    /// W3C: lines have no date, and no `#Date` line is before them.
    NoDates,
    /// W3C: lines have no field `time-taken`.
    NoTimeTaken,
    /// PostgreSQL: messages look like durations in another language.
    TranslatedDurations {
        /// The number of messages.
        messages: u64,
    },
    /// PostgreSQL: errors have no statement.
    ErrorsWithoutStatement {
        /// The number of errors.
        errors: u64,
    },
    /// PostgreSQL: lines have no process number, by which statements and durations are joined.
    NoProcessNumbers,
    /// PostgreSQL: durations have no statement.
    DurationsWithoutStatement {
        /// The number of durations.
        durations: u64,
    },
    /// PostgreSQL: no statement has a duration.
    StatementsWithoutDurations,
    /// PostgreSQL: the log has neither statements nor durations.
    NoStatements,
    /// MariaDB and MySQL: the slow query log has no statements.
    NoSlowStatements,
    /// No known field has a role.
    FieldMissing {
        /// The role.
        role: FieldRole,
        /// Fields that may have it.
        candidates: Vec<String>,
    },
    /// The values of the time field cannot be parsed.
    TimesUnparsed {
        /// The field.
        field: String,
        /// One of its values.
        example: String,
    },
    /// Lines have fields, but no request.
    LinesWithoutRequest {
        /// The number of lines.
        lines: u64,
    },
    /// Amazon S3: records have no request.
    RecordsWithoutRequest {
        /// The number of records.
        records: u64,
    },
    /// Rails: lines are other messages of the application.
    ApplicationMessages {
        /// The number of lines.
        lines: u64,
    },
    /// Rails: lines come from Heroku's router.
    RouterLines {
        /// The number of lines.
        lines: u64,
    },
}

impl LogAdvice {
    /// Adds it to others: where one says the same, the counts add up.
    pub fn add_to(self, all: &mut Vec<LogAdvice>) {
        let Some(count) = self.clone().count().map(|n| *n) else {
            if !all.contains(&self) {
                all.push(self);
            }
            return;
        };
        let kind = std::mem::discriminant(&self);
        let mut same = all
            .iter_mut()
            .filter(|a| std::mem::discriminant(*a) == kind);
        match same.next().and_then(LogAdvice::count) {
            Some(known) => *known = known.saturating_add(count),
            None => all.push(self),
        }
    }

    /// The number of things that it is about, where those of several logs add up.
    fn count(&mut self) -> Option<&mut u64> {
        match self {
            LogAdvice::TranslatedDurations { messages: n }
            | LogAdvice::ErrorsWithoutStatement { errors: n }
            | LogAdvice::DurationsWithoutStatement { durations: n }
            | LogAdvice::LinesWithoutRequest { lines: n }
            | LogAdvice::RecordsWithoutRequest { records: n }
            | LogAdvice::ApplicationMessages { lines: n }
            | LogAdvice::RouterLines { lines: n } => Some(n),
            _ => None,
        }
    }
}
