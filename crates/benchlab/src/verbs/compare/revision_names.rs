// SPDX-License-Identifier: Apache-2.0
//! Parses the notation of revisions on the command line.

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

/// Returns true if a revision is relative to HEAD or is a bare hash, and is therefore not a useful
/// name.
pub fn is_relative(written: &str) -> bool {
    let base = written.split(['~', '^', '@', ':']).next().unwrap_or("");
    let is_hash = base.len() >= 7 && base.bytes().all(|b| b.is_ascii_hexdigit());
    base == "HEAD" || base.is_empty() || is_hash
}
