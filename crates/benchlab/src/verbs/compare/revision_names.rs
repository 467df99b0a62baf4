// SPDX-License-Identifier: Apache-2.0
//! The ways in which users write revisions.

/// Splits a range into its first and its last commit. An omitted commit is HEAD.
///
/// Returns `None` for anything else.
pub fn range(revision: &str) -> Option<(&str, &str)> {
    let (first, last) = revision.split_once("..")?;
    Some((or_head(first), or_head(last)))
}

fn or_head(written: &str) -> &str {
    if written.is_empty() { "HEAD" } else { written }
}

/// Returns true if the meaning of a revision depends on HEAD or is a bare hash, so that it is not a
/// useful name.
pub fn is_relative(written: &str) -> bool {
    let base = written.split(['~', '^', '@', ':']).next().unwrap_or("");
    let is_hash = base.len() >= 7 && base.bytes().all(|b| b.is_ascii_hexdigit());
    base == "HEAD" || base.is_empty() || is_hash
}
