// SPDX-License-Identifier: Apache-2.0
//! Counts the responses of a load test by status, for a remark about failed requests.

use crate::text::short;

/// The maximum number of kinds of failures that a remark names.
const MAX_NAMED: usize = 5;

/// Counts requests, and the failed requests by status or error.
#[derive(Debug, Default)]
pub struct Responses {
    /// The number of all requests.
    requests: f64,
    /// The kinds of failures, each with its number of requests, in the order in which they first
    /// occur.
    failed: Vec<(String, f64)>,
}

impl Responses {
    /// Adds responses with a status. The status 0 stands for requests without a response.
    pub fn add(&mut self, status: &str, count: f64) {
        let code = status.parse::<u16>().unwrap_or(0);
        match code {
            0 => self.fail("no response", count),
            200..400 => self.requests += count,
            code => self.fail(&format!("status {code}"), count),
        }
    }

    /// Adds requests that failed with an error.
    pub fn fail(&mut self, error: &str, count: f64) {
        self.requests += count;
        if count <= 0.0 {
            return;
        }
        match self.failed.iter_mut().find(|(known, _)| known == error) {
            Some((_, all)) => *all += count,
            None => self.failed.push((error.to_owned(), count)),
        }
    }

    /// Returns a sentence about the failed requests, if there are any.
    pub fn remark(&self) -> Option<String> {
        let failed: f64 = self.failed.iter().map(|(_, count)| count).sum();
        let named = self.failed.iter().take(MAX_NAMED);
        let named = named.map(|(kind, count)| format!("{} ({count})", short(kind)));
        let mut named: Vec<String> = named.collect();
        if self.failed.len() > MAX_NAMED {
            named.push("others".into());
        }
        (failed > 0.0).then(|| {
            format!(
                "{failed} of {} requests failed: {}.",
                self.requests,
                named.join(", ")
            )
        })
    }
}
