// SPDX-License-Identifier: Apache-2.0
//! Sentences about a log, whose counts add up where several files or machines have the same to say.

use serde::{Deserialize, Serialize};

/// A sentence about a log.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Advice {
    /// With `{}` in place of the count.
    text: String,
    count: Option<u64>,
}

impl Advice {
    /// One about `count` things; `text` has `{}` in its place.
    pub fn counted(count: u64, text: &str) -> Advice {
        Advice {
            text: text.into(),
            count: Some(count),
        }
    }

    /// The sentence.
    pub fn sentence(&self) -> String {
        match self.count {
            Some(count) => self.text.replacen("{}", &count.to_string(), 1),
            None => self.text.clone(),
        }
    }

    /// Adds it to others: the count of one that says the same grows.
    pub fn add_to(self, all: &mut Vec<Advice>) {
        let is_same = |known: &&mut Advice| {
            known.text == self.text && known.count.is_some() == self.count.is_some()
        };
        match all.iter_mut().find(is_same) {
            Some(known) => {
                let counts = known.count.zip(self.count);
                known.count = counts.map(|(a, b)| a.saturating_add(b));
            }
            None => all.push(self),
        }
    }
}

impl<S: Into<String>> From<S> for Advice {
    fn from(text: S) -> Advice {
        Advice {
            text: text.into(),
            count: None,
        }
    }
}
