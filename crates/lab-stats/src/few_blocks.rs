// SPDX-License-Identifier: Apache-2.0
//! Confidence intervals from two to five blocks, which are too few for distribution-free intervals.
//!
//! Block values are assumed to be normally distributed. The variance of a comparison is estimated
//! from its own blocks and also from the blocks of other comparisons, to the extent that their
//! variances are similar.
//!
//! The model is hierarchical. The logarithm of a comparison's variance is distributed around its
//! subject's level, which is distributed around the run's level. Both distributions are Cauchy
//! distributions, because their heavy tails allow for a comparison or a subject that differs from
//! all others. The scales of the distributions are unknown, so all scales are averaged, weighted by
//! how well they explain the observed variances. As a result, a few variances that are similar by
//! chance have little influence. No variance is counted twice, because a comparison's variance is
//! predicted only from the variances of other comparisons. Points whose deviations are correlated,
//! such as points measured by the same process, count as one (Box's effective number).
//!
//! Sources: partially Bayes inference, in which variances have a distribution and means have none:
//! Ignatiadis & Sen, *Empirical partially Bayes multiple testing and compound χ² decisions*, Annals
//! of Statistics 53 (2025). Earlier work uses a single inverse gamma distribution: Smyth, *Linear
//! models and empirical Bayes methods for assessing differential expression*, Statistical
//! Applications in Genetics and Molecular Biology 3 (2004); and, with allowance for outliers,
//! Phipson and others, *Robust hyperparameter estimation protects against hypervariable genes*,
//! Annals of Applied Statistics 10 (2016). Effective number: Box, *Some theorems on quadratic
//! forms*, Annals of Mathematical Statistics 25 (1954).

use crate::normal;
use lab_model::{Interval, SubjectId};
use std::collections::BTreeMap;
use std::f64::consts::{PI, SQRT_2};

/// The minimum number of comparisons with the baseline at which their variances are pooled.
///
/// With fewer comparisons, each comparison uses Student's t with its own blocks.
const MIN_POOLED: usize = 3;

/// The candidate scales of the distances between logarithms of variances, without the smallest
/// scale.
///
/// The smallest scale is [`FINEST`] / (d² √n), where d is the number of degrees of freedom of a
/// variance and n is the number of comparisons of a subject.
const SCALES: [f64; 2] = [1.0, 3.0];

/// The numerator of the smallest scale, chosen by simulation.
///
/// With half of this value, intervals from three blocks of one point and eight subjects miss the
/// true value in 7% of runs in which every third subject has 8 times the standard deviation.
const FINEST: f64 = 1.6;

/// Values count as equal if their relative deviations from their mean do not exceed this fraction.
const ROUNDING: f64 = 1e-12;

/// The subjects whose variances determine the variance of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Scatter {
    /// The variance of the comparison is unrelated to the variances of other comparisons, and is not
    /// pooled with them. Comparisons of memory are an example.
    #[default]
    Own,
    /// A comparison of this subject with the baseline at one point.
    Subject(SubjectId),
    /// The mean of a subject's comparisons over points. Its variance is predicted from other
    /// comparisons, but not used to predict them.
    Mean(SubjectId),
    /// A comparison of one subject with another. Its variance is predicted from other comparisons,
    /// but not used to predict them.
    Pair(SubjectId, SubjectId),
}

/// The block values of a comparison.
pub(crate) struct Sample<'a> {
    pub values: &'a [f64],
    /// The block index of each value.
    pub blocks: &'a [usize],
    pub scatter: Scatter,
}

/// The posterior distribution of a comparison's standard deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviation(Vec<Possible>);

/// A possible standard deviation and its probability.
///
/// If the list of possible values is empty, Student's t of the comparison's own blocks is used.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Possible {
    deviation: f64,
    probability: f64,
}

impl Deviation {
    /// The deviation is estimated only from the comparison's own blocks.
    pub const FROM_OWN_BLOCKS: Deviation = Deviation(Vec::new());

    /// Returns the variance of at least two values and its degrees of freedom.
    pub(crate) fn moments(&self, values: &[f64]) -> (f64, f64) {
        let own_freedom = values.len() as f64 - 1.0;
        if self.0.is_empty() {
            return (variance(values), own_freedom);
        }
        let precision = |p: &Possible| p.deviation.powi(-2);
        let mean: f64 = self.0.iter().map(|p| p.probability * precision(p)).sum();
        let squares = self
            .0
            .iter()
            .map(|p| p.probability * (precision(p) - mean).powi(2));
        // The variance of chi-square / degrees of freedom is 2 / degrees of freedom.
        let freedom = 2.0 * mean * mean / squares.sum::<f64>().max(f64::MIN_POSITIVE);
        (1.0 / mean, freedom.clamp(own_freedom, 1e6))
    }

    /// Returns the standard error of the mean of at least two values. It is at least `floor`.
    pub(crate) fn error(&self, values: &[f64], floor: f64) -> f64 {
        let (variance, _) = self.moments(values);
        (variance / values.len() as f64).sqrt().max(floor)
    }

    /// Returns the two-sided probability that the mean of `values` is at least `distance` away from
    /// the true mean.
    fn tail(&self, values: &[f64], floor: f64, distance: f64) -> f64 {
        if self.0.is_empty() {
            let error = self.error(values, floor);
            let t = if error > 0.0 {
                distance / error
            } else {
                f64::INFINITY
            };
            return 2.0 * normal::student_upper_tail(values.len() as f64 - 1.0, t);
        }
        let root = (values.len() as f64).sqrt();
        let tails = self.0.iter().map(|p| {
            let z = distance / (p.deviation / root).max(floor) / SQRT_2;
            // For larger z, erfc is less than 1e-19.
            match z < 6.5 {
                true => p.probability * libm::erfc(z),
                false => 0.0,
            }
        });
        tails.sum()
    }

    /// Returns the half-width of the interval: the distance from the true mean that the mean of
    /// `values` exceeds with probability `alpha`.
    fn half(&self, values: &[f64], alpha: f64, floor: f64) -> f64 {
        let error = self.error(values, floor);
        if self.0.is_empty() || error == 0.0 {
            let freedom = values.len() as f64 - 1.0;
            return error * normal::student_upper_quantile(freedom, alpha / 2.0);
        }
        let exceeds = |distance: f64| self.tail(values, floor, distance) > alpha;
        let (mut low, mut high) = (0.0, error);
        while exceeds(high) {
            (low, high) = (high, 2.0 * high);
        }
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if exceeds(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// Returns the mean of at least two values with an interval at level `1 - alpha`, and the two-sided
/// p-value of the hypothesis that the mean is 0.
///
/// The standard error is at least `floor`, the error estimated from the turns within a block.
pub fn interval(values: &[f64], alpha: f64, deviation: &Deviation, floor: f64) -> (Interval, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let half = deviation.half(values, alpha, floor);
    let interval = Interval {
        estimate: mean,
        low: mean - half,
        high: mean + half,
        level: Interval::confidence_level(alpha),
    };
    let p = if mean == 0.0 {
        1.0
    } else {
        deviation.tail(values, floor, mean.abs())
    };
    (interval, p)
}

/// Returns the posterior distribution of the standard deviation of each comparison, given all other
/// comparisons.
pub(crate) fn deviations(samples: &[Option<Sample>]) -> Vec<Deviation> {
    let of = |sample: &Option<Sample>| Member::new(sample.as_ref()?);
    let mut members: Vec<Option<Member>> = samples.iter().map(of).collect();
    // Rounded values may all be equal by chance, although the true variance is not 0.
    let positive = members.iter().flatten().map(|m| m.variance);
    let least = positive.filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
    for member in members.iter_mut().flatten() {
        member.variance = member.variance.max(least);
    }
    let by_themselves = || vec![Deviation::FROM_OWN_BLOCKS; samples.len()];
    let known: Vec<&Member> = members.iter().flatten().collect();
    let predicting = known.iter().filter(|m| m.subject.is_some()).count();
    if predicting < MIN_POOLED || !least.is_finite() {
        return by_themselves();
    }
    let mut found = Pool::new(&known).deviations().into_iter();
    let each = members.iter().map(|member| {
        let found = member.as_ref().and_then(|_| found.next());
        found.unwrap_or(Deviation::FROM_OWN_BLOCKS)
    });
    each.collect()
}

/// A comparison whose variance is estimated with the help of other comparisons.
struct Member {
    variance: f64,
    freedom: f64,
    /// The deviations from the mean by block, normalized to a vector of length 1.
    direction: Vec<f64>,
    /// The subject whose variance this comparison helps to estimate. `None` means that the
    /// comparison's variance is only predicted.
    subject: Option<SubjectId>,
    /// The subjects whose variances predict the variance of this comparison.
    predicted_by: [SubjectId; 2],
}

impl Member {
    /// Returns `None` if the comparison is not pooled or has fewer than two values.
    fn new(sample: &Sample) -> Option<Member> {
        let (subject, predicted_by) = match sample.scatter {
            Scatter::Own => return None,
            Scatter::Subject(s) => (Some(s), [s, s]),
            Scatter::Mean(s) => (None, [s, s]),
            Scatter::Pair(a, b) => (None, [a, b]),
        };
        if sample.values.len() < 2 {
            return None;
        }
        let mean = sample.values.iter().sum::<f64>() / sample.values.len() as f64;
        let variance = variance(sample.values);
        let freedom = sample.values.len() as f64 - 1.0;
        let mut direction = vec![0.0; sample.blocks.iter().max()? + 1];
        if variance > 0.0 {
            let length = (variance * freedom).sqrt();
            for (value, block) in sample.values.iter().zip(sample.blocks) {
                direction[*block] = (value - mean) / length;
            }
        }
        Some(Member {
            variance,
            freedom,
            direction,
            subject,
            predicted_by,
        })
    }

    /// Returns the squared correlation of two comparisons' deviations by block, from 0 to 1.
    fn resemblance(&self, other: &Member) -> f64 {
        let products = self.direction.iter().zip(&other.direction);
        products.map(|(a, b)| a * b).sum::<f64>().powi(2)
    }
}

/// A subject's comparisons with the baseline, from which its variance is estimated.
struct Group {
    members: Vec<usize>,
    mean_variance: f64,
    /// The sum of the resemblances of all pairs.
    resemblance: f64,
}

/// Returns the effective number of `members` comparisons.
///
/// The result is 1 if the comparisons always deviate together, and at most the degrees of freedom
/// of one comparison.
fn effective_number(members: usize, resemblance: f64) -> f64 {
    ((members * members) as f64 / resemblance.max(f64::MIN_POSITIVE)).max(1.0)
}

/// All comparisons whose variances help to estimate one another.
struct Pool<'m> {
    members: &'m [&'m Member],
    groups: BTreeMap<SubjectId, Group>,
    /// The logarithms of variances at which the densities are evaluated.
    grid: Vec<f64>,
    /// For each scale, the probabilities of the distances on the grid.
    kernels: Vec<Kernel>,
    /// For each member, the likelihood of its variance at each grid value.
    likelihoods: Vec<Vec<f64>>,
}

/// The likelihoods of the variances for one scale of the distances within subjects.
struct Within {
    kernel: usize,
    /// For each member that belongs to a subject, the log-likelihood of the member's variance at
    /// each candidate level of the subject. `None` for other members.
    of_members: Vec<Option<Vec<f64>>>,
    /// The sums of the log-likelihoods by subject.
    sums: BTreeMap<SubjectId, Vec<f64>>,
}

/// The likelihoods for one scale of the distances within subjects and one scale of the distances
/// between subjects.
struct Between {
    kernel: usize,
    /// For each subject, the log-likelihood of its members' variances at each candidate level of
    /// the run.
    groups: BTreeMap<SubjectId, Vec<f64>>,
    /// The sums of the log-likelihoods over all subjects, at each candidate level of the run.
    all: Vec<f64>,
}

impl<'m> Pool<'m> {
    fn new(members: &'m [&'m Member]) -> Pool<'m> {
        let count = members.len() as f64;
        let freedom = members.iter().map(|m| m.freedom).sum::<f64>() / count;
        let min_freedom = members.iter().map(|m| m.freedom).fold(freedom, f64::min);
        let logs = members.iter().map(|m| m.variance.ln());
        let (low, high) = logs.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), log| {
            (low.min(log), high.max(log))
        });
        // Variances beyond these bounds are too improbable to matter at any level that users
        // request.
        let low = low
            - (120.0 / min_freedom)
                .sqrt()
                .min((60.0 / min_freedom).ln_1p() + 1.0);
        let high = high + (40.0 / min_freedom).min(24.0) + 1.0;
        let step = (0.3 * (2.0 / freedom).sqrt()).min(0.25);
        let size = ((high - low) / step).ceil() as usize + 1;
        let grid: Vec<f64> = (0..size).map(|i| low + step * i as f64).collect();
        let groups = groups(members);
        let sizes = groups
            .values()
            .map(|group| group.members.len())
            .sum::<usize>() as f64;
        let size_of_group = sizes / groups.len().max(1) as f64;
        let finest = FINEST / (freedom * freedom * size_of_group.sqrt());
        let scales = [finest.min(SCALES[0])].into_iter().chain(SCALES);
        Pool {
            kernels: scales.map(|scale| Kernel::new(scale, step, size)).collect(),
            likelihoods: members.iter().map(|m| m.likelihood(&grid)).collect(),
            groups,
            members,
            grid,
        }
    }

    fn deviations(&self) -> Vec<Deviation> {
        let within: Vec<Within> = (0..self.kernels.len()).map(|k| self.within(k)).collect();
        let between: Vec<Vec<Between>> = within.iter().map(|w| self.between(w)).collect();
        let all = between.iter().flatten().flat_map(|b| &b.all);
        let greatest = all.copied().fold(f64::NEG_INFINITY, f64::max);
        let mut posteriors = vec![vec![0.0; self.grid.len()]; self.members.len()];
        for (within, between) in within.iter().zip(&between) {
            let levels = self.levels(between, greatest);
            for (member, posterior) in posteriors.iter_mut().enumerate() {
                let predicted = self.predicted(within, &levels, member);
                let likelihood = &self.likelihoods[member];
                let products = posterior.iter_mut().zip(predicted.iter().zip(likelihood));
                products.for_each(|(sum, (predicted, likely))| *sum += predicted * likely);
            }
        }
        posteriors.iter().map(|p| self.deviation(p)).collect()
    }

    fn within(&self, kernel: usize) -> Within {
        let of_members: Vec<Option<Vec<f64>>> = self
            .members
            .iter()
            .zip(&self.likelihoods)
            .map(|(member, likelihood)| {
                member.subject?;
                Some(logarithms(&self.kernels[kernel].spread(likelihood)))
            })
            .collect();
        let sum = |group: &Group| {
            let mut sums = vec![0.0; self.grid.len()];
            for member in group.members.iter().filter_map(|m| of_members[*m].as_ref()) {
                sums.iter_mut().zip(member).for_each(|(sum, x)| *sum += x);
            }
            sums
        };
        Within {
            kernel,
            sums: self.groups.iter().map(|(s, g)| (*s, sum(g))).collect(),
            of_members,
        }
    }

    fn between(&self, within: &Within) -> Vec<Between> {
        let of_scale = |kernel: usize| {
            let of_group = |(subject, group): (&SubjectId, &Group)| {
                let n = group.members.len();
                let weight = effective_number(n, group.resemblance) / n as f64;
                let sums = &within.sums[subject];
                let greatest = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let likely: Vec<f64> = sums
                    .iter()
                    .map(|s| (weight * (s - greatest)).exp())
                    .collect();
                let spread = logarithms(&self.kernels[kernel].spread(&likely));
                let level = spread.iter().map(|l| l + weight * greatest).collect();
                (*subject, level)
            };
            let groups: BTreeMap<SubjectId, Vec<f64>> = self.groups.iter().map(of_group).collect();
            let mut all = vec![0.0; self.grid.len()];
            for group in groups.values() {
                all.iter_mut().zip(group).for_each(|(sum, x)| *sum += x);
            }
            Between {
                kernel,
                groups,
                all,
            }
        };
        (0..self.kernels.len()).map(of_scale).collect()
    }

    /// Returns, for each subject, the likelihood of each candidate level of the subject, given all
    /// other subjects.
    fn levels(&self, between: &[Between], greatest: f64) -> BTreeMap<SubjectId, Vec<f64>> {
        let of_subject = |subject: &SubjectId| {
            let mut level = vec![0.0; self.grid.len()];
            for scale in between {
                let others = scale.all.iter().zip(&scale.groups[subject]);
                let others: Vec<f64> = others
                    .map(|(all, own)| (all - own - greatest).min(600.0).exp())
                    .collect();
                let spread = self.kernels[scale.kernel].spread(&others);
                level.iter_mut().zip(spread).for_each(|(sum, x)| *sum += x);
            }
            (*subject, level)
        };
        self.groups.keys().map(of_subject).collect()
    }

    /// Returns the likelihood of each possible variance of a member, given all other members.
    fn predicted(
        &self,
        within: &Within,
        levels: &BTreeMap<SubjectId, Vec<f64>>,
        index: usize,
    ) -> Vec<f64> {
        let member = self.members[index];
        let groups = member.predicted_by.iter();
        let groups = groups.filter_map(|s| Some((s, self.groups.get(s)?)));
        // The subject with the larger variance determines the prediction.
        let more = groups.max_by(|(_, a), (_, b)| a.mean_variance.total_cmp(&b.mean_variance));
        let Some((subject, group)) = more else {
            return vec![1.0; self.grid.len()];
        };
        let own = within.of_members[index].as_ref();
        let n = group.members.len();
        let (others, with_it, resemblance) = match own {
            Some(_) => (n - 1, n, group.resemblance),
            None => {
                let each = group.members.iter().map(|m| self.members[*m]);
                let to_others: f64 = each.map(|other| member.resemblance(other)).sum();
                (n, n + 1, group.resemblance + 1.0 + 2.0 * to_others)
            }
        };
        let weight = match others {
            0 => 0.0,
            _ => (effective_number(with_it, resemblance) - 1.0) / others as f64,
        };
        let sums = within.sums[subject].iter().enumerate();
        let sums: Vec<f64> = sums
            .map(|(i, sum)| weight * (sum - own.map_or(0.0, |own| own[i])))
            .collect();
        let likely = sums.iter().zip(&levels[subject]);
        let likely: Vec<f64> = likely
            .map(|(sum, level)| sum.min(600.0).exp() * level)
            .collect();
        self.kernels[within.kernel].spread(&likely)
    }

    fn deviation(&self, posterior: &[f64]) -> Deviation {
        let all: f64 = posterior.iter().sum();
        if !(all > 0.0 && all.is_finite()) {
            return Deviation::FROM_OWN_BLOCKS;
        }
        let possible = self.grid.iter().zip(posterior).map(|(log, p)| Possible {
            deviation: (0.5 * log).exp(),
            probability: p / all,
        });
        Deviation(possible.filter(|p| p.probability > 1e-12).collect())
    }
}

fn groups(members: &[&Member]) -> BTreeMap<SubjectId, Group> {
    let mut by_subject: BTreeMap<SubjectId, Vec<usize>> = BTreeMap::new();
    for (i, member) in members.iter().enumerate() {
        if let Some(subject) = member.subject {
            by_subject.entry(subject).or_default().push(i);
        }
    }
    let group = |(subject, indices): (SubjectId, Vec<usize>)| {
        let each = || indices.iter().map(|i| members[*i]);
        let variances: f64 = each().map(|m| m.variance).sum();
        let group = Group {
            mean_variance: variances / indices.len() as f64,
            resemblance: each()
                .map(|a| each().map(|b| a.resemblance(b)).sum::<f64>())
                .sum(),
            members: indices,
        };
        (subject, group)
    };
    by_subject.into_iter().map(group).collect()
}

impl Member {
    /// Returns the likelihood of the observed variance for each true variance on the grid, at most
    /// 1. It is computed from the chi-square distribution.
    fn likelihood(&self, grid: &[f64]) -> Vec<f64> {
        let log = self.variance.ln();
        let likely = grid.iter().map(|truth| {
            let above = log - truth;
            (0.5 * self.freedom * (above - above.exp() + 1.0)).exp()
        });
        likely.collect()
    }
}

fn logarithms(values: &[f64]) -> Vec<f64> {
    values.iter().map(|v| v.max(1e-300).ln()).collect()
}

/// The probabilities of Cauchy-distributed distances on the grid of variances.
struct Kernel(Vec<f64>);

impl Kernel {
    fn new(scale: f64, step: f64, size: usize) -> Kernel {
        let below = |x: f64| (x / scale).atan() / PI;
        let chances = (0..2 * size).map(|i| {
            let distance = (i as f64 - size as f64) * step;
            below(distance + 0.5 * step) - below(distance - 0.5 * step)
        });
        Kernel(chances.collect())
    }

    /// Convolves a distribution with the kernel.
    fn spread(&self, distribution: &[f64]) -> Vec<f64> {
        let size = distribution.len();
        let greatest = distribution.iter().copied().fold(0.0, f64::max);
        let mut sums = vec![0.0; size];
        let probable = distribution.iter().enumerate();
        for (i, p) in probable.filter(|(_, p)| **p > 1e-16 * greatest) {
            let chances = &self.0[size - i..2 * size - i];
            let added = sums.iter_mut().zip(chances);
            added.for_each(|(sum, chance)| *sum += p * chance);
        }
        sums
    }
}

fn variance(values: &[f64]) -> f64 {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares = values.iter().map(|v| (v - mean).powi(2));
    let variance = squares.sum::<f64>() / (n - 1.0).max(1.0);
    // The mean of equal values may be rounded.
    let greatest = values.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
    if variance <= (ROUNDING * greatest).powi(2) {
        return 0.0;
    }
    variance
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [usize; 4] = [0, 1, 2, 3];

    fn samples<'a>(all: &'a [(Scatter, [f64; 4])]) -> Vec<Option<Sample<'a>>> {
        let sample = |(scatter, values): &'a (Scatter, [f64; 4])| {
            Some(Sample {
                values,
                blocks: &BLOCKS,
                scatter: *scatter,
            })
        };
        all.iter().map(sample).collect()
    }

    /// Returns the values of blocks that deviate in one of three mutually orthogonal directions.
    fn blocks(direction: usize, deviation: f64) -> [f64; 4] {
        let signs = [
            [1.0, 1.0, -1.0, -1.0],
            [1.0, -1.0, 1.0, -1.0],
            [1.0, -1.0, -1.0, 1.0],
        ];
        signs[direction % 3].map(|sign| sign * deviation)
    }

    fn half(deviation: &Deviation, values: &[f64]) -> f64 {
        let (interval, _) = interval(values, 0.001, deviation, 0.0);
        interval.high - interval.estimate
    }

    /// Compares intervals with values from `scipy.stats.t`.
    #[test]
    fn a_comparison_by_itself_has_students_t() {
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b.abs().max(1.0), "{a} {b}");
        let (found, p) = interval(&[0.1, 0.2, 0.4], 0.05, &Deviation::FROM_OWN_BLOCKS, 0.0);
        close(found.low, -0.146_124_970_026_342_46);
        close(found.high, 0.612_791_636_693_009_4);
        close(p, 0.118_082_896_311_803_13);
    }

    #[test]
    fn two_comparisons_do_not_inform_each_other() {
        let two = [0, 1].map(|s| (Scatter::Subject(SubjectId(s)), blocks(s as usize, 0.1)));
        let with_pair = [
            two[0],
            two[1],
            (Scatter::Pair(SubjectId(0), SubjectId(1)), blocks(2, 0.1)),
            (Scatter::Own, blocks(2, 0.1)),
        ];
        for deviation in deviations(&samples(&with_pair)) {
            assert_eq!(deviation, Deviation::FROM_OWN_BLOCKS);
        }
    }

    /// Eight subjects with equal variances get narrower intervals than from their own blocks alone.
    ///
    /// A subject with 30 times the standard deviation gets nearly the interval of its own blocks.
    #[test]
    fn subjects_with_a_different_spread_are_not_judged_by_the_others() {
        let mut all: Vec<(Scatter, [f64; 4])> = (1..9)
            .map(|s| (Scatter::Subject(SubjectId(s)), blocks(s as usize, 0.1)))
            .collect();
        let alike = deviations(&samples(&all));
        let from_own_blocks = half(&Deviation::FROM_OWN_BLOCKS, &all[0].1);
        let with_others = half(&alike[0], &all[0].1);
        assert!(
            with_others < 0.7 * from_own_blocks,
            "{with_others} {from_own_blocks}"
        );
        all[7].1 = blocks(7, 3.0);
        let found = deviations(&samples(&all));
        let from_own_blocks = half(&Deviation::FROM_OWN_BLOCKS, &all[7].1);
        let with_others = half(&found[7], &all[7].1);
        assert!(
            (0.6..1.1).contains(&(with_others / from_own_blocks)),
            "{with_others} {from_own_blocks}"
        );
    }

    /// Ten points that deviate together because of one process carry no more information than one
    /// point.
    #[test]
    fn points_that_deviate_together_count_once() {
        let at_points = |directions: [usize; 3]| {
            let all: Vec<(Scatter, [f64; 4])> = (0..9)
                .map(|i| {
                    (
                        Scatter::Subject(SubjectId(1)),
                        blocks(directions[i % 3], 0.1),
                    )
                })
                .collect();
            half(&deviations(&samples(&all))[0], &all[0].1)
        };
        let from_own_blocks = half(&Deviation::FROM_OWN_BLOCKS, &blocks(0, 0.1));
        let together = at_points([0, 0, 0]);
        assert!(
            (together / from_own_blocks - 1.0).abs() < 0.05,
            "{together} {from_own_blocks}"
        );
        let apart = at_points([0, 1, 2]);
        assert!(apart < 0.7 * from_own_blocks, "{apart} {from_own_blocks}");
    }

    /// A few rounded values may all be equal by chance.
    #[test]
    fn equal_values_have_an_interval() {
        let mut all: Vec<(Scatter, [f64; 4])> = (1..9)
            .map(|s| (Scatter::Subject(SubjectId(s)), blocks(s as usize, 0.1)))
            .collect();
        all[3].1 = [0.5; 4];
        let found = deviations(&samples(&all));
        assert!(half(&found[3], &all[3].1) > 0.05);
        let equal: Vec<(Scatter, [f64; 4])> = (1..9)
            .map(|s| (Scatter::Subject(SubjectId(s)), [0.5; 4]))
            .collect();
        assert_eq!(deviations(&samples(&equal))[0], Deviation::FROM_OWN_BLOCKS);
        assert_eq!(half(&Deviation::FROM_OWN_BLOCKS, &equal[0].1), 0.0);
    }

    fn of_subjects(all: &[[f64; 3]]) -> Vec<Deviation> {
        let samples = all.iter().enumerate().map(|(subject, values)| {
            Some(Sample {
                values,
                blocks: &BLOCKS[..3],
                scatter: Scatter::Subject(SubjectId::from_index(subject)),
            })
        });
        deviations(&samples.collect::<Vec<_>>())
    }

    /// The values are 0.1, but (0.1 + 0.1 + 0.1) / 3 is not exactly 0.1.
    #[test]
    fn equal_values_whose_mean_is_rounded_have_an_interval() {
        let scattered = [0.0, 0.1, 0.25];
        let values = |subject: usize| match subject {
            3 => [0.1; 3],
            _ => [0, 1, 2].map(|block| scattered[(block + subject) % 3]),
        };
        let all: Vec<[f64; 3]> = (1..9).map(values).collect();
        let found = of_subjects(&all);
        assert!(
            half(&found[2], &all[2]) > 0.05,
            "{}",
            half(&found[2], &all[2])
        );
        assert_eq!(of_subjects(&[[0.1; 3]; 8])[0], Deviation::FROM_OWN_BLOCKS);
        assert_eq!(half(&Deviation::FROM_OWN_BLOCKS, &[0.1; 3]), 0.0);
    }
}
