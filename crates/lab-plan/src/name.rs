// SPDX-License-Identifier: Apache-2.0
//! Names of comparisons and loads: parts of file names, and what the history knows them by.

use crate::PlanError;

/// The most characters in a name.
const MAX_CHARACTERS: usize = 40;

/// Checks a name given with `--as`. Error: it does not fit into a file's name.
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

/// The characters of `text` that fit into a name; `other` if none does.
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
