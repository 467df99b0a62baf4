// SPDX-License-Identifier: Apache-2.0
//! Makes the server terminate a subject's connections, as an administrator would.

use super::proxy::Proxy;
use super::thread_state::ThreadState;
use crate::host::random::random;
use lab_services::Terminator;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Terminates connections until it is dropped.
pub struct Cutter(Arc<ThreadState>);

impl Cutter {
    /// Starts terminating `per_s` of a proxy's connections per second, chosen at random.
    pub fn start(terminator: Terminator, proxy: Arc<Proxy>, per_s: f64, seed: u64) -> Cutter {
        let state = Arc::new(ThreadState::default());
        let cutter = Cutter(state.clone());
        thread::spawn(move || state.keep_failure(cut(&state, terminator, &proxy, per_s, seed)));
        cutter
    }

    /// Enables or disables the termination of connections.
    pub fn set_at_work(&self, is_at_work: bool) {
        self.0.set_at_work(is_at_work);
    }

    /// Returns the reason why connections cannot be terminated, or `None` if there is no failure.
    pub fn failure(&self) -> Option<String> {
        self.0.failure()
    }
}

impl Drop for Cutter {
    fn drop(&mut self) {
        self.0.end();
    }
}

fn cut(
    state: &ThreadState,
    terminator: Terminator,
    proxy: &Proxy,
    per_s: f64,
    seed: u64,
) -> Result<(), String> {
    let mut server = terminator.connect().map_err(|e| e.to_string())?;
    for number in 0.. {
        thread::sleep(Duration::from_secs_f64(1.0 / per_s));
        if state.is_over() {
            break;
        }
        let ports = proxy.server_ports();
        if !state.is_at_rest() && !ports.is_empty() {
            let chosen = random(seed, &[number]) as usize % ports.len();
            server.end(ports[chosen]).map_err(|e| e.to_string())?;
        }
    }
    Ok(())
}
