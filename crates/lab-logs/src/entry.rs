// SPDX-License-Identifier: Apache-2.0
//! The entry that a log line contains.

use crate::sql::Dialect;

/// A request, or a statement that a database executed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry<'a> {
    /// The time in seconds since 1970, or `None` if the log does not contain it.
    pub time_s: Option<i64>,
    /// The offset of the log's clock from UTC, in seconds.
    pub offset_s: i32,
    /// The duration in ns.
    pub duration_ns: Option<u64>,
    /// The method, such as `GET`. Empty if unknown.
    pub method: &'a [u8],
    /// The path with its query, or a statement.
    pub target: &'a [u8],
    /// True if the entry is a statement.
    pub is_query: bool,
    /// True if the entry comes after entries with a later time, because its reader waited for the
    /// request's end.
    pub is_late: bool,
    /// The SQL dialect of a statement.
    pub dialect: Dialect,
    /// The status code, or 0 if unknown. A statement has 200, or 500 if it failed.
    pub status: u16,
    /// The number of bytes sent, or 0 if unknown.
    pub bytes: u64,
    /// The client's `User-Agent`. Empty if unknown.
    pub agent: &'a [u8],
    /// The ID that a request and its statements share. Empty if there is none.
    pub id: &'a [u8],
}

/// The result of reading one line of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// The line describes a request, alone or together with the lines that follow it.
    Entry,
    /// The line describes no request. It is a comment or a piece of an entry.
    Other,
    /// The line cannot be parsed.
    Malformed,
}
