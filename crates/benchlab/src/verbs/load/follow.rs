// SPDX-License-Identifier: Apache-2.0
//! Shows the progress of a load: on a terminal, as a view that is redrawn, and otherwise as lines.
//!
//! A line is printed for each second of load, and at least every ten seconds while benchlab waits.

use super::view::{LoadStatus, LoadView};
use super::words::{SubjectAtPoint, Sum, label, rate, time};
use crate::progress::BETWEEN_LINES;
use lab_bench::Progress;
use lab_model::{Failure, Plan, Slice};
use std::collections::HashMap;
use std::time::Instant;

/// The period of load that a line covers, in ns.
const LINE_NS: u64 = 1_000_000_000;

/// Shows the progress of a load run.
pub struct LoadFollower<'a> {
    plan: &'a Plan,
    began: Instant,
    last_line: Instant,
    display: Display<'a>,
}

enum Display<'a> {
    View(Box<(LoadStatus<'a>, LoadView)>),
    /// The sums of the slices since the last line was printed.
    Lines(HashMap<SubjectAtPoint, Sum>),
}

impl<'a> LoadFollower<'a> {
    /// Creates a follower for a run of `plan`. It writes to standard error.
    pub fn new(plan: &'a Plan) -> LoadFollower<'a> {
        let display = match LoadView::on_terminal() {
            Some(view) => Display::View(Box::new((LoadStatus::new(plan), view))),
            None => Display::Lines(HashMap::new()),
        };
        LoadFollower {
            plan,
            began: Instant::now(),
            last_line: Instant::now(),
            display,
        }
    }

    /// Updates the display for a step of the load.
    pub fn step(&mut self, progress: Progress) {
        match progress {
            Progress::Slice { slice, done, of } => self.slice(slice, done, of),
            Progress::Note(text) => self.note(text),
            Progress::Failed(failure) => self.note(&self.failure_text(&failure)),
            Progress::Disturbed(block) => self.note(&format!(
                "block {}: disturbed by other programs or the hypervisor; repeating it",
                block + 1
            )),
            Progress::Restored(reason) => self.note(&reason),
            Progress::Pilot { .. } | Progress::Point { .. } | Progress::Complete(..) => {}
        }
    }

    fn slice(&mut self, slice: &Slice, done: u32, of: u32) {
        match &mut self.display {
            Display::View(display) => {
                let (status, view) = &mut **display;
                status.add(slice, done, of);
                view.draw(status);
            }
            Display::Lines(sums) => {
                let key = (slice.subject, slice.point);
                let sum = sums.entry(key).or_default();
                sum.add(slice);
                // A slice may be a little shorter than planned.
                let is_due = self.last_line.elapsed() >= BETWEEN_LINES;
                if is_due || sum.wall_ns >= LINE_NS - LINE_NS / 20 {
                    let sum = std::mem::take(sum);
                    self.last_line = Instant::now();
                    self.line(slice, &sum);
                }
            }
        }
    }

    /// Prints a line that stays on the screen. Escapes control characters, because the text may
    /// come from a server.
    fn note(&mut self, text: &str) {
        if let Display::View(display) = &mut self.display {
            display.1.clear();
        }
        eprintln!("benchlab: {}", lab_document::clean(text));
    }

    fn failure_text(&self, failure: &Failure) -> String {
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

    /// Restores the terminal.
    pub fn end(&mut self) {
        if let Display::View(display) = &mut self.display {
            display.1.clear();
        }
    }

    fn line(&self, slice: &Slice, sum: &Sum) {
        let seconds = self.began.elapsed().as_secs_f64();
        let server_and_point = label(self.plan, (slice.subject, slice.point));
        let server_and_point = if server_and_point.is_empty() {
            server_and_point
        } else {
            format!("  {server_and_point}")
        };
        eprintln!(
            "benchlab: {seconds:.0} s{server_and_point}  {}  p50 {}  p99 {}  {}",
            rate(sum.served_per_second()),
            time(sum.quantile(0.5)),
            time(sum.quantile(0.99)),
            sum.errors()
        );
    }
}
