// SPDX-License-Identifier: Apache-2.0
//! Launchers of agents. There is one file for each kind of launcher.

pub mod kubernetes;
mod local;
mod netns;
mod slurm;
mod ssh;

use crate::program::LabProgram;
use std::io;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

/// The maximum time for agents to start, including the time to copy the program over a slow
/// network.
const START: Duration = Duration::from_secs(120);

/// A way to start agents at locations.
///
/// An agent communicates over the standard input and output of the command that starts it, so no
/// port is opened. The agent exits when its standard input ends.
pub trait Launcher: Send + Sync {
    /// Returns the launcher's name, such as `local` or `ssh`.
    fn name(&self) -> &'static str;

    /// Returns the names of the locations. Each location gets one agent.
    fn locations(&self) -> &[String];

    /// Returns the ways to start an agent at a location, given by its index. They are tried in
    /// order until an attempt succeeds.
    ///
    /// Returns an error if this program cannot be read.
    fn attempts(&self, location: usize, program: &LabProgram) -> io::Result<Vec<Attempt>>;

    /// Returns the timeout for starting an agent.
    ///
    /// `None` means no timeout, for example because the agent waits in a queue.
    fn timeout(&self) -> Option<Duration> {
        Some(START)
    }

    /// Returns the command that kills the process of an unresponsive agent, or `None` if ending the
    /// start command is sufficient.
    fn kill(&self, _location: usize, _pid: i32) -> Option<Command> {
        None
    }
}

/// A command that may start an agent, and the program to send to it.
pub struct Attempt {
    /// The command. Its standard input and output are connected to the agent.
    pub command: Command,
    /// Bytes to send to the command's standard input before any message.
    pub sends: Option<Arc<[u8]>>,
    /// The SHA-256 that the agent's program must have, or `None` if the agent runs the
    /// coordinator's file.
    pub sha256: Option<String>,
}

/// The command-line arguments of an agent.
const AGENT: [&str; 2] = ["agent", "--hash"];

/// The kinds of launchers that [`parse`] supports.
pub const KINDS: [&str; 5] = ["local", "ssh", "netns", "slurm", "k8s"];

/// Parses a launcher, such as `local:4`, `ssh:gen1,gen2`, `netns:a,b`, `slurm:8`, `k8s:8` or
/// `k8s:8,job.yaml`.
pub fn parse(text: &str) -> Result<Arc<dyn Launcher>, String> {
    let syntax = "WHERE must be local:4, ssh:HOST,HOST, netns:NAME,NAME, slurm:8 or k8s:8";
    let (kind, locations) = text.split_once(':').ok_or(syntax)?;
    match kind {
        "local" => Ok(Arc::new(local::Local::new(number(locations)?))),
        "ssh" => Ok(Arc::new(ssh::Ssh::new(names(locations)?))),
        "netns" => Ok(Arc::new(netns::Netns::new(names(locations)?))),
        "slurm" => Ok(Arc::new(slurm::Slurm::new(number(locations)?))),
        "k8s" => {
            let (agents, manifest) = match locations.split_once(',') {
                Some((agents, manifest)) => (agents, Some(manifest.into())),
                None => (locations, None),
            };
            let agents = number(agents)?;
            Ok(Arc::new(kubernetes::Kubernetes::new(agents, manifest)))
        }
        _ => Err(syntax.into()),
    }
}

/// Makes the path of a manifest in a launcher's text absolute. The text then no longer depends on
/// the current directory. Returns an error if the current directory is missing.
pub fn absolute(text: &str) -> Result<String, String> {
    let Some((agents, manifest)) = text.split_once(',').filter(|_| text.starts_with("k8s:")) else {
        return Ok(text.to_owned());
    };
    let path = std::path::absolute(manifest).map_err(|e| format!("{manifest}: {e}"))?;
    let path = path.to_str();
    let path = path.ok_or_else(|| format!("{manifest}: the directory's name is not UTF-8"))?;
    Ok(format!("{agents},{path}"))
}

/// The maximum number of agents.
const MAX_AGENTS: usize = 10_000;

fn number(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|n| (1..=MAX_AGENTS).contains(n));
    number.ok_or(format!(
        "expected a number of agents from 1 to {MAX_AGENTS} after the colon"
    ))
}

/// Generates a name for each of `agents` locations.
fn locations(kind: &str, agents: usize) -> Vec<String> {
    (1..=agents).map(|n| format!("{kind} {n}")).collect()
}

/// Returns the client command in an environment variable, with its arguments, or else the default
/// client.
fn client(variable: &str, default: &str) -> Command {
    let words = std::env::var(variable).unwrap_or_default();
    let mut words = words.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or(default));
    command.args(words);
    command
}

/// Parses a list of names. Returns pairs of a label and a name.
///
/// If a name is repeated, its label is numbered from the second occurrence, such as `gen1#2`.
fn names(text: &str) -> Result<Vec<(String, String)>, String> {
    let mut pairs: Vec<(String, String)> = Vec::new();
    for name in text.split(',') {
        // A name that begins with a dash would be an option.
        let is_invalid = |c: char| c.is_whitespace() || c.is_control();
        if name.is_empty() || name.starts_with('-') || name.contains(is_invalid) {
            let printable = name.escape_default();
            return Err(format!("`{printable}` is not a valid host name"));
        }
        let before = pairs.iter().filter(|(_, earlier)| earlier == name).count();
        let label = match before {
            0 => name.to_owned(),
            n => format!("{name}#{}", n + 1),
        };
        pairs.push((label, name.to_owned()));
    }
    Ok(pairs)
}

/// Returns a shell script that receives the program on standard input and runs it. The messages to
/// the agent follow the program.
///
/// The program deletes its own file as soon as it runs. The script contains no single quotes, so
/// callers can enclose it in single quotes.
fn receive_and_run(bytes: usize) -> String {
    script(&format!("head -c {bytes}"))
}

/// Returns the script of [`receive_and_run`] with a timeout. The script exits if the program does
/// not arrive within `seconds`.
fn receive_within(seconds: u32, bytes: usize) -> String {
    script(&format!("timeout {seconds} head -c {bytes}"))
}

/// Returns a script that receives the program with the command `receive`, and then runs the
/// program.
///
/// If `receive` has a timeout, GNU's `timeout` exits with status 124, and BusyBox's with 143.
fn script(receive: &str) -> String {
    let agent = AGENT.join(" ");
    format!(
        "umask 077; d=$(mktemp -d) || exit 1; trap \"rm -rf \\\"$d\\\"\" EXIT HUP INT PIPE TERM; \
         {receive} >\"$d/benchlab\" && chmod 700 \"$d/benchlab\" && test -x \"$d/benchlab\" || \
         {{ case $? in 124|143) echo \"the program did not arrive in time\";; \
         *) echo \"cannot copy the program to ${{d%/*}} and run it: set TMPDIR on that host to another directory\";; esac >&2; \
         exit 1; }}; \
         \"$d/benchlab\" {agent} --copied"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::OWN;
    use std::io::Write;
    use std::process::Stdio;

    fn locations(text: &str) -> Result<Vec<String>, String> {
        parse(text).map(|launcher| launcher.locations().to_vec())
    }

    #[test]
    fn locations_are_read() {
        assert_eq!(locations("local:2").unwrap(), ["local 1", "local 2"]);
        assert_eq!(locations("ssh:a,me@b,a").unwrap(), ["a", "me@b", "a#2"]);
        assert_eq!(locations("slurm:1").unwrap(), ["slurm 1"]);
        assert_eq!(locations("k8s:2,job.yaml").unwrap(), ["k8s 1", "k8s 2"]);
        for wrong in [
            "",
            "local",
            "local:0",
            "local:x",
            "ssh:",
            "ssh:a,,b",
            "ssh:-oProxyCommand=x",
            "ssh:a b",
            "k9s:1",
            "k8s:job.yaml",
        ] {
            assert!(locations(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_path_of_a_manifest_becomes_absolute() {
        let manifest = absolute("k8s:2,job.yaml").unwrap();
        let path = manifest.strip_prefix("k8s:2,").unwrap();
        assert!(path.starts_with('/') && path.ends_with("/job.yaml"));
        for same in ["k8s:2", "k8s:2,/a/job.yaml", "ssh:a,b"] {
            assert_eq!(absolute(same).unwrap(), same);
        }
    }

    /// If the connection breaks while the program is sent, the incomplete program does not run.
    #[test]
    fn an_incomplete_program_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let program = std::fs::read(OWN).unwrap();
        let mut child = Command::new("sh")
            .args(["-c", &receive_and_run(program.len())])
            .env("TMPDIR", folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop((child.stdout.take(), child.stderr.take()));
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&program[..64 << 10]).unwrap();
        drop(stdin);
        child.wait().unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_missing_program_is_not_reported_as_a_missing_directory() {
        let mut child = Command::new("sh")
            .args(["-c", &receive_within(1, 5)])
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_eq!(output.stderr, b"the program did not arrive in time\n");
    }

    /// Compares the commands as lists of words, so that the quoting is visible.
    #[test]
    fn only_ssh_starts_an_agent_through_a_shell() {
        let words = |text: &str| {
            let attempts = parse(text).unwrap().attempts(0, &LabProgram::default());
            let attempts = attempts.unwrap().into_iter();
            let words = attempts.map(|a| {
                let words = std::iter::once(a.command.get_program()).chain(a.command.get_args());
                let words = words.map(|w| w.to_string_lossy().into_owned());
                words.collect::<Vec<_>>()
            });
            words.collect::<Vec<_>>()
        };
        assert_eq!(words("local:1"), [["/proc/self/exe", "agent"]]);
        let executable = format!("/proc/{}/exe", std::process::id());
        assert_eq!(
            words("netns:a"),
            [["ip", "netns", "exec", "a", &executable, "agent"]]
        );
        let ssh = words("ssh:gen1");
        assert_eq!(ssh[0][1..6], ["-T", "-o", "BatchMode=yes", "--", "gen1"]);
        assert_eq!(ssh[0].last().unwrap(), "benchlab agent --hash");
        let script = ssh[1].last().unwrap();
        assert_eq!(script.matches('\'').count(), 2, "{script}");
    }
}
