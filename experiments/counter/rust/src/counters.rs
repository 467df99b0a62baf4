// SPDX-License-Identifier: Apache-2.0
//! The schemes for sharing a counter between threads.

use crossbeam_utils::CachePadded;
use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// The number of reads per increment in read_mostly.
const READS: u32 = 100;

/// The number of stripes of a striped counter, a power of two.
const STRIPES: usize = 16;

/// A counter that threads share, initially zero.
pub trait Counter: Default + Send + Sync {
    /// True if the counter never loses an increment.
    const IS_SAFE: bool;

    /// Adds 1.
    fn increment(&self);

    /// Returns the current value.
    fn value(&self) -> u64;
}

/// A counter with loops into which the increment is inlined.
pub trait CountingLoops: Send + Sync {
    /// Returns true if the counter never loses an increment.
    fn is_safe(&self) -> bool;

    /// Returns the current value.
    fn reached(&self) -> u64;

    /// Increments the counter `times` times.
    fn increments(&self, times: u64);

    /// Increments the counter `times` times, with 100 reads for each increment. Returns the number
    /// of reads that found a lower value than the previous one.
    fn increments_and_reads(&self, times: u64) -> u64;
}

impl<C: Counter> CountingLoops for C {
    fn is_safe(&self) -> bool {
        C::IS_SAFE
    }

    fn reached(&self) -> u64 {
        self.value()
    }

    #[inline(never)]
    fn increments(&self, times: u64) {
        for _ in 0..times {
            self.increment();
        }
    }

    fn increments_and_reads(&self, times: u64) -> u64 {
        let (mut before, mut backwards) = (0, 0);
        for _ in 0..times {
            self.increment();
            for _ in 0..READS {
                let now = self.value();
                backwards += u64::from(now < before);
                before = now;
            }
        }
        backwards
    }
}

/// Returns the counter of a scheme, or `None` if there is no such scheme.
pub fn counter(scheme: &str) -> Option<Box<dyn CountingLoops>> {
    Some(match scheme {
        "unsafe" => Box::<Unsafe>::default(),
        "unsafe_plain" => Box::<UnsafePlain>::default(),
        "atomic" => Box::<Atomic>::default(),
        "lock" => Box::<Locked>::default(),
        "striped" => Box::<Striped>::default(),
        _ => return None,
    })
}

/// A counter whose increment is a read and a write of memory: a data race, which Rust only allows
/// in `unsafe` code.
#[derive(Default)]
pub struct Unsafe(CachePadded<UnsafeCell<u64>>);

// SAFETY: none. Concurrent use is undefined behavior, which this counter demonstrates.
unsafe impl Sync for Unsafe {}

impl Counter for Unsafe {
    const IS_SAFE: bool = false;

    fn increment(&self) {
        let total = self.0.get();
        // SAFETY: the pointer is valid; the data race is intended.
        unsafe { total.write_volatile(total.read_volatile() + 1) }
    }

    fn value(&self) -> u64 {
        // SAFETY: as above.
        unsafe { self.0.get().read_volatile() }
    }
}

/// A counter like `Unsafe`, except that the compiler may keep the value in a register.
#[derive(Default)]
pub struct UnsafePlain(CachePadded<UnsafeCell<u64>>);

// SAFETY: none, as for `Unsafe`.
unsafe impl Sync for UnsafePlain {}

impl Counter for UnsafePlain {
    const IS_SAFE: bool = false;

    fn increment(&self) {
        // SAFETY: as for `Unsafe`.
        unsafe { *self.0.get() += 1 }
    }

    fn value(&self) -> u64 {
        // SAFETY: as for `Unsafe`.
        unsafe { *self.0.get() }
    }
}

/// A counter whose increment is one atomic instruction.
#[derive(Default)]
pub struct Atomic(CachePadded<AtomicU64>);

impl Counter for Atomic {
    const IS_SAFE: bool = true;

    fn increment(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    fn value(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// A counter guarded by a lock. Nothing panics while the lock is held, so poisoning can be ignored.
#[derive(Default)]
pub struct Locked(CachePadded<Mutex<u64>>);

impl Counter for Locked {
    const IS_SAFE: bool = true;

    fn increment(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) += 1;
    }

    fn value(&self) -> u64 {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A counter with an atomic word for each thread or group of threads.
#[derive(Default)]
pub struct Striped([CachePadded<AtomicU64>; STRIPES]);

static THREADS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static STRIPE: Cell<usize> = Cell::new(THREADS.fetch_add(1, Relaxed) % STRIPES);
}

impl Counter for Striped {
    const IS_SAFE: bool = true;

    fn increment(&self) {
        self.0[STRIPE.get()].fetch_add(1, Relaxed);
    }

    fn value(&self) -> u64 {
        self.0.iter().map(|stripe| stripe.load(Relaxed)).sum()
    }
}

/// A safe and an unsafe counter that are incremented in the same loop.
#[derive(Default)]
pub struct Pair {
    /// The counter that loses nothing.
    pub safe: Atomic,
    /// The counter that loses increments.
    pub unsafe_one: Unsafe,
}

impl Pair {
    /// Increments each of the two counters `times` times.
    #[inline(never)]
    pub fn increments(&self, times: u64) {
        for _ in 0..times {
            self.safe.increment();
            self.unsafe_one.increment();
        }
    }
}
