// SPDX-License-Identifier: Apache-2.0
//! Runs `kubectl`, Kubernetes' own client.

use serde_json::Value;
use std::io::Write;
use std::process::{Command, Stdio};

/// The environment variable with the command to use instead of `kubectl`, such as
/// `kubectl --context lab --namespace perf`.
const WORDS: &str = "BENCHLAB_KUBECTL";

fn command() -> Command {
    super::super::client(WORDS, "kubectl")
}

/// Creates an API object from its text, and returns the object. The options `words` determine
/// whether the object is created only on the client or in the cluster. The error is the client's
/// message.
pub fn create(text: &str, words: &[&str]) -> Result<Value, String> {
    let mut command = command();
    command.args(["create", "--filename=-", "--output=json"]);
    command.args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command.stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|e| format!("kubectl: {e}"))?;
    if let Some(mut stdin) = child.stdin.take() {
        // If the client does not read its input, its standard error contains the reason.
        let _ = stdin.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        serde_json::from_slice(&output.stdout).map_err(|e| format!("kubectl: {e}"))
    } else {
        Err(message(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// Returns the client's message without log lines. If there is no other line, returns the log
/// lines.
///
/// A log line begins with a letter and the date.
fn message(stderr: &str) -> String {
    let is_logged = |line: &&str| {
        let mut start = line.chars();
        let has_level = start.next().is_some_and(|level| "IWEF".contains(level));
        has_level && start.take(4).filter(char::is_ascii_digit).count() == 4
    };
    let text = stderr.trim();
    let lines: Vec<&str> = text.lines().filter(|line| !is_logged(line)).collect();
    match lines.join("\n").trim() {
        "" => format!("kubectl: {text}"),
        message => format!("kubectl: {message}"),
    }
}

/// A Job in its namespace.
#[derive(Clone, Debug)]
pub struct Name {
    /// The namespace. Empty for the namespace of the client's context.
    pub namespace: String,
    /// The name of the Job.
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

    /// Returns a command that watches the Job's pods. It prints a pod as JSON whenever the pod
    /// changes.
    pub fn watch_pods(&self) -> Command {
        let mut command = self.command();
        let selector = format!("--selector=job-name={}", self.job);
        command.args(["get", "pods", &selector, "--watch", "--output=json"]);
        command.stdin(Stdio::null());
        command
    }

    /// Returns a command that attaches its standard input and output to a container in a pod of the
    /// Job.
    pub fn attach(&self, pod: &str, container: &str) -> Command {
        let mut command = self.command();
        let container = format!("--container={container}");
        command.args(["attach", "--stdin", &container, pod]);
        command
    }

    /// Returns a command that deletes the Job and its pod.
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
    fn the_clients_log_is_not_its_message() {
        let stderr = "E1126 17:46:26.632489   15251 memcache.go:265] \"Unhandled Error\"\n\
                    error: no cluster is there\nEither way\n";
        assert_eq!(
            message(stderr),
            "kubectl: error: no cluster is there\nEither way"
        );
        let all = "F1126 17:46:26.632489   15251 main.go:1] no configuration\n";
        assert_eq!(message(all), format!("kubectl: {}", all.trim()));
    }
}
