// SPDX-License-Identifier: Apache-2.0
//! Injects faults between a subject and its database while the subject works.

mod commits;
mod cutter;
mod locker;
mod outage;
mod proxy;
mod thread_state;

use crate::host::random::random;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::process::SubjectProcess;
use commits::Commits;
use cutter::Cutter;
use lab_model::{Injection, TargetKind};
use lab_services::Service;
pub use locker::FileInjector;
pub use outage::Recovery;
use outage::{Dependency, FirstCommit, Outages};
use proxy::Proxy;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A server that benchlab can kill and restart.
pub trait Stoppable {
    /// Kills all processes of the server. Returns a fault if benchlab did not start the server.
    fn kill(&self) -> SubjectResult<()>;

    /// Restarts the server with the same data on the same cores.
    fn start_again(&self) -> SubjectResult<()>;
}

/// The proxy of one visit, and the faults that are injected there.
pub struct Injector {
    proxy: Arc<Proxy>,
    cutter: Option<Cutter>,
    outages: Option<Outages>,
    loses_answers: bool,
}

impl Injector {
    /// Starts the injector for a visit to a server. Returns `None` if the server itself causes the faults.
    pub fn start(
        service: &Service,
        kind: TargetKind,
        injection: &Injection,
        seed: u64,
    ) -> SubjectResult<Option<Injector>> {
        let lost_part = match injection {
            Injection::Statements(_) | Injection::Busy { .. } => return Ok(None),
            Injection::CutsPerS(_) | Injection::OutageS(_) => 0.0,
            Injection::LostResponses(part) => *part,
        };
        let loses =
            move |commit: u64| (random(seed, &[commit]) as f64) < lost_part * u64::MAX as f64;
        let proxy = proxy(service, kind, loses)?;
        let cutter = match injection {
            Injection::CutsPerS(rate) => Some(Cutter::start(
                service.terminator(),
                proxy.clone(),
                *rate,
                seed,
            )),
            _ => None,
        };
        let outages = match injection {
            Injection::OutageS(seconds) => Some(Outages::new(*seconds, seed)),
            _ => None,
        };
        Ok(Some(Injector {
            proxy,
            cutter,
            outages,
            loses_answers: lost_part > 0.0,
        }))
    }

    /// Creates an injector that injects no faults and only counts the traffic.
    pub fn watch(service: &Service, kind: TargetKind) -> SubjectResult<Injector> {
        Ok(Injector {
            proxy: proxy(service, kind, |_| false)?,
            cutter: None,
            outages: None,
            loses_answers: false,
        })
    }

    /// Returns the number of round trips between subject and server so far.
    pub fn round_trips(&self) -> u64 {
        self.proxy.round_trips()
    }

    /// Returns the port that the subject must connect to.
    pub fn port(&self) -> u16 {
        self.proxy.port()
    }

    /// Sets whether the subject is at work. Connections are terminated only while it is at work.
    pub fn set_at_work(&self, is_at_work: bool) {
        if let Some(cutter) = &self.cutter {
            cutter.set_at_work(is_at_work);
        }
    }

    /// Returns true if measured batches have an outage.
    pub fn has_outages(&self) -> bool {
        self.outages.is_some()
    }

    /// Causes an outage during a batch of about `turn` length that the subject is running.
    pub fn interrupt(
        &self,
        server: &dyn Stoppable,
        process: &mut SubjectProcess,
        turn: Duration,
    ) -> SubjectResult<Recovery> {
        match &self.outages {
            Some(outages) => {
                let dependency = ProxiedServer(server, &self.proxy);
                outages.make(&dependency, process, turn)
            }
            None => Ok(Recovery::default()),
        }
    }

    /// Checks the injector after a batch. Returns a fault if faults could not be injected.
    pub fn check_work(&self) -> SubjectResult<()> {
        if let Some(reason) = self.cutter.as_ref().and_then(Cutter::failure) {
            return Err(Fault::injection(format!(
                "cannot terminate connections: {reason}"
            )));
        }
        if self.loses_answers && self.proxy.commits() == 0 {
            return Err(Fault::injection(
                "it sends no visible COMMIT, so no response can be dropped: connect without TLS, \
                 and send COMMIT as a statement",
            ));
        }
        Ok(())
    }
}

fn proxy(
    service: &Service,
    kind: TargetKind,
    loses: impl Fn(u64) -> bool + Send + Sync + 'static,
) -> SubjectResult<Arc<Proxy>> {
    let endpoint = service.endpoint();
    let endpoint = endpoint.ok_or_else(|| Fault::injection("the server has no TCP port"))?;
    let proxy = Proxy::start(endpoint, Commits::of(kind), loses);
    Ok(Arc::new(proxy.map_err(|e| {
        Fault::injection(format!("cannot start the proxy: {e}"))
    })?))
}

/// A server, and the proxy between it and the subject.
struct ProxiedServer<'a>(&'a dyn Stoppable, &'a Proxy);

impl Dependency for ProxiedServer<'_> {
    fn take_away(&self) -> SubjectResult<()> {
        self.0.kill()?;
        self.1.await_first_commit();
        Ok(())
    }

    fn bring_back(&self) -> SubjectResult<Instant> {
        self.0.start_again()?;
        Ok(Instant::now())
    }

    fn first_commit(&self) -> SubjectResult<Option<FirstCommit>> {
        Ok(self.1.first_commit())
    }

    fn requests(&self) -> Option<u64> {
        Some(self.1.requests())
    }
}
