// SPDX-License-Identifier: Apache-2.0
//! Builds the options of a command.

/// The options of a command, in the form of command-line arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OptionList(pub Vec<String>);

impl OptionList {
    /// Adds an option with a value, if `value` is not `None`.
    pub fn value(&mut self, name: &str, value: Option<impl ToString>) {
        self.values(name, value);
    }

    /// Adds an option once for each value.
    pub fn values(&mut self, name: &str, values: impl IntoIterator<Item = impl ToString>) {
        for value in values {
            // Written as one word, so that a value may begin with a dash.
            self.0.push(format!("--{name}={}", value.to_string()));
        }
    }

    /// Adds an option without a value, if `is_set` is true.
    pub fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.0.push(format!("--{name}"));
        }
    }

    /// Adds positional arguments. No options may be added after them.
    pub fn words(&mut self, words: impl IntoIterator<Item = impl ToString>) {
        self.0
            .extend(words.into_iter().map(|word| word.to_string()));
    }
}
