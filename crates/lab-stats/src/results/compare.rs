// SPDX-License-Identifier: Apache-2.0
//! All comparisons of a run. They are collected point by point and judged together at the level of
//! the run.

use super::judge::{Basis, NoiseFloor, noise_floor};
use super::levels::Blocks;
use super::ranking::{Index, UnorderedRanking};
use super::{Best, Comparison, Control, Key, Over, Overall, Ranking, Spread};
use crate::analysis::Verdict;
use crate::few_blocks::Scatter;
use crate::outlook::Outlook;
use crate::ratio::Ratio;
use crate::sign_flip::{self, Logs};
use crate::spending;
use crate::verdict::{Margin, open, verdict};
use lab_model::{Interval, Metric, PointId, SubjectId, TargetId};

/// The metrics in which subjects are compared at a point.
pub(crate) struct Question<'m> {
    /// The point. `None` means the whole run.
    pub point: Option<PointId>,
    /// The metrics that have a verdict.
    pub judged: &'m [Metric],
    /// The metrics in which subjects are ranked.
    pub ranked: &'m [Metric],
}

/// The results of all comparisons of a run.
#[derive(Default)]
pub(crate) struct Compared {
    /// The comparisons by point, then subject, then metric.
    pub pairs: Vec<Pair>,
    /// The controls by point, then metric.
    pub controls: Vec<Control>,
    pub overall: Vec<Overall>,
    pub rankings: Vec<Ranking>,
    pub spreads: Vec<Spread>,
    pub bests: Vec<Best>,
}

/// A comparison and its ratio.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub comparison: Comparison,
    pub ratio: Ratio,
}

/// For each subject, the index of the family's member that compares two points of the subject.
type Within = Vec<(SubjectId, usize)>;

/// The comparisons of a run, which are judged together after all of them are collected.
pub(crate) struct ComparisonFamily<'b, 'r> {
    pub basis: &'b Basis<'r>,
    pub members: Vec<Logs>,
    pub pending: Vec<PendingComparison<'b>>,
    controls: Vec<Control>,
    overall: Vec<(Overall, Option<usize>, Margin)>,
    rankings: Vec<UnorderedRanking>,
    spreads: Vec<((PointId, PointId), Within)>,
    pub bests: Vec<Best>,
}

/// The ratio of two servers' values of one quantile. Each value is computed over all requests of
/// its server.
pub(crate) struct Pooled<'b> {
    /// True if both quantiles have an interval. The ratio then uses its fraction of the run's
    /// alpha.
    pub has_interval: bool,
    /// Computes the ratio with an interval. The argument is 1 minus the interval's confidence
    /// level.
    pub ratio: Box<dyn Fn(f64) -> Option<Ratio> + 'b>,
}

/// A comparison whose ratio is not computed yet.
pub(crate) struct PendingComparison<'b> {
    pub comparison: Comparison,
    margin: Margin,
    pub ratio: ComparisonSource<'b>,
}

pub(crate) enum ComparisonSource<'b> {
    /// A member of the family, compared by blocks.
    Member(usize),
    /// A member of the family, compared by all requests of all blocks.
    Pooled(Pooled<'b>),
    /// A ratio that does not belong to the family.
    ByItself(Ratio),
}

/// The values by which a subject is ranked over multiple points.
pub(crate) enum RankedBy {
    /// The mean over the subject's own points.
    AsItIs,
    /// The mean over the points that all subjects have, by block.
    By(Blocks),
    Not,
}

impl<'b, 'r> ComparisonFamily<'b, 'r> {
    pub fn new(basis: &'b Basis<'r>) -> ComparisonFamily<'b, 'r> {
        ComparisonFamily {
            basis,
            members: Vec::new(),
            pending: Vec::new(),
            controls: Vec::new(),
            overall: Vec::new(),
            rankings: Vec::new(),
            spreads: Vec::new(),
            bests: Vec::new(),
        }
    }

    /// Adds the comparisons of all subjects with the baseline at a point.
    ///
    /// `logs` returns the logarithm of subject / baseline in each block. If no block has a
    /// logarithm, the subject is not compared.
    pub fn compare_at(&mut self, question: &Question, logs: impl Fn(SubjectId, &Metric) -> Logs) {
        let (basis, point) = (self.basis, question.point);
        let logs = |subject, metric: &Metric| {
            let found = basis
                .compares(subject, point)
                .then(|| logs(subject, metric));
            found.filter(|logs| logs.by_block.iter().any(Option::is_some))
        };
        let floors = self.floors(question, &logs);
        let margin = |metric: &Metric| {
            let floor = floors.iter().find(|(known, _)| known == metric);
            basis.margin(floor.map(|(_, floor)| floor))
        };
        let first = self.pending.len();
        for subject in basis.candidates() {
            for metric in question.judged {
                if let Some(logs) = logs(subject, metric) {
                    let ratio = ComparisonSource::Member(self.member(logs));
                    let key = (subject, point, metric);
                    self.add(key, margin(metric), ratio);
                }
            }
        }
        let judged = |metric: &&Metric| question.judged.contains(metric);
        for metric in question.ranked.iter().filter(judged) {
            self.rank(Over::At(point), metric, margin(metric), first);
        }
        match point {
            Some(point) => self.controls.extend(controls(point, floors)),
            None => self.control_among_others(floors),
        }
    }

    /// Adds comparisons at a point that use the quantiles of all requests.
    ///
    /// `of` returns the ratio of the first server's quantile to the second server's quantile, if
    /// the servers can be compared.
    pub fn compare_pooled(
        &mut self,
        point: PointId,
        metrics: &[Metric],
        ranked: &[Metric],
        of: impl Fn((SubjectId, SubjectId), &Metric) -> Option<Pooled<'b>>,
    ) {
        let basis = self.basis;
        let compares = |subject| basis.compares(subject, Some(point));
        let against = |subject, metric: &Metric| of((subject, basis.plan.baseline), metric);
        for metric in metrics {
            let control = basis.plan.control().filter(|c| compares(*c));
            let floor = control.and_then(|c| (against(c, metric)?.ratio)(basis.plan.measure.alpha));
            let floor = floor.map(|ratio| NoiseFloor::new(ratio, basis.plan.measure.margin));
            let margin = basis.margin(floor.as_ref());
            let floors = floor.map(|floor| (metric.clone(), floor));
            self.controls.extend(controls(point, floors));
            let first = self.pending.len();
            for subject in basis.candidates().filter(|s| compares(*s)) {
                if let Some(pooled) = against(subject, metric) {
                    let key = (subject, Some(point), metric);
                    self.add(key, margin, ComparisonSource::Pooled(pooled));
                }
            }
            if ranked.contains(metric) {
                self.rank(Over::At(Some(point)), metric, margin, first);
            }
        }
    }

    fn floors(
        &self,
        question: &Question,
        logs: &impl Fn(SubjectId, &Metric) -> Option<Logs>,
    ) -> Vec<(Metric, NoiseFloor)> {
        let plan = self.basis.plan;
        let floor = |metric: &Metric| {
            let logs = logs(plan.control()?, metric)?;
            Some((metric.clone(), noise_floor(&finite(&logs.by_block), plan)?))
        };
        question.judged.iter().filter_map(floor).collect()
    }

    /// Adds an unadjusted ratio without a verdict, which supplements the comparison in the metric
    /// `judged`.
    ///
    /// The ratio has the same margin as this comparison.
    pub fn add_without_verdict(
        &mut self,
        (subject, point, metric): (SubjectId, PointId, &Metric),
        judged: &Metric,
        interval: Option<Interval>,
        blocks: usize,
    ) {
        let mut pending = self.pending.iter().rev();
        let found = pending.find(|pending| {
            let key = &pending.comparison.key;
            (key.subject, key.point, &key.metric) == (subject, Some(point), judged)
        });
        if let (Some(found), Some(interval)) = (found, interval) {
            let margin = found.margin;
            let ratio = Ratio::without_verdict(interval, blocks as u32);
            self.add(
                (subject, Some(point), metric),
                margin,
                ComparisonSource::ByItself(ratio),
            );
        }
    }

    fn member(&mut self, logs: Logs) -> usize {
        self.members.push(logs);
        self.members.len() - 1
    }

    fn add(
        &mut self,
        (subject, point, metric): (SubjectId, Option<PointId>, &Metric),
        margin: Margin,
        ratio: ComparisonSource<'b>,
    ) {
        let key = Key {
            subject,
            point,
            metric: metric.clone(),
        };
        self.pending.push(PendingComparison {
            comparison: skeleton(key, self.basis.plan.baseline, margin),
            margin,
            ratio,
        });
    }

    /// Ranks the subjects whose ratios to the baseline were added at index `first` or later.
    ///
    /// Subjects are compared pairwise only if there is a single point. With many points, pairwise
    /// comparisons would reduce the power of all comparisons, so the order is derived from the
    /// ratios to the baseline.
    fn rank(&mut self, over: Over, metric: &Metric, margin: Margin, first: usize) {
        let pending = self.pending.iter().enumerate().skip(first);
        let of_metric = pending.filter(|(_, pending)| pending.comparison.key.metric == *metric);
        let against = of_metric.filter_map(|(i, pending)| {
            let index = match pending.ratio {
                ComparisonSource::Member(member) => Index::Member(member),
                ComparisonSource::Pooled(_) => Index::Pending(i),
                ComparisonSource::ByItself(_) => return None,
            };
            Some((pending.comparison.key.subject, index))
        });
        let against = against.collect();
        let directly = self.basis.plan.points.len() <= 1;
        self.rank_members((over, metric), margin, against, directly);
    }

    /// Adds a ranking by the logarithms of subject / baseline. The logarithms do not count as
    /// comparisons.
    pub fn ranked_by(
        &mut self,
        over: Over,
        metric: &Metric,
        margin: Margin,
        against: Vec<(SubjectId, Blocks)>,
    ) {
        let against = against.into_iter();
        let against = against.map(|(s, logs)| (s, Index::Member(self.member(logs.into()))));
        let against = against.collect();
        self.rank_members((over, metric), margin, against, false);
    }

    /// Adds the comparison between two points for each subject.
    ///
    /// `logs` contains the logarithms of the value at the second point divided by the value at the
    /// first.
    pub fn add_spread(&mut self, points: (PointId, PointId), logs: Vec<(SubjectId, Blocks)>) {
        let members = logs.into_iter();
        let members = members.map(|(subject, logs)| (subject, self.member(logs.into())));
        let members = members.collect();
        self.spreads.push((points, members));
    }

    fn rank_members(
        &mut self,
        (over, metric): (Over, &Metric),
        margin: Margin,
        against: Vec<(SubjectId, Index)>,
        directly: bool,
    ) {
        let mut between = Vec::new();
        let compared = against.iter().enumerate();
        for (i, &(a, first)) in compared.filter(|_| directly) {
            for &(b, second) in &against[i + 1..] {
                if let (Index::Member(first), Index::Member(second)) = (first, second) {
                    let logs = Logs {
                        scatter: Scatter::Pair(a, b),
                        ..difference(&self.members[first], &self.members[second])
                    };
                    between.push((a, b, self.member(logs)));
                }
            }
        }
        self.rankings.push(UnorderedRanking {
            ranking: Ranking {
                target: TargetId(0),
                over,
                metric: metric.clone(),
                subjects: Vec::new(),
                apart: Vec::new(),
            },
            margin,
            against,
            between,
        });
    }

    /// Adds means over multiple points.
    ///
    /// Each item contains a result without its ratio, the mean over the points by block, and the
    /// values by which the subject is ranked.
    pub fn add_means(&mut self, means: Vec<(Overall, Blocks, RankedBy)>, margin: Margin) {
        let mut against = Vec::new();
        let mut scope = None;
        for (overall, by_block, ranked) in means {
            let mean = |by_block: Blocks| Logs {
                scatter: Scatter::Mean(overall.subject),
                ..by_block.into()
            };
            let member = self.member(mean(by_block));
            let ranked = match ranked {
                RankedBy::AsItIs => Some(member),
                RankedBy::By(by_block) => Some(self.member(mean(by_block))),
                RankedBy::Not => None,
            };
            against.extend(ranked.map(|m| (overall.subject, Index::Member(m))));
            let over = Over::Points {
                case: overall.case,
                keep_alive: overall.keep_alive,
            };
            scope = Some((over, overall.metric.clone()));
            self.overall.push((overall, Some(member), margin));
        }
        if let Some((over, metric)) = scope {
            self.rank_members((over, &metric), margin, against, true);
        }
    }

    /// Adds a mean whose ratio is already known.
    pub fn add_mean(&mut self, overall: Overall) {
        let margin = Margin::plain(overall.margin);
        self.overall.push((overall, None, margin));
    }

    /// Adds the comparison of the control to the comparisons of the whole run.
    fn control_among_others(&mut self, floors: Vec<(Metric, NoiseFloor)>) {
        let Some(control) = self.basis.plan.control() else {
            return;
        };
        for (metric, floor) in floors {
            let margin = Margin::plain(self.basis.plan.measure.margin);
            let key = (control, None, &metric);
            self.add(key, margin, ComparisonSource::ByItself(floor.ratio));
            if let Some(pending) = self.pending.last_mut() {
                pending.comparison.p = Some(floor.ratio.p);
                pending.comparison.verdict = Some(floor.verdict(margin.requested));
                pending.comparison.margin = floor.margin;
            }
        }
    }

    /// Judges all comparisons.
    ///
    /// The run's alpha is divided between comparisons by blocks and comparisons by all requests, in
    /// proportion to the number of comparisons.
    pub fn judge(self) -> Compared {
        let Basis { plan, alpha, .. } = *self.basis;
        let pooled = |pending: &&PendingComparison| matches!(&pending.ratio, ComparisonSource::Pooled(p) if p.has_interval);
        let pooled = self.pending.iter().filter(pooled).count();
        let each = alpha / (pooled + self.members.len()).max(1) as f64;
        let together = each * self.members.len() as f64;
        let ratios = sign_flip::together(&self.members, together, plan.seed);
        let relative_alpha = spending::relative_alpha(self.basis.run, plan);
        let outlook = Outlook::new(&relative_alpha);
        let of = |member: usize| ratios[member];
        let pairs = self.pending.into_iter().map(|pending| {
            let (ratio, is_judged) = match pending.ratio {
                ComparisonSource::Member(member) => (of(member)?, true),
                ComparisonSource::Pooled(pooled) => ((pooled.ratio)(each)?.of_family(alpha), true),
                ComparisonSource::ByItself(ratio) => (ratio, false),
            };
            let skeleton = pending.comparison;
            let is_copy = plan.runs_same_program(skeleton.key.subject, plan.baseline);
            let verdict_of = || of_program(verdict(&ratio, pending.margin, &outlook), is_copy);
            let verdict = is_judged.then(verdict_of).or(skeleton.verdict);
            let is_open = matches!(verdict, Some(Verdict::Inconclusive { .. }));
            let comparison = Comparison {
                open: is_open.then(|| open(&ratio, pending.margin)),
                blocks: ratio.values,
                ratio: ratio.interval,
                merged: ratio.width > 1,
                p: Some(ratio.p)
                    .filter(|p| is_judged && p.is_finite())
                    .or(skeleton.p),
                verdict,
                ..skeleton
            };
            Some(Pair { comparison, ratio })
        });
        let pairs: Vec<Option<Pair>> = pairs.collect();
        let at = |index| match index {
            Index::Member(member) => of(member),
            Index::Pending(pending) => Some(pairs[pending].as_ref()?.ratio),
        };
        let overall = self
            .overall
            .into_iter()
            .filter_map(|(overall, member, margin)| {
                let Some(member) = member else {
                    return Some(overall);
                };
                let ratio = of(member)?;
                let is_copy = plan.runs_same_program(overall.subject, plan.baseline);
                let verdict = of_program(verdict(&ratio, margin, &outlook), is_copy);
                Some(Overall {
                    ratio: ratio.interval,
                    p: Some(ratio.p),
                    verdict: Some(verdict),
                    ..overall
                })
            });
        let rankings = self
            .rankings
            .into_iter()
            .filter_map(|r| r.ordered(plan.baseline, at, of));
        let spreads = self.spreads.into_iter();
        let spreads = spreads.map(|(points, members)| spread(points, members, of));
        Compared {
            spreads: spreads.filter(|s| !s.ratios.is_empty()).collect(),
            bests: self.bests,
            overall: overall.collect(),
            rankings: rankings.collect(),
            pairs: pairs.into_iter().flatten().collect(),
            controls: self.controls,
        }
    }
}

/// Returns the verdict on a subject. For a copy of the baseline's program, the verdict is never
/// faster or slower, because an interval that shows a difference shows a bias of the run.
fn of_program(verdict: Verdict, is_copy: bool) -> Verdict {
    match verdict {
        Verdict::Faster | Verdict::Slower | Verdict::SmallButReal { .. } if is_copy => {
            Verdict::Inconclusive {
                blocks_needed: None,
            }
        }
        verdict => verdict,
    }
}

fn controls(
    point: PointId,
    floors: impl IntoIterator<Item = (Metric, NoiseFloor)>,
) -> impl Iterator<Item = Control> {
    floors.into_iter().map(move |(metric, floor)| Control {
        point,
        metric,
        ratio: floor.ratio.interval,
        met: floor.met,
        margin: floor.margin,
    })
}

/// Returns the log ratio of the first subject to the second in each block, computed from the log
/// ratios of both to the baseline. A block that lacks one of these two log ratios has no value.
fn difference(first: &Logs, second: &Logs) -> Logs {
    let blocks = first.by_block.iter().zip(&second.by_block);
    Logs {
        by_block: blocks.map(|(a, b)| Some((*a)? - (*b)?)).collect(),
        error: first.error.hypot(second.error),
        scatter: Scatter::Own,
    }
}

fn finite(by_block: &[Option<f64>]) -> Vec<f64> {
    by_block.iter().copied().flatten().collect()
}

/// Creates a comparison that has no ratio and no verdict yet.
fn skeleton(key: Key, baseline: SubjectId, margin: Margin) -> Comparison {
    Comparison {
        key,
        baseline,
        blocks: 0,
        ratio: sign_flip::UNKNOWN,
        p: None,
        verdict: None,
        margin: margin.wide,
        merged: false,
        open: None,
    }
}

/// Collects the ratio between two points for each subject, in ascending order.
///
/// `members` contains, for each subject, the index of the family's member that compares the points.
fn spread(
    (from, to): (PointId, PointId),
    members: Vec<(SubjectId, usize)>,
    of: impl Fn(usize) -> Option<Ratio>,
) -> Spread {
    let with_ratio = members.into_iter();
    let with_ratio =
        with_ratio.filter_map(|(subject, member)| Some((subject, of(member)?.interval)));
    let mut ratios: Vec<(SubjectId, Interval)> = with_ratio.collect();
    ratios.sort_by(|a, b| a.1.estimate.total_cmp(&b.1.estimate));
    let ends = ratios.first().zip(ratios.last());
    Spread {
        from,
        to,
        apart: ends.is_some_and(|(least, most)| least.1.level > 0.0 && least.1.high < most.1.low),
        ratios,
    }
}
