// SPDX-License-Identifier: Apache-2.0
//! Tests that error messages say what is wrong and what to do.

use crate::closed_port::closed_port;
use crate::common::{
    Client, Fixture, Small, counters_when_idle, installed, is_installed, request, soon,
};
use lab_services::{DatabaseKind, MARIADB, POSTGRESQL, Service, ServiceError, Transport};
use std::fs;
use std::path::Path;

type Pairs = &'static [(&'static str, &'static str)];

fn refusal(kind: &'static DatabaseKind, settings: &[(&str, &str)]) -> String {
    let scratch = tempfile::tempdir().unwrap();
    let error = Service::start(kind, &request(&scratch, settings)).unwrap_err();
    assert!(matches!(error, ServiceError::Setting { .. }), "{error:?}");
    assert!(fs::read_dir(scratch.path()).unwrap().next().is_none());
    error.to_string()
}

#[test]
fn a_rejected_setting_is_reported_with_the_servers_message() {
    for kind in installed() {
        let (cases, reserved): (&[(&str, &str, &str)], _) = match kind.name {
            "postgresql" => (
                &[
                    (
                        "shared_buffers",
                        "lots",
                        "invalid value for parameter \"shared_buffers\"",
                    ),
                    ("work_mem", "1kB", "is outside the valid range"),
                    (
                        "no_such_setting",
                        "1",
                        "unrecognized configuration parameter",
                    ),
                ],
                "port",
            ),
            _ => (
                &[
                    ("innodb_buffer_pool_size", "lots", "Unknown suffix 'l'"),
                    ("max-connections", "3", "adjusted to 10"),
                    ("no_such_setting", "1", "unknown variable"),
                ],
                "bind-address",
            ),
        };
        for &(name, value, words) in cases {
            let refusal = refusal(kind, &[(name, value)]);
            assert!(refusal.contains(words), "{refusal}");
        }
        let refusal = |name| refusal(kind, &[(name, "1")]);
        assert!(refusal(reserved).ends_with("is set by benchlab itself"));
        assert!(refusal("a b").ends_with("is not a valid setting name"));
        assert!(refusal("--help").ends_with("is not a valid setting name"));
    }
}

#[test]
fn settings_are_read_back() {
    for kind in installed() {
        let (settings, expected): (Pairs, Pairs) = match kind.name {
            "postgresql" => (
                &[("shared_buffers", "16MB"), ("random_page_cost", "1.5")],
                &[
                    ("shared_buffers", "16MB"),
                    ("random_page_cost", "1.5"),
                    ("fsync", "on"),
                    ("synchronous_commit", "on"),
                    ("full_page_writes", "on"),
                    ("TimeZone", "UTC"),
                    ("server_encoding", "UTF8"),
                    ("max_connections", "400"),
                ],
            ),
            _ => (
                &[("innodb-buffer-pool-size", "64M"), ("wait_timeout", "5000")],
                &[
                    ("innodb_buffer_pool_size", "67108864"),
                    ("wait_timeout", "5000"),
                    ("innodb_flush_log_at_trx_commit", "1"),
                    ("innodb_doublewrite", "ON"),
                    ("character_set_server", "utf8mb4"),
                    ("time_zone", "+00:00"),
                    ("max_connections", "400"),
                ],
            ),
        };
        let fixture = Fixture::with(kind, settings);
        let facts = fixture.service.facts();
        for &(name, value) in expected.iter().chain(&[("server", "private")]) {
            assert!(
                facts.contains(&(name.to_owned(), value.to_owned())),
                "{name}: {facts:?}"
            );
        }
        assert!(
            facts
                .iter()
                .any(|(name, value)| name == "version" && value.contains('.'))
        );
        let data = facts
            .iter()
            .find(|(name, _)| name == "data directory")
            .unwrap();
        assert!(["in memory", "on a disk"].contains(&data.1.as_str()));
    }
}

#[test]
fn a_full_disk_is_reported_as_the_reason_for_an_exit() {
    for kind in installed() {
        let Some(small) = Small::new(250) else { return };
        let mut service = Service::start(kind, &request(small.folder(), &[])).unwrap();
        assert!(service.failure().is_none());
        let filler = fs::File::create(small.folder().path().join("filler")).unwrap();
        let mut chunks = 0;
        // Another program fills the disk.
        while std::io::Write::write_all(&mut &filler, &[1; 1 << 16]).is_ok() {
            chunks += 1;
        }
        assert!(chunks > 0);
        let admin = service.admin();
        admin.create_schema("tests").ok();
        let filled = [
            "CREATE TABLE tests.rows (text varchar(1000))",
            "INSERT INTO tests.rows VALUES (repeat('x', 1000))",
        ];
        let doubling = "INSERT INTO tests.rows SELECT text FROM tests.rows";
        let statements = filled.into_iter().chain(std::iter::repeat_n(doubling, 18));
        assert!(
            statements.map(|s| admin.run(s)).any(|done| done.is_err()),
            "{kind}"
        );
        let failure = service.failure().expect("the disk is full");
        assert!(matches!(failure, ServiceError::Full { .. }), "{failure:?}");
    }
}

fn external(kind: &'static DatabaseKind, url: &str) -> Result<Service, ServiceError> {
    Service::external(kind, url)
}

#[test]
fn errors_distinguish_unreachable_servers_and_rejected_logins() {
    let closed = closed_port();
    for kind in installed() {
        let name = kind.name;
        let error = external(kind, &format!("{name}://u:secret@127.0.0.1:{closed}/d")).unwrap_err();
        assert!(
            matches!(error, ServiceError::Unreachable { .. }),
            "{error:?}"
        );
        assert!(error.to_string().contains("refused"), "{error}");
        let error = external(kind, "127.0.0.1").unwrap_err();
        assert!(matches!(error, ServiceError::Url { .. }), "{error:?}");

        let fixture = Fixture::new(kind);
        let target = fixture.service.target(Transport::Tcp, "tests").unwrap();
        let target = target.split('?').next().unwrap();
        let (start, end) = target.split_once("benchlab:").unwrap();
        let (_, end) = end.split_once('@').unwrap();
        let error = external(kind, &format!("{start}benchlab:wrong@{end}")).unwrap_err();
        assert!(matches!(error, ServiceError::Login { .. }), "{error:?}");
        assert!(!error.to_string().contains("wrong"), "{error}");
        // The subjects' role may not create schemas.
        let error = external(kind, target).err();
        match kind.name {
            // The role owns the database.
            "postgresql" => assert!(error.is_none(), "{error:?}"),
            _ => {
                let error = error.unwrap().to_string();
                assert!(
                    error.contains("may not create databases") && error.contains("GRANT"),
                    "{error}"
                );
            }
        }
    }
    if is_installed(&POSTGRESQL) && is_installed(&MARIADB) {
        let fixture = Fixture::new(&MARIADB);
        let target = fixture.service.target(Transport::Tcp, "tests").unwrap();
        let error = external(&POSTGRESQL, &target.replace("mariadb:", "postgresql:")).unwrap_err();
        assert!(
            matches!(error, ServiceError::Unreachable { .. }),
            "{error:?}"
        );
    }
}

#[test]
fn a_server_that_requires_tls_is_named_as_such() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let target = fixture.service.target(Transport::Tcp, "tests").unwrap();
        let admin = fixture.service.admin();
        match kind.name {
            "postgresql" => {
                let file = admin.value("SHOW hba_file").unwrap();
                fs::write(
                    file,
                    "local all all scram-sha-256\nhostssl all all all scram-sha-256\n",
                )
                .unwrap();
                admin.query("SELECT pg_reload_conf()").unwrap();
            }
            _ => admin
                .run("SET GLOBAL require_secure_transport = 1")
                .unwrap(),
        }
        // PostgreSQL reads its configuration a moment later.
        let connect = || external(kind, target.split('?').next().unwrap()).err();
        let mut error = None;
        assert!(soon(|| {
            error = connect();
            error.is_some()
        }));
        let error = error.unwrap();
        match kind.name {
            "postgresql" => assert!(matches!(error, ServiceError::Tls { .. }), "{error:?}"),
            _ => assert!(matches!(error, ServiceError::Login { .. }), "{error:?}"),
        }
        assert!(error.to_string().contains("TLS"), "{error}");
    }
}

/// The statements of benchlab and of other users do not count, and the server continues to run.
#[test]
fn the_users_own_server_is_measured_and_not_changed() {
    for kind in installed() {
        let mut fixture = Fixture::new(kind);
        let url = fixture.service.target(Transport::Tcp, "tests").unwrap();
        if kind == &MARIADB {
            fixture
                .service
                .admin()
                .run("GRANT ALL ON *.* TO benchlab")
                .unwrap();
        }
        let mut service = external(kind, url.split('?').next().unwrap()).unwrap();
        assert!(
            service.facts()[0]
                .1
                .starts_with("the user's own, on this machine"),
            "{:?}",
            service.facts()
        );
        assert_eq!(service.pids()[0], fixture.service.pids()[0]);
        assert_eq!(service.target(Transport::Unix, "tests"), None);
        let mut client = Client::connect(kind, &service.target(Transport::Tcp, "tests").unwrap());
        client.run("SELECT 1");
        let (before, cpu) = (service.counters().unwrap(), service.cpu_ns().unwrap());
        for _ in 0..5 {
            service.counters().unwrap();
        }
        client.run_prepared("SELECT 2", 3);
        drop(Client::connect(
            kind,
            &service.target(Transport::Tcp, "tests").unwrap(),
        ));
        let counted = counters_when_idle(&mut service, &before).work_since(&before);
        let expected = [("select".to_owned(), 3)];
        assert_eq!(
            counted.statements.into_iter().collect::<Vec<_>>(),
            expected,
            "{kind}"
        );
        assert_eq!((counted.rows, counted.connects), (3, Some(1)), "{kind}");
        assert!(service.cpu_ns().unwrap() >= cpu && service.memory_bytes().unwrap() > 1 << 20);
        service.admin().create_schema("made").unwrap();
        service.admin().drop_schema("made").unwrap();
        drop(service);
        assert!(fixture.service.is_alive());
        client.run("SELECT 1");
    }
}

#[test]
fn passwords_are_in_no_command_line_and_no_log() {
    for kind in installed() {
        let settings: &[(&str, &str)] = match kind.name {
            "postgresql" => &[("log_statement", "all")],
            _ => &[("general_log", "1"), ("general_log_file", "statements")],
        };
        let mut fixture = Fixture::with(kind, settings);
        fixture.service.admin().create_schema("logged").unwrap();
        let target = fixture.service.target(Transport::Tcp, "tests").unwrap();
        let password = target.split(['@', ':']).nth(2).unwrap();
        assert_eq!(password.len(), 32);
        for process in fs::read_dir("/proc").unwrap().flatten() {
            for file in ["cmdline", "environ"] {
                let words = fs::read(process.path().join(file)).unwrap_or_default();
                assert!(!holds(&words, password), "{:?}", process.path());
            }
        }
        assert!(
            search(fixture.scratch.path(), password) > 3,
            "the server has written files"
        );
        assert!(!format!("{:?}", fixture.service).contains(password));
    }
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Asserts that no file of less than 100,000 bytes in `folder` or its subdirectories contains
/// `text`. Returns the number of files searched.
fn search(folder: &Path, text: &str) -> usize {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut count = 0;
    for entry in entries {
        let kind = entry.file_type().unwrap();
        if kind.is_dir() {
            count += search(&entry.path(), text);
        } else if kind.is_file() && entry.metadata().unwrap().len() < 100_000 {
            let content = fs::read(entry.path()).unwrap_or_default();
            assert!(!holds(&content, text), "{:?}", entry.path());
            count += 1;
        }
    }
    count
}

/// Existing and new connections are pinned.
#[test]
fn a_pinned_server_stays_on_its_core() {
    for kind in installed() {
        let fixture = Fixture::new(kind);
        let mut before = fixture.client(Transport::Tcp);
        fixture.service.pin(&[0]);
        let mut after = fixture.client(Transport::Tcp);
        before.run("SELECT 1");
        after.run("SELECT 1");
        for pid in fixture.service.pids() {
            for task in fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten() {
                let status = fs::read_to_string(task.path().join("status")).unwrap();
                assert!(
                    status.contains("Cpus_allowed_list:\t0\n"),
                    "{:?}",
                    task.path()
                );
            }
        }
    }
}
