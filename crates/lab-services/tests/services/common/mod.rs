// SPDX-License-Identifier: Apache-2.0
//! Servers and clients for tests.

use lab_services::{Counters, DaemonOptions, Service, Transport};
pub use lab_services::{DATABASES, DatabaseKind};
use mysql::prelude::Queryable;
use std::process::Command;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Returns the kinds of servers whose software is installed, and prints the other kinds.
pub fn installed() -> Vec<&'static DatabaseKind> {
    let is_installed = |kind: &&'static DatabaseKind| match kind.missing() {
        None => true,
        Some(missing) => {
            println!("skipped: {missing}");
            false
        }
    };
    DATABASES.into_iter().filter(is_installed).collect()
}

pub fn is_installed(kind: &'static DatabaseKind) -> bool {
    installed().contains(&kind)
}

/// A private server with a schema `tests`, in a scratch directory that outlives the server.
pub struct Fixture {
    pub service: Service,
    pub scratch: TempDir,
}

impl Fixture {
    pub fn new(kind: &'static DatabaseKind) -> Fixture {
        Fixture::with(kind, &[])
    }

    pub fn with(kind: &'static DatabaseKind, settings: &[(&str, &str)]) -> Fixture {
        let scratch = tempfile::tempdir().unwrap();
        let mut service = Service::start(kind, &request(&scratch, settings)).unwrap();
        service.admin().create_schema("tests").unwrap();
        Fixture { service, scratch }
    }

    pub fn client(&self, transport: Transport) -> Client {
        Client::connect(
            self.service.kind(),
            &self.service.target(transport, "tests").unwrap(),
        )
    }
}

/// Waits until there are at most as many open connections as before, and then reads the counters.
pub fn counters_when_idle(service: &mut Service, before: &Counters) -> Counters {
    let deadline = Instant::now() + Duration::from_secs(60);
    while service.counters().unwrap().open > before.open && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
    // A connection may have ended during the reading. MariaDB adds up its statistics before it
    // counts the open connections.
    service.counters().unwrap()
}

pub fn request(scratch: &TempDir, settings: &[(&str, &str)]) -> DaemonOptions {
    let mut request = DaemonOptions::new(scratch.path());
    let to_owned_pair = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    request.settings = settings.iter().map(to_owned_pair).collect();
    request
}

/// A connection like the connection of a subject, created from the subject's URL.
pub enum Client {
    Postgresql(Box<postgres::Client>),
    Mariadb(mysql::Conn),
}

impl Client {
    pub fn connect(kind: &'static DatabaseKind, target: &str) -> Client {
        match kind.name {
            "postgresql" => Client::Postgresql(Box::new(
                postgres::Client::connect(target, postgres::NoTls).unwrap(),
            )),
            _ => {
                let url = target.replacen("mariadb://", "mysql://", 1);
                let options = mysql::OptsBuilder::from_opts(mysql::Opts::from_url(&url).unwrap());
                let options = options.prefer_socket(false);
                // Otherwise, the client would query this value.
                let options = options.max_allowed_packet(Some(1 << 24));
                Client::Mariadb(mysql::Conn::new(options).unwrap())
            }
        }
    }

    /// Executes a statement that is sent as text.
    pub fn run(&mut self, statement: &str) {
        match self {
            Client::Postgresql(client) => drop(client.simple_query(statement).unwrap()),
            Client::Mariadb(client) => client.query_drop(statement).unwrap(),
        }
    }

    /// Returns true if a statement fails.
    pub fn fails(&mut self, statement: &str) -> bool {
        match self {
            Client::Postgresql(client) => client.simple_query(statement).is_err(),
            Client::Mariadb(client) => client.query_drop(statement).is_err(),
        }
    }

    /// Prepares a statement once, and executes it multiple times.
    pub fn run_prepared(&mut self, statement: &str, times: usize) {
        match self {
            Client::Postgresql(client) => {
                let statement = client.prepare(statement).unwrap();
                (0..times).for_each(|_| drop(client.query(&statement, &[]).unwrap()));
            }
            Client::Mariadb(client) => {
                let statement = client.prep(statement).unwrap();
                (0..times).for_each(|_| client.exec_drop(&statement, ()).unwrap());
            }
        }
    }

    /// Sends MariaDB's ping command.
    pub fn ping(&mut self) {
        match self {
            Client::Postgresql(_) => panic!("PostgreSQL has no such command"),
            Client::Mariadb(client) => client.ping().unwrap(),
        }
    }

    /// Returns the only value of a query.
    pub fn value(&mut self, query: &str) -> String {
        match self {
            Client::Postgresql(client) => client.query_one(query, &[]).unwrap().get(0),
            Client::Mariadb(client) => client.query_first(query).unwrap().unwrap(),
        }
    }

    pub fn pid(&mut self) -> i32 {
        match self {
            Client::Postgresql(client) => client
                .query_one("SELECT pg_backend_pid()", &[])
                .unwrap()
                .get(0),
            Client::Mariadb(_) => panic!("MariaDB serves connections in threads"),
        }
    }
}

/// Returns the processes whose working directory is inside a directory.
pub fn processes_in(folder: &std::path::Path) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let works_in_folder = |pid: &i32| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    pids.filter(works_in_folder).collect()
}

pub fn is_empty(folder: &std::path::Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

/// Returns true if a condition becomes true within two minutes.
pub fn soon(mut condition: impl FnMut() -> bool) -> bool {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while std::time::Instant::now() < deadline {
        if condition() {
            return true;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    false
}

/// A small file system in memory, for tests of full disks.
pub struct Small(TempDir);

impl Small {
    /// Creates a file system. Returns `None` if this process is not root, because only root may
    /// mount a file system.
    pub fn new(mib: u64) -> Option<Small> {
        let folder = tempfile::tempdir().unwrap();
        let options = format!("size={mib}m,mode=755");
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
            .arg(folder.path());
        if mount.output().is_ok_and(|output| output.status.success()) {
            return Some(Small(folder));
        }
        println!("skipped: only root may mount a file system");
        None
    }

    pub fn folder(&self) -> &TempDir {
        &self.0
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let status = Command::new("umount").arg(self.folder().path()).status();
        assert!(status.unwrap().success(), "the file system is still in use");
    }
}
