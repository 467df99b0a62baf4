// SPDX-License-Identifier: Apache-2.0
//! A file that is imported, or a directory of files.

use crate::error::Problem;
use crate::json::Node;
use crate::limits::Limits;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The content of a file, read once and handed to each format.
pub struct Source {
    /// The path of the file or directory.
    pub path: PathBuf,
    /// The content of a file. Empty for a directory.
    pub text: String,
    /// The content as JSON, or the problem if the content is not JSON.
    pub json: Result<Value, Problem>,
    /// The limits on the number of benchmarks and values, and on the size.
    pub limits: Limits,
}

impl Source {
    /// Returns the first line that is not blank.
    pub fn first_line(&self) -> &str {
        let mut lines = self.text.lines().map(str::trim);
        lines.find(|line| !line.is_empty()).unwrap_or("")
    }

    /// Returns the root of the JSON document.
    pub fn root(&self) -> Result<Node<'_>, Problem> {
        self.json.as_ref().map(Node::root).map_err(Clone::clone)
    }

    /// Returns true if the JSON document is an object that has all of the `keys`.
    pub fn has_keys(&self, keys: &[&str]) -> bool {
        let value = self.json.as_ref();
        value.is_ok_and(|value| keys.iter().all(|key| value.get(key).is_some()))
    }

    /// Returns true if the JSON document is an array whose first element is an object that has all
    /// of the `keys`.
    pub fn has_items_with(&self, keys: &[&str]) -> bool {
        let first = self.json.as_ref().ok().and_then(|value| value.get(0));
        first.is_some_and(|first| keys.iter().all(|key| first.get(key).is_some()))
    }
}

/// Parses a JSON document. The depth is limited to 128.
pub fn parse_json(text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|e| {
        let location = format!("line {}, column {}", e.line(), e.column());
        match e.classify() {
            serde_json::error::Category::Eof if text.trim().is_empty() => {
                Problem::whole("the file is empty")
            }
            serde_json::error::Category::Eof => {
                Problem::with_location(location, "the file ends within a value: it is truncated")
            }
            _ => {
                let message = e.to_string();
                let reason = message.split(" at line ").next().unwrap_or(&message);
                Problem::with_location(location, format!("not valid JSON: {reason}"))
            }
        }
    })
}

/// Returns the file's name without a directory.
pub fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
