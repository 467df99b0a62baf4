// SPDX-License-Identifier: Apache-2.0
//! One line of progress on a terminal, and notes above it; on anything else a line every ten seconds, and the notes.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab_bench::{Progress, Step};
use lab_model::{Plan, Run, SubjectId};
use lab_report::Report;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Between two lines of progress where there is no terminal.
const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Follows the builds of subjects, of which several are done at once: a bar on a terminal, elsewhere a line for each.
pub struct Building {
    bar: ProgressBar,
    begun: Mutex<Vec<String>>,
}

impl Building {
    /// So many are to be done.
    pub fn new(builds: usize) -> Building {
        let bar = ProgressBar::with_draw_target(
            Some(builds as u64),
            ProgressDrawTarget::stderr_with_hz(10),
        );
        let style =
            ProgressStyle::with_template("building [{bar:20}] {pos}/{len} {elapsed} {wide_msg}");
        bar.set_style(style.expect("the template is sound"));
        if builds > 0 {
            bar.enable_steady_tick(Duration::from_secs(1));
        }
        Building {
            bar,
            begun: Mutex::default(),
        }
    }

    /// Shows a step.
    pub fn step(&self, step: Step) {
        let mut begun = self.begun.lock().expect("showing does not panic");
        match step {
            Step::Begins(label) => {
                begun.push(label.to_owned());
                if self.bar.is_hidden() {
                    eprintln!("benchlab: building {label}");
                }
            }
            Step::Ended(label) => {
                begun.retain(|other| other != label);
                self.bar.inc(1);
            }
        }
        self.bar.set_message(begun.join(", "));
    }

    /// Clears the bar.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}

/// Follows a run.
pub struct Follower<'a> {
    plan: &'a Plan,
    bar: ProgressBar,
    began: Instant,
    blocks: u32,
    last_block: Duration,
    end: Option<Duration>,
    /// In which subjects have made their files.
    places: BTreeSet<&'a str>,
    /// When the last line was written where there is no terminal.
    last_line: Instant,
    /// What the run says so far, if that can be said in a few words.
    estimate: String,
}

impl<'a> Follower<'a> {
    /// Follows a run of this plan, of which `blocks` are complete.
    pub fn new(plan: &'a Plan, blocks: u32) -> Follower<'a> {
        // Hidden by itself when standard error is not a terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        let style =
            ProgressStyle::with_template("{spinner} {wide_msg}").expect("the template is sound");
        bar.set_style(style);
        let end = plan.measure.budget_ns.map(Duration::from_nanos);
        Follower {
            plan,
            bar,
            began: Instant::now(),
            blocks,
            last_block: Duration::ZERO,
            end,
            places: BTreeSet::new(),
            last_line: Instant::now(),
            estimate: String::new(),
        }
    }

    /// Shows a step.
    pub fn step(&mut self, progress: Progress) {
        match progress {
            Progress::Pilot {
                subject,
                point,
                done,
                of,
            } => {
                self.files(subject);
                let subject = &self.plan.subjects[subject].name;
                self.show(format!(
                    "pilot {done}/{of}  {}  {subject}",
                    self.plan.label(point)
                ));
            }
            Progress::Point {
                block,
                point,
                subject,
                done,
                of,
            } => {
                let part = (done as f64 / of as f64 * 100.0) as u32;
                let who = match subject {
                    Some(subject) => format!("warming {}", self.plan.subjects[subject].name),
                    None => "all in turns".to_owned(),
                };
                let what = if self.estimate.is_empty() {
                    format!("{part:2}%  {}  {who}", self.plan.label(point))
                } else {
                    self.estimate.clone()
                };
                self.show(format!("block {}  {what}", block + 1));
            }
            Progress::Slice { .. } => {}
            Progress::Note(text) => self.note(text),
            Progress::Disturbed(block) => {
                self.note(&format!(
                    "block {}: other programs or the hypervisor disturbed it; once more",
                    block + 1
                ));
            }
            Progress::Restored(why) => {
                self.note(&format!(
                    "{why}; it was started again, and the block is redone"
                ));
            }
            Progress::Complete(run, took) => {
                self.blocks = run.complete_blocks().count() as u32;
                // Only whole commands have one, and without a line nobody would read it.
                if self.plan.commands().is_some() && !self.bar.is_hidden() {
                    self.estimate = estimate(run);
                }
                self.last_block = took;
            }
            Progress::Failed(failure) => {
                let subject = self.plan.subject_label(failure.subject);
                let point = failure.point.map(|p| format!(" at {}", self.plan.label(p)));
                let at = point.unwrap_or_default();
                self.note(&format!(
                    "{subject} failed{at}: {}: {}",
                    failure.kind, failure.message
                ));
            }
        }
    }

    /// Of subjects that work in a folder the first one in a place makes the files there.
    fn files(&mut self, subject: SubjectId) {
        let plan = self.plan;
        if let Some(place) = plan.subjects[subject].place.as_deref()
            && self.places.insert(place)
        {
            self.note(&format!("files are made in {place}"));
        }
    }

    /// A line that stays.
    pub fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("benchlab: {text}"));
    }

    /// Clears the line.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&mut self, step: String) {
        let left = match self.time_left() {
            Some(left) => format!("  about {} s left", left.as_secs()),
            None => String::new(),
        };
        let line = step + &left;
        if !self.bar.is_hidden() {
            self.bar.set_message(line);
            self.bar.tick();
        } else if self.last_line.elapsed() >= BETWEEN_LINES {
            self.last_line = Instant::now();
            self.note(&line);
        }
    }

    fn time_left(&self) -> Option<Duration> {
        let by_time = self.end.map(|end| end.saturating_sub(self.began.elapsed()));
        let blocks = self.plan.measure.max_blocks.saturating_sub(self.blocks);
        let known = self.last_block > Duration::ZERO && blocks < 1000;
        let by_blocks = known.then(|| self.last_block * blocks);
        [by_time, by_blocks].into_iter().flatten().min()
    }
}

fn estimate(run: &Run) -> String {
    lab_report::kind::estimate(&Report::new(run, &run.name))
}
