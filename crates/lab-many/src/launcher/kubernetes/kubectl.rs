// SPDX-License-Identifier: Apache-2.0
//! Kubernetes' own client.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// The words that call it, if not `kubectl` alone: such as `kubectl --context lab --namespace perf`.
const WORDS: &str = "BENCHLAB_KUBECTL";

fn command() -> Command {
    super::super::client(WORDS, "kubectl")
}

/// Makes an object of its text, here alone or in the cluster: the object. Error: what the client says.
pub fn create(text: &str, words: &[&str]) -> Result<Value, String> {
    let mut command = command();
    command.args(["create", "--filename=-", "--output=json"]);
    command.args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("kubectl: {e}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // One that reads nothing says why.
        let _ = stdin.write_all(text.as_bytes());
    }
    let ended = child.wait_with_output().map_err(|e| e.to_string())?;
    if ended.status.success() {
        serde_json::from_slice(&ended.stdout).map_err(|e| format!("kubectl: {e}"))
    } else {
        Err(why(&String::from_utf8_lossy(&ended.stderr)))
    }
}

/// What the client says, without its own log, if that is not all. Each line of the log has the time, and a letter and
/// the date before it.
fn why(said: &str) -> String {
    let is_logged = |line: &&str| {
        let mut start = line.chars();
        let has_level = start.next().is_some_and(|level| "IWEF".contains(level));
        has_level && start.take(4).filter(char::is_ascii_digit).count() == 4
    };
    let all = said.trim();
    let lines: Vec<&str> = all.lines().filter(|line| !is_logged(line)).collect();
    match lines.join("\n").trim() {
        "" => format!("kubectl: {all}"),
        why => format!("kubectl: {why}"),
    }
}

/// A Job in its namespace.
#[derive(Clone, Debug)]
pub struct Name {
    /// Empty: that of the client's context.
    pub namespace: String,
    /// Its own.
    pub job: String,
}

impl Name {
    fn command(&self) -> Command {
        let mut command = command();
        if !self.namespace.is_empty() {
            command.arg(format!("--namespace={}", self.namespace));
        }
        command
    }

    /// Follows the Job's pods: prints each as JSON whenever it changes.
    pub fn watch_pods(&self) -> Command {
        let mut command = self.command();
        let selector = format!("--selector=job-name={}", self.job);
        command.args(["get", "pods", &selector, "--watch", "--output=json"]);
        command.stdin(Stdio::null());
        command
    }

    /// Connects standard input and output to a container's of one of its pods.
    pub fn attach(&self, pod: &str, container: &str) -> Command {
        let mut command = self.command();
        let container = format!("--container={container}");
        command.args(["attach", "--stdin", &container, pod]);
        command
    }

    /// Ends the Job, with its pod and whatever that does.
    pub fn delete(&self) -> Command {
        let mut command = self.command();
        command.args(["delete", "job", &self.job, "--now", "--wait=false"]);
        command.arg("--ignore-not-found");
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clients_log_is_not_what_it_says() {
        let said = "E1126 17:46:26.632489   15251 memcache.go:265] \"Unhandled Error\"\n\
                    error: no cluster is there\nEither way\n";
        assert_eq!(why(said), "kubectl: error: no cluster is there\nEither way");
        let all = "F1126 17:46:26.632489   15251 main.go:1] no configuration\n";
        assert_eq!(why(all), format!("kubectl: {}", all.trim()));
    }
}
