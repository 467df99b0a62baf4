// SPDX-License-Identifier: Apache-2.0
//! Has the server end connections of a subject, as an administrator does.

use super::proxy::Proxy;
use crate::random::random;
use lab_services::Terminator;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Ends connections until it is dropped.
pub struct Cutter(Arc<Shared>);

#[derive(Default)]
struct Shared {
    is_at_work: AtomicBool,
    is_over: AtomicBool,
    failure: Mutex<Option<String>>,
}

impl Cutter {
    /// Ends one of a proxy's connections, chosen at random, so many times a second.
    pub fn start(terminator: Terminator, proxy: Arc<Proxy>, per_s: f64, seed: u64) -> Cutter {
        let shared = Arc::new(Shared::default());
        let cutting = shared.clone();
        thread::spawn(move || {
            if let Err(message) = cutting.cut(terminator, &proxy, per_s, seed) {
                let failure = cutting.failure.lock();
                *failure.unwrap_or_else(PoisonError::into_inner) = Some(message);
            }
        });
        Cutter(shared)
    }

    /// Whether connections are ended now.
    pub fn set_at_work(&self, is_at_work: bool) {
        self.0.is_at_work.store(is_at_work, Ordering::Release);
    }

    /// Why it cannot end connections; `None`: it can.
    pub fn failure(&self) -> Option<String> {
        let failure = self.0.failure.lock();
        failure.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
    }
}

impl Shared {
    fn cut(
        &self,
        terminator: Terminator,
        proxy: &Proxy,
        per_s: f64,
        seed: u64,
    ) -> Result<(), String> {
        let mut server = terminator.connect().map_err(|e| e.to_string())?;
        for cut in 0.. {
            thread::sleep(Duration::from_secs_f64(1.0 / per_s));
            if self.is_over.load(Ordering::Acquire) {
                break;
            }
            let ports = proxy.server_ports();
            if self.is_at_work.load(Ordering::Acquire) && !ports.is_empty() {
                let chosen = random(seed, &[cut]) as usize % ports.len();
                server.end(ports[chosen]).map_err(|e| e.to_string())?;
            }
        }
        Ok(())
    }
}
