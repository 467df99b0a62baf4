// SPDX-License-Identifier: Apache-2.0
//! Tests that servers exist only during a run and leave nothing behind, no matter how the run ends.

use crate::common::{Client, Fixture, Small, installed, is_empty, processes_in, request, soon};
use lab_services::{POSTGRESQL, Service, ServiceError, Transport, clear};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Returns the paths of PostgreSQL's shared memory in /dev/shm that the processes `pids` map, and
/// the number of System V segments that the first of these processes created.
fn shared_memory(pids: &[Pid]) -> (BTreeSet<PathBuf>, usize) {
    let mut paths = BTreeSet::new();
    for pid in pids {
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
        let mapped = maps
            .lines()
            .filter_map(|line| Some(&line[line.find("/dev/shm/PostgreSQL")?..]));
        paths.extend(mapped.map(PathBuf::from));
    }
    let is_created_by_main = |line: &Vec<u64>| line[4] == pids[0].as_raw() as u64;
    (
        paths,
        segments().into_iter().filter(is_created_by_main).count(),
    )
}

/// Returns the lines of /proc/sysvipc/shm. The fifth column is the creator, and the seventh is the
/// number of users.
fn segments() -> Vec<Vec<u64>> {
    let table = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let columns = |line: &str| {
        line.split_whitespace()
            .filter_map(|n| n.parse().ok())
            .collect()
    };
    table.lines().skip(1).map(columns).collect()
}

/// Returns the IDs of segments without users. They may include segments of another test's server
/// that is exiting.
fn unused() -> BTreeSet<u64> {
    let unused = segments().into_iter().filter(|columns| columns[6] == 0);
    unused.map(|columns| columns[1]).collect()
}

#[test]
fn a_stopped_server_leaves_nothing() {
    for kind in installed() {
        let Fixture { service, scratch } = Fixture::new(kind);
        let pids = service.pids();
        let (names, segments) = shared_memory(&pids);
        assert_eq!(
            (!names.is_empty(), segments),
            (kind == &POSTGRESQL, names.len().min(1))
        );
        assert!(service.is_alive() && !is_empty(scratch.path()));
        let mut client = Client::connect(kind, &service.target(Transport::Tcp, "tests").unwrap());
        client.run("SELECT 1");
        service.stop();
        assert!(
            pids.iter()
                .all(|pid| !Path::new(&format!("/proc/{pid}")).exists()),
            "{kind}"
        );
        assert!(names.iter().all(|name| !name.exists()), "{kind}");
        assert_eq!(shared_memory(&pids).1, 0, "{kind}");
        assert!(is_empty(scratch.path()), "{kind}");
    }
}

/// PostgreSQL's shared memory, which a killed server cannot release, is removed, too.
#[test]
fn a_killed_server_is_noticed_and_another_one_starts() {
    for kind in installed() {
        let Fixture {
            mut service,
            scratch,
        } = Fixture::new(kind);
        let pids = service.pids();
        let (names, _) = shared_memory(&pids);
        kill(pids[0], Signal::SIGKILL).unwrap();
        assert!(soon(|| !service.is_alive()), "{kind}");
        let failure = service.failure().unwrap().to_string();
        assert!(
            failure.starts_with(&format!("{kind} exited unexpectedly")),
            "{failure}"
        );
        let error = service.counters().unwrap_err();
        assert!(matches!(error, ServiceError::Ended { .. }), "{error:?}");
        let second = Service::start(kind, &request(&scratch, &[])).unwrap();
        assert!(second.is_alive() && second.failure().is_none());
        drop(service);
        assert!(second.is_alive());
        assert!(names.iter().all(|name| !name.exists()), "{kind}");
        assert_eq!(shared_memory(&pids).1, 0, "{kind}");
        drop(second);
        assert!(is_empty(scratch.path()), "{kind}");
    }
}

/// The next start ends all processes. One of them is a PostgreSQL process that is computing and
/// does not notice the exit of the main process. PostgreSQL does not start while that process is
/// running.
#[test]
fn a_server_is_killed_with_all_of_its_processes_and_comes_back_with_its_data() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let mut client = fixture.client(Transport::Tcp);
        client.run("CREATE TABLE kept (n int)");
        client.run("INSERT INTO kept VALUES (7)");
        let (endless, is_running) = match kind.name {
            "postgresql" => (
                "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
                "SELECT count(*) FROM pg_stat_activity
                 WHERE state = 'active' AND query LIKE '%generate_series%' AND pid <> pg_backend_pid()",
            ),
            _ => (
                "SELECT BENCHMARK(4000000000, MD5('x'))",
                "SELECT count(*) FROM information_schema.PROCESSLIST
                 WHERE INFO LIKE '%BENCHMARK%' AND ID <> CONNECTION_ID()",
            ),
        };
        let busy = std::thread::spawn(move || client.fails(endless));
        let service = &mut fixture.service;
        assert!(soon(|| service.admin().value(is_running).unwrap() == "1"));
        assert!(service.kill());
        assert_eq!(processes_in(fixture.scratch.path()), [0; 0], "{kind}");
        assert!(busy.join().unwrap(), "{kind}");
        service.start_again().unwrap();
        let value = service.admin().value("SELECT n FROM tests.kept");
        assert_eq!(value.unwrap(), "7", "{kind}");
    }
}

/// Simulates the situation after benchlab was killed, if the system did not end its servers.
#[test]
fn only_servers_in_abandoned_directories_are_stopped() {
    for kind in installed() {
        let Fixture { service, scratch } = Fixture::new(kind);
        // The connection that set up the server may be ending at this moment.
        let is_settled = || processes_in(scratch.path()).len() == service.pids().len();
        assert!(soon(is_settled), "{kind}");
        let pids = service.pids();
        std::mem::forget(service);
        let mut innocent = Command::new("sleep")
            .arg("100")
            .current_dir(scratch.path())
            .spawn()
            .unwrap();
        let others = ["file", "postgresql-x", "mariadb"].map(|name| scratch.path().join(name));
        others
            .iter()
            .for_each(|path| fs::write(path, "kept").unwrap());
        clear(scratch.path());
        // The main process is a child of this process.
        let _ = nix::sys::wait::waitpid(pids[0], None);
        assert!(
            pids.iter()
                .all(|pid| !Path::new(&format!("/proc/{pid}")).exists()),
            "{kind}"
        );
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), others.len());
        assert!(innocent.try_wait().unwrap().is_none());
        innocent.kill().unwrap();
        innocent.wait().unwrap();
    }
}

#[test]
fn a_target_leads_to_the_schema_by_the_transport_that_it_names() {
    for kind in installed() {
        let fixture = Fixture::new(kind);
        let (schema, transport) = match kind.name {
            "postgresql" => (
                "SELECT current_schema()",
                "SELECT coalesce(host(inet_server_addr()), '')",
            ),
            _ => (
                "SELECT database()",
                "SELECT substring_index(host, ':', 1) || '' FROM information_schema.PROCESSLIST \
                 WHERE id = connection_id() AND host LIKE '%:%' UNION SELECT '' LIMIT 1",
            ),
        };
        for (through, host) in [(Transport::Tcp, true), (Transport::Unix, false)] {
            let mut client = fixture.client(through);
            assert_eq!(client.value(schema), "tests");
            assert_eq!(
                !client.value(transport).is_empty(),
                host,
                "{kind} {through:?}"
            );
        }
    }
}

#[test]
fn a_long_path_does_not_keep_a_server_from_its_socket() {
    for kind in installed() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = parent.path().join("long".repeat(25));
        fs::create_dir(&scratch).unwrap();
        let mut service =
            Service::start(kind, &lab_services::DaemonOptions::new(&scratch)).unwrap();
        service.admin().create_schema("tests").unwrap();
        let target = service.target(Transport::Unix, "tests").unwrap();
        Client::connect(kind, &target).run("SELECT 1");
        let link = fs::read_dir(&scratch)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path()
            .join("sockets");
        let sockets = fs::read_link(link).unwrap();
        assert!(!is_empty(&sockets));
        drop(service);
        assert!(!sockets.exists() && is_empty(&scratch));
    }
}

#[test]
fn waiting_for_a_server_can_be_interrupted() {
    for kind in installed() {
        let scratch = tempfile::tempdir().unwrap();
        let mut request = request(&scratch, &[]);
        request.interrupted = || true;
        let before = unused();
        let error = Service::start(kind, &request).unwrap_err();
        assert!(matches!(error, ServiceError::Interrupted));
        assert!(is_empty(scratch.path()) && processes_in(scratch.path()).is_empty());
        assert!(soon(|| unused().is_subset(&before)), "{kind}");
    }
}

#[test]
fn a_server_that_is_not_finished_leaves_nothing() {
    for kind in installed() {
        for milliseconds in [0, 50, 150, 400] {
            let scratch = tempfile::tempdir().unwrap();
            let before = unused();
            let starting = Service::begin(kind, &request(&scratch, &[])).unwrap();
            std::thread::sleep(Duration::from_millis(milliseconds));
            drop(starting);
            assert!(is_empty(scratch.path()) && processes_in(scratch.path()).is_empty());
            assert!(soon(|| unused().is_subset(&before)), "{kind}");
        }
    }
}

/// The installer runs a server, which fails in the middle of its work.
#[test]
fn a_server_without_disk_space_leaves_nothing() {
    for kind in installed() {
        for mib in [1, 8, 20] {
            let Some(small) = Small::new(mib) else { return };
            let before = unused();
            let error = Service::start(kind, &request(small.folder(), &[])).unwrap_err();
            assert!(matches!(error, ServiceError::Full { .. }), "{error:?}");
            assert!(error.to_string().contains("`--scratch DIR`"), "{error}");
            assert!(is_empty(small.folder().path()));
            assert!(soon(|| unused().is_subset(&before)), "{kind}");
        }
    }
}
