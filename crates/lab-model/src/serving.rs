// SPDX-License-Identifier: Apache-2.0
//! Servers that benchlab starts: their inputs, and the responses that they must send.

use crate::Metric;
use serde::{Deserialize, Serialize};

/// The requests to an experiment's servers, and the responses required before measuring starts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Serving {
    /// The number of threads that may run handlers in a server with a thread pool.
    pub workers: u32,
    /// A path that does not exist on any server.
    pub missing: String,
    /// Files for the servers to serve. benchlab creates them.
    pub files: Vec<ServedFile>,
    /// Example requests by case.
    ///
    /// The load uses a case's first example. All examples are checked before the load starts. A
    /// path may contain names of the case's parameters in braces.
    pub examples: Vec<Vec<Example>>,
    /// Metrics that a server reports when it shuts down.
    #[serde(default)]
    pub metrics: Vec<Metric>,
    /// The maximum warm-up of a server for a case, in seconds. `None` means that the experiment
    /// sets no limit.
    #[serde(default)]
    pub warm_up_s: Option<u32>,
    /// The time limit of the run in seconds. A block starts only if it is expected to finish within
    /// this time.
    ///
    /// A limit set by the user takes precedence.
    #[serde(default)]
    pub budget_s: Option<u32>,
}

/// A file for the servers to serve. Its bytes are generated from the run's seed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServedFile {
    /// The file's name without a directory.
    pub name: String,
    /// The size of the file in bytes.
    pub bytes: u64,
}

/// A request and its required response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Example {
    /// The method, such as `GET`.
    pub method: String,
    /// The path and query, percent-encoded.
    pub path: String,
    /// The request body, sent as `application/json`.
    pub body: Option<String>,
    /// Additional headers, such as `Accept-Encoding: gzip`.
    #[serde(default)]
    pub headers: Vec<String>,
    /// The required status.
    pub status: u16,
    /// The required body.
    pub answer: RequiredBody,
}

impl Example {
    /// Returns the example with the parameter names in braces replaced by their values.
    pub(crate) fn with_params(&self, params: &[(String, String)]) -> Example {
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
    /// Any body, for example for an error response.
    #[default]
    Any,
    /// JSON, compared byte for byte.
    Text(String),
    /// JSON with the same value. Spacing and the order of keys may differ.
    Json(String),
    /// A file, compared byte for byte. Contains the file's name in [`Serving::files`].
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
        assert_eq!(
            example.with_params(&params).path,
            "/page?files=50&x={other}"
        );
    }
}
