// SPDX-License-Identifier: Apache-2.0
//! Ctrl-C and its kin: noted, and asked for wherever the lab waits.

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static REQUESTED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on SIGINT, SIGTERM and SIGHUP ask the lab to stop instead of ending it; a second one
/// ends it at once, and the subjects die with it.
pub fn watch() -> io::Result<()> {
    let flag = Arc::new(AtomicBool::new(false));
    // Watched for twice, the first signal would already look like a second one.
    if REQUESTED.set(flag.clone()).is_err() {
        return Ok(());
    }
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register_conditional_shutdown(signal, 130, flag.clone())?;
        signal_hook::flag::register(signal, flag.clone())?;
    }
    Ok(())
}

/// Asks the lab to stop, as a first signal does.
pub fn request() {
    let flag = REQUESTED.get_or_init(Arc::default);
    flag.store(true, Ordering::Relaxed);
}

/// Whether the reader wants the lab to stop.
pub fn requested() -> bool {
    REQUESTED
        .get()
        .is_some_and(|flag| flag.load(Ordering::Relaxed))
}
