// SPDX-License-Identifier: Apache-2.0
//! Records requests to stop, such as Ctrl-C. All code that waits checks for them.

use crate::host::sys;
use nix::sys::eventfd::{EfdFlags, EventFd};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time in ns within which multiple signals count as one request. `timeout` signals its command
/// and then its process group.
const ONE_REQUEST_NS: u64 = 500_000_000;

/// The exit status that shells report: 128 + SIGINT.
const INTERRUPTED: i32 = 130;

/// The time of the first request to stop, in ns of the monotonic clock. 0 means that there was no
/// request.
static REQUESTED: AtomicU64 = AtomicU64::new(0);

/// An event that becomes readable once benchlab has been asked to stop.
static STOP_EVENT: OnceLock<EventFd> = OnceLock::new();

/// Makes SIGINT, SIGTERM and SIGHUP request a stop instead of terminating benchlab.
///
/// A second signal more than half a second after the first makes benchlab exit immediately, which
/// also kills the subjects.
pub fn watch() -> io::Result<()> {
    if accept_requests()? {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // SAFETY: the handler only reads a clock and atomics, writes to a file, and exits without cleanup.
            unsafe { signal_hook::low_level::register(signal, on_signal) }?;
        }
    }
    Ok(())
}

/// Makes [`request`] end the waits of other threads. Does not change how signals are handled.
///
/// Returns false if this function was called before.
pub fn accept_requests() -> io::Result<bool> {
    let event = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
    Ok(STOP_EVENT.set(event).is_ok())
}

fn on_signal() {
    let now = sys::monotonic_ns();
    if now.saturating_sub(note_request(now)) > ONE_REQUEST_NS {
        signal_hook::low_level::exit(INTERRUPTED);
    }
}

/// Records a request to stop. `now` is the time in ns. Returns the time of the first request in ns.
///
/// Also ends a wait in [`wait_readable`]. A signal itself interrupts a wait in progress, but not a
/// wait that is about to start.
fn note_request(now: u64) -> u64 {
    let first = REQUESTED.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    if let Some(event) = STOP_EVENT.get() {
        let _ = event.write(1);
    }
    first.err().unwrap_or(now)
}

/// Requests a stop, like a first signal.
pub fn request() {
    // A repeated request has no effect.
    note_request(sys::monotonic_ns());
}

/// Returns true if the user requested a stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed) != 0
}

/// Waits until at least one of `files` is readable or a stop is requested. Returns false on
/// timeout.
pub fn wait_readable(files: &[BorrowedFd<'_>], time: Duration) -> nix::Result<bool> {
    let stop_event = STOP_EVENT.get().map(AsFd::as_fd);
    sys::wait_readable(files.iter().copied().chain(stop_event), time)
}
