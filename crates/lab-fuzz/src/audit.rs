// SPDX-License-Identifier: Apache-2.0
//! What audits read: browsers' files, pages, files of the system, what smartctl prints, rules of the user's.

use lab_audit::condition::Condition;
use lab_audit::cookies::{self, cookie, input::Collector};
use lab_audit::host::{self, AuditedMachine};
use lab_audit::site::{self, Url};
use lab_audit::smart::Smart;
use lab_audit::user_rules::all_classes;
use lab_audit::{Root, Rule, Thing, Value, judge, rule};
use lab_model::audit::Audit;
use std::path::Path;
use std::sync::LazyLock;
use tempfile::TempDir;

/// A site as a browser saved it.
pub fn har(bytes: &[u8]) {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| site::rules().expect("rules"));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok((url, site)) = site::of_har(text) {
        check_audit(&site::audit(&url, &site, &RULES));
    }
}

/// Cookies from a browser, or from curl's jar.
pub fn cookies(bytes: &[u8]) {
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| cookies::rules().expect("rules"));
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut collector = Collector::new().expect("random numbers");
    if collector.text(text).is_err() {
        return;
    }
    let observation = collector.done();
    let count = observation.cookies.len();
    for request in &observation.requests {
        let is_known = |index: &usize| *index < count;
        assert!(request.cookies.iter().all(is_known), "an unknown cookie");
    }
    check_audit(&cookies::audit(Vec::new(), &observation, &RULES, 10.0));
}

/// A `Set-Cookie` field, which may be several, and a `Cookie` field of the same bytes.
pub fn set_cookie(bytes: &[u8]) {
    let Ok(field) = std::str::from_utf8(bytes) else {
        return;
    };
    let parts = cookie::split_set_cookie(field);
    for part in &parts {
        assert_eq!(cookie::split_set_cookie(part), [*part], "it is split twice");
    }
    let mut collector = Collector::new().expect("random numbers");
    let fields = parts.into_iter().map(str::to_owned);
    collector.add_answer("www.example.com", "/a/b", 1.8e9, fields);
    for cookie in collector.done().cookies {
        assert!(
            cookie.path.starts_with('/'),
            "the path of {cookie:?} is not absolute"
        );
        cookie.is_sent_to("www.example.com", "/a/b");
    }
    let pairs = cookie::pairs(field);
    let length: usize = pairs
        .iter()
        .map(|(name, value)| name.len() + value.len())
        .sum();
    assert!(length <= field.len(), "more than the field holds");
}

/// The HTML of a page.
pub fn html_page(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let page = Url::parse("https://www.example.com/a/b").expect("a URL");
    let references = site::references(text, &page);
    assert!(references.len() <= text.len(), "more references than bytes");
}

/// What smartctl prints for a disk.
pub fn smartctl(bytes: &[u8]) {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(|| TempDir::new().expect("a folder"));
    let file = FOLDER.path().join("smartctl-sda.json");
    std::fs::write(file, bytes).expect("a file");
    match Smart::of(&Root::copy(FOLDER.path()), "sda") {
        Ok(smart) => {
            let is_fraction = |part: &f64| part.is_finite() && *part >= 0.0;
            assert!(smart.worn.iter().all(is_fraction), "{smart:?}");
            assert!(smart.spare.iter().all(is_fraction), "{smart:?}");
            assert!(smart.written.iter().all(is_fraction), "{smart:?}");
            let left = smart.endurance(1e12).left;
            assert!(left >= 0.0, "{left} bytes of {smart:?}");
        }
        Err(reason) => assert!(reason.chars().all(|c| !c.is_control()), "{reason:?}"),
    }
}

/// A file of a Linux host: the first byte says which one. The others have what is usual.
pub fn host_file(bytes: &[u8]) {
    static FOLDER: LazyLock<TempDir> = LazyLock::new(machine);
    static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| host::rules().expect("rules"));
    let Some((first, content)) = bytes.split_first() else {
        return;
    };
    let Some((path, usual)) = FILES.get(usize::from(*first)) else {
        return;
    };
    write(FOLDER.path(), path, content);
    if let Ok(machine) = AuditedMachine::copy(Root::copy(FOLDER.path())) {
        check_audit(&host::audit(&machine, &RULES, Vec::new()));
        host::mounts(&machine);
        host::available(&machine);
    }
    write(FOLDER.path(), path, usual.as_bytes());
}

/// A rule of the user's own, and its conditions.
pub fn audit_rule(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(condition) = Condition::parse(text) {
        assert_eq!(Condition::parse(&condition.text), Ok(condition));
    }
    let classes = all_classes();
    if let Ok(rule) = rule::parse(Path::new("rule.toml"), text, &classes) {
        let Some(class) = classes.iter().find(|class| class.name == rule.of) else {
            panic!("a rule of an unknown class");
        };
        for value in [
            Value::Word("none".into()),
            Value::Unknown("It cannot be seen.".into()),
        ] {
            let mut thing = Thing::new(class.name, "sda");
            for (name, _) in class.values {
                thing.set(name, value.clone());
            }
            judge(std::slice::from_ref(&rule), &[thing], &classes);
        }
    }
}

/// Files of a host, and what is usual in them. An input names one by its index: new ones come last.
const FILES: &[(&str, &str)] = &[
    ("proc/sys/kernel/hostname", "db1\n"),
    ("proc/sys/kernel/osrelease", "5.10.0-28-amd64\n"),
    ("proc/sys/kernel/randomize_va_space", "2\n"),
    ("proc/sys/kernel/pid_max", "4194304\n"),
    ("proc/sys/kernel/numa_balancing", "0\n"),
    ("proc/sys/kernel/random/entropy_avail", "3000\n"),
    (
        "proc/cpuinfo",
        "processor : 0\nmodel name\t: AMD EPYC\nflags\t: fpu sse2\n",
    ),
    ("proc/loadavg", "0.1 0.1 0.1 1/300 4711\n"),
    (
        "proc/meminfo",
        "MemTotal: 65536000 kB\nMemAvailable: 16000000 kB\nSwapTotal: 2000000 kB\nSwapFree: 2000000 kB\n\
         HugePages_Total: 100\nHugePages_Free: 0\nHugepagesize: 2048 kB\n",
    ),
    (
        "proc/swaps",
        "Filename Type Size Used Priority\n/dev/sda2 partition 2000000 0 -2\n",
    ),
    ("proc/vmstat", "pswpin 0\npswpout 0\noom_kill 0\n"),
    ("proc/sys/vm/swappiness", "10\n"),
    ("proc/sys/vm/zone_reclaim_mode", "0\n"),
    ("proc/sys/vm/dirty_bytes", "1073741824\n"),
    ("proc/sys/vm/dirty_ratio", "0\n"),
    ("proc/sys/fs/file-nr", "1000 0 1000000\n"),
    (
        "proc/self/limits",
        "Limit Soft Hard Units\nMax open files            8192                 524288               files\n",
    ),
    ("proc/sys/net/core/somaxconn", "4096\n"),
    ("proc/sys/net/ipv4/ip_local_port_range", "1024\t65535\n"),
    (
        "proc/sys/net/ipv4/ip_local_reserved_ports",
        "8080-8089,9000\n",
    ),
    ("proc/sys/net/ipv4/tcp_tw_reuse", "1\n"),
    ("proc/sys/net/ipv4/tcp_max_tw_buckets", "262144\n"),
    ("proc/sys/net/ipv4/tcp_max_syn_backlog", "4096\n"),
    ("proc/sys/net/ipv4/tcp_syncookies", "1\n"),
    ("proc/sys/net/ipv4/tcp_slow_start_after_idle", "0\n"),
    ("proc/sys/net/ipv4/tcp_congestion_control", "cubic\n"),
    ("proc/sys/net/netfilter/nf_conntrack_count", "100\n"),
    ("proc/sys/net/netfilter/nf_conntrack_max", "262144\n"),
    (
        "proc/net/netstat",
        "TcpExt: TW ListenOverflows ListenDrops TCPTimeWaitOverflow\nTcpExt: 5 0 0 0\nIpExt: InNoRoutes\nIpExt: 0\n",
    ),
    (
        "proc/net/snmp",
        "Tcp: OutSegs RetransSegs\nTcp: 1000000 1000\n",
    ),
    (
        "proc/net/sockstat",
        "TCP: inuse 5 orphan 0 tw 12 alloc 9 mem 1\n",
    ),
    (
        "proc/mounts",
        "/dev/nvme0n1p1 / ext4 rw,relatime 0 0\n/dev/sda1 /data xfs rw,noatime 0 0\nproc /proc proc rw 0 0\n",
    ),
    (
        "df.txt",
        "Mounted on 1B-blocks Avail Inodes IFree\n/ 1000000000 500000000 1000 900\n/data 8000000000 4000000000 1000 900\n",
    ),
    (
        "etc/sysctl.conf",
        "# net.ipv4.tcp_tw_recycle = 1\nvm.swappiness = 10\n",
    ),
    ("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12\"\n"),
    ("etc/systemd/system/timers.target.wants/fstrim.timer", ""),
    ("sys/devices/system/node/node0/meminfo", ""),
    ("sys/devices/system/node/node1/meminfo", ""),
    (
        "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        "performance\n",
    ),
    (
        "sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count",
        "0\n",
    ),
    ("proc/self/cgroup", "0::/user.slice\n"),
    (
        "sys/fs/cgroup/user.slice/cpu.stat",
        "usage_usec 5\nnr_periods 7\nnr_throttled 0\n",
    ),
    ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
    ("sys/devices/system/cpu/smt/active", "0\n"),
    (
        "sys/devices/system/clocksource/clocksource0/current_clocksource",
        "tsc\n",
    ),
    (
        "sys/devices/system/clocksource/clocksource0/available_clocksource",
        "tsc hpet acpi_pm\n",
    ),
    (
        "sys/kernel/mm/transparent_hugepage/enabled",
        "always [madvise] never\n",
    ),
    (
        "sys/kernel/mm/transparent_hugepage/defrag",
        "always defer defer+madvise [madvise] never\n",
    ),
    ("sys/block/nvme0n1/size", "1953525168\n"),
    ("sys/block/nvme0n1/device/model", "Fast 1TB\n"),
    ("sys/block/nvme0n1/queue/rotational", "0\n"),
    ("sys/block/nvme0n1/queue/scheduler", "[none] mq-deadline\n"),
    ("sys/block/nvme0n1/queue/nr_requests", "1023\n"),
    ("sys/block/nvme0n1/queue/read_ahead_kb", "128\n"),
    ("sys/block/nvme0n1/queue/write_cache", "write back\n"),
    (
        "sys/block/nvme0n1/queue/discard_max_bytes",
        "2199023255040\n",
    ),
    ("sys/block/nvme0n1/queue/physical_block_size", "4096\n"),
    ("sys/block/nvme0n1/nvme0n1p1/partition", "1\n"),
    ("sys/block/nvme0n1/nvme0n1p1/start", "2048\n"),
    ("sys/block/nvme0n1/nvme0n1p1/size", "1953523120\n"),
    (
        "smartctl-nvme0n1.json",
        r#"{"smart_status":{"passed":true},"nvme_smart_health_information_log":{"percentage_used":3,"available_spare":100,"media_errors":0}}"#,
    ),
    ("sys/block/sda/size", "15628053168\n"),
    ("sys/block/sda/device/model", "Big 8TB\n"),
    ("sys/block/sda/device/queue_depth", "32\n"),
    ("sys/block/sda/queue/rotational", "1\n"),
    ("sys/block/sda/queue/scheduler", "none [mq-deadline] bfq\n"),
    ("sys/block/sda/queue/nr_requests", "64\n"),
    ("sys/block/sda/queue/read_ahead_kb", "1024\n"),
    ("sys/block/sda/queue/write_cache", "write back\n"),
    ("sys/block/sda/queue/discard_max_bytes", "0\n"),
    ("sys/block/sda/queue/physical_block_size", "4096\n"),
    ("sys/block/sda/sda1/partition", "1\n"),
    ("sys/block/sda/sda1/start", "2048\n"),
    ("sys/block/sda/sda1/size", "15628051120\n"),
    (
        "smartctl-sda.json",
        r#"{"rotation_rate":7200,"smart_status":{"passed":true},"ata_smart_attributes":{"table":[{"id":5,"name":"Reallocated_Sector_Ct","value":100,"raw":{"value":0,"string":"0"}},{"id":197,"name":"Current_Pending_Sector","value":100,"raw":{"value":0,"string":"0"}}]}}"#,
    ),
    ("sys/block/loop0/size", "8\n"),
    ("sys/block/vda/size", "1000000\n"),
    ("sys/block/vda/queue/rotational", "0\n"),
    ("sys/block/vda/queue/scheduler", "[none] mq-deadline\n"),
    ("sys/block/vda/queue/read_ahead_kb", "128\n"),
    (
        "watched.toml",
        "steal = 0.0\nforeign = 0.01\ncores = 16\nclock_read_ns = 22.0\nsynchronised = true\ntime_error_ns = 50000000.0\n",
    ),
];

/// An audit can be shown.
fn check_audit(audit: &Audit) {
    for table in &audit.tables {
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len(), "{}", table.title);
        }
    }
}

fn machine() -> TempDir {
    let folder = TempDir::new().expect("a folder");
    for (path, content) in FILES {
        write(folder.path(), path, content.as_bytes());
    }
    folder
}

fn write(folder: &Path, path: &str, content: &[u8]) {
    let file = folder.join(path);
    if let Some(parent) = file.parent() {
        std::fs::create_dir_all(parent).expect("a folder");
    }
    std::fs::write(file, content).expect("a file");
}
