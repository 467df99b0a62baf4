// SPDX-License-Identifier: Apache-2.0
//! Names of comparisons and loads. A name is part of the file names of runs, and groups the runs in
//! the history.

use crate::PlanError;

/// The maximum number of characters in a name.
const MAX_CHARACTERS: usize = 40;

/// Validates a name given with `--as`.
///
/// # Errors
/// Returns an error if the name cannot be part of a file name.
pub fn checked(name: &str) -> Result<String, PlanError> {
    let fits = name.chars().all(in_a_name) && name.len() <= MAX_CHARACTERS;
    if fits && name.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        Ok(name.into())
    } else {
        Err(PlanError::of_request(format!(
            "--as {name}: expected at most {MAX_CHARACTERS} letters, digits, `.`, `_` and `-`, with a letter or a \
             digit first"
        )))
    }
}

/// Returns the characters of `text` that are allowed in a name, or `other` if `text` contains none.
pub fn made_of(text: &str, other: &str) -> String {
    let name: String = text
        .chars()
        .filter(|&c| in_a_name(c))
        .take(MAX_CHARACTERS)
        .collect();
    match name.trim_matches(['.', '-']) {
        "" => other.into(),
        name => name.into(),
    }
}

fn in_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "._-".contains(c)
}
