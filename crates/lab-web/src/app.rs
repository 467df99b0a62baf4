// SPDX-License-Identifier: Apache-2.0
//! The state that all pages share.

use crate::guard::PageGuard;
use crate::library::RunLibrary;
use crate::problem::Problem;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// The state that all pages share. It is cheap to clone.
#[derive(Clone)]
pub struct App {
    pub library: Arc<RunLibrary>,
    pub guard: Arc<PageGuard>,
    /// A semaphore that limits the number of concurrent analyses.
    pub analyses: Arc<Semaphore>,
    /// True once the server has started to shut down.
    pub ending: watch::Receiver<bool>,
}

impl App {
    /// Runs blocking work on a separate thread.
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
        // If an analysis panics, for example because of a malformed file, only its own page fails.
        result
            .await
            .unwrap_or_else(|_| Err(Problem::broken("the run could not be analyzed")))
    }
}
