// SPDX-License-Identifier: Apache-2.0
//! Faults that the lab makes between a subject and its server while the subject works.

mod commits;
mod cutter;
mod proxy;

use crate::drawn::drawn;
use crate::process::{Answer, Fault};
use commits::Commits;
use cutter::Cutter;
use lab_model::{Injection, Kind};
use lab_services::Service;
use proxy::Proxy;
use std::sync::Arc;

/// A proxy of its own for each visit, with what goes wrong there.
pub struct Injector {
    proxy: Arc<Proxy>,
    cutter: Option<Cutter>,
    loses_answers: bool,
}

impl Injector {
    /// For a visit of a server; `None`: the faults are the server's own.
    pub fn start(
        service: &Service,
        kind: Kind,
        injection: &Injection,
        seed: u64,
    ) -> Answer<Option<Injector>> {
        let part = match injection {
            Injection::Statements(_) => return Ok(None),
            Injection::CutsPerS(_) => 0.0,
            Injection::LostAnswers(part) => *part,
        };
        let endpoint = service.endpoint();
        let endpoint = endpoint.ok_or_else(|| fault("the server has no TCP port".into()))?;
        let loses = move |commit: u64| (drawn(seed, &[commit]) as f64) < part * u64::MAX as f64;
        let proxy = Proxy::start(endpoint, Commits::of(kind), loses);
        let proxy = Arc::new(proxy.map_err(|e| fault(format!("no proxy can listen: {e}")))?);
        let cutter = match injection {
            Injection::CutsPerS(rate) => {
                Some(Cutter::start(service.ender(), proxy.clone(), *rate, seed))
            }
            _ => None,
        };
        Ok(Some(Injector {
            proxy,
            cutter,
            loses_answers: part > 0.0,
        }))
    }

    /// Where the subject is to connect.
    pub fn port(&self) -> u16 {
        self.proxy.port()
    }

    /// Whether the subject is at work: connections are cut only then.
    pub fn set_at_work(&self, is_at_work: bool) {
        if let Some(cutter) = &self.cutter {
            cutter.set_at_work(is_at_work);
        }
    }

    /// After work. Fault: the faults cannot be made.
    pub fn look(&self) -> Answer<()> {
        if let Some(why) = self.cutter.as_ref().and_then(Cutter::failure) {
            return Err(fault(format!("connections cannot be cut: {why}")));
        }
        if self.loses_answers && self.proxy.commits() == 0 {
            return Err(fault(
                "no COMMIT is seen in what it sends, so that no answer can be dropped: connect without TLS, \
                 and send COMMIT as a statement"
                    .into(),
            ));
        }
        Ok(())
    }
}

fn fault(what: String) -> Fault {
    Fault::Failed("injection", what)
}
