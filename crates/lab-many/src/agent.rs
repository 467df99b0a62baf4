// SPDX-License-Identifier: Apache-2.0
//! The agent's side of the connection. The agent introduces itself, responds to clock requests, and
//! exits when its coordinator has exited.

use crate::clock::ClockReading;
use crate::message::{Hello, ToAgent, ToCoordinator};
use crate::{program, wire};
use lab_bench::interrupt;
use nix::unistd::{Pid, dup2_stdout, gethostname};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The time for which work may continue after the coordinator has exited, in ms.
///
/// After that time, the process exits.
static GRACE_MS: AtomicU64 = AtomicU64::new(2_000);

/// The interval between two heartbeats of an agent or its coordinator.
pub const BEAT: Duration = Duration::from_secs(1);

/// True once the coordinator has closed the connection or has no more work.
static OVER: AtomicBool = AtomicBool::new(false);

/// The number of the current work, as assigned by the coordinator.
static CURRENT: AtomicU64 = AtomicU64::new(u64::MAX);
/// The number of the last work that must stop immediately.
static STOPPED: AtomicU64 = AtomicU64::new(0);

/// Returns true if the current work has to stop immediately.
pub fn is_stopped() -> bool {
    OVER.load(SeqCst) || CURRENT.load(SeqCst) <= STOPPED.load(SeqCst)
}

/// Sets the time for which work may continue after the coordinator has exited.
pub fn end_within(time: Duration) {
    GRACE_MS.store(time.as_millis() as u64, SeqCst);
}

/// Sets the number of the current work, counted from 1.
pub fn begin_work(number: u64) {
    CURRENT.store(number, SeqCst);
}

/// The options for starting an agent.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// True if the agent sends its program's hash.
    pub hash: bool,
    /// True if the program was copied for the agent and must be deleted.
    pub copied: bool,
}

/// The connection to the coordinator.
pub struct Coordinator {
    out: Arc<Mutex<File>>,
    work: Receiver<(Value, Vec<u8>)>,
}

impl Coordinator {
    /// Connects to the coordinator over standard input and output. From then on, nothing else may
    /// write to standard output.
    ///
    /// Returns an error if there is no coordinator at the other end.
    pub fn connect(start: Start) -> Result<Coordinator, String> {
        let message = |e: io::Error| e.to_string();
        let out = io::stdout().as_fd().try_clone_to_owned().map_err(message)?;
        // Output of the work becomes a line of the log.
        dup2_stdout(io::stderr()).map_err(|e| e.to_string())?;
        let mut out = File::from(out);
        let sha256 = start.hash.then(program::own_sha256).transpose();
        let sha256 = sha256.map_err(message)?;
        if start.copied {
            program::remove_own().map_err(|e| format!("cannot delete the copied program: {e}"))?;
        }
        let machine = gethostname().map_err(|e| e.to_string())?;
        let hello = Hello {
            version: program::VERSION.into(),
            sha256,
            pid: Pid::this().as_raw(),
            machine: machine.to_string_lossy().into_owned(),
            machine_id: machine_id(),
        };
        io::Write::write_all(&mut out, wire::MAGIC).map_err(message)?;
        wire::write(&mut out, &ToCoordinator::Hello(hello), &[]).map_err(message)?;
        let mut input = BufReader::new(io::stdin());
        let welcome = wire::read(&mut input).map_err(message)?;
        let Some((ToAgent::Welcome { limits, silence_ns }, _)) = welcome else {
            return Err("`--on` starts agents: do not run this command yourself".into());
        };
        limits.apply().map_err(|e| e.to_string())?;
        // Work that waits for a subject has to notice that the coordinator has exited.
        interrupt::accept_requests().map_err(message)?;
        let out = Arc::new(Mutex::new(out));
        let (sender, work) = channel();
        let listener = Listener {
            out: out.clone(),
            began: Instant::now(),
            last_message_ns: AtomicU64::new(0),
        };
        let listener = Arc::new(listener);
        let beating = listener.clone();
        thread::spawn(move || beating.beat(silence_ns));
        thread::spawn(move || listener.listen(input, &sender));
        Ok(Coordinator { out, work })
    }

    /// Waits for the next work.
    ///
    /// Returns `None` if there is no more work. Returns an error if the message cannot be parsed.
    pub fn next<T: DeserializeOwned>(&self) -> Result<Option<(T, Vec<u8>)>, String> {
        match self.work.recv() {
            Err(_) => Ok(None),
            Ok((head, body)) => match serde_json::from_value(head) {
                Ok(work) => Ok(Some((work, body))),
                Err(e) => Err(format!("cannot parse the coordinator's message: {e}")),
            },
        }
    }

    /// Sends a result to the coordinator. Returns an error if the coordinator is unreachable.
    pub fn report(&self, head: &impl Serialize, body: &[u8]) -> Result<(), String> {
        let head = serde_json::to_value(head).map_err(|e| e.to_string())?;
        let sent = send(&self.out, &ToCoordinator::Work(head), body);
        sent.map_err(|e| e.to_string())
    }

    /// Reports that the work cannot be done.
    pub fn fail(&self, reason: String) -> Result<(), String> {
        let sent = send(&self.out, &ToCoordinator::Failed(reason), &[]);
        sent.map_err(|e| e.to_string())
    }
}

/// Returns an ID of this machine.
///
/// The ID is a hash of the kernel's boot_id (proc(5)), which all containers on the machine share.
/// If there is no boot_id, the ID is a hash of machine-id(5), which must not be published unhashed.
pub fn machine_id() -> Option<String> {
    let paths = ["/proc/sys/kernel/random/boot_id", "/etc/machine-id"];
    let mut ids = paths.iter().filter_map(|path| std::fs::read(path).ok());
    let id = ids.find(|id| !id.trim_ascii().is_empty())?;
    Some(program::sha256(&id)[..16].to_owned())
}

fn send(out: &Mutex<File>, message: &ToCoordinator, body: &[u8]) -> io::Result<()> {
    let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
    wire::write(&mut *out, message, body)
}

/// A receiver of messages from the coordinator.
struct Listener {
    out: Arc<Mutex<File>>,
    began: Instant,
    /// The time of the last message, in ns since `began`.
    last_message_ns: AtomicU64,
}

impl Listener {
    /// Handles messages until the connection ends. Then requests that the current work stop.
    fn listen(&self, mut input: impl io::Read, work: &Sender<(Value, Vec<u8>)>) {
        while let Ok(Some((message, body))) = wire::read(&mut input) {
            let received = ClockReading::now();
            self.last_message_ns.store(self.now_ns(), SeqCst);
            let can_go_on = match message {
                ToAgent::Welcome { .. } | ToAgent::Beat => true,
                ToAgent::Clock { number } => self.tell_time(number, received).is_ok(),
                ToAgent::Work(head) => work.send((head, body)).is_ok(),
                ToAgent::Stop { number } => {
                    STOPPED.fetch_max(number, SeqCst);
                    true
                }
                ToAgent::End => break,
            };
            if !can_go_on {
                break;
            }
        }
        OVER.store(true, SeqCst);
        interrupt::request();
    }

    fn tell_time(&self, number: u64, received: ClockReading) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = ClockReading::now();
        let reply = ToCoordinator::Clock {
            number,
            received,
            answered,
        };
        wire::write(&mut *out, &reply, &[])
    }

    /// Sends heartbeats.
    ///
    /// Ends the process if the coordinator has been silent for too long, or if the coordinator has
    /// exited and the work does not stop.
    fn beat(&self, silence_ns: u64) {
        let mut unreachable_for = Duration::ZERO;
        let step = BEAT / 10;
        for beat in 0_u64.. {
            thread::sleep(step);
            if OVER.load(SeqCst) {
                unreachable_for += step;
            }
            let silent_ns = self
                .now_ns()
                .saturating_sub(self.last_message_ns.load(SeqCst));
            let grace = Duration::from_millis(GRACE_MS.load(SeqCst));
            if unreachable_for >= grace || silent_ns > silence_ns {
                std::process::exit(1);
            }
            if beat % 10 == 0 && !OVER.load(SeqCst) {
                // The other thread notices when the connection has ended.
                let _ = send(&self.out, &ToCoordinator::Beat, &[]);
            }
        }
    }

    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }
}
