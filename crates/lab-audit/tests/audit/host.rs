// SPDX-License-Identifier: Apache-2.0
//! Tests every rule about a machine on directory trees.
//!
//! Each tree contains the files of a well-configured machine, with one change for each case of each
//! rule.

use crate::measured::MEASURED;
use crate::well_set_up::GOOD;
use lab_audit::host::{self, AuditedMachine, CLASSES};
use lab_audit::user_rules::with_folder;
use lab_audit::{Class, Root, Rule, cookies, net, site};
use lab_model::audit::{Audit, AuditFinding, EvidenceValue, State};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// Test cases: a rule, an object, the expected state, and a file with the content that causes the
/// state.
const CHANGED: &[(&str, &str, State, &str, &str)] = &[
    (
        "disk-scheduler",
        "sda",
        State::Bad,
        "sys/block/sda/queue/scheduler",
        "[none] mq-deadline bfq\n",
    ),
    (
        "disk-scheduler",
        "nvme0n1",
        State::Advice,
        "sys/block/nvme0n1/queue/scheduler",
        "none [mq-deadline]\n",
    ),
    (
        "disk-scheduler",
        "vda",
        State::Advice,
        "sys/block/vda/queue/scheduler",
        "none [bfq]\n",
    ),
    (
        "disk-rotational",
        "vda",
        State::Advice,
        "sys/block/vda/queue/rotational",
        "1\n",
    ),
    (
        "disk-read-ahead",
        "sda",
        State::Bad,
        "sys/block/sda/queue/read_ahead_kb",
        "16\n",
    ),
    (
        "disk-read-ahead",
        "nvme0n1",
        State::Advice,
        "sys/block/nvme0n1/queue/read_ahead_kb",
        "4096\n",
    ),
    (
        "disk-queue",
        "sda",
        State::Bad,
        "sys/block/sda/device/queue_depth",
        "1\n",
    ),
    (
        "disk-write-cache",
        "sda",
        State::Advice,
        "sys/block/sda/queue/write_cache",
        "write through\n",
    ),
    (
        "disk-endurance",
        "nvme0n1",
        State::Bad,
        "smartctl-nvme0n1.json",
        r#"{"smart_status":{"passed":true},"nvme_smart_health_information_log":{"percentage_used":97,"media_errors":0}}"#,
    ),
    (
        "disk-endurance",
        "nvme0n1",
        State::Advice,
        "smartctl-nvme0n1.json",
        r#"{"smart_status":{"passed":true},"nvme_smart_health_information_log":{"percentage_used":75,"media_errors":0}}"#,
    ),
    (
        "disk-endurance",
        "nvme0n1",
        State::Unknown,
        "smartctl-nvme0n1.json",
        "no JSON",
    ),
    (
        "disk-health",
        "sda",
        State::Bad,
        "smartctl-sda.json",
        r#"{"rotation_rate":7200,"smart_status":{"passed":true},"ata_smart_attributes":{"table":[{"id":197,"name":"Current_Pending_Sector","raw":{"value":8,"string":"8"}}]}}"#,
    ),
    (
        "disk-health",
        "sda",
        State::Bad,
        "smartctl-sda.json",
        r#"{"smart_status":{"passed":false}}"#,
    ),
    (
        "disk-health",
        "nvme0n1",
        State::Bad,
        "smartctl-nvme0n1.json",
        r#"{"smart_status":{"passed":true},"nvme_smart_health_information_log":{"critical_warning":0,"media_errors":5}}"#,
    ),
    (
        "disk-health",
        "sda",
        State::Advice,
        "smartctl-sda.json",
        r#"{"rotation_rate":7200,"smart_status":{"passed":true},"smartctl":{"exit_status":64},"ata_smart_attributes":{"table":[{"id":5,"name":"Reallocated_Sector_Ct","raw":{"value":0}}]}}"#,
    ),
    (
        "disk-temperature",
        "nvme0n1",
        State::Bad,
        "smartctl-nvme0n1.json",
        r#"{"smart_status":{"passed":false},"nvme_smart_health_information_log":{"critical_warning":2,"temperature":84}}"#,
    ),
    (
        "disk-warnings",
        "sda",
        State::Advice,
        "smartctl-sda.json",
        r#"{"smart_status":{"passed":true},"ata_smart_attributes":{"table":[{"id":10,"name":"Spin_Retry_Count","value":90,"thresh":97,"when_failed":"now"}]}}"#,
    ),
    (
        "partition-alignment",
        "sda1",
        State::Bad,
        "sys/block/sda/sda1/start",
        "63\n",
    ),
    (
        "partition-alignment",
        "sda1",
        State::Advice,
        "sys/block/sda/sda1/start",
        "64\n",
    ),
    (
        "filesystem-times",
        "/data",
        State::Bad,
        "proc/mounts",
        "/dev/sda1 /data xfs rw 0 0\n",
    ),
    (
        "filesystem-trim",
        "/",
        State::Advice,
        "proc/mounts",
        "/dev/nvme0n1p1 / ext4 rw,relatime,discard 0 0\n",
    ),
    (
        "filesystem-barriers",
        "/data",
        State::Bad,
        "proc/mounts",
        "/dev/sda1 /data ext4 rw,noatime,nobarrier 0 0\n",
    ),
    (
        "filesystem-synchronous",
        "/data",
        State::Bad,
        "proc/mounts",
        "/dev/sda1 /data ext4 rw,noatime,sync 0 0\n",
    ),
    (
        "filesystem-space",
        "/data",
        State::Bad,
        "df.txt",
        "/data 8000000000 40000000 1000 900\n",
    ),
    (
        "filesystem-space",
        "/data",
        State::Advice,
        "df.txt",
        "/data 8000000000 800000000 1000 900\n",
    ),
    (
        "filesystem-space",
        "/data",
        State::Unknown,
        "df.txt",
        "nothing\n",
    ),
    (
        "filesystem-files",
        "/data",
        State::Bad,
        "df.txt",
        "/data 8000000000 4000000000 1000 10\n",
    ),
    (
        "filesystem-files",
        "/data",
        State::Advice,
        "df.txt",
        "/data 8000000000 4000000000 1000 100\n",
    ),
    (
        "memory-available",
        "db1",
        State::Bad,
        "proc/meminfo",
        "MemTotal: 65536000 kB\nMemAvailable: 500000 kB\n",
    ),
    (
        "memory-swap",
        "db1",
        State::Bad,
        "proc/meminfo",
        "MemTotal: 65536000 kB\nMemAvailable: 2000000 kB\nSwapTotal: 2000000 kB\nSwapFree: 500000 kB\n",
    ),
    (
        "memory-no-swap",
        "db1",
        State::Advice,
        "proc/meminfo",
        "MemTotal: 65536000 kB\nSwapTotal: 0 kB\n",
    ),
    (
        "memory-swappiness",
        "db1",
        State::Bad,
        "proc/sys/vm/swappiness",
        "100\n",
    ),
    (
        "memory-swappiness",
        "db1",
        State::Advice,
        "proc/sys/vm/swappiness",
        "0\n",
    ),
    (
        "memory-oom",
        "db1",
        State::Bad,
        "proc/vmstat",
        "oom_kill 2\n",
    ),
    (
        "memory-dirty",
        "db1",
        State::Advice,
        "proc/sys/vm/dirty_bytes",
        "8589934592\n",
    ),
    (
        "huge-pages",
        "db1",
        State::Advice,
        "sys/kernel/mm/transparent_hugepage/enabled",
        "[always] madvise never\n",
    ),
    (
        "huge-pages-wait",
        "db1",
        State::Bad,
        "sys/kernel/mm/transparent_hugepage/defrag",
        "[always] madvise never\n",
    ),
    (
        "huge-pages-idle",
        "db1",
        State::Bad,
        "proc/meminfo",
        "MemTotal: 65536000 kB\nHugePages_Total: 9000\nHugePages_Free: 9000\nHugepagesize: 2048 kB\n",
    ),
    (
        "numa-reclaim",
        "db1",
        State::Bad,
        "proc/sys/vm/zone_reclaim_mode",
        "1\n",
    ),
    (
        "numa-balancing",
        "db1",
        State::Advice,
        "proc/sys/kernel/numa_balancing",
        "1\n",
    ),
    (
        "cpu-cores",
        "db1",
        State::Advice,
        "watched.toml",
        "cores = 1\n",
    ),
    (
        "cpu-foreign",
        "db1",
        State::Advice,
        "watched.toml",
        "foreign = 0.5\n",
    ),
    (
        "cpu-steal",
        "db1",
        State::Bad,
        "watched.toml",
        "steal = 0.07\n",
    ),
    ("cpu-steal", "db1", State::Unknown, "watched.toml", ""),
    (
        "cpu-throttled",
        "db1",
        State::Bad,
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "9\n",
    ),
    (
        "cpu-quota",
        "db1",
        State::Bad,
        "sys/fs/cgroup/user.slice/cpu.stat",
        "nr_periods 900\nnr_throttled 12\n",
    ),
    (
        "cpu-governor",
        "db1",
        State::Advice,
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "powersave\n",
    ),
    (
        "cpu-turbo",
        "db1",
        State::Advice,
        "sys/devices/system/cpu/cpufreq/boost",
        "1\n",
    ),
    (
        "cpu-smt",
        "db1",
        State::Advice,
        "sys/devices/system/cpu/smt/active",
        "1\n",
    ),
    (
        "cpu-virtual",
        "db1",
        State::Advice,
        "proc/cpuinfo",
        "flags\t: fpu hypervisor sse2\n",
    ),
    (
        "clock-source",
        "db1",
        State::Bad,
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "hpet\n",
    ),
    (
        "clock-synchronized",
        "db1",
        State::Bad,
        "watched.toml",
        "synchronized = false\n",
    ),
    (
        "net-ports",
        "db1",
        State::Bad,
        "proc/sys/net/ipv4/ip_local_port_range",
        "60000 60100\n",
    ),
    (
        "net-ports",
        "db1",
        State::Advice,
        "proc/sys/net/ipv4/ip_local_port_range",
        "60000 60500\n",
    ),
    (
        "net-ports",
        "db1",
        State::Advice,
        "watched.toml",
        "load_connects = 100000.0\n",
    ),
    (
        "net-tw-recycle",
        "db1",
        State::Bad,
        "etc/sysctl.d/90-tuning.conf",
        "net.ipv4.tcp_tw_recycle=1\n",
    ),
    (
        "net-tw-recycle",
        "db1",
        State::Bad,
        "proc/sys/net/ipv4/tcp_tw_recycle",
        "0\n",
    ),
    (
        "net-time-wait",
        "db1",
        State::Bad,
        "proc/net/netstat",
        "TcpExt: ListenOverflows TCPTimeWaitOverflow\nTcpExt: 0 17\n",
    ),
    (
        "net-somaxconn",
        "db1",
        State::Bad,
        "proc/sys/net/core/somaxconn",
        "128\n",
    ),
    (
        "net-syn-backlog",
        "db1",
        State::Advice,
        "proc/sys/net/ipv4/tcp_max_syn_backlog",
        "128\n",
    ),
    (
        "net-syncookies",
        "db1",
        State::Bad,
        "proc/sys/net/ipv4/tcp_syncookies",
        "0\n",
    ),
    (
        "net-listen-overflows",
        "db1",
        State::Bad,
        "proc/net/netstat",
        "TcpExt: ListenOverflows TCPTimeWaitOverflow\nTcpExt: 321 0\n",
    ),
    (
        "net-conntrack",
        "db1",
        State::Bad,
        "proc/sys/net/netfilter/nf_conntrack_count",
        "250000\n",
    ),
    (
        "net-retransmissions",
        "db1",
        State::Bad,
        "proc/net/snmp",
        "Tcp: OutSegs RetransSegs\nTcp: 1000 100\n",
    ),
    (
        "net-retransmissions",
        "db1",
        State::Advice,
        "proc/net/snmp",
        "Tcp: OutSegs RetransSegs\nTcp: 1000 20\n",
    ),
    (
        "net-idle-restart",
        "db1",
        State::Advice,
        "proc/sys/net/ipv4/tcp_slow_start_after_idle",
        "1\n",
    ),
    (
        "limit-open-files",
        "db1",
        State::Bad,
        "proc/self/limits",
        "Max open files  1024  2048  files\n",
    ),
    (
        "limit-open-files",
        "db1",
        State::Advice,
        "proc/self/limits",
        "Max open files  1024  524288  files\n",
    ),
    (
        "limit-files",
        "db1",
        State::Bad,
        "proc/sys/fs/file-nr",
        "900000 0 1000000\n",
    ),
    (
        "limit-processes",
        "db1",
        State::Bad,
        "proc/sys/kernel/pid_max",
        "310\n",
    ),
    (
        "limit-processes",
        "db1",
        State::Bad,
        "proc/sys/kernel/threads-max",
        "310\n",
    ),
    (
        "system-entropy",
        "db1",
        State::Bad,
        "proc/sys/kernel/random/entropy_avail",
        "60\n",
    ),
    (
        "system-randomized",
        "db1",
        State::Bad,
        "proc/sys/kernel/randomize_va_space",
        "0\n",
    ),
    (
        "system-preload",
        "db1",
        State::Advice,
        "etc/ld.so.preload",
        "/usr/lib/libjemalloc.so\n",
    ),
    ("copy-whole", "the copy", State::Unknown, "proc/loadavg", ""),
];

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, text).expect("a file");
}

fn good() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    GOOD.iter()
        .for_each(|(path, text)| write(folder.path(), path, text));
    folder
}

fn audit(folder: &Path) -> Audit {
    let machine = AuditedMachine::copy(Root::copy(folder)).expect("a machine");
    host::audit(&machine, &host::rules().expect("rules"), Vec::new())
}

fn finding_of<'a>(audit: &'a Audit, rule: &str, object: &str) -> &'a AuditFinding {
    let is_asked = |f: &&AuditFinding| f.rule == rule && f.place == object;
    audit
        .findings
        .iter()
        .find(is_asked)
        .unwrap_or_else(|| panic!("{rule} of {object}"))
}

#[test]
fn a_machine_that_is_set_up_well_has_nothing_bad() {
    let audit = audit(good().path());
    let not_good: Vec<_> = audit
        .findings
        .iter()
        .filter(|f| !matches!(f.state, State::Good | State::NotApplicable))
        .map(|f| (&f.rule, &f.place, f.state, &f.seen))
        .collect();
    assert!(not_good.is_empty(), "{not_good:#?}");
}

#[test]
fn every_rule_is_good_and_detects_a_change() {
    let good_audit = audit(good().path());
    let folder = good();
    for (rule, object, state, path, text) in CHANGED {
        assert_eq!(
            finding_of(&good_audit, rule, object).state,
            State::Good,
            "{rule} of {object}"
        );
        write(folder.path(), path, text);
        let audit = audit(folder.path());
        let finding = finding_of(&audit, rule, object);
        assert_eq!(
            finding.state, *state,
            "{rule} of {object}: {}",
            finding.seen
        );
        let is_complete = !finding.seen.contains('{') && !finding.seen.is_empty();
        assert!(
            is_complete && !finding.seen.contains("–"),
            "{rule}: {}",
            finding.seen
        );
        if matches!(state, State::Bad | State::Advice) {
            assert!(!finding.fixes.is_empty(), "{rule} says what to do");
        }
        match GOOD.iter().find(|(known, _)| known == path) {
            Some((_, text)) => write(folder.path(), path, text),
            None => fs::remove_file(folder.path().join(path)).expect("a file"),
        }
    }
    // Without a timer, nothing reports to the disk which blocks are free.
    fs::remove_file(
        folder
            .path()
            .join("etc/systemd/system/timers.target.wants/fstrim.timer"),
    )
    .expect("a timer");
    assert_eq!(
        finding_of(&audit(folder.path()), "filesystem-trim", "/").state,
        State::Bad
    );
}

#[test]
fn every_case_of_every_rule_is_tested() {
    let mut rules = host::rules().expect("rules");
    rules.retain(|rule| !MEASURED.contains(&rule.of.as_str()));
    let mut untested = BTreeSet::new();
    for rule in &rules {
        let states: BTreeSet<State> = rule.cases.iter().map(|case| case.state).collect();
        for state in states {
            let tested = CHANGED
                .iter()
                .any(|(id, _, found, ..)| *id == rule.id && *found == state);
            if !tested && (rule.id.as_str(), state) != ("filesystem-trim", State::Bad) {
                untested.insert((rule.id.clone(), state));
            }
        }
    }
    assert!(untested.is_empty(), "{untested:?}");
}

/// Rules about features that a machine may lack. Without the feature, the rule does not apply.
const OPTIONAL: [&str; 10] = [
    "cpu-governor",
    "cpu-quota",
    "cpu-smt",
    "cpu-throttled",
    "cpu-turbo",
    "huge-pages",
    "huge-pages-wait",
    "net-conntrack",
    "numa-balancing",
    "numa-reclaim",
];

#[test]
fn unreadable_settings_are_unknown() {
    let folder = TempDir::new().expect("a folder");
    fs::create_dir(folder.path().join("proc")).expect("a folder");
    let audit = audit(folder.path());
    let rules = host::rules().expect("rules");
    for finding in &audit.findings {
        let rule = rules.iter().find(|rule| rule.id == finding.rule);
        let class = rule.expect("a rule").of.as_str();
        let lacking = OPTIONAL.contains(&finding.rule.as_str());
        let expected = match class {
            "copy" | "host" | "filesystem" if !lacking => State::Unknown,
            _ => State::NotApplicable,
        };
        let rule_and_text = (&finding.rule, &finding.seen);
        assert_eq!(finding.state, expected, "{rule_and_text:?}");
        assert!(finding.seen.ends_with('.'), "{rule_and_text:?}");
    }
}

/// If any single file of a machine is missing, no finding becomes bad and no probe fails.
#[test]
fn a_missing_file_is_not_bad() {
    for (path, _) in GOOD {
        // The rule requires this timer.
        if path.ends_with("fstrim.timer") {
            continue;
        }
        let folder = good();
        fs::remove_file(folder.path().join(path)).expect("a file");
        let bad: Vec<_> = audit(folder.path())
            .findings
            .into_iter()
            .filter(|f| matches!(f.state, State::Bad | State::Advice))
            .map(|f| (f.rule, f.seen))
            .collect();
        assert!(bad.is_empty(), "without {path}: {bad:?}");
    }
}

/// Returns the finding about a disk of a well-configured machine for which smartctl printed the
/// text `smartctl`.
fn disk_finding(rule: &str, disk: &str, smartctl: &str) -> AuditFinding {
    let folder = good();
    write(folder.path(), &format!("smartctl-{disk}.json"), smartctl);
    finding_of(&audit(folder.path()), rule, disk).clone()
}

#[test]
fn a_hot_disk_need_not_be_replaced() {
    let hot = r#"{"smart_status":{"passed":false,"nvme":{"value":2}},"nvme_smart_health_information_log":
        {"critical_warning":2,"temperature":84,"percentage_used":4,"media_errors":0}}"#;
    let health = disk_finding("disk-health", "nvme0n1", hot);
    assert_eq!(health.state, State::Good, "{}", health.seen);
    let temperature = disk_finding("disk-temperature", "nvme0n1", hot);
    assert_eq!(
        temperature.seen,
        "The disk reports a temperature outside its limits. Now: 84 °C."
    );
    let errors = r#"{"smart_status":{"passed":true},"nvme_smart_health_information_log":{"media_errors":5}}"#;
    let health = disk_finding("disk-health", "nvme0n1", errors);
    assert!(health.seen.contains("5 times"), "{}", health.seen);
    assert!(!health.seen.contains("sector"), "{}", health.seen);
}

#[test]
fn data_without_a_health_status_is_read() {
    // `smartctl -A --json` shows only the attributes.
    let attributes = |sectors: u32| {
        format!(
            "\u{feff}{{\"rotation_rate\":7200,\"ata_smart_attributes\":{{\"table\":[{{\"id\":5,\
             \"name\":\"Reallocated_Sector_Ct\",\"raw\":{{\"value\":{sectors}}}}}]}}}}"
        )
    };
    let health = |smartctl: &str| {
        let finding = disk_finding("disk-health", "sda", smartctl);
        (finding.state, finding.seen)
    };
    let no_status = "smartctl shows no health status of this disk.";
    assert_eq!(
        health(&attributes(0)),
        (State::Unknown, no_status.to_owned())
    );
    assert_eq!(
        health(&attributes(1)),
        (State::Bad, "1 bad sector.".to_owned())
    );
    let standby = r#"{"smartctl":{"messages":[{"string":"Device is in STANDBY mode, exit(2)","severity":"information"}],
        "exit_status":2}}"#;
    let reason = "smartctl says: Device is in STANDBY mode, exit(2).";
    assert_eq!(health(standby), (State::Unknown, reason.to_owned()));
}

/// Errors count even if the disk reports that it is healthy and has no bad sectors.
#[test]
fn a_disk_that_could_not_read_data_is_not_good() {
    let ata = |more: &str| {
        format!(
            r#"{{"rotation_rate":7200,"smart_status":{{"passed":true}},{more},"ata_smart_attributes":{{"table":[
            {{"id":5,"name":"Reallocated_Sector_Ct","raw":{{"value":0}}}},
            {{"id":187,"name":"Reported_Uncorrect","raw":{{"value":UNCORRECT}}}}]}}}}"#
        )
    };
    let test = r#""ata_smart_self_test_log":{"standard":{"table":[{"type":{"value":2},"status":
        {"string":"Completed: read failure","passed":false},"lifetime_hours":22000,"lba":1951}]}}"#;
    let log = r#""ata_smart_error_log":{"summary":{"count":3}}"#;
    let sas = r#"{"device":{"protocol":"SCSI"},"smart_status":{"passed":true},"scsi_grown_defect_list":0,
        "scsi_error_counter_log":{"read":{"total_uncorrected_errors":17},"write":{"total_uncorrected_errors":5}}}"#;
    for (smartctl, expected, text) in [
        (
            ata(log).replace("UNCORRECT", "412"),
            State::Bad,
            "could not correct 412 errors",
        ),
        (
            ata(log).replace("UNCORRECT", "1"),
            State::Bad,
            "could not correct 1 error ",
        ),
        (sas.to_owned(), State::Bad, "could not correct 22 errors"),
        (
            ata(test).replace("UNCORRECT", "0"),
            State::Bad,
            "read failure, at 22000 h, LBA 1951",
        ),
        (
            ata(log).replace("UNCORRECT", "0"),
            State::Advice,
            "logged errors",
        ),
        (
            ata(r#""smartctl":{"exit_status":192}"#).replace("UNCORRECT", "0"),
            State::Bad,
            "a self-test failed",
        ),
        (
            ata(r#""smartctl":{"exit_status":0}"#).replace("UNCORRECT", "0"),
            State::Good,
            "neither",
        ),
        (
            sas.replace("17", "0").replace('5', "0"),
            State::Good,
            "neither",
        ),
    ] {
        let health = disk_finding("disk-health", "sda", &smartctl);
        assert_eq!(health.state, expected, "{}", health.seen);
        assert!(health.seen.contains(text), "{}", health.seen);
    }
}

/// A finding about an unknown value contains smartctl's explanation or the name of the attribute.
#[test]
fn an_unknown_value_of_a_disk_says_why() {
    let ssd = |attribute: &str, more: &str| {
        format!(
            r#"{{"in_smartctl_database":true,"smart_status":{{"passed":true}},{more}"ata_smart_attributes":{{"table":[
            {{"id":9,"name":"{attribute}","value":100,"raw":{{"value":9300,"string":"9300"}}}}]}}}}"#
        )
    };
    let failed = r#""smartctl":{"messages":[{"string":"Read SMART Data failed: scsi error badly formed","severity":"error"}]}"#;
    let no_table = format!(r#"{{"rotation_rate":7200,"smart_status":{{"passed":true}},{failed}}}"#);
    let checksum = r#""smartctl":{"messages":[{"string":"Warning! SMART Attribute Data Structure error: invalid SMART checksum.","severity":"warning"}]},"#;
    let raid = r#"{"device":{"protocol":"SCSI"},"scsi_vendor":"DELL","scsi_product":"PERC H730P","smart_support":{"available":false}}"#;
    for (rule, smartctl, text) in [
        (
            "disk-health",
            no_table.clone(),
            "smartctl says: Read SMART Data failed: scsi error badly formed.",
        ),
        ("disk-health", raid.to_owned(), "-d megaraid,N /dev/nvme0n1"),
        (
            "disk-health",
            ssd("Power_On_Hours", ""),
            "no attribute that benchlab understands",
        ),
        (
            "disk-health",
            ssd("Power_On_Hours", checksum),
            "invalid SMART checksum",
        ),
        (
            "disk-health",
            ssd("Bad_Block_Count", ""),
            "9 Bad_Block_Count",
        ),
        (
            "disk-endurance",
            ssd("Perc_Write/Erase_Count", ""),
            "9 Perc_Write/Erase_Count",
        ),
        (
            "disk-endurance",
            ssd("Power_On_Hours", ""),
            "no attribute that benchlab understands",
        ),
    ] {
        let finding = disk_finding(rule, "nvme0n1", &smartctl);
        assert_eq!(finding.state, State::Unknown, "{}", finding.seen);
        assert!(finding.seen.contains(text), "{}", finding.seen);
    }
    // Values from data with an invalid checksum may be wrong.
    let warnings = disk_finding("disk-warnings", "nvme0n1", &ssd("SSD_Life_Left", checksum));
    assert_eq!(warnings.state, State::Advice);
    assert!(
        warnings.seen.contains("invalid SMART checksum"),
        "{}",
        warnings.seen
    );
}

#[test]
fn a_wear_attribute_with_an_unknown_unit_is_named() {
    // WD Blue: drivedb.h gives 230 without a unit.
    let blue = r#"{"in_smartctl_database":true,"smart_status":{"passed":true},"ata_smart_attributes":{"table":[
        {"id":230,"name":"Media_Wearout_Indicator","value":1,"raw":{"string":"0x00a501580158"}}]}}"#;
    let endurance = disk_finding("disk-endurance", "nvme0n1", blue);
    assert_eq!(endurance.state, State::Unknown);
    assert!(
        endurance.seen.contains("230 Media_Wearout_Indicator"),
        "{}",
        endurance.seen
    );
}

#[test]
fn a_copy_without_timer_directories_has_unknown_timers() {
    let folder = good();
    fs::remove_dir_all(folder.path().join("etc/systemd")).expect("a folder");
    let audit = audit(folder.path());
    assert_eq!(
        finding_of(&audit, "filesystem-trim", "/").state,
        State::Unknown
    );
}

/// An LVM or encrypted volume is mounted under the name that /sys shows in `dm/name`.
#[test]
fn a_mapped_device_has_free_space_like_its_disk() {
    let folder = good();
    for (path, text) in [
        ("sys/block/dm-0/size", "1000000\n"),
        ("sys/block/dm-0/dm/name", "vg-root\n"),
        ("sys/block/dm-0/queue/discard_max_bytes", "4096\n"),
        (
            "proc/mounts",
            "/dev/mapper/vg-root / ext4 rw,relatime,discard 0 0\n",
        ),
    ] {
        write(folder.path(), path, text);
    }
    let mapped = audit(folder.path());
    assert_eq!(
        finding_of(&mapped, "filesystem-trim", "/").state,
        State::Advice
    );
    write(
        folder.path(),
        "sys/block/dm-0/queue/discard_max_bytes",
        "0\n",
    );
    let audit = audit(folder.path());
    assert_eq!(
        finding_of(&audit, "filesystem-trim", "/").state,
        State::NotApplicable
    );
}

/// An image is always full, and nothing can be written to it. If the same device is also mounted
/// writable, its space is judged.
#[test]
fn read_only_filesystems_may_be_full() {
    let folder = good();
    let mounts = "/dev/nvme0n1p1 / ext4 ro,relatime 0 0\n/dev/nvme0n1p1 /var ext4 rw,relatime 0 0\n\
         /dev/loop0 /snap/core squashfs ro,nodev 0 0\n";
    let full = "1000000000 0 1000 0";
    write(folder.path(), "proc/mounts", mounts);
    let rules = ["filesystem-space", "filesystem-files"];
    let df = format!("/ {full}\n/var {full}\n/snap/core {full}\n");
    write(folder.path(), "df.txt", &df);
    let full = audit(folder.path());
    write(folder.path(), "df.txt", "");
    let unknown = audit(folder.path());
    for rule in rules {
        let state = |audit: &Audit, name: &str| finding_of(audit, rule, name).state;
        assert_eq!(state(&full, "/var"), State::Bad, "{rule}");
        assert_eq!(state(&full, "/snap/core"), State::NotApplicable, "{rule}");
        assert_eq!(state(&unknown, "/var"), State::Unknown, "{rule}");
        assert_eq!(
            state(&unknown, "/snap/core"),
            State::NotApplicable,
            "{rule}"
        );
    }
    let table = full.tables.iter().flat_map(|table| &table.rows);
    let mut image = table.filter(|row| row[0] == EvidenceValue::Word("/snap/core".into()));
    let image = image.next().expect("a row of the image");
    let is_size = |value: &EvidenceValue| matches!(value, EvidenceValue::Number(n, _) if *n == 1e9);
    assert!(image.iter().any(is_size), "{image:?}");
}

/// The kernel lists no processor flags for Arm, so they do not show whether there is a hypervisor.
#[test]
fn an_arm_machine_may_be_virtual() {
    let folder = good();
    let arm = "processor\t: 0\nFeatures\t: fp asimd\n";
    write(folder.path(), "proc/cpuinfo", arm);
    let state = || finding_of(&audit(folder.path()), "cpu-virtual", "db1").state;
    assert_eq!(state(), State::Unknown);
    write(folder.path(), "sys/hypervisor/type", "xen\n");
    assert_eq!(state(), State::Advice);
}

#[test]
fn partitions_are_listed_with_their_alignment_and_what_is_on_them() {
    let folder = good();
    write(folder.path(), "sys/block/sda/sda1/start", "63\n");
    let audit = audit(folder.path());
    let table = audit.tables.iter().find(|t| t.title == "Partitions");
    let words: Vec<Vec<String>> = table
        .expect("a table")
        .rows
        .iter()
        .map(|row| {
            let words = row.iter().filter_map(|cell| match cell {
                EvidenceValue::Word(word) => Some(word.clone()),
                _ => None,
            });
            words.collect()
        })
        .collect();
    assert_eq!(
        words,
        [
            ["nvme0n1p1", "to a MiB", "ext4 on /"],
            ["sda1", "no", "xfs on /data"]
        ]
    );
}

#[test]
fn every_rule_has_a_reason_a_source_and_instructions() {
    let rules = [
        host::rules(),
        lab_audit::net::rules(),
        lab_audit::cookies::rules(),
        lab_audit::site::rules(),
    ];
    for rule in rules.into_iter().flat_map(|rules| rules.expect("rules")) {
        let texts = [&rule.title, &rule.why, &rule.seen, &rule.see];
        assert!(texts.iter().all(|text| !text.is_empty()), "{}", rule.id);
        assert!(rule.source.starts_with("https://"), "{}", rule.id);
        let fixed = |case: &lab_audit::rule::StateCase| {
            case.state == State::Unknown || case.fixes.iter().any(|fix| !fix.lines.is_empty())
        };
        assert!(rule.cases.iter().all(fixed), "{} says what to do", rule.id);
        // The text about a good object differs from the text about a bad object.
        let differs = |case: &lab_audit::rule::StateCase| {
            let has_own_text = case.seen.as_ref().is_some_and(|seen| *seen != rule.seen);
            has_own_text || rule.seen.replace("{name}", "").contains('{')
        };
        assert!(
            rule.cases.iter().all(differs),
            "{} says what it saw",
            rule.id
        );
    }
}

#[test]
fn rules_in_a_directory_are_read_and_errors_have_positions() {
    let folder = TempDir::new().expect("a folder");
    let rule = |when: &str| {
        format!(
            "of = 'host'\narea = 'own'\ntitle = 'T'\nwhy = 'W'\nsource = 'https://example.org'\nseen = '{{cores}}'\n\
             [[case]]\nstate = 'bad'\nwhen = ['{when}']\n"
        )
    };
    let read = |text: &str| {
        write(folder.path(), "own.toml", text);
        with_folder(Vec::new(), folder.path(), &CLASSES).map_err(|e| e.to_string())
    };
    assert_eq!(read(&rule("cores < 4")).expect("a rule")[0].id, "own");
    for (text, why) in [
        (
            rule("corse < 4"),
            "class `host` has no value `corse`; its values are cores, governor",
        ),
        (rule("cores ~ 4"), "invalid condition"),
        (
            rule("cores < 4").replace("'host'", "'hots'"),
            "expected one of address, cookie, cookie-host, copy, disk",
        ),
        (
            rule("cores < 4").replace("'bad'", "'worse'"),
            "unknown variant `worse`",
        ),
        (rule("swappiness != seven %"), "`seven %` is not a number"),
        (rule("swappiness != seven"), "is a number, not a word"),
        (rule("governor != 3"), "is a word, not a number"),
        (rule("cores < 4") + "weight = 99\n", "expected 1 to 9"),
        ("of = ".into(), "own.toml"),
    ] {
        let error = read(&text).expect_err("an error");
        assert!(error.contains(why) && error.contains("own.toml"), "{error}");
        assert!(!error.contains("cookie_bytes"), "{error}");
    }
}

/// One directory serves all audits, and a rule with a built-in rule's name replaces it.
#[test]
fn each_audit_takes_the_rules_of_its_classes() {
    let folder = TempDir::new().expect("a folder");
    let rule = |of: &str, when: &str| {
        format!(
            "of = '{of}'\narea = 'own'\ntitle = 'Own'\nwhy = 'W'\nsource = 'https://example.org'\nseen = 'S'\n\
             [[case]]\nstate = 'bad'\nwhen = ['{when}']\n"
        )
    };
    for (name, text) in [
        ("a-cookie", rule("cookie", "wide = yes")),
        ("a-host", rule("host", "cores < 4")),
        ("a-resource", rule("resource", "revalidation in 200 304")),
        ("cookie-hosts", rule("cookie-host", "cookies > 9")),
        ("an-address", rule("address", "family = IPv4")),
        ("net-mtu", rule("address", "mtu < 1400")),
    ] {
        write(folder.path(), &format!("{name}.toml"), &text);
    }
    let own_rules = |rules: Vec<Rule>, classes: &[Class]| -> Vec<String> {
        let rules = with_folder(rules, folder.path(), classes).expect("rules");
        let own_rules = rules.iter().filter(|rule| rule.title == "Own");
        own_rules.map(|rule| rule.id.clone()).collect()
    };
    assert_eq!(
        own_rules(host::rules().expect("rules"), &CLASSES),
        ["a-host"]
    );
    let nets = net::rules().expect("rules");
    let count = nets.len();
    assert_eq!(
        own_rules(nets.clone(), &net::CLASSES),
        ["net-mtu", "an-address"]
    );
    let rules = with_folder(nets, folder.path(), &net::CLASSES).expect("rules");
    assert_eq!(rules.len(), count + 1, "a rule replaced another rule");
    let of_cookies = own_rules(Vec::new(), &cookies::CLASSES);
    assert_eq!(of_cookies, ["a-cookie", "cookie-hosts"]);
    let of_sites = own_rules(Vec::new(), &site::CLASSES);
    assert_eq!(of_sites, ["a-cookie", "a-resource", "cookie-hosts"]);
}

/// Tests the audit of a directory tree that was copied with tar, in which files of /proc are empty
/// and disks are links.
#[test]
fn a_copy_without_content_says_so() {
    let folder = good();
    for file in ["proc/meminfo", "proc/cpuinfo", "proc/vmstat", "proc/swaps"] {
        write(folder.path(), file, "");
    }
    let disk = folder.path().join("sys/block/sdz");
    std::os::unix::fs::symlink("../devices/sdz", disk).expect("a link");
    let audit = audit(folder.path());
    let finding = finding_of(&audit, "copy-whole", "the copy");
    assert_eq!(finding.state, State::Unknown);
    let words = "proc/cpuinfo, proc/meminfo, proc/swaps and 1 more (empty), sys/block/sdz (a dangling link)";
    assert!(finding.seen.contains(words), "{}", finding.seen);
    let clock = finding_of(&audit, "clock-source", "db1");
    assert!(!clock.seen.contains("unknown"), "{}", clock.seen);
}

/// The finding of a rule that does not apply contains the condition that is not met.
#[test]
fn a_rule_that_does_not_apply_says_why() {
    let audit = audit(good().path());
    let of_kind = audit
        .findings
        .iter()
        .filter(|f| f.state == State::NotApplicable);
    let reasons: BTreeSet<&str> = of_kind.map(|f| f.seen.as_str()).collect();
    assert!(
        reasons
            .iter()
            .any(|reason| reason.starts_with("Applies only where `")),
        "{reasons:?}"
    );
    assert!(
        !reasons.contains("The rule does not apply to this object."),
        "{reasons:?}"
    );
}
