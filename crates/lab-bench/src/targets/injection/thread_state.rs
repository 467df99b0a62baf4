// SPDX-License-Identifier: Apache-2.0
//! The state that a fault-injecting thread shares with its injector.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The injector's switch, and the reason why the thread cannot inject faults.
#[derive(Default)]
pub struct ThreadState {
    is_at_work: AtomicBool,
    is_over: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl ThreadState {
    /// Sets whether the subject is at work. Faults are injected only while it is at work.
    pub fn set_at_work(&self, is_at_work: bool) {
        self.is_at_work.store(is_at_work, Ordering::Release);
    }

    /// Asks the thread to finish.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// Returns true if the thread must finish.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Returns true if no faults may be injected now.
    pub fn is_at_rest(&self) -> bool {
        self.is_over() || !self.is_at_work.load(Ordering::Acquire)
    }

    /// Stores the error that ended the thread's work, if any.
    pub fn keep_failure(&self, outcome: Result<(), String>) {
        *self.lock_failure() = outcome.err();
    }

    /// Returns the reason why the thread cannot inject faults, or `None` if there is no failure.
    pub fn failure(&self) -> Option<String> {
        self.lock_failure().clone()
    }

    fn lock_failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
