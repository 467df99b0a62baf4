// SPDX-License-Identifier: Apache-2.0
//! Follows a run while it is being measured, and sends events to the script of the page.

use crate::app::App;
use crate::library::{RunEntry, RunLibrary};
use crate::problem::Problem;
use axum::extract::{Path, State};
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use futures_util::Stream;
use futures_util::stream;
use lab_document::format::html::body;
use lab_store::RunProgress;
use maud::{Markup, html};
use std::convert::Infallible;
use std::time::{Duration, Instant};

/// The interval at which the run file is read.
const EVERY: Duration = Duration::from_secs(1);
/// Analyses use at most 1/FRACTION of a core, so that they hardly disturb the measurement.
const FRACTION: u32 = 20;

/// Renders the page of a run in progress: a line with the progress, and the result so far.
pub fn live_page(entry: &RunEntry, report: impl maud::Render) -> Markup {
    html! {
        div class="following" data-live=(super::run_path(&entry.name, "/live")) {
            p class="progress" { strong { "Measuring now" } " " span id="app-progress" role="status" {
                noscript { "Reload this page to see the progress." }
            } }
        }
        div id="app-report" { (report) }
    }
}

/// The state of a run that a page follows.
enum FollowState {
    /// The run is being measured.
    Running,
    /// The run ended, or can no longer be read.
    Over,
}

/// A follower, which sends a run's events to one page.
struct PageFollower {
    app: App,
    run: String,
    state: FollowState,
    /// The number of blocks in the last report that was sent, or `None` if no report was sent.
    shown: Option<u32>,
    /// The earliest time at which the next report may be sent.
    next_report: Instant,
    queue: Vec<Event>,
}

/// Streams events until the run ends: `progress` (a sentence), `report` (the content of the page)
/// and `ended`.
pub async fn events(
    State(app): State<App>,
    Path(run): Path<String>,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let name = run.clone();
    app.blocking(move |library| library.path(&name).map(drop))
        .await?;
    let follower = PageFollower {
        app,
        run,
        state: FollowState::Running,
        shown: None,
        next_report: Instant::now(),
        queue: Vec::new(),
    };
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok(event), follower))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

impl PageFollower {
    /// Returns the next event, or `None` if the run has ended or the server shuts down.
    async fn next(&mut self) -> Option<Event> {
        while self.queue.is_empty() {
            if matches!(self.state, FollowState::Over) {
                return None;
            }
            if self.shown.is_some() {
                let mut ending = self.app.ending.clone();
                tokio::select! {
                    () = tokio::time::sleep(EVERY) => {}
                    _ = ending.changed() => return None,
                }
            }
            self.refresh().await;
        }
        Some(self.queue.remove(0))
    }

    async fn refresh(&mut self) {
        let run = self.run.clone();
        let result = self.app.blocking(move |library| {
            let is_measured = library.is_measured(&run)?;
            // A new file contains nothing to read yet.
            let progress = library.progress(&run);
            Ok((
                progress.or_else(|e| {
                    if is_measured {
                        Ok(RunProgress::default())
                    } else {
                        Err(e)
                    }
                })?,
                is_measured,
            ))
        });
        let (progress, is_measured) = match result.await {
            Ok(result) => result,
            Err(problem) => return self.end(problem.reason()),
        };
        if progress.ended || !is_measured {
            return self.end("The run has ended.");
        }
        self.queue
            .push(Event::default().event("progress").data(sentence(&progress)));
        if self.shown != Some(progress.blocks) && Instant::now() >= self.next_report {
            self.report(progress.blocks).await;
        }
    }

    /// Adds the current report to the queue.
    async fn report(&mut self, blocks: u32) {
        let began = Instant::now();
        let run = self.run.clone();
        let report = self
            .app
            .blocking(move |library| report(library, &run))
            .await;
        // If the file cannot be read now, it is read next time.
        self.shown = Some(self.shown.unwrap_or(u32::MAX));
        if let Ok(report) = report {
            self.shown = Some(blocks);
            self.queue
                .push(Event::default().event("report").data(report));
        }
        self.next_report = Instant::now() + began.elapsed() * FRACTION;
    }

    fn end(&mut self, reason: &str) {
        self.state = FollowState::Over;
        self.queue.push(
            Event::default()
                .event("ended")
                .data(lab_document::clean(reason)),
        );
    }
}

fn report(library: &RunLibrary, run: &str) -> Result<String, Problem> {
    let document = library.document(run)?;
    body(&document).map_err(|e| Problem::broken(e.to_string()))
}

/// Formats the progress as a sentence, such as `3 blocks complete in 12 s; 4,120 samples.`
fn sentence(progress: &RunProgress) -> String {
    let blocks = match progress.blocks {
        0 => "The first block is not complete yet".to_owned(),
        n => format!(
            "{} complete in {} s",
            super::count(n as usize, "block"),
            progress.blocks_ns / 1_000_000_000
        ),
    };
    format!(
        "{blocks}; {}.",
        super::count(progress.records as usize, "sample")
    )
}
