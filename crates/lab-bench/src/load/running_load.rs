// SPDX-License-Identifier: Apache-2.0
//! Load that runs without pauses while the caller receives its slices one at a time.

use super::generator::{Generator, LoadFault, Piece};
use crate::host::interrupt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// The generator of a load that has ended, and the result of the load.
type Ended = (Box<dyn Generator>, Result<(), LoadFault>);

/// A load in progress. Dropping it stops the load.
pub struct RunningLoad {
    pieces: Receiver<Piece>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Ended>>,
}

impl RunningLoad {
    /// Starts a thread that applies load for the given time.
    pub fn begin(
        mut generator: Box<dyn Generator>,
        length: Duration,
        slice: Duration,
    ) -> RunningLoad {
        let (sender, pieces) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let is_stopped = stop.clone();
        let thread = thread::spawn(move || {
            let loaded = generator.load(length, slice, &mut |piece| {
                let is_received = sender.send(piece).is_ok();
                is_received && !is_stopped.load(Ordering::Relaxed) && !interrupt::requested()
            });
            (generator, loaded)
        });
        RunningLoad {
            pieces,
            stop,
            thread: Some(thread),
        }
    }

    /// Waits for the next report. Returns `None` when the load has ended.
    pub fn next(&mut self) -> Option<Piece> {
        self.pieces.recv().ok()
    }

    /// Waits for the end of the load.
    pub fn end(mut self) -> Ended {
        let thread = self.thread.take().expect("it ends once");
        match thread.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for RunningLoad {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
