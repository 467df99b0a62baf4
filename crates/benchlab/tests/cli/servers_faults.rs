// SPDX-License-Identifier: Apache-2.0
//! Failures of servers. Private servers leave nothing behind, the user's servers stay unchanged,
//! and the loss of a server affects one block rather than the whole run.

use crate::full_disk::{cannot_mount, in_a_namespace};
use crate::project::{
    Outcome, Project, assert_failures, blocks_of, outcome, send_signal, wait_until, without_servers,
};
use crate::servers::{INSERT, POINT};
use lab_model::{BlockState, Ending, TargetId};
use lab_services::{DATABASES, DaemonOptions, DatabaseKind, POSTGRESQL, Service, Transport};
use nix::sys::signal::Signal;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use tempfile::TempDir;

const TEXT: [&str; 2] = ["--set", "statement=text"];

/// A server of the user, with a schema `mine`.
struct ExternalServer {
    service: Service,
    url: String,
    password: String,
    _folder: TempDir,
}

impl ExternalServer {
    fn new(kind: &'static DatabaseKind) -> ExternalServer {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let mut service = Service::start(kind, &DaemonOptions::new(folder.path())).unwrap();
        let rights = match kind.name {
            "postgresql" => {
                "GRANT CREATE ON DATABASE benchlab TO benchlab; GRANT pg_read_all_stats TO benchlab; \
                 GRANT EXECUTE ON FUNCTION pg_stat_statements_reset TO benchlab"
            }
            _ => "GRANT ALL PRIVILEGES ON *.* TO benchlab",
        };
        service.admin().run(rights).unwrap();
        service.admin().create_schema("mine").unwrap();
        let target = service.target(Transport::Tcp, "mine").unwrap();
        let url = target.split('?').next().unwrap().to_owned();
        let login = url.split("://").nth(1).unwrap().split('@').next().unwrap();
        ExternalServer {
            service,
            password: login.split(':').nth(1).unwrap().to_owned(),
            url,
            _folder: folder,
        }
    }

    fn name(&self) -> &'static str {
        self.service.kind().name
    }

    fn option(&self) -> String {
        format!("--service={}={}", self.name(), self.url)
    }

    fn schemas(&mut self) -> Vec<String> {
        let query = "SELECT schema_name FROM information_schema.schemata ORDER BY 1";
        let rows = self.service.admin().query(query).unwrap();
        rows.into_iter().flatten().flatten().collect()
    }
}

/// Returns the process IDs and command lines of all subjects started so far.
fn processes(project: &Project) -> Vec<String> {
    let text = fs::read_to_string(project.join("processes")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Waits until `number` subjects have started. Panics if benchlab exits before then.
#[track_caller]
fn wait_for_subjects(project: &Project, lab: &mut Child, number: usize) {
    wait_until("subjects", || {
        assert!(lab.try_wait().unwrap().is_none(), "benchlab ended");
        processes(project).len() >= number
    });
}

/// Returns the processes of a project's private servers, identified by their working directories.
fn servers(project: &Project) -> Vec<(i32, String)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse::<i32>().ok());
    let process = |pid: i32| {
        let folder = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
        let is_private = folder.starts_with(project.path().join("scratch"));
        (is_private && !name.contains("python")).then_some((pid, name.trim().to_owned()))
    };
    pids.filter_map(process).collect()
}

/// Returns the process of the private server that benchlab itself started.
fn main_process(project: &Project, lab: u32) -> Option<i32> {
    let parent = |pid: i32| -> Option<u32> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()
    };
    let mut processes = servers(project).into_iter();
    processes
        .find(|(pid, _)| parent(*pid) == Some(lab))
        .map(|(pid, _)| pid)
}

#[track_caller]
fn assert_nothing_left(project: &Project) {
    wait_until("the end of the servers", || servers(project).is_empty());
    let files_in = |folder: &str| -> Vec<PathBuf> {
        let entries = fs::read_dir(project.join(folder)).into_iter().flatten();
        entries.flatten().map(|e| e.path()).collect()
    };
    assert_eq!(files_in("scratch"), [""; 0].map(PathBuf::from));
    assert_eq!(files_in("tmp"), [""; 0].map(PathBuf::from));
}

/// Starts a run with its own directory for sockets.
fn start(project: &Project, more: &[&str]) -> Child {
    use std::process::Stdio;
    let temporary = project.join("tmp");
    fs::create_dir_all(&temporary).unwrap();
    let words = [&blocks_of("2", "20")[..], &TEXT, more].concat();
    let mut command = project.command(&words);
    command.env("TMPDIR", temporary);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn resume(project: &Project) -> Outcome {
    project.call(&["resume", project.file().to_str().unwrap()])
}

/// Sends SIGINT to benchlab and asserts that it exits and leaves nothing behind.
fn assert_stops(project: &Project, lab: Child) {
    send_signal(lab.id() as i32, Signal::SIGINT);
    outcome(lab.wait_with_output().unwrap()).expect(130);
    assert_nothing_left(project);
}

#[test]
fn a_run_on_private_servers_can_be_interrupted() {
    if without_servers() {
        return;
    }
    let project = Project::servers(&[POINT], &[]);
    // While the servers start, during the pilot, and in a block: two subjects on each of two servers, and a
    // judge.
    for subjects in [0, 1, 7] {
        let _ = fs::remove_file(project.join("processes"));
        let _ = fs::remove_dir_all(project.join("runs"));
        let mut lab = start(&project, &[]);
        match subjects {
            0 => wait_until("servers", || !servers(&project).is_empty()),
            number => wait_for_subjects(&project, &mut lab, number),
        }
        assert_stops(&project, lab);
    }
    resume(&project).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    assert_eq!(run.ending, Some(Ending::Blocks));
    assert_nothing_left(&project);
}

/// Kills the server in addition to benchlab, so that the server cannot clean up.
#[test]
fn a_run_can_be_killed_with_its_servers() {
    if without_servers() {
        return;
    }
    let project = Project::servers(&[POINT], &[]);
    let foreign = project.scratch().join("benchlab-mine");
    fs::create_dir_all(foreign.join("postgresql-0")).unwrap();
    let mut external = ExternalServer::new(&POSTGRESQL);
    let mut lab = start(&project, &["--targets", "postgresql"]);
    wait_for_subjects(&project, &mut lab, 4);
    let server = main_process(&project, lab.id()).expect("a server");
    let maps = fs::read_to_string(format!("/proc/{server}/maps")).unwrap();
    let segments: Vec<String> = maps
        .lines()
        .filter_map(|line| Some(line.split_once("/dev/shm/PostgreSQL.")?.1.to_owned()))
        .map(|number| format!("/dev/shm/PostgreSQL.{number}"))
        .collect();
    assert!(!segments.is_empty(), "{maps}");
    send_signal(server, Signal::SIGKILL);
    send_signal(lab.id() as i32, Signal::SIGKILL);
    lab.wait().unwrap();
    assert!(
        segments.iter().all(|s| Path::new(s).exists()),
        "{segments:?}"
    );
    // Another benchlab run with the same scratch directory.
    project
        .run_blocks("1", "1", &[&TEXT[..], &["--targets", "mariadb"]].concat())
        .expect(0);
    assert!(
        foreign.join("postgresql-0").is_dir(),
        "benchlab must not delete other programs' files"
    );
    fs::remove_dir_all(&foreign).unwrap();
    assert_nothing_left(&project);
    assert!(
        !segments.iter().any(|s| Path::new(s).exists()),
        "{segments:?}"
    );
    assert!(
        external.schemas().contains(&"mine".to_owned()),
        "an external server must keep running"
    );
}

#[test]
fn the_users_own_servers_stay_unchanged() {
    if without_servers() {
        return;
    }
    let project = Project::servers(&[POINT, INSERT], &[]);
    let mut external = DATABASES.map(ExternalServer::new);
    let before = external.each_mut().map(ExternalServer::schemas);
    let options = external.each_ref().map(ExternalServer::option);
    let options = options.each_ref().map(String::as_str);
    let finished = project.run_blocks("1", "1", &[&TEXT[..], &options].concat());
    finished
        .expect(0)
        .says(&["connecting to PostgreSQL", "connecting to MariaDB"]);
    assert_failures(&project.load(), &[]);
    assert_eq!(external.each_mut().map(ExternalServer::schemas), before);
    let file = fs::read(project.file()).unwrap();
    let html = fs::read(project.file().with_extension("html")).unwrap();
    let texts = [
        finished.stdout,
        finished.stderr,
        processes(&project).join("\n"),
    ];
    for server in &external {
        for text in [&file[..], &html]
            .into_iter()
            .chain(texts.iter().map(|s| s.as_bytes()))
        {
            let secret = server.password.as_bytes();
            assert!(
                !text.windows(secret.len()).any(|w| w == secret),
                "{} contains the password",
                server.name()
            );
        }
    }
    // The run is stopped in a block in which each of two subjects has a schema.
    fs::remove_file(project.join("processes")).unwrap();
    fs::remove_dir_all(project.join("runs")).unwrap();
    let mut lab = start(&project, &options);
    wait_for_subjects(&project, &mut lab, 14);
    assert_stops(&project, lab);
    assert_eq!(external.each_mut().map(ExternalServer::schemas), before);
    // The run continues only with the same servers.
    resume(&project)
        .expect(2)
        .says(&["specify it again with --service postgresql=URL"]);
    let file = project.file();
    let words = [&["resume", file.to_str().unwrap()][..], &options].concat();
    project.call(&words).expect(0);
    assert_failures(&project.load(), &[]);
    assert_eq!(external.each_mut().map(ExternalServer::schemas), before);
}

#[test]
fn unreachable_servers_are_reported() {
    if without_servers() {
        return;
    }
    let project = Project::servers(&[POINT], &[]);
    for kind in DATABASES {
        let external = ExternalServer::new(kind);
        let wrong_password = external.url.replace(&external.password, "wrong-secret");
        let nobody = external
            .url
            .replace(external.url.rsplit(':').next().unwrap(), "1/benchlab");
        let form = external.url.replace(&format!("{}@", external.password), "");
        for (url, says) in [
            (wrong_password, format!("{kind} at 127.0.0.1:")),
            (nobody, format!("no {kind} server at 127.0.0.1:1: ")),
            (form, format!("`--service {}=URL`: ", kind.name)),
            (
                "nonsense".to_owned(),
                "`://` is missing; expected ".to_owned(),
            ),
        ] {
            let option = format!("--service={}={url}", kind.name);
            let outcome = project.run_blocks("1", "1", &["--targets", kind.name, &option]);
            outcome.expect(2).says(&[&says]);
            assert!(
                !outcome.stderr.contains("secret") && !outcome.stderr.contains(&external.password),
                "{outcome:?}"
            );
        }
        assert_eq!(project.files(), [""; 0].map(PathBuf::from));
    }
}

#[test]
fn settings_of_private_servers() {
    if without_servers() {
        return;
    }
    let project = Project::servers(&[POINT], &[]);
    let set = |setting: &str| {
        project.run_blocks("1", "1", &[&TEXT[..], &["--service-set", setting]].concat())
    };
    set("postgresql.work_mem=lots").expect(2).says(&[
        "PostgreSQL rejected a setting of `--service-set`: ",
        "work_mem",
    ]);
    set("mariadb.no_such=1")
        .expect(2)
        .says(&["MariaDB rejected a setting of `--service-set`: ", "no_such"]);
    set("postgresql.port=1")
        .expect(2)
        .says(&["`postgresql.port` is set by benchlab itself"]);
    assert_eq!(project.files(), [""; 0].map(PathBuf::from));
    let options = [
        &TEXT[..],
        &[
            "--service-set",
            "postgresql.work_mem=8MB",
            "--service-set",
            "mariadb.tmp_table_size=9437184",
        ],
    ];
    project.run_blocks("1", "1", &options.concat()).expect(0);
    let run = project.load();
    let facts = |target| {
        &run.services
            .iter()
            .find(|s| s.target == TargetId(target))
            .unwrap()
            .facts
    };
    let fact = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert!(
        facts(0).contains(&fact("work_mem", "8MB")),
        "{:?}",
        facts(0)
    );
    assert!(
        facts(1).contains(&fact("tmp_table_size", "9437184")),
        "{:?}",
        facts(1)
    );
    assert_nothing_left(&project);
}

#[test]
fn a_missing_server_is_omitted() {
    if without_servers() {
        return;
    }
    let project = Project::servers(&[POINT], &[]);
    let file = project.join("experiments/toolchains.toml");
    let text = fs::read_to_string(&file).unwrap();
    let (before, mariadb) = text.split_at(text.find("[mariadb-server]").unwrap());
    fs::write(
        &file,
        before.to_owned() + &mariadb.replace("[\"true\"]", "[\"false\"]"),
    )
    .unwrap();
    let missing = "missing: MariaDB. To install: `benchlab run t --install`, or `apt-get install \
                   mariadb-server-core`";
    let finished = project.run_blocks("1", "1", &TEXT);
    finished
        .expect(0)
        .says(&[
            "honest on mariadb, second on mariadb cannot run; missing: MariaDB\n",
            "to install what is missing, run `benchlab run t --install` or `apt-get install mariadb-server-core`\n",
        ]);
    assert!(!finished.stderr.contains("starting MariaDB"));
    assert_failures(
        &project.load(),
        &[
            ("honest on mariadb", "missing", missing),
            ("second on mariadb", "missing", missing),
        ],
    );
}

#[test]
fn a_server_of_another_version() {
    if without_servers() || cannot_mount() {
        return;
    }
    let project = Project::servers(&[POINT], &[]);
    let script = r#"
        printf '#!/bin/sh\necho "mariadbd  Ver 10.3.39-MariaDB for Linux on x86_64"\n' > old; chmod +x old
        for server in mariadbd mysqld; do
            program=$(readlink -f "$(PATH=$PATH:/usr/sbin:/usr/local/sbin:/usr/libexec command -v $server)")
            mount --bind old "$program" || exit 1
        done
        "$BENCHLAB" --project . run t --targets mariadb --quick --blocks 1 > out 2> err; echo $? > code
    "#;
    in_a_namespace(&project, script);
    let read = |name: &str| fs::read_to_string(project.join(name)).unwrap_or_default();
    assert_ne!(read("code").trim(), "0", "{}", read("err"));
    let says = "MariaDB 10.6 or later is required, but mariadbd  Ver 10.3.39-MariaDB for Linux on x86_64 (/";
    assert!(read("err").contains(says), "{}", read("err"));
    assert!(read("err").contains(") was found"), "{}", read("err"));
    assert!(
        read("err").contains("apt-get install mariadb-server-core"),
        "{}",
        read("err")
    );
}

#[test]
fn a_killed_server_affects_one_block() {
    if without_servers() {
        return;
    }
    for kind in DATABASES {
        let project = Project::servers(&[POINT], &[]);
        let mut lab = start(&project, &["--targets", kind.name]);
        // Two pilots and a judge, then the two subjects of a block.
        wait_for_subjects(&project, &mut lab, 5);
        send_signal(
            main_process(&project, lab.id()).expect("a server"),
            Signal::SIGKILL,
        );
        let finished = outcome(lab.wait_with_output().unwrap());
        finished.expect(0).says(&[
            "the server was restarted, and the block is repeated",
            &kind.to_string(),
        ]);
        let run = project.load();
        assert_failures(&run, &[]);
        assert_eq!(run.ending, Some(Ending::Blocks));
        let cut = run
            .blocks
            .iter()
            .filter(|b| b.state == BlockState::Incomplete);
        assert_eq!(cut.count(), 1, "earlier measurements must be kept");
        assert_nothing_left(&project);
    }
}

#[test]
fn a_server_that_is_killed_again_and_again_ends_the_run() {
    if without_servers() {
        return;
    }
    let project = Project::servers(&[POINT], &[]);
    let mut lab = start(&project, &["--targets", "postgresql"]);
    let mut subjects = 5;
    for _ in 0..4 {
        wait_for_subjects(&project, &mut lab, subjects);
        send_signal(
            main_process(&project, lab.id()).expect("a server"),
            Signal::SIGKILL,
        );
        subjects = processes(&project).len() + 2;
    }
    let finished = outcome(lab.wait_with_output().unwrap());
    let file = project.file();
    let go_on = format!("continue with `benchlab resume {}`", file.display());
    finished.expect(1).says(&[
        "PostgreSQL ",
        "the server failed 4 times in this run",
        &go_on,
    ]);
    let run = project.load();
    assert_eq!((run.ending, &run.failures[..]), (None, &[][..]));
    assert_nothing_left(&project);
    let samples_before: usize = run.blocks.iter().map(|b| b.samples.len()).sum();
    resume(&project).expect(0);
    let run = project.load();
    assert_failures(&run, &[]);
    assert!(
        run.blocks.iter().map(|b| b.samples.len()).sum::<usize>() >= samples_before + 2 * 2 * 40
    );
}

#[test]
fn a_servers_full_disk() {
    if without_servers() || cannot_mount() {
        return;
    }
    let project = Project::servers(&[INSERT], &[]);
    let script = r#"
        mkdir small tiny && mount -t tmpfs -o size=8m none tiny && mount -t tmpfs -o size=256m none small || exit 1
        run() { "$BENCHLAB" --project . run t --quick --blocks 2 --pairs 40 --no-control --seed 7 \
            --set statement=text --targets postgresql --scratch "$@"; }
        run tiny > out 2> err; echo $? > code
        ls tiny > left
        run small > out2 2> err2 & lab=$!
        until [ "$(cat processes 2> /dev/null | wc -l)" -ge 5 ]; do sleep 0.01; done
        dd if=/dev/zero of=small/junk bs=64k 2> /dev/null
        wait $lab; echo $? > code2
        rm small/junk; ls small > left2
        "$BENCHLAB" --project . resume runs/*.lab --scratch small > out3 2> err3; echo $? > code3
    "#;
    in_a_namespace(&project, script);
    let read = |name: &str| fs::read_to_string(project.join(name)).unwrap_or_default();
    let says = |name: &str, text: &str| {
        assert!(read(name).contains(text), "no `{text}` in {}", read(name))
    };
    assert_eq!(
        (read("code").trim(), read("left").trim()),
        ("1", ""),
        "{}",
        read("err")
    );
    says("err", "the disk of PostgreSQL is full: ");
    says(
        "err",
        "use `--scratch DIR` to store its data in another directory",
    );
    assert_eq!(
        (read("code2").trim(), read("left2").trim()),
        ("1", ""),
        "{}",
        read("err2")
    );
    says("err2", "the disk of PostgreSQL is full: ");
    says("err2", "continue with `benchlab resume ");
    assert_eq!(read("code3").trim(), "0", "{}", read("err3"));
    assert_failures(&project.load(), &[]);
}
