// SPDX-License-Identifier: Apache-2.0
//! Follows a load while it is put on: a view that is redrawn on a terminal, else a line per second of load, and one at
//! least every ten seconds where much is waited for.

use super::view::{LoadStatus, View};
use super::words::{SubjectAtPoint, Sum, label, rate, time};
use crate::progress::BETWEEN_LINES;
use lab_bench::Progress;
use lab_model::{Failure, Plan, Slice};
use std::collections::HashMap;
use std::time::Instant;

/// A line is of so much load, ns.
const LINE_NS: u64 = 1_000_000_000;

/// Follows a load run.
pub struct Follower<'a> {
    plan: &'a Plan,
    began: Instant,
    last_line: Instant,
    shown: Display<'a>,
}

enum Display<'a> {
    View(Box<(LoadStatus<'a>, View)>),
    /// What no line has told of yet.
    Lines(HashMap<SubjectAtPoint, Sum>),
}

impl<'a> Follower<'a> {
    /// Follows a run of this plan on standard error.
    pub fn new(plan: &'a Plan) -> Follower<'a> {
        let shown = match View::on_terminal() {
            Some(view) => Display::View(Box::new((LoadStatus::new(plan), view))),
            None => Display::Lines(HashMap::new()),
        };
        Follower {
            plan,
            began: Instant::now(),
            last_line: Instant::now(),
            shown,
        }
    }

    /// Shows a step.
    pub fn step(&mut self, progress: Progress) {
        match progress {
            Progress::Slice { slice, done, of } => self.slice(slice, done, of),
            Progress::Note(text) => self.note(text),
            Progress::Failed(failure) => self.note(&self.failed(&failure)),
            Progress::Disturbed(block) => self.note(&format!(
                "block {}: other programs or the hypervisor disturbed it; once more",
                block + 1
            )),
            Progress::Restored(why) => self.note(&why),
            Progress::Pilot { .. } | Progress::Point { .. } | Progress::Complete(..) => {}
        }
    }

    fn slice(&mut self, slice: &Slice, done: u32, of: u32) {
        match &mut self.shown {
            Display::View(both) => {
                let (status, view) = &mut **both;
                status.add(slice, done, of);
                view.draw(status);
            }
            Display::Lines(untold) => {
                let place = (slice.subject, slice.point);
                let sum = untold.entry(place).or_default();
                sum.add(slice);
                // A slice may be a little shorter than it was meant to be.
                let is_due = self.last_line.elapsed() >= BETWEEN_LINES;
                if is_due || sum.wall_ns >= LINE_NS - LINE_NS / 20 {
                    let sum = std::mem::take(sum);
                    self.last_line = Instant::now();
                    self.line(slice, &sum);
                }
            }
        }
    }

    /// A line that stays.
    fn note(&mut self, text: &str) {
        if let Display::View(both) = &mut self.shown {
            both.1.clear();
        }
        eprintln!("benchlab: {}", clean(text));
    }

    fn failed(&self, failure: &Failure) -> String {
        let name = &self.plan.subjects[failure.subject].name;
        let at = failure
            .point
            .map(|point| format!(" at {}", self.plan.label(point)));
        format!(
            "{name} failed{}: {}",
            at.unwrap_or_default(),
            failure.message
        )
    }

    /// Leaves the terminal as it was.
    pub fn end(&mut self) {
        if let Display::View(both) = &mut self.shown {
            both.1.clear();
        }
    }

    fn line(&self, slice: &Slice, sum: &Sum) {
        let seconds = self.began.elapsed().as_secs_f64();
        let place = label(self.plan, (slice.subject, slice.point));
        let place = if place.is_empty() {
            place
        } else {
            format!("  {place}")
        };
        eprintln!(
            "benchlab: {seconds:.0} s{place}  {}  p50 {}  p99 {}  {}",
            rate(sum.served_per_second()),
            time(sum.quantile(0.5)),
            time(sum.quantile(0.99)),
            sum.errors()
        );
    }
}

/// Servers' words may hold control sequences.
fn clean(text: &str) -> String {
    lab_report::clean(text)
}
