// SPDX-License-Identifier: Apache-2.0
//! `--on slurm:…` on a private cluster: a controller and two node daemons on the loopback interface.

use super::hosts::assert_blocks;
use super::{TestDirectory, assert_added_up};
use crate::closed_port::closed_port;
use crate::load::web::{Behavior, Web};
use crate::project::{blocks_of, outcome, wait_until};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A running Slurm cluster. It stops when this value is dropped.
struct Cluster {
    folder: TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts the cluster.
    ///
    /// If Slurm is missing or this user may not start its daemons, returns `None` and reports this
    /// on standard error.
    fn start() -> Option<Cluster> {
        let programs = [
            "/usr/sbin/munged",
            "/usr/sbin/slurmctld",
            "/usr/sbin/slurmd",
            "/usr/bin/srun",
        ];
        let is_missing = programs.iter().any(|program| !Path::new(program).exists());
        if is_missing || !nix::unistd::geteuid().is_root() {
            eprintln!(
                "Slurm is not tried out: `make setup` installs it, and only root may start its daemons"
            );
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let mut cluster = Cluster {
            folder,
            daemons: Vec::new(),
        };
        fs::write(cluster.at("key"), [7; 128]).unwrap();
        fs::set_permissions(cluster.at("key"), fs::Permissions::from_mode(0o400)).unwrap();
        fs::set_permissions(cluster.folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(cluster.at("slurm.conf"), cluster.configuration()).unwrap();
        let path = |name: &str| cluster.at(name);
        let munge = [
            "--foreground".into(),
            "--force".into(),
            format!("--key-file={}", path("key")),
            format!("--socket={}", path("munge")),
            format!("--pid-file={}", path("munge.pid")),
            format!("--log-file={}", path("munge.log")),
            format!("--seed-file={}", path("munge.seed")),
        ];
        cluster.daemon(programs[0], &munge.each_ref().map(String::as_str));
        wait_until("munge", || Path::new(&cluster.at("munge")).exists());
        cluster.daemon(programs[1], &["-D"]);
        for node in ["n1", "n2"] {
            fs::create_dir(cluster.at(&format!("spool.{node}"))).unwrap();
            cluster.daemon(programs[2], &["-D", "-N", node]);
        }
        wait_until("two idle nodes", || {
            let states = cluster
                .command("sinfo")
                .args(["-h", "-o", "%D %t"])
                .output()
                .unwrap();
            String::from_utf8_lossy(&states.stdout).trim() == "2 idle"
        });
        Some(cluster)
    }

    fn configuration(&self) -> String {
        let machine = nix::unistd::gethostname().unwrap();
        let machine = machine.to_string_lossy();
        let machine = machine.split('.').next().unwrap_or_default();
        let ports: Vec<u16> = (0..3).map(|_| closed_port()).collect();
        let nodes = ["n1", "n2"].iter().zip(&ports[1..]).map(|(node, port)| {
            format!(
                "NodeName={node} NodeHostname={machine} NodeAddr=127.0.0.1 Port={port} CPUs=1\n"
            )
        });
        format!(
            "ClusterName=t\nSlurmctldHost={machine}(127.0.0.1)\nSlurmUser=root\nSlurmctldPort={}\n\
             AuthInfo=socket={}\nStateSaveLocation={}\nSlurmdSpoolDir={}\nSlurmctldPidFile={}\nSlurmdPidFile={}\n\
             ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nSelectType=select/cons_tres\nMpiDefault=none\n\
             SlurmdParameters=config_overrides\n{}PartitionName=p Nodes=n1,n2 Default=YES State=UP\n",
            ports[0],
            self.at("munge"),
            self.at(""),
            self.at("spool.%n"),
            self.at("ctld.pid"),
            self.at("d.%n.pid"),
            nodes.collect::<String>(),
        )
    }

    fn at(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.at("slurm.conf"));
        command
    }

    fn daemon(&mut self, program: &str, words: &[&str]) {
        let mut command = self.command(program);
        command
            .args(words)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.daemons.push(command.spawn().unwrap());
    }

    /// Returns the number of pending and running jobs.
    fn jobs(&self) -> usize {
        let jobs = self.command("squeue").arg("-h").output().unwrap();
        String::from_utf8_lossy(&jobs.stdout).lines().count()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

#[test]
fn each_node_gets_an_agent_and_no_job_remains() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    loads(&cluster);
    blocks_of_an_experiment(&cluster);
    in_an_allocation(&cluster);
    waits_in_the_queue(&cluster);
    killed(&cluster);
}

fn start(cluster: &Cluster, directory: &TestDirectory, words: &[&str]) -> Child {
    let mut command = directory.0.command(words);
    command.env("SLURM_CONF", cluster.at("slurm.conf"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

const LOAD: [&str; 8] = ["load", "--on", "slurm:2", "-c", "4", "--redo", "0", "--for"];

fn loads(cluster: &Cluster) {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [&LOAD[..], &["1s", &url]].concat();
    outcome(
        start(cluster, &directory, &words)
            .wait_with_output()
            .unwrap(),
    )
    .expect(0);
    assert_loaded(&directory);
    wait_until("the jobs' end", || cluster.jobs() == 0);
}

#[track_caller]
fn assert_loaded(directory: &TestDirectory) {
    let run = directory.0.load();
    assert_added_up(&run);
    let names: Vec<&str> = run.agents.iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["slurm 1", "slurm 2"]);
}

/// Measures blocks on nodes as on other hosts.
fn blocks_of_an_experiment(cluster: &Cluster) {
    let directory = TestDirectory::new();
    let words = [&blocks_of("4", "2")[..], &["--on", "slurm:2"]].concat();
    outcome(
        start(cluster, &directory, &words)
            .wait_with_output()
            .unwrap(),
    )
    .expect(0);
    assert_blocks(&directory.0.load(), 4);
    wait_until("the jobs' end", || cluster.jobs() == 0);
}

/// Runs a coordinator on the first node of `sbatch --wait`. Each node has one core, so two
/// concurrent steps use two nodes.
fn in_an_allocation(cluster: &Cluster) {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let url = web.url("/");
    let words = [&LOAD[..], &["1s", &url]].concat();
    let command = directory.0.command(&words);
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words.map(|w| format!("'{}'", w.display())).collect();
    let output = directory.0.join("output");
    let mut sbatch = cluster.command("sbatch");
    sbatch.args(["--wait", "--nodes=2", "--exclusive", "--output"]);
    sbatch
        .arg(&output)
        .arg(format!("--wrap={}", words.join(" ")));
    let submitted = outcome(sbatch.output().unwrap());
    let output_text = fs::read_to_string(&output).unwrap_or_default();
    assert_eq!(submitted.code, Some(0), "{submitted:?} {output_text}");
    assert_loaded(&directory);
}

/// Checks that benchlab waits for nodes that other jobs use.
fn waits_in_the_queue(cluster: &Cluster) {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let mut other = cluster.command("srun");
    other.args(["--nodes=2", "--exclusive", "sleep", "600"]);
    let mut other = other
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_until("the other job", || cluster.jobs() == 1);
    let mut lab = start(
        cluster,
        &directory,
        &[&LOAD[..], &["1s", &web.url("/")]].concat(),
    );
    let mut stderr = BufReader::new(lab.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("waiting for slurm 2: ") {
        line.clear();
        assert!(stderr.read_line(&mut line).unwrap() > 0);
    }
    assert!(line.contains("queued and waiting for resources"), "{line}");
    let job = Pid::from_raw(other.id() as i32);
    kill(job, Signal::SIGTERM).unwrap();
    other.wait().unwrap();
    let mut rest = Vec::new();
    stderr.read_to_end(&mut rest).unwrap();
    assert!(
        lab.wait().unwrap().success(),
        "{}",
        String::from_utf8_lossy(&rest)
    );
    assert_loaded(&directory);
    wait_until("the jobs' end", || cluster.jobs() == 0);
}

fn killed(cluster: &Cluster) {
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Honest));
    let mut lab = start(
        cluster,
        &directory,
        &[&LOAD[..], &["60s", &web.url("/")]].concat(),
    );
    wait_until("a slice", || directory.0.has_blocks(1));
    assert_eq!(cluster.jobs(), 2);
    lab.kill().unwrap();
    lab.wait().unwrap();
    wait_until("the jobs' end", || cluster.jobs() == 0);
}
