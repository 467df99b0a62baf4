// SPDX-License-Identifier: Apache-2.0
//! The process between a coordinator and an agent's container: it makes the Job, waits for its pod, and becomes the client
//! that is attached to the container.

use super::super::receive_within;
use super::kubectl::{self, Name};
use super::manifest::{self, USUAL};
use super::pod::{Stage, stage};
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

/// Seconds that a container waits for the program: its coordinator may be gone before anything is attached to it.
const PATIENCE_S: u32 = 300;

/// Before pods are asked for again.
const AGAIN: Duration = Duration::from_secs(1);

/// Between two looks whether the coordinator is there.
const LOOK: Duration = Duration::from_millis(100);

/// Makes a Job of this name for an agent whose program has so many bytes, and becomes its client. Returns why it cannot;
/// then the Job is deleted.
pub fn connect(job: &str, bytes: usize, manifest: Option<&Path>) -> String {
    let (name, container) = match make(job, bytes, manifest) {
        Ok(made) => made,
        Err(why) => return why,
    };
    let why = match wait_for_pod(&name, &container) {
        Ok(pod) => format!("kubectl: {}", name.attach(&pod, &container).exec()),
        Err(why) => why,
    };
    // What it says is the reader's only hint that something is left.
    let _ = name.delete().status();
    why
}

/// Becomes the client that ends a Job that was made so. Returns why it cannot.
pub fn delete(job: &str, manifest: Option<&Path>) -> String {
    match read(manifest) {
        Ok(object) => format!("kubectl: {}", named(job, &object).delete().exec()),
        Err(why) => why,
    }
}

/// A manifest as an object, of which the client tells the namespace too.
fn read(manifest: Option<&Path>) -> Result<Value, String> {
    let text = match manifest {
        None => USUAL.to_owned(),
        Some(path) => {
            let text = std::fs::read_to_string(path);
            text.map_err(|e| format!("{}: {e}", path.display()))?
        }
    };
    // What is wrong in it the cluster says when the Job is made.
    kubectl::create(&text, &["--dry-run=client", "--validate=false"])
}

fn named(job: &str, object: &Value) -> Name {
    let namespace = object["metadata"]["namespace"].as_str();
    Name {
        namespace: namespace.unwrap_or_default().into(),
        job: job.into(),
    }
}

/// Makes the Job: its name, and that of the agent's container.
fn make(job: &str, bytes: usize, manifest: Option<&Path>) -> Result<(Name, String), String> {
    interrupt::watch().map_err(|e| e.to_string())?;
    let object = read(manifest)?;
    let name = named(job, &object);
    let script = receive_within(PATIENCE_S, bytes);
    let job = manifest::job(object, job, &["sh", "-c", &script])?;
    kubectl::create(&job.object.to_string(), &[])?;
    Ok((name, job.container))
}

/// The name of the Job's pod once its container runs. Error: it never will, or nobody waits for it any more.
fn wait_for_pod(job: &Name, container: &str) -> Result<String, String> {
    let mut said = String::new();
    loop {
        let (_following, pods) = Following::start(job).map_err(|e| format!("kubectl: {e}"))?;
        loop {
            if is_over() {
                return Err("stopped".into());
            }
            let pod = match pods.recv_timeout(LOOK) {
                Ok(pod) => pod,
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            match stage(&pod, container) {
                Stage::Failed(why) => return Err(why),
                Stage::Waits(why) if why == said => {}
                Stage::Waits(why) => {
                    // A coordinator that is gone reads it no more: `eprintln` would panic, and the Job would stay.
                    let _ = writeln!(io::stderr(), "{why}");
                    said = why;
                }
                Stage::Runs => {
                    let name = pod["metadata"]["name"].as_str();
                    return name.map(str::to_owned).ok_or("a pod without a name".into());
                }
            }
        }
        thread::sleep(AGAIN);
    }
}

/// Whether the coordinator is gone, or wants this process to end.
fn is_over() -> bool {
    let stdin = io::stdin();
    // Only whether it hangs up is asked for: what comes is the agent's.
    let mut ends = [PollFd::new(stdin.as_fd(), PollFlags::empty())];
    let polled = poll(&mut ends, PollTimeout::ZERO);
    interrupt::requested() || polled.is_ok_and(|n| n > 0)
}

/// A client that follows a Job's pods; it ends with this.
struct Following(Child);

impl Following {
    fn start(job: &Name) -> io::Result<(Following, Receiver<Value>)> {
        let mut child = job.watch_pods().stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take();
        let following = Following(child);
        let stdout = stdout.ok_or_else(|| io::Error::other("it has no output"))?;
        let (sender, pods) = channel();
        thread::spawn(move || {
            let pods = serde_json::Deserializer::from_reader(BufReader::new(stdout));
            // Whatever ends the stream, it is asked for again.
            let pods = pods.into_iter::<Value>().map_while(Result::ok);
            for pod in pods {
                if sender.send(pod).is_err() {
                    return;
                }
            }
        });
        Ok((following, pods))
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        // One that has ended needs no more.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
