// SPDX-License-Identifier: Apache-2.0
//! Reads clocks and waits for points in time.

use std::time::Duration;

/// Returns the time of CLOCK_MONOTONIC, in ns.
pub fn now_ns() -> u64 {
    read(libc::CLOCK_MONOTONIC)
}

/// Returns the time of CLOCK_REALTIME, in ns since 1970.
pub fn since_1970_ns() -> u64 {
    read(libc::CLOCK_REALTIME)
}

/// Returns the CPU time of the calling thread, in ns.
pub fn thread_cpu_ns() -> u64 {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

fn read(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the kernel writes the time to a local variable, and Linux has all of these clocks.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until CLOCK_MONOTONIC reaches `ns`, or until a signal arrives.
pub fn sleep_until(ns: u64) {
    let until = timespec(ns);
    let (clock, absolute) = (libc::CLOCK_MONOTONIC, libc::TIMER_ABSTIME);
    // SAFETY: the kernel only reads a local variable.
    unsafe { libc::clock_nanosleep(clock, absolute, &until, std::ptr::null_mut()) };
}

/// Makes the kernel wake this thread on time. By default, it may be 50 µs late (prctl(2),
/// PR_SET_TIMERSLACK).
pub fn wake_exactly() {
    // SAFETY: this only changes a setting of the calling thread.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1, 0, 0, 0) };
}

/// Converts a duration in ns to a `timespec`.
pub fn timespec(ns: u64) -> libc::timespec {
    let time = Duration::from_nanos(ns);
    libc::timespec {
        tv_sec: time.as_secs() as libc::time_t,
        tv_nsec: time.subsec_nanos().into(),
    }
}
