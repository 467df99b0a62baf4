// SPDX-License-Identifier: Apache-2.0
//! The files of a machine on which no rule finds a problem.
//!
//! The fuzz targets of `lab-fuzz` also start from these files. Fuzz inputs refer to a file by its
//! index, so new files must come last.

/// The paths and contents of a well-configured machine with an NVMe disk, a spinning disk and two NUMA nodes.
pub const GOOD: &[(&str, &str)] = &[
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
        "steal = 0.0\nforeign = 0.01\ncores = 16\nclock_read_ns = 22.0\nsynchronized = true\ntime_error_ns = 50000000.0\n",
    ),
    ("proc/sys/kernel/threads-max", "500000\n"),
];
