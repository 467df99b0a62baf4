// SPDX-License-Identifier: Apache-2.0
//! Thresholds above which the load generator or failed requests hide the server's behavior.

use crate::analysis::Verdict;
use lab_model::{LoadSpec, Metric, Protocol};

/// The generator is the bottleneck if its busiest thread spends more than this fraction of the time
/// on a core.
pub(crate) const BUSY_FRACTION: f64 = 0.9;

/// A percentile of response times is too inaccurate if the generator's own latency may exceed this
/// fraction of the percentile.
pub(super) const GENERATOR_FRACTION: f64 = 0.1;

/// Percentiles of the response time, each with the same percentile of the generator's send delay.
pub(crate) static OWN_LATENCY: [(Metric, Metric); 5] = [
    (Metric::P50, Metric::SEND_DELAY_P50),
    (Metric::P75, Metric::SEND_DELAY_P75),
    (Metric::P90, Metric::SEND_DELAY_P90),
    (Metric::P99, Metric::SEND_DELAY_P99),
    (Metric::P999, Metric::SEND_DELAY_P999),
];

/// Returns true if the generator's own latency may exceed a tenth of a percentile.
///
/// The generator's latency is the send delay, plus one tick if the kernel does not timestamp
/// responses. A closed loop has no send delay.
pub(crate) fn is_generators(load: &LoadSpec, response_ns: f64, send_delay_ns: f64) -> bool {
    let mut urls = load.requests.iter().flatten();
    let is_stamped =
        load.protocol == Protocol::Http1 && !urls.any(|request| request.url.starts_with("https:"));
    let tick_ns = if is_stamped { 0 } else { load.tick_ns() };
    send_delay_ns > 0.0 && send_delay_ns + tick_ns as f64 > GENERATOR_FRACTION * response_ns
}

/// Replaces "equivalent" by "inconclusive" if the generator hides differences. Two servers whose
/// differences are hidden need not be equal.
pub(crate) fn unless_hidden(verdict: Verdict, is_hidden: impl FnOnce() -> bool) -> Verdict {
    match verdict {
        Verdict::Equivalent if is_hidden() => Verdict::Inconclusive {
            blocks_needed: None,
        },
        verdict => verdict,
    }
}

/// Returns the fraction of requests that were errors, from 0 to 1, or `None` if no request ended.
pub(crate) fn error_fraction(errors: u64, served: u64) -> Option<f64> {
    let ended = errors as f64 + served as f64;
    (ended > 0.0).then(|| errors as f64 / ended)
}

/// Returns true if more requests failed than lie beyond the percentile `per_10_000`.
///
/// If the failed requests had been served, the percentile might exceed every measured response
/// time.
pub(crate) fn hidden(failed: u64, served: u64, per_10_000: u32) -> bool {
    let (failed, served) = (u128::from(failed), u128::from(served));
    failed * 10_000 > (failed + served) * 10_000_u128.saturating_sub(u128::from(per_10_000))
}
