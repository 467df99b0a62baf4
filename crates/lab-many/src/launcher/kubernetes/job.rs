// SPDX-License-Identifier: Apache-2.0
//! The process between a coordinator and an agent's container. It creates the Job and waits for the
//! Job's pod. Then it replaces itself (exec) with kubectl, which attaches to the container.

use super::super::receive_within;
use super::kubectl::{self, Name};
use super::manifest::{self, DEFAULT};
use super::pod::{PodStage, stage};
use lab_bench::interrupt;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::Value;
use std::io::{self, BufReader, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// The time for which a container waits for the program, in seconds.
///
/// The wait has a timeout because the coordinator may exit before kubectl is attached.
const TIMEOUT_S: u32 = 300;

/// The delay before pods are listed again.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// The interval between two checks that the coordinator is still running.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Creates the Job `job` for an agent, and replaces this process (exec) with kubectl, which
/// attaches to the agent's container.
///
/// `bytes` is the size of the agent's program. Returns only on failure. In this case, the Job has
/// been deleted, and the result is the reason.
pub fn connect(job: &str, bytes: usize, manifest: Option<&Path>) -> String {
    let (name, container) = match create(job, bytes, manifest) {
        Ok(created) => created,
        Err(message) => return message,
    };
    let message = match wait_for_pod(&name, &container) {
        Ok(pod) => format!("kubectl: {}", name.attach(&pod, &container).exec()),
        Err(message) => message,
    };
    // If the Job cannot be deleted, the user learns this only from the client's standard error.
    let _ = name.delete().status();
    message
}

/// Replaces this process (exec) with kubectl, which deletes a Job created by [`connect`].
///
/// Returns only on failure, with the reason.
pub fn delete(job: &str, manifest: Option<&Path>) -> String {
    match read(manifest) {
        Ok(object) => format!("kubectl: {}", job_name(job, &object).delete().exec()),
        Err(message) => message,
    }
}

/// Reads a manifest as an API object.
///
/// The object includes the namespace that kubectl adds.
fn read(manifest: Option<&Path>) -> Result<Value, String> {
    let text = match manifest {
        None => DEFAULT.to_owned(),
        Some(path) => {
            let text = std::fs::read_to_string(path);
            text.map_err(|e| format!("{}: {e}", path.display()))?
        }
    };
    // The cluster validates the manifest when the Job is created.
    kubectl::create(&text, &["--dry-run=client", "--validate=false"])
}

fn job_name(job: &str, object: &Value) -> Name {
    let namespace = object["metadata"]["namespace"].as_str();
    Name {
        namespace: namespace.unwrap_or_default().into(),
        job: job.into(),
    }
}

/// Creates the Job. Returns the Job's name and the name of the agent's container.
fn create(job: &str, bytes: usize, manifest: Option<&Path>) -> Result<(Name, String), String> {
    interrupt::watch().map_err(|e| e.to_string())?;
    let object = read(manifest)?;
    let name = job_name(job, &object);
    let script = receive_within(TIMEOUT_S, bytes);
    let job = manifest::job(object, job, &["sh", "-c", &script])?;
    kubectl::create(&job.object.to_string(), &[])?;
    Ok((name, job.container))
}

/// Waits until the container in the Job's pod is running, and returns the name of the pod.
///
/// Returns an error if the container will never run, or if the coordinator has exited.
fn wait_for_pod(job: &Name, container: &str) -> Result<String, String> {
    let mut reported = String::new();
    loop {
        let (_watch, pods) = PodWatch::start(job).map_err(|e| format!("kubectl: {e}"))?;
        loop {
            if is_over() {
                return Err("stopped".into());
            }
            let pod = match pods.recv_timeout(POLL_INTERVAL) {
                Ok(pod) => pod,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match stage(&pod, container) {
                PodStage::Failed(message) => return Err(message),
                PodStage::Waits(message) if message == reported => {}
                PodStage::Waits(message) => {
                    // If the coordinator has exited, `eprintln` would panic and the Job would stay.
                    let _ = writeln!(io::stderr(), "{message}");
                    reported = message;
                }
                PodStage::Runs => {
                    let name = pod["metadata"]["name"].as_str();
                    return name.map(str::to_owned).ok_or("a pod without a name".into());
                }
            }
        }
        thread::sleep(RETRY_AFTER);
    }
}

/// Returns true if the coordinator has exited or wants this process to exit.
fn is_over() -> bool {
    let stdin = io::stdin();
    // Waits only for a hang-up, because the input belongs to the agent.
    let mut ends = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    let polled = poll(&mut ends, PollTimeout::ZERO);
    interrupt::requested() || polled.is_ok_and(|n| n > 0)
}

/// A kubectl process that watches a Job's pods. Dropping this value ends the process.
struct PodWatch(Child);

impl PodWatch {
    fn start(job: &Name) -> io::Result<(PodWatch, Receiver<Value>)> {
        let mut child = job.watch_pods().stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take();
        let watch = PodWatch(child);
        let stdout = stdout.ok_or_else(|| io::Error::other("kubectl has no output"))?;
        let (sender, pods) = channel();
        thread::spawn(move || {
            let pods = serde_json::Deserializer::from_reader(BufReader::new(stdout));
            // The stream is restarted, no matter why it ended.
            let pods = pods.into_iter::<Value>().map_while(Result::ok);
            for pod in pods {
                if sender.send(pod).is_err() {
                    return;
                }
            }
        });
        Ok((watch, pods))
    }
}

impl Drop for PodWatch {
    fn drop(&mut self) {
        // It is not an error if the process has already exited.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
