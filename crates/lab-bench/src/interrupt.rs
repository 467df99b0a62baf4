// SPDX-License-Identifier: Apache-2.0
//! Ctrl-C and its kin: noted, and checked wherever the lab waits.

use crate::sys;
use nix::sys::eventfd::{EfdFlags, EventFd};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Signals within this time are one request, ns: `timeout` signals its command, and then its process group.
const ONE_REQUEST_NS: u64 = 500_000_000;

/// Exit status as shells count it: 128 + SIGINT.
const INTERRUPTED: i32 = 130;

/// When the lab was first asked to stop, ns; 0: not yet.
static REQUESTED: AtomicU64 = AtomicU64::new(0);

/// Readable once the lab was asked to stop.
static STOP_EVENT: OnceLock<EventFd> = OnceLock::new();

/// From now on SIGINT, SIGTERM and SIGHUP ask the lab to stop instead of ending it; one more than half a second after
/// the first ends it at once, and the subjects die with it.
pub fn watch() -> io::Result<()> {
    let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
    if STOP_EVENT.set(event).is_err() {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // SAFETY: it reads a clock and atomic numbers, writes to a file, and ends the process without cleaning up.
        unsafe { signal_hook::low_level::register(signal, on_signal) }?;
    }
    Ok(())
}

fn on_signal() {
    let now = sys::monotonic_ns();
    if now.saturating_sub(note_request(now)) > ONE_REQUEST_NS {
        signal_hook::low_level::exit(INTERRUPTED);
    }
}

/// Notes a request to stop, and returns when the first one came, ns. Ends the waiting in [`readable`], too: a signal
/// by itself ends a wait that has begun, but not one that begins just then.
fn note_request(now: u64) -> u64 {
    let first = REQUESTED.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    if let Some(event) = STOP_EVENT.get() {
        let _ = event.write(1);
    }
    first.err().unwrap_or(now)
}

/// Asks the lab to stop, as a first signal does.
pub fn request() {
    // A repeated request changes nothing.
    note_request(sys::monotonic_ns());
}

/// True if the reader wants the lab to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed) != 0
}

/// Waits until one of these files can be read or the lab is asked to stop; false: the time was over before.
pub fn readable(files: &[BorrowedFd<'_>], time: Duration) -> nix::Result<bool> {
    let stop_event = STOP_EVENT.get().map(AsFd::as_fd);
    sys::readable(files.iter().copied().chain(stop_event), time)
}
