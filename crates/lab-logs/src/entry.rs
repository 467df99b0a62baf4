// SPDX-License-Identifier: Apache-2.0
//! The entry of a line of a log.

use crate::sql::Dialect;

/// A request, or a statement that a database executed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Entry<'a> {
    /// When it was, in seconds since 1970; `None`: the log does not say.
    pub time_s: Option<i64>,
    /// By how much the log's clock was ahead of UTC, s.
    pub offset_s: i32,
    /// How long it took, ns.
    pub duration_ns: Option<u64>,
    /// Such as `GET`; empty: not known.
    pub method: &'a [u8],
    /// The path with its query, or a statement.
    pub target: &'a [u8],
    /// True if it is a statement.
    pub is_query: bool,
    /// The language of a statement.
    pub dialect: Dialect,
    /// The status code; 0: not known. A statement that failed has 500.
    pub status: u16,
    /// Bytes sent.
    pub bytes: u64,
    /// The `User-Agent`.
    pub agent: &'a [u8],
    /// The id that a request and its statements share; empty: none.
    pub id: &'a [u8],
}

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineKind {
    /// It told of a request, or will with the next lines.
    Entry,
    /// It tells of no request: a comment, or a part of an entry.
    Other,
    /// It cannot be understood.
    Malformed,
}
