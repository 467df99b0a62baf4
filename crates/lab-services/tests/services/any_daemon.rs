// SPDX-License-Identifier: Apache-2.0
//! Tests a daemon that is not an SQL server: Python's file server.

use crate::common::{processes_in, soon};
use lab_services::{Daemon, DaemonOptions, Folder, ServiceError, Software, Starting, clear_of};
use nix::sys::signal::{Signal, kill};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

static FILES: Software = Software {
    name: "files",
    title: "Python's file server",
    oldest: (3, 0),
    packages: &["python3"],
    // The name of the process is the name of the file to which the link `python3` points.
    programs: &[
        "python3",
        "python3.11",
        "python3.12",
        "python3.13",
        "python3.14",
    ],
    installers: &[],
    own_installer: false,
    folders: || vec!["/usr/bin".into()],
    version: |banner| {
        let number = banner.strip_prefix("Python ")?;
        let mut parts = number.split('.').map(str::parse);
        Some((parts.next()?.ok()?, parts.next()?.ok()?))
    },
    // A developer's Python may be in a directory from which no other user can start it.
    user: "root",
    reserved: &["bind"],
    ending: Signal::SIGTERM,
    installer_ending: Signal::SIGTERM,
    complains: |line| line.contains("error:"),
    advises: false,
    incomplete: None,
    release: |_| (),
};

#[derive(Default)]
struct FileServer {
    port: u16,
}

impl Daemon for FileServer {
    fn software(&self) -> &'static Software {
        &FILES
    }

    fn start(
        &mut self,
        folder: &Folder,
        program: &Path,
        port: u16,
        settings: &[(String, String)],
    ) -> std::io::Result<Command> {
        self.port = port;
        folder.write("greeting", "hello")?;
        let mut command = folder.command(program)?;
        command.args(["-m", "http.server", "--bind", "127.0.0.1"]);
        for (name, value) in settings {
            command.arg(format!("--{name}={value}"));
        }
        command.arg(port.to_string());
        Ok(command)
    }

    fn ready(&mut self, _: &Folder) -> bool {
        TcpStream::connect(("127.0.0.1", self.port)).is_ok()
    }
}

fn begin(scratch: &Path, settings: &[(&str, &str)]) -> Result<Starting<FileServer>, ServiceError> {
    let mut request = DaemonOptions::new(scratch);
    let to_owned_pair = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    request.settings = settings.iter().map(to_owned_pair).collect();
    Starting::new(Box::default(), &request)
}

fn get(port: u16) -> String {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).unwrap();
    connection
        .write_all(b"GET /greeting HTTP/1.0\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_server_serves_is_charged_and_leaves_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let (mut server, running) = begin(scratch.path(), &[]).unwrap().finish().unwrap();
    assert!(get(server.port).ends_with("hello"));
    let pid = processes_in(scratch.path())[0];
    let processes = server.processes(nix::unistd::Pid::from_raw(pid));
    assert!(processes.cpu_ns().unwrap() > 0 && processes.memory_bytes().unwrap() > 1 << 20);
    assert!(running.is_alive() && running.failure().is_none());
    drop(running);
    assert!(soon(|| processes_in(scratch.path()).is_empty()));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}

#[test]
fn exits_and_errors_are_reported_with_the_servers_message() {
    let scratch = tempfile::tempdir().unwrap();
    let (_, running) = begin(scratch.path(), &[]).unwrap().finish().unwrap();
    kill(
        nix::unistd::Pid::from_raw(processes_in(scratch.path())[0]),
        Signal::SIGKILL,
    )
    .unwrap();
    assert!(soon(|| !running.is_alive()));
    let failure = running.failure().unwrap().to_string();
    assert!(
        failure.starts_with("Python's file server exited unexpectedly with signal SIGKILL"),
        "{failure}"
    );
    drop(running);
    let outcome = begin(scratch.path(), &[("no_such_option", "1")])
        .unwrap()
        .finish();
    let Err(outcome) = outcome else {
        panic!("the server accepted an unknown option")
    };
    assert!(outcome.to_string().contains("no_such_option"), "{outcome}");
    let reserved = begin(scratch.path(), &[("bind", "0.0.0.0")])
        .err()
        .unwrap()
        .to_string();
    assert!(
        reserved.ends_with("is set by benchlab itself"),
        "{reserved}"
    );
}

#[test]
fn servers_of_a_killed_process_are_stopped_and_removed() {
    let scratch = tempfile::tempdir().unwrap();
    let (_, running) = begin(scratch.path(), &[]).unwrap().finish().unwrap();
    std::mem::forget(running);
    clear_of(&[&FILES], scratch.path());
    assert!(soon(|| processes_in(scratch.path()).is_empty()));
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
}
