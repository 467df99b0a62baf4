// SPDX-License-Identifier: Apache-2.0
//! Formats values of a load in progress. The values have few digits, because their confidence
//! intervals are unknown.

use lab_model::{ErrorKind, Plan, PointId, Slice, SubjectId, grouped};
use std::collections::BTreeMap;

/// The sums of values over multiple slices.
#[derive(Clone, Debug, Default)]
pub struct Sum {
    pub wall_ns: u64,
    /// The time during which the requests of the slices were served, in ns.
    pub served_in_ns: u64,
    pub offered: u64,
    pub served: u64,
    pub errors: BTreeMap<ErrorKind, u64>,
    pub cpu_ns: u64,
    pub server_cpu_ns: u64,
    /// The number of served requests by response time in ns.
    times: BTreeMap<u64, u64>,
}

/// The server and the point of a slice.
pub type SubjectAtPoint = (SubjectId, PointId);

impl Sum {
    /// Adds a slice.
    pub fn add(&mut self, slice: &Slice) {
        self.wall_ns += slice.wall_ns;
        self.served_in_ns += slice.served_in_ns();
        self.offered += slice.offered;
        self.served += slice.served;
        for &(kind, count) in &slice.errors {
            *self.errors.entry(kind).or_default() += count;
        }
        self.cpu_ns += slice.cpu_ns;
        self.server_cpu_ns += slice.server_cpu_ns.unwrap_or(0);
        for &(ns, count) in &slice.response.counts().0 {
            *self.times.entry(ns).or_default() += count;
        }
    }

    /// Returns a quantile (0 to 1) of the response times of served requests in ns, or `None` if no
    /// request was served.
    pub fn quantile(&self, quantile: f64) -> Option<u64> {
        let all: u64 = self.times.values().sum();
        let rank = ((all as f64 * quantile).ceil() as u64).max(1);
        let mut cumulative = 0;
        let reached = |(_, count): &(&u64, &u64)| {
            cumulative += **count;
            cumulative >= rank
        };
        self.times.iter().find(reached).map(|(ns, _)| *ns)
    }

    /// Returns the number of requests due per second.
    pub fn offered_per_second(&self) -> f64 {
        self.offered as f64 * 1e9 / self.wall_ns.max(1) as f64
    }

    /// Returns the number of requests served per second.
    pub fn served_per_second(&self) -> f64 {
        self.served as f64 * 1e9 / self.served_in_ns.max(1) as f64
    }

    /// Formats the errors, for example as `no errors` or `3 timeout, 1 reset`.
    pub fn errors(&self) -> String {
        let word =
            |(kind, count): (&ErrorKind, &u64)| format!("{} {}", grouped(*count), kind.name());
        let words: Vec<String> = self.errors.iter().map(word).collect();
        if words.is_empty() {
            "no errors".into()
        } else {
            words.join(", ")
        }
    }
}

/// Formats a time, for example as `1.2 ms` or `850 µs`. `None` becomes `-`.
pub fn time(ns: Option<u64>) -> String {
    let Some(ns) = ns else { return "-".into() };
    let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs")];
    let ns = ns as f64;
    // For example, 999.6 µs is shown as 1.0 ms.
    let fits = units.into_iter().find(|(scale, _)| ns >= 0.9995 * scale);
    match fits {
        Some((scale, unit)) => format!("{} {unit}", two_digits(ns / scale)),
        None => format!("{ns:.0} ns"),
    }
}

/// Formats a rate, for example as `41,200/s`.
pub fn rate(per_second: f64) -> String {
    match per_second {
        low if low < 9.95 => format!("{low:.1}/s"),
        high => {
            let step = 10f64.powf((high.log10().floor() - 2.0).max(0.0));
            format!("{}/s", grouped(((high / step).round() * step) as u64))
        }
    }
}

/// Formats a size, for example as `12 MiB`.
pub fn size(bytes: u64) -> String {
    let units = [(1u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let fits = units.into_iter().find(|(scale, _)| bytes >= *scale);
    match fits {
        Some((scale, unit)) => format!("{} {unit}", two_digits(bytes as f64 / scale as f64)),
        None => format!("{bytes} B"),
    }
}

/// Formats a number with at least two significant digits.
fn two_digits(value: f64) -> String {
    let decimals = usize::from(value < 9.95);
    format!("{value:.decimals$}")
}

/// Returns the label of a server and a point, such as `A connections=8`.
///
/// The label contains the server's name if there are multiple servers, and the parameters if there
/// are multiple points.
pub fn label(plan: &Plan, (subject, point): SubjectAtPoint) -> String {
    let name = (plan.subjects.len() > 1).then(|| plan.subjects[subject].name.clone());
    let params = plan.points[point].params.iter();
    let params = params.filter(|_| plan.points.len() > 1);
    let params = params.map(|(key, value)| format!("{key}={value}"));
    name.into_iter().chain(params).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use lab_model::Counts;

    #[test]
    fn readings_have_two_or_three_digits() {
        let times = [
            Some(999),
            Some(1_000),
            Some(999_700),
            Some(12_345_678),
            Some(1_500_000_000),
            None,
        ];
        let texts: Vec<String> = times.into_iter().map(time).collect();
        assert_eq!(texts, ["999 ns", "1.0 µs", "1.0 ms", "12 ms", "1.5 s", "-"]);
        assert_eq!(
            [0.5, 41_234.0, 999.6].map(rate),
            ["0.5/s", "41,200/s", "1,000/s"]
        );
        assert_eq!(
            [512, 1 << 20, 45 << 20].map(size),
            ["512 B", "1.0 MiB", "45 MiB"]
        );
    }

    #[test]
    fn slices_add_up() {
        let slice = |times: &[(u64, u64)]| Slice {
            wall_ns: 500_000_000,
            served: 4,
            errors: vec![(ErrorKind::Timeout, 1)],
            response: Counts(times.to_vec()).into(),
            ..Slice::default()
        };
        let mut sum = Sum::default();
        assert_eq!(
            (sum.quantile(0.5), sum.errors()),
            (None, "no errors".into())
        );
        sum.add(&slice(&[(10, 3), (40, 1)]));
        sum.add(&slice(&[(20, 4)]));
        let quantiles = [0.0, 0.375, 0.5, 0.875, 1.0].map(|q| sum.quantile(q).unwrap());
        assert_eq!(quantiles, [10, 10, 20, 20, 40]);
        assert_eq!(
            (sum.served_per_second(), sum.errors()),
            (8.0, "2 timeout".into())
        );
    }
}
