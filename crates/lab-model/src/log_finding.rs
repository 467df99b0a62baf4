// SPDX-License-Identifier: Apache-2.0
//! Findings about the logs themselves: assumptions that the results depend on, and advice.

use serde::{Deserialize, Serialize};

/// An assumption about a fact that a log does not contain and on which results depend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum LogAssumption {
    /// The log states no unit for its durations, and their values fit more than one unit.
    Unit {
        /// The field that contains the durations.
        place: String,
        /// The assumed unit of the durations, in ns.
        unit_ns: u64,
        /// The other possible units, in ns.
        others_ns: Vec<u64>,
    },
    /// The log states no unit for its durations, and their values make the assumed unit unlikely.
    DoubtfulUnit {
        /// The field that contains the durations.
        place: String,
        /// The assumed unit of the durations, in ns.
        unit_ns: u64,
    },
    /// More than one field of a line may be the duration.
    DurationField {
        /// The field whose values are used.
        place: String,
    },
    /// A whole number with neither a field name nor a unit is assumed to be the duration.
    BareNumber {
        /// The field that contains the number.
        place: String,
        /// The assumed unit of the durations, in ns.
        unit_ns: u64,
        /// The other possible units, in ns.
        others_ns: Vec<u64>,
    },
    /// Two named fields of a line contain different durations.
    DurationFields {
        /// The field whose values are used.
        field: String,
        /// Another field that may contain the durations.
        other: String,
    },
    /// Some durations have a fraction and others do not, as if their unit had changed.
    MixedForms {
        /// The field that contains the durations.
        place: String,
        /// The assumed unit of the durations, in ns.
        unit_ns: u64,
    },
    /// The typical duration changes so much within the log that its unit may have changed.
    ChangedUnit {
        /// The field that contains the durations.
        place: String,
        /// The assumed unit of the durations, in ns.
        unit_ns: u64,
        /// The ratio of the longest typical duration to the shortest.
        times: u64,
    },
    /// The unit that the user specified makes most durations longer than a day.
    ImplausibleDurations {
        /// The field that contains the durations.
        place: String,
        /// The specified unit, in ns.
        unit_ns: u64,
    },
    /// Lines have a different number of fields than the first lines, so the position of the
    /// duration may also differ.
    FieldsDiffer {
        /// The field that contains the durations.
        place: String,
        /// The number of lines whose number of fields differs from the first lines.
        lines: u64,
    },
    /// Lines have more fields than the format that the user specified.
    MoreFields {
        /// The number of lines with more fields.
        lines: u64,
    },
    /// Some durations cannot be parsed.
    UnparsedDurations {
        /// The field that contains the durations.
        field: String,
        /// A value of the field that cannot be parsed.
        example: String,
        /// The number of requests whose duration is unknown because it cannot be parsed.
        requests: u64,
    },
    /// Some spans have no start, no end, or an end before the start, so their durations are unknown.
    UntimedSpans {
        /// The number of such spans.
        spans: u64,
    },
    /// Many requests have no duration.
    MissingDurations {
        /// The number of requests without a duration.
        requests: u64,
        /// The total number of requests.
        of: u64,
    },
    /// Many statements that succeeded have no duration, as if the server logged only long
    /// durations.
    UntimedStatements {
        /// The number of successful statements without a duration.
        statements: u64,
        /// The number of all statements that succeeded.
        of: u64,
    },
    /// PostgreSQL: statements and durations are in separate lines that cannot be joined, so statements
    /// are counted twice.
    StatementsCountedTwice {
        /// The number of statements that are counted twice.
        statements: u64,
    },
    /// Lines that end a request have an ID that multiple unfinished requests share. Each of these
    /// lines is assumed to end the request that began last.
    SharedIds {
        /// The number of requests whose path was chosen from multiple paths.
        requests: u64,
    },
    /// Lines have a path but neither a status nor a duration, unlike other lines, and are not
    /// counted as requests.
    UncountedLines {
        /// The number of lines.
        lines: u64,
    },
    /// Requests have neither a status nor a duration, unlike others, and are counted nevertheless.
    UnfinishedRequests {
        /// The number of requests.
        requests: u64,
    },
    /// The logged durations end before the response is complete.
    LowerBounds,
    /// A table of statements has rows with numbers that cannot be parsed.
    UnparsedRows {
        /// The number of rows.
        rows: u64,
        /// The total time in the first such row.
        example: String,
    },
    /// MariaDB, MySQL and Percona Server: the log contains only a sample of the statements.
    SampledStatements {
        /// The sampling rate: one in `one_in` statements is logged.
        one_in: u64,
    },
    /// Many requests have no time, unlike others.
    MissingTimes {
        /// The number of requests without a time.
        requests: u64,
        /// The total number of requests.
        of: u64,
    },
    /// Timestamps without a zone are read as UTC.
    NoZone,
    /// Timestamps fall in an hour that occurred twice, because clocks were set back.
    RepeatedHour,
    /// Timestamps fall in an hour that did not occur in the zone, because clocks were set forward.
    SkippedHour,
    /// The hours of timestamps are from 1 to 12, and the format has neither AM nor PM.
    NoHalfDay,
    /// The time zone is given as an ambiguous abbreviation.
    AmbiguousZone {
        /// The abbreviation, as written in the log.
        word: String,
        /// The offset of the assumed zone, in seconds east of UTC.
        offset_s: i32,
        /// The region of the assumed zone.
        region: String,
        /// Other regions that use the abbreviation.
        others: String,
    },
    /// A time zone abbreviation is unknown, and timestamps with it are read as UTC.
    UnknownZone {
        /// The abbreviation, as written in the log.
        word: String,
    },
}

/// The results that an assumption affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssumptionKind {
    /// Durations: their unit, the field that contains them, or the requests without a duration.
    Durations,
    /// Timestamps: their zone or date.
    Times,
    /// Requests: the lines that count as requests.
    Requests,
    /// The logged durations end before the response is complete.
    LowerBounds,
    /// Counts and sums: the log contains only a sample.
    Counts,
    /// All results: statements are missing.
    All,
}

impl LogAssumption {
    /// Returns the kind of results that depend on the assumption.
    pub fn kind(&self) -> AssumptionKind {
        match self {
            LogAssumption::Unit { .. }
            | LogAssumption::DoubtfulUnit { .. }
            | LogAssumption::DurationField { .. }
            | LogAssumption::BareNumber { .. }
            | LogAssumption::DurationFields { .. }
            | LogAssumption::SharedIds { .. }
            | LogAssumption::MixedForms { .. }
            | LogAssumption::ChangedUnit { .. }
            | LogAssumption::ImplausibleDurations { .. }
            | LogAssumption::FieldsDiffer { .. }
            | LogAssumption::MoreFields { .. }
            | LogAssumption::UnparsedDurations { .. }
            | LogAssumption::UntimedSpans { .. }
            | LogAssumption::UntimedStatements { .. }
            | LogAssumption::MissingDurations { .. } => AssumptionKind::Durations,
            LogAssumption::UncountedLines { .. }
            | LogAssumption::UnfinishedRequests { .. }
            | LogAssumption::StatementsCountedTwice { .. } => AssumptionKind::Requests,
            LogAssumption::LowerBounds => AssumptionKind::LowerBounds,
            LogAssumption::SampledStatements { .. } => AssumptionKind::Counts,
            LogAssumption::UnparsedRows { .. } => AssumptionKind::All,
            LogAssumption::MissingTimes { .. }
            | LogAssumption::NoZone
            | LogAssumption::RepeatedHour
            | LogAssumption::SkippedHour
            | LogAssumption::NoHalfDay
            | LogAssumption::AmbiguousZone { .. }
            | LogAssumption::UnknownZone { .. } => AssumptionKind::Times,
        }
    }

    /// Returns true if the assumption, when wrong, changes all durations of one log, or the sums of
    /// all durations, by about the same factor. Fractions of the time do not depend on it.
    pub fn is_common_factor(&self) -> bool {
        matches!(
            self,
            LogAssumption::Unit { .. }
                | LogAssumption::DoubtfulUnit { .. }
                | LogAssumption::ImplausibleDurations { .. }
                | LogAssumption::SampledStatements { .. }
        )
    }
}

/// The role of a field in a log with named fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldRole {
    /// The time of a request.
    Time,
    /// The duration of a request.
    Duration,
    /// The path of a request.
    Path,
    /// The status of a request.
    Status,
}

/// Data in a log that the results do not include, or a setting that would make future logs more
/// complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "kebab-case")]
pub enum LogAdvice {
    /// A log could not be read to the end.
    Unread {
        /// The log's name and the error.
        reason: String,
    },
    /// Lines in the common or combined log format have no known durations.
    NoDurations,
    /// No line fits the log format that the user specified.
    FormatMismatch {
        /// The field from which on the first line does not fit, as in the format. `None` if the
        /// line continues after the last field.
        field: Option<String>,
        /// The position in the line, in characters from 1.
        column: u64,
    },
    /// The log format that the user specified has no durations.
    NoDurationInFormat,
    /// The log format that the user specified has no time with a date.
    NoDateInFormat,
    /// The log format that the user specified has a time with a day but without a year.
    NoYearInFormat,
    /// The timestamps that syslog wrote have no year, and the messages have no timestamps.
    SyslogTimesWithoutYear,
    /// Durations come from nginx's `$upstream_response_time`.
    UpstreamTimes,
    /// Two files of a log have durations in different units.
    UnitsDiffer {
        /// The earlier of the two files.
        before: String,
        /// The unit of durations in `before`, in ns.
        before_ns: u64,
        /// The later of the two files.
        after: String,
        /// The unit of durations in `after`, in ns.
        after_ns: u64,
    },
    /// Files are missing between the rotated files of a log.
    FilesMissing {
        /// The log's name.
        log: String,
        /// The numbers of the missing files, such as `2` or `2 to 4`.
        numbers: String,
    },
    /// MariaDB and MySQL: words in double quotes are read as names.
    AnsiQuotes,
    /// MariaDB and MySQL: statements end within quotes.
    StatementsCutOff {
        /// The number of statements.
        statements: u64,
    },
    /// TiDB: statements that the server itself executed are not counted.
    InternalStatements {
        /// The number of statements.
        statements: u64,
    },
    /// Timestamps are in UTC, and the server's time zone is unknown.
    TimesInUtc,
    /// The time zone in a log is an unambiguous abbreviation.
    ZoneRead {
        /// The abbreviation, as written in the log.
        word: String,
        /// The offset of the zone, in seconds east of UTC.
        offset_s: i32,
    },
    /// W3C: lines have no date. The date comes from the preceding `#Date` line.
    DatesDerived,
    /// W3C: lines have no date, and no `#Date` line precedes them.
    NoDates,
    /// W3C: lines have no `time-taken` field.
    NoTimeTaken,
    /// PostgreSQL: messages are in another language.
    TranslatedMessages {
        /// The number of messages.
        messages: u64,
    },
    /// PostgreSQL: auto_explain logged statements inside functions.
    NestedStatements {
        /// The number of statements inside functions.
        statements: u64,
    },
    /// PostgreSQL: errors have no statement.
    ErrorsWithoutStatement {
        /// The number of errors.
        errors: u64,
    },
    /// PostgreSQL: lines have no process ID, which is needed to match durations to statements.
    NoProcessNumbers,
    /// PostgreSQL: lines have multiple numbers that may be the process ID.
    UnclearProcessNumbers,
    /// PostgreSQL: lines have numbers, but none was recognized as the process ID.
    UnknownProcessNumbers,
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
    /// No known field has the required role.
    FieldMissing {
        /// The role that no known field has.
        role: FieldRole,
        /// Fields that may have this role.
        candidates: Vec<String>,
    },
    /// No line has a value in a field that the user specified.
    FieldsNeverOccur {
        /// The roles and the fields, such as `status=code`.
        fields: Vec<String>,
    },
    /// A field whose name suggests a path contains something else, so another field is used.
    PathField {
        /// The field whose values are used.
        field: String,
        /// The field that is not used.
        other: String,
        /// The first value of the field that is not used.
        example: String,
    },
    /// The log's only durations cover just a part of each request.
    PartialDurations {
        /// The name of the field that contains the durations.
        field: String,
    },
    /// Only lines without a request have durations.
    DurationsWithoutRequest {
        /// The name of the field that contains the durations.
        field: String,
    },
    /// The fields of requests may be in a JSON object that is the text of another field.
    JsonInText {
        /// The field with the text.
        field: String,
    },
    /// The values of the time field cannot be parsed.
    TimesUnparsed {
        /// The name of the time field.
        field: String,
        /// A value of the field that cannot be parsed.
        example: String,
    },
    /// The values of the status field cannot be parsed.
    StatusesUnparsed {
        /// The name of the status field.
        field: String,
        /// A value of the field that cannot be parsed.
        example: String,
    },
    /// The field that should contain the durations never has a value.
    DurationsEmpty {
        /// The name of the duration field.
        field: String,
    },
    /// The format has a field for durations, but no line has a duration.
    NoDurationValues {
        /// The name of the duration field.
        field: String,
    },
    /// Lines have a path but neither a status nor a duration. A later line describes the request.
    LinesWithoutEnd {
        /// The number of lines.
        lines: u64,
    },
    /// Lines repeat the ID and the path of a request.
    RepeatedLines {
        /// The number of lines.
        lines: u64,
    },
    /// Lines describe a part of a request, such as a query.
    LinesOfParts {
        /// The number of lines.
        lines: u64,
    },
    /// Lines have fields but no request.
    LinesWithoutRequest {
        /// The number of lines.
        lines: u64,
    },
    /// Amazon S3: records have no request.
    RecordsWithoutRequest {
        /// The number of records.
        records: u64,
    },
    /// Load balancers and proxies: lines describe connections on which no request was made.
    ConnectionLines {
        /// The number of lines.
        lines: u64,
    },
    /// HAProxy: lines contain other messages of the server.
    ServerMessages {
        /// The number of lines.
        lines: u64,
    },
    /// Rails: lines contain other messages of the application.
    ApplicationMessages {
        /// The number of lines.
        lines: u64,
    },
    /// OpenTelemetry: spans of message consumers are not requests.
    ConsumerSpans {
        /// The number of spans.
        spans: u64,
    },
    /// OpenTelemetry: no span belongs to a server.
    NoServerSpans {
        /// The number of spans that belong to neither a database nor a consumer.
        spans: u64,
    },
    /// Rails: lines come from Heroku's router.
    RouterLines {
        /// The number of lines.
        lines: u64,
    },
}

impl LogAdvice {
    /// Adds this advice to a list. If the list already contains the same advice, adds the counts.
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

    /// Returns the number of affected items, or `None` if this advice has no such number. The
    /// numbers from multiple logs are added.
    fn count(&mut self) -> Option<&mut u64> {
        match self {
            LogAdvice::TranslatedMessages { messages: n }
            | LogAdvice::NestedStatements { statements: n }
            | LogAdvice::ErrorsWithoutStatement { errors: n }
            | LogAdvice::DurationsWithoutStatement { durations: n }
            | LogAdvice::StatementsCutOff { statements: n }
            | LogAdvice::InternalStatements { statements: n }
            | LogAdvice::LinesWithoutEnd { lines: n }
            | LogAdvice::RepeatedLines { lines: n }
            | LogAdvice::LinesOfParts { lines: n }
            | LogAdvice::LinesWithoutRequest { lines: n }
            | LogAdvice::RecordsWithoutRequest { records: n }
            | LogAdvice::ConnectionLines { lines: n }
            | LogAdvice::ServerMessages { lines: n }
            | LogAdvice::ApplicationMessages { lines: n }
            | LogAdvice::ConsumerSpans { spans: n }
            | LogAdvice::NoServerSpans { spans: n }
            | LogAdvice::RouterLines { lines: n } => Some(n),
            _ => None,
        }
    }
}
