// SPDX-License-Identifier: Apache-2.0
//! Operations that are divided among the tasks of multiple connections.

use lab_kit::{Failure, Laps, Work};
use std::iter::StepBy;
use std::ops::Range;
use std::sync::Arc;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

/// One connection's share of the operations, and its result.
pub struct Share {
    barrier: Arc<Barrier>,
    operations: StepBy<Range<u64>>,
    work: Work,
    laps: Laps,
}

impl Share {
    /// Waits until every connection is ready. Returns the numbers of this connection's operations.
    pub async fn begin(&mut self) -> StepBy<Range<u64>> {
        self.barrier.wait().await;
        self.laps.start();
        self.operations.clone()
    }

    /// Records the result of one operation.
    pub fn done(&mut self, value: i32) {
        self.work.add(1, value);
        self.laps.lap();
    }

    /// Returns the result of all operations.
    pub fn end(mut self) -> Work {
        self.work.laps = Some(self.laps);
        self.work
    }
}

/// Performs the operations on all connections concurrently, each connection in its own task.
pub async fn at_once<C, F>(
    connections: &[Arc<C>],
    operations: u64,
    task: impl Fn(Share, Arc<C>) -> F,
) -> Result<Work, Failure>
where
    F: Future<Output = Result<Work, Failure>> + Send + 'static,
{
    let barrier = Arc::new(Barrier::new(connections.len()));
    let mut tasks = JoinSet::new();
    for (c, connection) in connections.iter().enumerate() {
        let share = Share {
            barrier: barrier.clone(),
            operations: (c as u64..operations).step_by(connections.len()),
            work: Work::default(),
            laps: Laps::default(),
        };
        tasks.spawn(task(share, connection.clone()));
    }
    let mut all = Work::default();
    for done in tasks.join_all().await {
        all = all.join(done?);
    }
    Ok(all)
}
