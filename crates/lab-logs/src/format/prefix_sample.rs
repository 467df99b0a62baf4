// SPDX-License-Identifier: Apache-2.0
//! Learns the fields of an unknown `log_line_prefix` from the first lines of a log.
//!
//! A number that looks like a process ID can be something else: a database, a transaction, a line
//! number. The messages of a process show that it is a process: it has only one client, its
//! statements and their durations alternate, and its ID is not 0.

use super::line_prefix::{DetectedPrefix, LinePrefix, LineTag, Severity, syslog_line};
use super::prefix_time::HeadTime;
use super::process_field::{NumberColumn, NumberForm, PrefixParts, ProcessField};
use super::sessions::is_bare_duration;
use crate::time::number;
use memchr::memmem::find;
use std::collections::{BTreeMap, HashMap, HashSet};

/// The kind of a message, as far as it shows which statements belong to one session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The message begins a statement, whose duration may follow.
    Statement,
    /// The message is the duration of the previous statement.
    Duration,
    /// The message is a statement with its duration.
    Complete,
    /// Any other message.
    Other,
}

/// A head in a sample.
#[derive(Clone, Debug)]
struct SampledHead<'l> {
    parts: PrefixParts<'l>,
    role: Role,
    is_certain: bool,
}

/// Returns the prefix of PostgreSQL's log, or `None` if the lines are from another log.
pub fn detect_prefix(lines: &[&[u8]]) -> Option<LinePrefix> {
    let is_merged = has_merged_blanks(lines);
    let attached = |is_attached| DetectedPrefix {
        is_attached,
        is_merged,
        ..DetectedPrefix::default()
    };
    let heads = sampled_heads(lines, attached(false));
    if let Some(prefix) = learned(&heads, attached(false)) {
        return Some(prefix);
    }
    let heads = sampled_heads(lines, attached(true));
    let is_timed = |head: &SampledHead| !head.parts.times.is_empty();
    let is_log = heads
        .iter()
        .any(|head| is_timed(head) && head.role != Role::Other);
    learned(&heads, attached(true)).filter(|_| is_log)
}

/// Returns true if a collector replaced the two blanks after a severity with one.
fn has_merged_blanks(lines: &[&[u8]]) -> bool {
    let has = |mark: &[u8]| lines.iter().any(|line| find(line, mark).is_some());
    let merged = [
        &b"LOG: duration: "[..],
        b"LOG: statement: ",
        b"LOG: execute ",
    ];
    merged.into_iter().any(has) && !has(b"LOG:  ")
}

/// Returns the text before the timestamp if that text is the same in all heads and each head has a
/// timestamp.
///
/// A line with this text and a timestamp begins a message or comes from another program.
pub fn text_before_time(lines: &[&[u8]], prefix: &LinePrefix) -> Option<Vec<u8>> {
    let mut lead = None;
    for line in lines {
        let Some(head) = prefix.head(line) else {
            continue;
        };
        let parts = PrefixParts::new(head.prefix);
        if parts.times.is_empty() || *lead.get_or_insert(parts.texts[0]) != parts.texts[0] {
            return None;
        }
    }
    lead.map(<[u8]>::to_vec)
}

fn sampled_heads<'l>(lines: &[&'l [u8]], detected: DetectedPrefix) -> Vec<SampledHead<'l>> {
    let prefix = LinePrefix::Detected(detected);
    let head_of = |line: &&'l [u8]| {
        let text = syslog_line(line).map_or(*line, |syslog| syslog.text);
        let head = prefix.head(text)?;
        // A line without a timestamp may come from another program.
        let is_certain = head.time != HeadTime::None
            || head.process.is_some()
            || head.text.starts_with(b"duration: ")
            || text.starts_with(b"LOG: ")
            || text.len() < line.len();
        let role = match head.tag {
            LineTag::Message(Severity::Log) if is_bare_duration(head.text) => Role::Duration,
            LineTag::Message(Severity::Log) if begins_statement(head.text) => Role::Statement,
            LineTag::Message(Severity::Log) if head.text.starts_with(b"duration: ") => {
                Role::Complete
            }
            _ => Role::Other,
        };
        Some(SampledHead {
            parts: PrefixParts::new(head.prefix),
            role,
            is_certain,
        })
    };
    let heads = lines.iter().filter_map(head_of);
    heads.filter(|head| head.is_certain).collect()
}

fn begins_statement(text: &[u8]) -> bool {
    text.starts_with(b"statement: ") || text.starts_with(b"execute ")
}

fn learned(heads: &[SampledHead], detected: DetectedPrefix) -> Option<LinePrefix> {
    let timed = heads.iter().filter(|head| !head.parts.times.is_empty());
    let numbered = heads.iter().filter(|head| head.parts.has_number());
    (!heads.is_empty()).then(|| {
        LinePrefix::Detected(DetectedPrefix {
            has_time: timed.count() * 2 > heads.len(),
            time: message_time(heads),
            process: process_field(heads),
            has_numbers: numbered.count() * 2 > heads.len(),
            ..detected
        })
    })
}

/// Returns the index of the message's timestamp among the timestamps in a head.
///
/// The message's timestamp is the first one, unless that is the start of the session. The start of
/// the session has fewer different values than another timestamp, or goes back more often.
fn message_time(heads: &[SampledHead]) -> usize {
    let first = TimeColumn::new(heads, 0);
    let times = heads.iter().map(|head| head.parts.times.len()).max();
    let others = 1..times.unwrap_or_default();
    let better = others.into_iter().find(|index| {
        let other = TimeColumn::new(heads, *index);
        let is_common = other.heads * 2 > first.heads;
        let is_finer = first.values * 2 <= other.values;
        is_common && (is_finer || first.steps_back > other.steps_back + first.heads / 10)
    });
    better.unwrap_or(0)
}

/// A column of timestamps in a sample.
struct TimeColumn {
    heads: usize,
    /// The number of different timestamps.
    values: usize,
    /// The number of timestamps that are earlier than the previous timestamp.
    steps_back: usize,
}

impl TimeColumn {
    fn new(heads: &[SampledHead], index: usize) -> TimeColumn {
        let seconds = |time: &HeadTime| match time {
            HeadTime::None => None,
            HeadTime::Local(seconds, _) | HeadTime::Unix(seconds) => Some(*seconds),
        };
        let times = heads.iter().filter_map(|head| head.parts.times.get(index));
        let times: Vec<i64> = times.filter_map(seconds).collect();
        TimeColumn {
            heads: times.len(),
            values: times.iter().collect::<HashSet<_>>().len(),
            steps_back: times.windows(2).filter(|pair| pair[1] < pair[0]).count(),
        }
    }
}

/// The values of a column of numbers in a sample, one for each head.
type ColumnValues<'l> = Vec<Option<&'l [u8]>>;

/// Chooses the field that identifies the session.
fn process_field(heads: &[SampledHead]) -> ProcessField {
    let sessions = heads.iter().filter(|head| head.parts.session().is_some());
    if sessions.count() * 2 > heads.len() {
        return ProcessField::First;
    }
    let columns = common_columns(heads);
    if columns.is_empty() {
        return ProcessField::First;
    }
    let possible: Vec<_> = columns
        .iter()
        .filter(|(_, values)| !has_zero(values) && !is_shared(heads, values))
        .filter(|column| !is_line_number(column, &columns))
        .filter(|(column, _)| !is_line_with_part(heads, *column))
        .collect();
    let errors = |values: &ColumnValues| alternation_errors(heads, values);
    let min = possible.iter().map(|(_, values)| errors(values)).min();
    // A few errors are normal: statements that fail have no duration.
    let max = min.unwrap_or_default() * 2 + 2;
    let best: Vec<_> = possible
        .iter()
        .filter(|(_, values)| errors(values) <= max)
        .collect();
    match best.as_slice() {
        [] if heads.iter().any(|head| head.parts.client().is_some()) => ProcessField::Client,
        [] => ProcessField::Absent,
        [(column, values), others @ ..] => {
            let is_rival = |(other, others): &&&(NumberColumn, ColumnValues)| {
                other.form == column.form && others != values
            };
            if others.iter().any(is_rival) {
                ProcessField::Unclear
            } else if is_found_first(heads, values) {
                ProcessField::First
            } else {
                ProcessField::Number(*column)
            }
        }
    }
}

/// Returns the columns that most heads have, from the most to the least likely to be process IDs.
fn common_columns<'l>(heads: &[SampledHead<'l>]) -> Vec<(NumberColumn, ColumnValues<'l>)> {
    let mut columns: BTreeMap<NumberColumn, ColumnValues> = BTreeMap::new();
    for (index, head) in heads.iter().enumerate() {
        for (column, value) in head.parts.numbers() {
            columns
                .entry(column)
                .or_insert_with(|| vec![None; heads.len()])[index] = Some(value);
        }
    }
    let is_common = |values: &ColumnValues| values.iter().flatten().count() * 2 > heads.len();
    let all = columns.into_iter();
    all.filter(|(_, values)| is_common(values)).collect()
}

/// Returns true if any value is 0.
///
/// A process ID is never 0, but a transaction ID is 0 outside of transactions.
fn has_zero(values: &[Option<&[u8]>]) -> bool {
    values
        .iter()
        .flatten()
        .any(|value| number(value) == Some(0))
}

/// Returns true if most values occur with more than one client.
///
/// A process has only one client.
fn is_shared(heads: &[SampledHead], values: &[Option<&[u8]>]) -> bool {
    let mut clients: HashMap<&[u8], HashSet<&[u8]>> = HashMap::new();
    for (head, value) in heads.iter().zip(values) {
        if let (Some(client), Some(value)) = (head.parts.client(), value) {
            clients.entry(value).or_default().insert(client);
        }
    }
    let shared = clients.values().filter(|clients| clients.len() > 1);
    !clients.is_empty() && shared.count() * 2 > clients.len()
}

/// Returns true if [`ProcessField::First`] finds the same values in all heads.
fn is_found_first(heads: &[SampledHead], values: &[Option<&[u8]>]) -> bool {
    let mut pairs = heads.iter().zip(values);
    pairs.all(|(head, value)| value.is_none() || ProcessField::First.find(&head.parts) == *value)
}

/// Returns true for `[%l-1]`, in which 1 follows each line number.
fn is_line_with_part(heads: &[SampledHead], column: NumberColumn) -> bool {
    let mut lines = heads.iter().filter_map(|head| head.parts.line_of(column));
    column.form == NumberForm::WithLine && lines.all(|line| line == b"1")
}

/// Returns true if a column contains line numbers, which count the lines of the log or the lines
/// with the same value in another column.
fn is_line_number(
    (column, values): &(NumberColumn, ColumnValues),
    columns: &[(NumberColumn, ColumnValues)],
) -> bool {
    let whole = vec![Some(&b""[..]); values.len()];
    let mut others = columns.iter().filter(|(other, _)| other != column);
    others.any(|(_, groups)| {
        let pairs = counted_pairs(values, groups);
        // Successive processes can have successive IDs on their first lines, on their second lines,
        // and so on. These groups are smaller.
        pairs > counted_pairs(groups, values) || counted_pairs(values, &whole) > 0
    })
}

/// Returns the number of pairs of successive lines in the same group, or 0 if the values do not
/// increase by 1 from line to line in a group.
fn counted_pairs(values: &[Option<&[u8]>], groups: &[Option<&[u8]>]) -> usize {
    let mut last: HashMap<&[u8], u64> = HashMap::new();
    let (mut pairs, mut steps) = (0, 0);
    for (value, group) in values.iter().zip(groups) {
        let (Some(value), Some(group)) = (value.and_then(number), group) else {
            continue;
        };
        if let Some(before) = last.insert(group, value) {
            pairs += 1;
            steps += usize::from(value == before + 1);
        }
    }
    if pairs >= 2 && steps * 10 >= pairs * 9 {
        pairs
    } else {
        0
    }
}

/// Returns the number of messages at which statements and durations do not alternate within the
/// lines that have the same value.
fn alternation_errors(heads: &[SampledHead], values: &[Option<&[u8]>]) -> usize {
    let mut open: HashSet<&[u8]> = HashSet::new();
    let mut errors = 0;
    for (head, value) in heads.iter().zip(values) {
        let Some(value) = value else {
            continue;
        };
        errors += usize::from(match head.role {
            Role::Statement => !open.insert(value),
            Role::Duration => !open.remove(value),
            Role::Complete | Role::Other => false,
        });
    }
    errors + open.len()
}
