// SPDX-License-Identifier: Apache-2.0
//! `--on slurm:…` on a private cluster: a controller and two node daemons on the loopback interface.

use super::{Place, assert_added_up};
use crate::load::web::{Manner, Web};
use crate::project::{ended, wait_until};
use lab_model::Run;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The cluster. It is gone when this is dropped.
struct Cluster {
    folder: TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    /// `None`: there is no Slurm here, or this user may not start its daemons, which is said.
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
        let own = |name: &str| cluster.at(name);
        let munge = [
            "--foreground".into(),
            "--force".into(),
            format!("--key-file={}", own("key")),
            format!("--socket={}", own("munge")),
            format!("--pid-file={}", own("munge.pid")),
            format!("--log-file={}", own("munge.log")),
            format!("--seed-file={}", own("munge.seed")),
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
        let ports: Vec<u16> = (0..3).map(|_| free_port()).collect();
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

    /// Jobs that wait or run.
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

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn nodes_get_an_agent_each_and_no_job_is_left_even_of_a_killed_coordinator() {
    let Some(cluster) = Cluster::start() else {
        return;
    };
    let (place, web) = (Place::new(), Web::new(Manner::Honest));
    let url = web.url("/");
    let load = |length: &str| {
        let words = [
            "load", &url, "--on", "slurm:2", "-c", "4", "--redo", "0", "--for", length,
        ];
        let mut command = place.0.command(&words);
        command.env("SLURM_CONF", cluster.at("slurm.conf"));
        command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    ended(load("1s").wait_with_output().unwrap()).expect(0);
    let run = place.0.load();
    assert_added_up(&run);
    assert_eq!(
        run.agents.iter().map(|a| &*a.name).collect::<Vec<_>>(),
        ["slurm 1", "slurm 2"]
    );
    wait_until("the jobs' end", || cluster.jobs() == 0);
    fs::remove_file(place.0.file()).unwrap();
    let mut lab = load("60s");
    let kept = |run: Run| run.complete_blocks().count() >= 1;
    wait_until("a slice", || {
        !place.0.files().is_empty() && lab_store::load(&place.0.file()).is_ok_and(kept)
    });
    assert_eq!(cluster.jobs(), 2);
    lab.kill().unwrap();
    lab.wait().unwrap();
    wait_until("the jobs' end", || cluster.jobs() == 0);
}
