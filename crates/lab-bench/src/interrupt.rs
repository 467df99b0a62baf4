// SPDX-License-Identifier: Apache-2.0
//! Ctrl-C and its kin: noted, and asked for wherever the lab waits.

use crate::sys;
use nix::sys::eventfd::{EfdFlags, EventFd};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Signals within this time are one wish, ns: `timeout` signals its command, and then the process group that this is in.
const ONE_WISH: u64 = 500_000_000;

/// As shells count it: 128 + SIGINT.
const INTERRUPTED: i32 = 130;

/// When the lab was first asked to stop, ns; 0: not yet.
static REQUESTED: AtomicU64 = AtomicU64::new(0);

/// Readable since then.
static ASKED: OnceLock<EventFd> = OnceLock::new();

/// From now on SIGINT, SIGTERM and SIGHUP ask the lab to stop instead of ending it; one more than half a second after
/// the first ends it at once, and the subjects die with it.
pub fn watch() -> io::Result<()> {
    let asked = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?;
    if ASKED.set(asked).is_err() {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // SAFETY: it reads a clock and atomic numbers, writes to a file, and ends the process without cleaning up.
        unsafe { signal_hook::low_level::register(signal, signalled) }?;
    }
    Ok(())
}

fn signalled() {
    let now = sys::monotonic_ns();
    if now.saturating_sub(asked_since(now)) > ONE_WISH {
        signal_hook::low_level::exit(INTERRUPTED);
    }
}

/// Notes the wish, and yields when the lab was first asked, ns. Ends the waiting in [`readable`], too: a signal by itself
/// ends only what waits already, not what begins to just then.
fn asked_since(now: u64) -> u64 {
    let first = REQUESTED.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
    if let Some(asked) = ASKED.get() {
        let _ = asked.write(1);
    }
    first.err().unwrap_or(now)
}

/// Asks the lab to stop, as a first signal does.
pub fn request() {
    // Asked again, it is the same wish.
    asked_since(sys::monotonic_ns());
}

/// Whether the reader wants the lab to stop.
pub fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed) != 0
}

/// Waits until one of these files can be read, the reader wants the lab to stop, or the time is over; false for that.
pub fn readable(files: &[BorrowedFd<'_>], time: Duration) -> nix::Result<bool> {
    let asked = ASKED.get().map(AsFd::as_fd);
    sys::readable(files.iter().copied().chain(asked), time)
}
