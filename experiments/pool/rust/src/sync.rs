// SPDX-License-Identifier: Apache-2.0
//! The mutex and the condition variable of the standard library or of parking_lot.

#[cfg(feature = "parking_lot")]
pub use self::parking_lot::*;
#[cfg(not(feature = "parking_lot"))]
pub use self::standard::*;

#[cfg(not(feature = "parking_lot"))]
mod standard {
    use std::sync::PoisonError;
    pub use std::sync::{Condvar, Mutex, MutexGuard};

    pub const SUBJECT: &str = "rust";
    pub const LIBRARY: &str = "std::sync (edition 2024)";

    pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn wait<'a, T>(condition: &Condvar, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condition
            .wait(guard)
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(feature = "parking_lot")]
mod parking_lot {
    pub use parking_lot::{Condvar, Mutex, MutexGuard};

    pub const SUBJECT: &str = "rust-parking-lot";
    pub const LIBRARY: &str = "parking_lot 0.12";

    pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock()
    }

    pub fn wait<'a, T>(condition: &Condvar, mut guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        condition.wait(&mut guard);
        guard
    }
}
