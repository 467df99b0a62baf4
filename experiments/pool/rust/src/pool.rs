// SPDX-License-Identifier: Apache-2.0
//! A pool of idle resources, guarded by a mutex, with a condition variable for waiting threads.

use super::sync::{Condvar, Mutex, lock, wait};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

/// A resource: 64 KiB, in which each word is 1.
pub struct Resource {
    pub words: Box<[u64]>,
    /// True while the resource is in use, so that a holder detects other holders.
    pub is_held: bool,
    pub uses: u64,
}

impl Resource {
    fn new() -> Self {
        Self {
            words: vec![1; 8192].into(),
            is_held: false,
            uses: 0,
        }
    }
}

/// A pool that leases resources in the order that `is_lifo` selects: the most recently returned resource first, or the
/// resource that has been idle longest.
pub struct Pool {
    state: Mutex<State>,
    released: Condvar,
    is_lifo: bool,
    size: usize,
}

struct State {
    idle: VecDeque<Resource>,
    /// The number of waiting threads. The standard library's `notify_one` is a system call even if
    /// no thread waits.
    waiting: usize,
}

impl Pool {
    pub fn new(size: usize, is_lifo: bool) -> Self {
        Self {
            state: Mutex::new(State {
                idle: (0..size).map(|_| Resource::new()).collect(),
                waiting: 0,
            }),
            released: Condvar::new(),
            is_lifo,
            size,
        }
    }

    /// Waits for a resource.
    pub fn lease(&self) -> Lease<'_> {
        let mut state = lock(&self.state);
        loop {
            let resource = match self.is_lifo {
                true => state.idle.pop_back(),
                false => state.idle.pop_front(),
            };
            if resource.is_some() {
                return Lease {
                    pool: self,
                    resource,
                };
            }
            state.waiting += 1;
            state = wait(&self.released, state);
            state.waiting -= 1;
        }
    }

    /// Leases and returns a resource `times` times.
    pub fn lease_and_release(&self, times: u64) {
        for _ in 0..times {
            self.lease();
        }
    }

    /// Returns the number of resources that are not idle.
    pub fn in_use(&self) -> usize {
        self.size - lock(&self.state).idle.len()
    }

    fn release(&self, resource: Resource) {
        let mut state = lock(&self.state);
        state.idle.push_back(resource);
        let is_awaited = state.waiting > 0;
        drop(state);
        if is_awaited {
            self.released.notify_one();
        }
    }
}

/// A leased resource. Dropping the lease returns the resource.
pub struct Lease<'a> {
    pool: &'a Pool,
    resource: Option<Resource>,
}

impl Deref for Lease<'_> {
    type Target = Resource;

    fn deref(&self) -> &Resource {
        self.resource
            .as_ref()
            .expect("the resource exists until the drop")
    }
}

impl DerefMut for Lease<'_> {
    fn deref_mut(&mut self) -> &mut Resource {
        self.resource
            .as_mut()
            .expect("the resource exists until the drop")
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        if let Some(resource) = self.resource.take() {
            self.pool.release(resource);
        }
    }
}
