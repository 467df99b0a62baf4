// SPDX-License-Identifier: Apache-2.0
//! A server as a subject: its process, its address, and the load on it.

use super::files::ServedFiles;
use super::proof::{Proven, prove};
use crate::host::interrupt;
use crate::host::sys;
use crate::servers::usage::{Usage, Watch};
use crate::subject::dialog::connection_lost;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::process::SubjectProcess;
use crate::subject::protocol::Reply;
use lab_host::procfs;
use lab_load::{
    Engine, Expect, LoadJob, LoadUrl, Request, Requests, SliceRecord, Statuses, Tls, Trust, method,
};
use lab_model::{Arrivals, Example, Metric, Plan, PointId, Protocol, Serving, Stage, SubjectId};
use nix::unistd::Pid;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// The minimum CPU usage at which a server without requests counts as busy, as a fraction of a
/// core.
const BUSY: f64 = 0.2;

/// The interval between checks of whether a server has become idle after its turn. The server may
/// still be closing connections.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(1);
const MAX_IDLE_CHECKS: usize = 10;

/// The divisor for the length of the lead-in. Before a turn, the server is loaded for 1 / `LEAD_IN`
/// of the turn's length, and this load is not recorded.
pub const LEAD_IN: u32 = 10;

/// The parameters for starting servers.
pub struct ServerSetup<'a> {
    /// The plan whose servers are started.
    pub plan: &'a Plan,
    /// The plan's settings for servers.
    pub serving: &'a Serving,
    /// The project's directory.
    pub folder: &'a Path,
    /// The directory for the servers' temporary files.
    pub temporary: PathBuf,
    /// The files to serve.
    pub files: ServedFiles,
}

/// A server that was started, with the connection data that the load needs.
pub struct RunningServer {
    /// The server's process.
    pub process: SubjectProcess,
    address: SocketAddr,
    tls: Option<Tls>,
    watch: Watch,
    /// The IDs of the serving processes, if the subject's own process does not serve.
    served_by: Vec<Pid>,
}

impl ServerSetup<'_> {
    /// Starts a server on the given cores. Returns the server and its reply.
    pub fn start(
        &self,
        subject: SubjectId,
        cores: &[usize],
    ) -> SubjectResult<(RunningServer, Reply)> {
        let limit = Duration::from_nanos(self.plan.measure.time_limit_ns);
        let subject = &self.plan.subjects[subject];
        let mut process = SubjectProcess::start(subject, self.folder, &self.temporary, limit)?;
        let opened = self
            .open(&mut process, cores)
            .map_err(|f| f.with_log(&process))?;
        let served_by = served_by(&opened, process.pid())?;
        let (address, tls) = listening_address(&opened)?;
        let server = RunningServer {
            address,
            tls,
            watch: match served_by.as_slice() {
                [] => Watch::new(process.pid().as_raw()),
                pids => Watch::start_all(pids),
            },
            served_by,
            process,
        };
        Ok((server, opened))
    }

    fn open(&self, process: &mut SubjectProcess, cores: &[usize]) -> SubjectResult<Reply> {
        process.keep_all_on(cores)?;
        let files = self.files.folder().to_string_lossy();
        let (workers, seed) = (self.serving.workers.to_string(), self.plan.seed.to_string());
        process.open([
            ("case", "serve"),
            ("workers", workers.as_str()),
            ("files", &files),
            ("seed", &seed),
        ])
    }

    /// Verifies that the server responds correctly to all requests that it must support.
    pub fn prove(&self, server: &RunningServer) -> SubjectResult<Proven> {
        let proven = prove(
            server.address,
            server.tls.as_ref(),
            self.plan,
            self.serving,
            &self.files,
        );
        if interrupt::requested() {
            return Err(Fault::Interrupted);
        }
        proven.map_err(|failure| {
            let transcript = failure.transcript.join("\n");
            Fault::Failed("proof", format!("{}\n{transcript}", failure.reason))
        })
    }

    /// Creates a load generator for a server at a point, with open connections.
    ///
    /// `proven` contains the expected responses. `rate` is the number of requests per second in an
    /// open loop. The arrival times depend on the block.
    pub fn generator(
        &self,
        server: &RunningServer,
        point: PointId,
        proven: &Proven,
        rate: Option<f64>,
        block: u32,
    ) -> SubjectResult<Engine> {
        begin(self.job(server, point, proven, rate)?.of_block(block))
    }

    /// Creates a load generator like [`ServerSetup::generator`], but with a single connection in a
    /// closed loop.
    pub fn lone_connection(
        &self,
        server: &RunningServer,
        point: PointId,
        proven: &Proven,
    ) -> SubjectResult<Engine> {
        begin(LoadJob {
            connections: 1,
            threads: 1,
            ..self.job(server, point, proven, None)?
        })
    }

    fn job(
        &self,
        server: &RunningServer,
        point: PointId,
        proven: &Proven,
        rate: Option<f64>,
    ) -> SubjectResult<LoadJob> {
        let load = self.plan.load().expect("a plan with servers has a load");
        let failed = |message: String| Fault::Failed("load", message);
        let example = self.plan.example(point);
        let example = &example.ok_or_else(|| failed("the case has no request".into()))?;
        let (keep_alive, connections) =
            (self.plan.keeps_alive(point), self.plan.connections(point));
        let body = proven.body(example).to_vec();
        let job_fault = |e: lab_load::JobError| failed(e.to_string());
        let request = request(server, example).map_err(job_fault)?;
        let status = Statuses::parse(&example.status.to_string()).map_err(job_fault)?;
        Ok(LoadJob {
            address: server.address,
            tls: server.tls.clone(),
            requests: Requests::new(&[request], keep_alive, self.plan.seed)
                .map_err(job_fault)?
                .into(),
            expect: Arc::new(Expect::new(status, Some(body), Vec::new())),
            connections,
            threads: (load.threads as usize).min(connections),
            protocol: load.protocol,
            keep_alive,
            pipeline: load.pipeline as usize,
            arrivals: rate.map_or(Arrivals::Closed, |rate| {
                arrivals(rate, self.plan.turn_ns(point))
            }),
            tick_ns: load.tick_ns(),
            timeout: Duration::from_nanos(load.timeout_ns),
            seed: self.plan.seed,
        })
    }
}

impl RunningServer {
    /// Reads the usage of the server's processes.
    pub fn read(&mut self) -> SubjectResult<Usage> {
        self.watch.read().map_err(|_| {
            let fault = Fault::Failed("crash", "the server exited while serving".into());
            fault.with_log(&self.process)
        })
    }

    /// Returns the serving processes with their descendants.
    pub fn processes(&self) -> Vec<Pid> {
        let subject = [self.process.pid()];
        let mains = match self.served_by.as_slice() {
            [] => subject.as_slice(),
            others => others,
        };
        mains
            .iter()
            .flat_map(|pid| procfs::with_descendants(*pid))
            .collect()
    }

    /// Pins the server's processes to the given cores.
    pub fn keep_on(&self, cores: &[usize]) -> SubjectResult<()> {
        self.process.keep_all_on(cores)?;
        let others = self.served_by.iter();
        for process in others.flat_map(|pid| procfs::with_descendants(*pid)) {
            // A process that has just exited needs no core.
            let _ = sys::pin_all(process, cores);
        }
        Ok(())
    }

    /// Lets the server's processes use all cores.
    pub fn free(&self) -> SubjectResult<()> {
        self.process.free()?;
        let cores = lab_host::allowed_cores().map_err(connection_lost)?;
        self.keep_on(&cores)
    }

    /// Returns true if, without receiving requests, the server uses a core or waits for a free
    /// core. It may be collecting garbage or compiling.
    ///
    /// Observes the server for `length`.
    pub fn is_busy(&mut self, length: Duration) -> SubjectResult<bool> {
        let before = self.read()?.cpu_ns;
        thread::sleep(length);
        let used_ns = self.read()?.cpu_ns.saturating_sub(before);
        let has_computed = used_ns as f64 > BUSY * length.as_nanos() as f64;
        let mut all = std::iter::once(self.process.pid()).chain(self.served_by.iter().copied());
        Ok(has_computed || all.any(procfs::is_runnable))
    }

    /// Ends the server's turn. If the server stays busy, freezes it so that it does not disturb
    /// other turns.
    ///
    /// An idle server is not frozen. When it wakes, all of its threads would compete for the next
    /// connection, which costs more than in normal use.
    pub fn rest(&mut self) -> SubjectResult<()> {
        for _ in 0..MAX_IDLE_CHECKS {
            if !self.is_busy(IDLE_CHECK_INTERVAL)? {
                return Ok(());
            }
        }
        self.process.freeze()
    }

    /// Applies load for the given time, and returns a record of the load.
    pub fn load(&mut self, engine: &mut Engine, length: Duration) -> SubjectResult<SliceRecord> {
        let mut total = SliceRecord::new();
        let loaded = engine.load(length, length, &mut |record| {
            total.add(record);
            !interrupt::requested()
        });
        loaded.map_err(|e| Fault::Failed("load", e.to_string()))?;
        if interrupt::requested() {
            Err(Fault::Interrupted)
        } else {
            Ok(total)
        }
    }

    /// Tells the server to finish pending work and close the case. Returns the values of the given
    /// metrics.
    pub fn close(&mut self, metrics: &[Metric]) -> SubjectResult<Vec<f64>> {
        self.process.wake()?;
        let closed = self.process.close_with_metrics(metrics);
        closed.map_err(|fault| fault.with_log(&self.process))
    }

    /// Tells the server to exit.
    pub fn quit(self) -> SubjectResult<()> {
        self.process.quit()
    }
}

fn begin(job: LoadJob) -> SubjectResult<Engine> {
    let engine = Engine::start(job).map_err(|e| Fault::Failed("load", e.to_string()));
    let mut engine = engine?;
    engine.stop_when(interrupt::requested);
    Ok(engine)
}

/// Returns the address on which a server listens. With TLS, also returns a configuration that
/// trusts only the certificate reported by the server.
fn listening_address(opened: &Reply) -> SubjectResult<(SocketAddr, Option<Tls>)> {
    let nonsense = |message: String| Fault::Failed("nonsense", message);
    let url = opened.get("url").map_err(nonsense)?;
    let secure = url.starts_with("https://");
    let authority = url
        .strip_prefix(if secure { "https://" } else { "http://" })
        .map(|authority| authority.trim_end_matches('/'));
    let address = authority.and_then(|authority| authority.parse::<SocketAddr>().ok());
    let Some(address) = address.filter(|address| address.ip().is_loopback()) else {
        return Err(nonsense(format!(
            "`url={url}` is neither http://127.0.0.1:PORT nor https://127.0.0.1:PORT: a subject must listen only on this machine"
        )));
    };
    if !secure {
        return Ok((address, None));
    }
    let certificate = opened.get("certificate").map_err(nonsense)?;
    let trust = Trust::File(certificate.into());
    let origin = LoadUrl::parse(&format!("https://{address}/")).map(|link| link.origin);
    let tls = origin.and_then(|origin| Tls::new(&origin, Protocol::Http1, &trust));
    Ok((address, Some(tls.map_err(|e| nonsense(e.to_string()))?)))
}

/// Returns the serving processes that a subject reports. They must be descendants of the subject.
fn served_by(opened: &Reply, subject: Pid) -> SubjectResult<Vec<Pid>> {
    let Ok(named) = opened.get("processes") else {
        return Ok(Vec::new());
    };
    let descendants = procfs::with_descendants(subject);
    let started = |word: &str| {
        let pid = Pid::from_raw(word.parse().ok()?);
        descendants.contains(&pid).then_some(pid)
    };
    let pids: Option<Vec<Pid>> = named.split(',').map(started).collect();
    pids.ok_or_else(|| {
        let message =
            format!("`processes={named}` contains processes that the subject did not start");
        Fault::Failed("nonsense", message)
    })
}

fn request(server: &RunningServer, example: &Example) -> Result<Request, lab_load::JobError> {
    let (scheme, address) = (
        if server.tls.is_some() {
            "https"
        } else {
            "http"
        },
        server.address,
    );
    let link = format!("{scheme}://{address}{}", example.path);
    let mut request = Request::new(LoadUrl::parse(&link)?);
    for header in &example.headers {
        request.headers.push(lab_load::Header::parse(header)?);
    }
    request.method = method(&example.method)?;
    if let Some(body) = &example.body {
        request.body = body.clone().into_bytes().into();
        let typed = lab_load::Header::parse("Content-Type: application/json")?;
        request.headers.push(typed);
    }
    Ok(request)
}

fn arrivals(rate: f64, length_ns: u64) -> Arrivals {
    Arrivals::Open {
        poisson: true,
        stages: vec![Stage {
            from: rate,
            to: rate,
            length_ns,
        }],
    }
}
