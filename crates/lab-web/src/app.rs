// SPDX-License-Identifier: Apache-2.0
//! The state that all pages share.

use crate::guard::PageGuard;
use crate::library::RunLibrary;
use crate::problem::Problem;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// The state that all pages share.
#[derive(Clone)]
pub struct App {
    pub library: Arc<RunLibrary>,
    pub guard: Arc<PageGuard>,
    /// Limits how many analyses run at the same time.
    pub analyses: Arc<Semaphore>,
    /// True once the server ends.
    pub ending: watch::Receiver<bool>,
}

impl App {
    /// Runs work that blocks on a thread of its own.
    pub async fn blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&RunLibrary) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let permit = self.analyses.clone().acquire_owned().await;
        let library = self.library.clone();
        let result = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&library)
        });
        // An analysis that panics, such as over a file from elsewhere, spoils its own page alone.
        result
            .await
            .unwrap_or_else(|_| Err(Problem::broken("the run could not be analysed")))
    }
}
