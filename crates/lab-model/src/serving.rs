// SPDX-License-Identifier: Apache-2.0
//! Servers that the lab starts: what they are given, and what they must answer.

use crate::Metric;
use serde::{Deserialize, Serialize};

/// The requests to an experiment's servers and the responses that are required before they are measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// Threads that may run handlers, of a server that has a pool of them.
    pub workers: u32,
    /// A path that no server has.
    pub missing: String,
    /// Files that servers serve, made by the lab.
    pub files: Vec<ServedFile>,
    /// By case: the first is what load is put on with, all are proven before. A path may hold names of the
    /// case's parameters in braces.
    pub examples: Vec<Vec<Example>>,
    /// Metrics that a server reports when it is closed.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    /// How long a server is warmed up for a case at the most, s; `None`: as long as any.
    #[serde(default)]
    pub warm_up_s: Option<u32>,
    /// Blocks begin as long as they are expected to end within this time, s, unless the reader says it.
    #[serde(default)]
    pub budget_s: Option<u32>,
}

/// A file that servers serve: its bytes come from the run's seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedFile {
    /// Without folder.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// A request and its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The method, such as `GET`.
    pub method: String,
    /// Path and query, percent-encoded.
    pub path: String,
    /// The request's body, sent as `application/json`.
    pub body: Option<String>,
    /// Further headers, such as `Accept-Encoding: gzip`.
    #[serde(default)]
    pub headers: Vec<String>,
    /// The required status.
    pub status: u16,
    /// The required body.
    pub answer: RequiredBody,
}

impl Example {
    /// The example with values in place of the names of parameters in braces.
    pub(crate) fn with(&self, params: &[(String, String)]) -> Example {
        let path = params
            .iter()
            .fold(self.path.clone(), |path, (name, value)| {
                path.replace(&format!("{{{name}}}"), value)
            });
        Example {
            path,
            ..self.clone()
        }
    }
}

/// The required body of a response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequiredBody {
    /// Whatever the server says, as with a refusal.
    #[default]
    Any,
    /// JSON, byte for byte.
    Text(String),
    /// JSON of the same value; a serialiser may choose its spacing and order.
    Json(String),
    /// The file of this name among [`Serving::files`], byte for byte.
    File(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_stand_in_paths() {
        let example = Example {
            path: "/page?files={files}&x={other}".into(),
            ..Example::default()
        };
        let params = [("files", "50"), ("connections", "8")];
        let params = params.map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(example.with(&params).path, "/page?files=50&x={other}");
    }
}
