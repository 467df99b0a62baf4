// SPDX-License-Identifier: Apache-2.0
//! One line of progress on a terminal, and notes above it; on anything else a line for each block, one every ten
//! seconds within it, and the notes.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lab_bench::{Progress, Step};
use lab_model::{Plan, Run, SubjectId};
use lab_report::Report;
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Between two lines of progress of one block, or of one load, where there is no terminal.
pub const BETWEEN_LINES: Duration = Duration::from_secs(10);

/// Between the lines of two blocks: blocks of commands take less than a second.
const BETWEEN_BLOCKS: Duration = Duration::from_secs(1);

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
    /// When the last line was written where there is no terminal, and of which part.
    last_line: Option<(Instant, String)>,
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
            last_line: None,
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
                let point = self.plan.label(point);
                self.show("pilot", format!("{done}/{of}  {point}  {subject}"));
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
                let what = match self.estimate.as_str() {
                    "" if of == 1 => who,
                    "" => format!("{part:2} %  {}  {who}", self.plan.label(point)),
                    estimate => estimate.to_owned(),
                };
                self.show(&format!("block {}", block + 1), what);
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

    /// A terminal cuts a line's end, so the time left is before what is measured.
    fn show(&mut self, part: &str, what: String) {
        let left = self.time_left();
        let left = left.map_or(String::new(), |left| format!("  {}", left_of(left)));
        let line = format!("{part}{left}  {what}");
        if !self.bar.is_hidden() {
            self.bar.set_message(line);
            self.bar.tick();
            return;
        }
        let is_due = |(at, last): &(Instant, String)| {
            let between = if last == part {
                BETWEEN_LINES
            } else {
                BETWEEN_BLOCKS
            };
            at.elapsed() >= between
        };
        if self.last_line.as_ref().is_none_or(is_due) {
            self.last_line = Some((Instant::now(), part.to_owned()));
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

/// `about 40 s left`, `about 9 min left`.
fn left_of(left: Duration) -> String {
    match left.as_secs() {
        seconds @ ..120 => format!("about {seconds} s left"),
        seconds => format!("about {} min left", seconds.div_ceil(60)),
    }
}

fn estimate(run: &Run) -> String {
    lab_report::kind::estimate(&Report::new(run, &run.name))
}
