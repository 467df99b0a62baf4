// SPDX-License-Identifier: Apache-2.0
//! Checks that a server's counters match the work of its clients.

use crate::common::{Fixture, counters_when_idle, installed, is_installed};
use lab_services::{Counters, POSTGRESQL, Service, Transport};
use nix::time::{clock_getcpuclockid, clock_gettime};
use nix::unistd::Pid;
use std::time::Instant;

/// Runs an action. Returns the counts during the action, and the server's CPU time in ns.
fn during(fixture: &mut Fixture, action: impl FnOnce(&Fixture)) -> (Counters, u64) {
    let before = fixture.service.counters().unwrap();
    let cpu = fixture.service.cpu_ns().unwrap();
    action(fixture);
    let after = counters_when_idle(&mut fixture.service, &before);
    (
        after.work_since(&before),
        fixture.service.cpu_ns().unwrap() - cpu,
    )
}

fn words(counters: &Counters) -> Vec<(&str, u64)> {
    counters
        .statements
        .iter()
        .map(|(word, &count)| (word.as_str(), count))
        .collect()
}

#[test]
fn every_statement_of_a_subject_is_counted_once() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let mut client = fixture.client(Transport::Tcp);
        client.run("CREATE TABLE numbers (id integer PRIMARY KEY, value integer)");
        let (counted, _) = during(&mut fixture, |_| {
            client.run("START TRANSACTION");
            for id in 0..3 {
                client.run(&format!("INSERT INTO numbers VALUES ({id}, 7)"));
            }
            client.run("COMMIT");
            client.run("/* why */ select value FROM numbers");
            client.run("UPDATE numbers SET value = 8");
            client.run("BEGIN");
            client.run("DELETE FROM numbers WHERE id < 2");
            client.run("ROLLBACK");
        });
        let expected = [
            ("begin", 2),
            ("commit", 1),
            ("delete", 1),
            ("insert", 3),
            ("rollback", 1),
            ("select", 1),
            ("update", 1),
        ];
        assert_eq!(words(&counted), expected, "{kind}");
        assert_eq!(counted.rows, 3 + 3 + 3 + 2, "{kind}");
        match kind.name {
            "postgresql" => assert!(counted.blocks.unwrap() >= 6, "{counted:?}"),
            // Two scans of the whole table, and then two rows by their keys and the row after them.
            _ => assert_eq!(counted.rows_read, Some(3 + 3 + 3)),
        }
        assert_eq!(counted.connects, Some(0), "{kind}");
        assert_eq!(counted.prepared_executions.unwrap_or(0), 0, "{kind}");
        let (counted, _) = during(&mut fixture, |_| client.run_prepared("SELECT 1", 100));
        assert_eq!(words(&counted), [("select", 100)], "{kind}");
        assert_eq!(counted.rows, 100, "{kind}");
        assert_eq!(counted.rows_read.or(counted.blocks), Some(0), "{kind}");
        match kind.name {
            // After five executions, the server creates a single plan for all later executions.
            "postgresql" => assert!(counted.plans.unwrap() <= 6, "{counted:?}"),
            _ => {
                assert_eq!(counted.prepared_executions, Some(100));
                assert_eq!(counted.prepares, Some(1));
                let (counted, _) = during(&mut fixture, |_| client.ping());
                assert_eq!(words(&counted), [("admin", 1)]);
                let (counted, _) = during(&mut fixture, |_| client.run("SHOW WARNINGS"));
                assert_eq!(words(&counted), [("other", 1)]);
            }
        }
        let (counted, _) = during(&mut fixture, |_| {
            (0..100).for_each(|_| client.run("SELECT 1"))
        });
        assert_eq!(words(&counted), [("select", 100)], "{kind}");
        assert_eq!(counted.plans.unwrap_or(100), 100, "{kind}");
    }
}

#[test]
fn benchlabs_own_statements_are_not_counted() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let before = fixture.service.counters().unwrap();
        for number in 0..10 {
            let admin = fixture.service.admin();
            admin.query("SELECT 1").unwrap();
            admin.create_schema(&format!("own_{number}")).unwrap();
            admin
                .run(&format!("CREATE TABLE own_{number}.numbers (id integer)"))
                .unwrap();
            admin
                .run(&format!("INSERT INTO own_{number}.numbers VALUES (1), (2)"))
                .unwrap();
            admin
                .query(&format!("SELECT * FROM own_{number}.numbers"))
                .unwrap();
            admin.run("BEGIN").unwrap();
            admin.run("COMMIT").unwrap();
            admin.drop_schema(&format!("own_{number}")).unwrap();
            let counted = fixture.service.counters().unwrap().work_since(&before);
            assert_eq!((words(&counted), counted.rows), (vec![], 0), "{kind}");
            assert_eq!(counted.rows_read.or(counted.blocks), Some(0), "{kind}");
        }
    }
}

/// The counts stay correct although PostgreSQL's statistics are cleared: on request, and when there
/// are too many entries to read after every batch.
#[test]
fn many_different_statements_are_counted() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let mut client = fixture.client(Transport::Unix);
        let before = fixture.service.counters().unwrap();
        let mut columns = String::from("1");
        for count in 1..=400 {
            client.run(&format!("SELECT {columns}"));
            columns.push_str(", 1");
            if count % 20 == 0 {
                let counted = fixture.service.counters().unwrap().work_since(&before);
                assert_eq!(words(&counted), [("select", count)], "{kind}");
                assert_eq!(counted.rows, count, "{kind}");
            }
            if count % 70 == 0 {
                fixture.service.shorten_counters().unwrap();
            }
        }
    }
}

#[test]
fn closed_connections_are_counted() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let mut idle_client = fixture.client(Transport::Tcp);
        for transport in [Transport::Tcp, Transport::Unix] {
            let (counted, cpu_ns) = during(&mut fixture, |fixture| {
                (0..20).for_each(|_| fixture.client(transport).run("SELECT 1"));
            });
            assert_eq!(counted.connects, Some(20), "{kind}");
            assert_eq!(counted.aborted.unwrap_or(0), 0, "{kind}");
            assert_eq!(words(&counted), [("select", 20)], "{kind}");
            assert!(cpu_ns > 20 * 20_000, "{kind}: {cpu_ns}");
        }
        idle_client.run("SELECT 1");
    }
}

/// Returns the user and system time of a process and of its reaped children, in ticks of 10 ms.
fn ticks(pid: impl std::fmt::Display) -> (u64, u64) {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let (_, rest) = stat.rsplit_once(')').unwrap();
    let fields: Vec<u64> = rest
        .split_whitespace()
        .skip(11)
        .take(4)
        .map(|f| f.parse().unwrap())
        .collect();
    (fields[0] + fields[1], fields[2] + fields[3])
}

/// Compares the CPU time with the kernel's own sum over all exited children, which is in units of
/// 10 ms.
#[test]
fn the_cpu_time_of_connections_that_ended_is_the_kernels() {
    if !is_installed(&POSTGRESQL) {
        return;
    }
    let mut fixture = Fixture::new(&POSTGRESQL);
    let main = fixture.service.pids()[0];
    let living: Vec<Pid> = fixture.service.pids();
    let clocks: Vec<u64> = living.iter().map(|pid| clock_ns(pid.as_raw())).collect();
    let before = ticks(main).1;
    let (counted, cpu_ns) = during(&mut fixture, |fixture| {
        (0..300).for_each(|_| drop(fixture.client(Transport::Tcp)));
    });
    assert_eq!(counted.connects, Some(300));
    // The connection that set up the server ends in the meantime. Its earlier time is subtracted.
    let remaining = fixture.service.pids();
    let ended = living
        .iter()
        .zip(clocks)
        .filter(|(pid, _)| !remaining.contains(pid));
    let earlier_ns: u64 = ended.map(|(_, ns)| ns).sum();
    let ended_ns = 10_000_000 * (ticks(main).1 - before) - earlier_ns;
    // The server's main process forks, and therefore uses CPU time, too.
    println!(
        "{} us for each connection, ended {}",
        cpu_ns / 300_000,
        ended_ns / 300_000
    );
    assert!(
        cpu_ns + 20_000_000 > ended_ns && cpu_ns < 2 * ended_ns,
        "{cpu_ns} {ended_ns}"
    );
}

const LOOP: &str = "DO $$ BEGIN FOR i IN 1..50000000 LOOP END LOOP; END $$";

/// Returns a process's CPU time in ns.
fn clock_ns(pid: i32) -> u64 {
    let clock = clock_getcpuclockid(Pid::from_raw(pid)).unwrap();
    let now = clock_gettime(clock).unwrap();
    now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64
}

#[test]
fn the_cpu_time_of_a_query_is_its_processs() {
    if !is_installed(&POSTGRESQL) {
        return;
    }
    let mut fixture = Fixture::new(&POSTGRESQL);
    let mut client = fixture.client(Transport::Tcp);
    let backend = client.pid();
    let (before, began) = (clock_ns(backend), Instant::now());
    let (counted, cpu_ns) = during(&mut fixture, |_| client.run(LOOP));
    let (process_ns, wall_ns) = (clock_ns(backend) - before, began.elapsed().as_nanos());
    assert_eq!(words(&counted), [("do", 1)]);
    println!("loop: {cpu_ns} ns, of the process {process_ns}, wall {wall_ns}");
    assert!(
        cpu_ns >= process_ns && cpu_ns - process_ns < process_ns / 20,
        "{cpu_ns} {process_ns}"
    );
    // Repeats the test with a process that has exited when its time is read. The kernel counts its
    // time in ticks.
    let main = fixture.service.pids()[0];
    let before = ticks(main).1;
    let (_, cpu_ns) = during(&mut fixture, |fixture| {
        fixture.client(Transport::Tcp).run(LOOP)
    });
    let process_ns = 10_000_000 * (ticks(main).1 - before);
    println!("in a process that ended: {cpu_ns} ns, of the process {process_ns}");
    assert!(
        cpu_ns.abs_diff(process_ns) < process_ns / 20 + 20_000_000,
        "{cpu_ns} {process_ns}"
    );
}

/// A server sometimes does work of its own. On a slow machine, this work disturbs most
/// measurements. One undisturbed measurement is sufficient.
#[test]
fn readings_are_not_charged_to_a_subject() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let mut costs = (0..100).map(|_| {
            let before = fixture.service.cpu_ns().unwrap();
            (0..200).for_each(|_| assert!(fixture.service.counters().is_ok()));
            (fixture.service.cpu_ns().unwrap() - before) / 200
        });
        let undisturbed = costs.find(|&ns| ns < 10_000);
        println!("{kind}: {undisturbed:?} ns charged for a reading");
        assert!(undisturbed.is_some(), "{kind}");
    }
}

/// Prints how long the readings after every batch take. The time is not checked.
#[test]
fn readings_are_quick() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let mut client = fixture.client(Transport::Tcp);
        (0..30).for_each(|n| client.run(&format!("SELECT 1{}", ", 1".repeat(n))));
        let time = |service: &mut Service, title: &str, read: &mut dyn FnMut(&mut Service)| {
            let began = Instant::now();
            (0..100).for_each(|_| read(service));
            println!("{kind} {title}: {} us", began.elapsed().as_micros() / 100);
        };
        let service = &mut fixture.service;
        time(service, "counters", &mut |s| assert!(s.counters().is_ok()));
        time(service, "cpu_ns", &mut |s| assert!(s.cpu_ns().is_some()));
        time(service, "memory", &mut |s| {
            assert!(s.memory_bytes().is_some())
        });
        println!(
            "{kind}: {} MiB",
            fixture.service.memory_bytes().unwrap() >> 20
        );
    }
}
