// SPDX-License-Identifier: Apache-2.0
//! Measures the cost of the cheapest system call and of the cheapest page fault on this host.

use lab_model::UnitCosts;
use std::num::NonZeroUsize;
use std::os::raw::c_void;
use std::ptr::NonNull;
use std::time::Instant;

/// The number of repetitions. Only the fastest repetition counts, because the other repetitions may
/// have been interrupted.
const REPEATS: usize = 7;

/// The number of system calls in a repetition.
const CALLS: usize = 2_000;

/// The number of pages in a repetition.
const PAGES: usize = 500;

/// Measures the unit costs. This takes a few milliseconds. Returns `None` if memory cannot be
/// mapped.
pub fn unit_costs() -> Option<UnitCosts> {
    let calls = (0..REPEATS)
        .map(|_| system_calls_ns())
        .fold(f64::INFINITY, f64::min);
    let faults: Option<Vec<f64>> = (0..REPEATS).map(|_| page_faults_ns()).collect();
    let faults = faults?.into_iter().fold(f64::INFINITY, f64::min);
    Some(UnitCosts {
        system_call_ns: calls / CALLS as f64,
        page_fault_ns: faults / PAGES as f64,
    })
}

fn system_calls_ns() -> f64 {
    let began = Instant::now();
    for _ in 0..CALLS {
        // SAFETY: the call has no arguments and no effects.
        unsafe { libc::syscall(libc::SYS_getppid) };
    }
    began.elapsed().as_nanos() as f64
}

fn page_faults_ns() -> Option<f64> {
    use nix::sys::mman::{MapFlags, MmapAdvise, ProtFlags, madvise, mmap_anonymous, munmap};
    let page = 4096;
    let length = NonZeroUsize::new(PAGES * page)?;
    let access = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: the kernel chooses a free address.
    let memory: NonNull<c_void> =
        unsafe { mmap_anonymous(None, length, access, MapFlags::MAP_PRIVATE).ok()? };
    // SAFETY: the range is the mapping. Large pages would need fewer faults.
    let _ = unsafe { madvise(memory, length.get(), MmapAdvise::MADV_NOHUGEPAGE) };
    let began = Instant::now();
    for i in 0..PAGES {
        // SAFETY: the address is within the mapping, which is writable.
        unsafe { memory.cast::<u8>().as_ptr().add(i * page).write_volatile(1) };
    }
    let took = began.elapsed().as_nanos() as f64;
    // SAFETY: nothing else uses the mapping.
    let _ = unsafe { munmap(memory, length.get()) };
    Some(took)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_positive_and_below_a_millisecond() {
        let costs = unit_costs().expect("memory");
        for ns in [costs.system_call_ns, costs.page_fault_ns] {
            assert!(ns > 0.0 && ns < 1e6, "{costs:?}");
        }
    }
}
