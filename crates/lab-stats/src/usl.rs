// SPDX-License-Identifier: Apache-2.0
//! Fits the Universal Scalability Law to the throughputs of a sweep over connections.
//!
//! Source: N. J. Gunther, *Guerrilla Capacity Planning*, Springer 2007, chapters 4 to 6: throughput
//! `X(n) = λ n / (1 + σ (n − 1) + κ n (n − 1))`, where σ is the serialized fraction of the work
//! (contention) and κ is the synchronization cost of each pair (coherency).

/// The law with its three parameters and the residual of each point.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// λ: the throughput of one connection, in operations per second.
    pub one: f64,
    /// σ, at least 0.
    pub contention: f64,
    /// κ, at least 0.
    pub coherency: f64,
    /// For each point, the time n / X minus the time that the law predicts, as a fraction of the
    /// time n / X.
    pub residuals: Vec<f64>,
}

/// Fits the law with the smallest sum of squared relative residuals of the time `n / X`.
///
/// `n / X` is the time of an operation as seen by one of the n connections (Little's law). The law
/// is linear in this time. With σ and κ at least 0, the optimum is one of four fits: with both
/// parameters, with only one parameter, or with neither. Returns `None` unless there are four
/// different n of at least 1 with finite, positive throughputs.
pub fn law(n: &[f64], throughputs: &[f64]) -> Option<Law> {
    let points: Vec<(f64, f64)> = n
        .iter()
        .zip(throughputs)
        .map(|(&n, &x)| (n, n / x))
        .collect();
    let is_valid = |&(n, time): &(f64, f64)| n >= 1.0 && time.is_finite() && time > 0.0;
    if different(n) < MIN_POINTS || !points.iter().all(is_valid) {
        return None;
    }
    let candidates = [[true, true], [true, false], [false, true], [false, false]];
    let fits = candidates.into_iter().filter_map(|with| fit(&points, with));
    let [time, contention, coherency] =
        fits.min_by(|a, b| squares(&points, a).total_cmp(&squares(&points, b)))?;
    let residuals = points
        .iter()
        .map(|point| residual(point, &[time, contention, coherency]))
        .collect();
    Some(Law {
        one: 1.0 / time,
        contention: contention / time,
        coherency: coherency / time,
        residuals,
    })
}

/// The minimum number of points for a fit: one more than the number of parameters.
pub const MIN_POINTS: usize = 4;

impl Law {
    /// Returns the throughput of n connections, in operations per second.
    pub fn throughput(&self, n: f64) -> f64 {
        throughput(self.one, self.contention, self.coherency, n)
    }

    /// Returns the number of connections at which the throughput peaks, at least 1. Returns infinity
    /// if the coherency coefficient is 0.
    pub fn peak(&self) -> f64 {
        ((1.0 - self.contention).max(0.0) / self.coherency)
            .sqrt()
            .max(1.0)
    }

    /// Returns the throughput at the peak.
    ///
    /// Without coherency, this is the limit that the throughput approaches.
    pub fn peak_throughput(&self) -> f64 {
        match self.peak() {
            n if n.is_finite() => self.throughput(n),
            _ => self.one / self.contention,
        }
    }
}

/// Returns the throughput according to Gunther's formula.
pub fn throughput(one: f64, contention: f64, coherency: f64, n: f64) -> f64 {
    one * n / (1.0 + contention * (n - 1.0) + coherency * n * (n - 1.0))
}

fn different(n: &[f64]) -> usize {
    let mut n = n.to_vec();
    n.sort_by(f64::total_cmp);
    n.dedup();
    n.len()
}

/// Returns the factors of the three terms of the time.
fn terms(n: f64) -> [f64; 3] {
    [1.0, n - 1.0, n * (n - 1.0)]
}

fn residual(&(n, time): &(f64, f64), parts: &[f64; 3]) -> f64 {
    let law: f64 = terms(n).iter().zip(parts).map(|(t, p)| t * p).sum();
    (time - law) / time
}

fn squares(points: &[(f64, f64)], parts: &[f64; 3]) -> f64 {
    points.iter().map(|p| residual(p, parts).powi(2)).sum()
}

/// Returns the least-squares fit with the selected terms, in which the other terms are 0, or `None`
/// if a term is negative.
fn fit(points: &[(f64, f64)], [contention, coherency]: [bool; 2]) -> Option<[f64; 3]> {
    let used: Vec<usize> = [true, contention, coherency]
        .iter()
        .enumerate()
        .filter_map(|(i, used)| used.then_some(i))
        .collect();
    let mut parts = [0.0; 3];
    for (&i, part) in used.iter().zip(solve(points, &used)?) {
        parts[i] = part;
    }
    let is_valid = parts[0] > 0.0 && parts.iter().all(|p| p.is_finite() && *p >= 0.0);
    is_valid.then_some(parts)
}

/// Solves the least-squares problem by modified Gram-Schmidt orthogonalization.
///
/// This method loses fewer digits than the normal equations, because n (n − 1) spans three orders
/// of magnitude.
fn solve(points: &[(f64, f64)], used: &[usize]) -> Option<Vec<f64>> {
    let column = |&i: &usize| points.iter().map(|(n, time)| terms(*n)[i] / time).collect();
    let mut columns: Vec<Vec<f64>> = used.iter().map(column).collect();
    let mut remainder = vec![1.0; points.len()];
    let size = columns.len();
    let mut upper = vec![vec![0.0; size]; size];
    let mut right = vec![0.0; size];
    for i in 0..size {
        let norm = dot(&columns[i], &columns[i]).sqrt();
        let unit: Vec<f64> = columns[i].iter().map(|v| v / norm).collect();
        upper[i][i] = norm;
        for j in i + 1..size {
            upper[i][j] = dot(&unit, &columns[j]);
            subtract(&mut columns[j], &unit, upper[i][j]);
        }
        right[i] = dot(&unit, &remainder);
        subtract(&mut remainder, &unit, right[i]);
    }
    let mut solution = vec![0.0; size];
    for i in (0..size).rev() {
        let solved: f64 = (i + 1..size).map(|j| upper[i][j] * solution[j]).sum();
        solution[i] = (right[i] - solved) / upper[i][i];
    }
    solution
        .iter()
        .all(|v: &f64| v.is_finite())
        .then_some(solution)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn subtract(from: &mut [f64], unit: &[f64], times: f64) {
    from.iter_mut().zip(unit).for_each(|(v, u)| *v -= times * u);
}
