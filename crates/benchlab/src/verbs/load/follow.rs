// SPDX-License-Identifier: Apache-2.0
//! Follows a load while it is put on: a view that is redrawn on a terminal, else a line per second.

use super::view::{Seen, View};
use super::words::{Sum, Whom, rate, time};
use lab_bench::LoadProgress;
use lab_model::{Plan, Slice};
use std::collections::HashMap;
use std::time::Instant;

/// A line is of so much load, ns.
const LINE_NS: u64 = 1_000_000_000;

/// Follows a load run.
pub struct Follower<'a> {
    plan: &'a Plan,
    began: Instant,
    shown: Shown<'a>,
}

enum Shown<'a> {
    View(Box<(Seen<'a>, View)>),
    /// What no line has told of yet.
    Lines(HashMap<Whom, Sum>),
}

impl<'a> Follower<'a> {
    /// Follows a run of this plan on standard error.
    pub fn new(plan: &'a Plan) -> Follower<'a> {
        let shown = match View::on_terminal() {
            Some(view) => Shown::View(Box::new((Seen::new(plan), view))),
            None => Shown::Lines(HashMap::new()),
        };
        Follower {
            plan,
            began: Instant::now(),
            shown,
        }
    }

    /// Shows a step.
    pub fn step(&mut self, progress: LoadProgress) {
        match (progress, &mut self.shown) {
            (LoadProgress::Note(text), Shown::Lines(_)) => eprintln!("benchlab: {}", clean(text)),
            (LoadProgress::Note(text), Shown::View(both)) => {
                both.1.clear();
                eprintln!("benchlab: {}", clean(text));
            }
            (LoadProgress::Slice { slice, done, of }, Shown::View(both)) => {
                let (seen, view) = &mut **both;
                seen.add(slice, done, of);
                view.draw(seen);
            }
            (LoadProgress::Slice { slice, .. }, Shown::Lines(untold)) => {
                let whom = (slice.subject, slice.point);
                let sum = untold.entry(whom).or_default();
                sum.add(slice);
                // A slice may be a little shorter than it was meant to be.
                if sum.wall_ns >= LINE_NS - LINE_NS / 20 {
                    let sum = std::mem::take(sum);
                    self.line(slice, &sum);
                }
            }
        }
    }

    /// Leaves the terminal as it was.
    pub fn end(&mut self) {
        if let Shown::View(both) = &mut self.shown {
            both.1.clear();
        }
    }

    fn line(&self, slice: &Slice, sum: &Sum) {
        let seconds = self.began.elapsed().as_secs_f64();
        let whom = whom(self.plan, (slice.subject, slice.point));
        let whom = match whom.is_empty() {
            true => whom,
            false => format!("  {whom}"),
        };
        eprintln!(
            "benchlab: {seconds:.0} s{whom}  {}  p50 {}  p99 {}  {}",
            rate(sum.served_per_second()),
            time(sum.quantile(0.5)),
            time(sum.quantile(0.99)),
            sum.errors()
        );
    }
}

/// Server and point, as far as they do not go without saying: `A connections=8`.
pub fn whom(plan: &Plan, (subject, point): Whom) -> String {
    let name = (plan.subjects.len() > 1).then(|| plan.subjects[subject].name.clone());
    let params = plan.points[point].params.iter();
    let params = params.filter(|_| plan.points.len() > 1);
    let params = params.map(|(key, value)| format!("{key}={value}"));
    name.into_iter().chain(params).collect::<Vec<_>>().join(" ")
}

/// Servers' words may hold control sequences.
fn clean(text: &str) -> String {
    lab_report::clean(text)
}
