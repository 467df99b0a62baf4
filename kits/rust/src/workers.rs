// SPDX-License-Identifier: Apache-2.0
//! Threads that share a batch of operations and do them concurrently.

use crate::{Failure, Laps, Work};
use std::io;
use std::iter::StepBy;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};

/// One worker's share of a batch: of n workers, worker c does every operation k with `k mod n = c`.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// The index of the worker.
    pub worker: usize,
    workers: usize,
    operations: u64,
}

impl Share {
    /// Returns the operations' numbers in ascending order.
    pub fn operations(&self) -> StepBy<Range<u64>> {
        (self.worker as u64..self.operations).step_by(self.workers)
    }

    /// Returns the number of operations.
    pub fn len(&self) -> u64 {
        let left = self.operations.saturating_sub(self.worker as u64);
        left.div_ceil(self.workers as u64)
    }

    /// Returns true if there are no operations. Such a share is not passed to a worker.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Threads that start each batch together at a barrier, and wait between batches until this value is dropped.
pub struct Workers(Vec<Worker>);

struct Worker {
    shares: Option<Sender<Share>>,
    results: Receiver<Result<Work, Failure>>,
    thread: Option<JoinHandle<()>>,
}

impl Workers {
    /// Starts `count` threads, each of which calls `work` with its share of a batch.
    ///
    /// `work` does the share's operations in a loop. It calls [`Laps::lap`] after each operation, or never if the
    /// case reports no latencies.
    pub fn start<F>(count: usize, work: F) -> io::Result<Self>
    where
        F: Fn(Share, &mut Laps) -> Result<Work, Failure> + Send + Sync + 'static,
    {
        let work = Arc::new(work);
        let barrier = Arc::new(Barrier::new(count));
        let workers = (0..count).map(|_| Worker::start(work.clone(), barrier.clone()));
        workers.collect::<io::Result<_>>().map(Self)
    }

    /// Does a batch, and adds up the results of the workers' shares.
    pub fn perform(&self, operations: u64) -> Result<Work, Failure> {
        let workers = self.0.len();
        for (number, worker) in self.0.iter().enumerate() {
            worker.send(Share {
                worker: number,
                workers,
                operations,
            });
        }
        let results: Vec<_> = self.0.iter().map(Worker::receive).collect();
        results
            .into_iter()
            .try_fold(Work::default(), |sum, work| Ok(sum.join(work?)))
    }
}

impl Worker {
    fn start<F>(work: Arc<F>, barrier: Arc<Barrier>) -> io::Result<Self>
    where
        F: Fn(Share, &mut Laps) -> Result<Work, Failure> + Send + Sync + 'static,
    {
        let (shares, received) = channel();
        let (sender, results) = channel();
        let serve = move || {
            for share in received {
                let laps = Laps::default();
                barrier.wait();
                if sender.send(measured(&*work, share, laps)).is_err() {
                    break;
                }
            }
        };
        Ok(Self {
            shares: Some(shares),
            results,
            thread: Some(thread::Builder::new().spawn(serve)?),
        })
    }

    fn send(&self, share: Share) {
        let shares = self
            .shares
            .as_ref()
            .expect("the sender exists until the drop");
        shares
            .send(share)
            .expect("a worker runs until its sender is dropped");
    }

    fn receive(&self) -> Result<Work, Failure> {
        self.results
            .recv()
            .expect("a worker runs until its sender is dropped")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shares = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // the worker's panics were caught
        }
    }
}

fn measured<F>(work: &F, share: Share, mut laps: Laps) -> Result<Work, Failure>
where
    F: Fn(Share, &mut Laps) -> Result<Work, Failure>,
{
    if share.is_empty() {
        return Ok(Work::default());
    }
    laps.start();
    let result = catch_unwind(AssertUnwindSafe(|| work(share, &mut laps)));
    laps.finish();
    let mut work = result.unwrap_or_else(|_| Err(Failure::failed("a worker panicked")))?;
    work.laps = Some(laps);
    Ok(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_in_one_share() {
        for workers in [1, 2, 3, 7, 16] {
            for operations in [1, 2, 15, 16, 17, 1000] {
                let shares = (0..workers).map(|worker| Share {
                    worker,
                    workers,
                    operations,
                });
                let mut all = Vec::new();
                for share in shares {
                    assert_eq!(share.len(), share.operations().count() as u64);
                    all.extend(share.operations());
                }
                all.sort_unstable();
                assert!(all.into_iter().eq(0..operations));
            }
        }
    }
}
