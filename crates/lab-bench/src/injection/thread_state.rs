// SPDX-License-Identifier: Apache-2.0
//! The state that a thread that makes faults shares with its injector.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The injector's switch, and the reason why the thread cannot make faults.
#[derive(Default)]
pub struct ThreadState {
    is_at_work: AtomicBool,
    is_over: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl ThreadState {
    /// True if the subject is at work: faults are made only then.
    pub fn set_at_work(&self, is_at_work: bool) {
        self.is_at_work.store(is_at_work, Ordering::Release);
    }

    /// Asks the thread to end.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }

    /// True if the thread is to end.
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// True if faults are disabled now.
    pub fn is_at_rest(&self) -> bool {
        self.is_over() || !self.is_at_work.load(Ordering::Acquire)
    }

    /// Keeps the error with which the thread's work ended, if any.
    pub fn keep_failure(&self, outcome: Result<(), String>) {
        *self.lock_failure() = outcome.err();
    }

    /// Why the thread cannot make faults; `None`: it can.
    pub fn failure(&self) -> Option<String> {
        self.lock_failure().clone()
    }

    fn lock_failure(&self) -> MutexGuard<'_, Option<String>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
