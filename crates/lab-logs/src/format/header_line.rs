// SPDX-License-Identifier: Apache-2.0
//! The fields in the header lines of a slow query log, such as `# Query_time: 0.5  Lock_time: 0`.

use memchr::memmem::find_iter;

/// Returns the word after a name, between blanks or tabs.
pub fn value<'l>(line: &'l [u8], name: &[u8]) -> Option<&'l [u8]> {
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
    let is_name = |at: &usize| {
        let before = at.checked_sub(1).map(|before| &line[before]);
        before.is_none_or(is_blank) && line.get(at + name.len()).is_some_and(is_blank)
    };
    let at = find_iter(line, name).find(is_name)?;
    let rest = line[at + name.len()..].trim_ascii_start();
    rest.split(is_blank).next()
}
