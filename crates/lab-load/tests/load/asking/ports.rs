// SPDX-License-Identifier: Apache-2.0
//! Whether ports last is computed from what the kernel says.

use lab_load::Ports;
use std::time::Duration;

const USUAL: Ports = Ports {
    range: 32_768..=60_999,
    reuse: 2,
    timestamps: true,
    fin_timeout: 60,
    waiting: 0,
};
const MINUTES: Duration = Duration::from_secs(600);

#[test]
fn without_reuse_ports_last_for_a_minute_each() {
    // 28,232 ports, each back after 60 s: 470.5 per second.
    let outlook = |rate| USUAL.outlook(Some(rate), MINUTES, false);
    assert!(!outlook(470.0).short);
    let short = outlook(471.0);
    assert!(short.short);
    let words = short.words.join("\n");
    for part in [
        "there are 28232",
        "run out after 59.9 s",
        "up to 471 per second",
        "tcp_tw_reuse=1",
        "ip_local_port_range='1024 65535'",
        "whatever tcp_fin_timeout (60 s)",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(!words.contains("recycle"));
    assert!(outlook(1000.0).words[1].contains("run out after 28.2 s"));
}

#[test]
fn a_short_load_needs_only_as_many_ports_as_connections() {
    let ten = Duration::from_secs(10);
    assert!(!USUAL.outlook(Some(2_823.0), ten, false).short);
    assert!(USUAL.outlook(Some(2_824.0), ten, false).short);
    let used = Ports {
        waiting: 28_000,
        ..USUAL
    };
    assert!(!used.outlook(Some(23.0), ten, false).short);
    assert!(used.outlook(Some(24.0), ten, false).short);
    let full = Ports {
        waiting: 100_000,
        ..USUAL
    };
    assert!(full.outlook(Some(1.0), ten, false).short);
}

#[test]
fn reuse_gives_ports_back_after_a_second() {
    // 2: on the loopback interface only; without timestamps: never.
    assert!(!USUAL.outlook(Some(28_000.0), MINUTES, true).short);
    assert!(USUAL.outlook(Some(29_000.0), MINUTES, true).short);
    let always = Ports { reuse: 1, ..USUAL };
    assert!(!always.outlook(Some(28_000.0), MINUTES, false).short);
    let never = Ports { reuse: 0, ..USUAL };
    assert!(never.outlook(Some(500.0), MINUTES, true).short);
    let blind = Ports {
        timestamps: false,
        reuse: 1,
        ..USUAL
    };
    let outlook = blind.outlook(Some(500.0), MINUTES, true);
    assert!(outlook.short && outlook.words.iter().any(|w| w.contains("tcp_timestamps=1")));
}

#[test]
fn without_a_rate_the_limit_is_said() {
    let outlook = USUAL.outlook(None, MINUTES, true);
    assert!(outlook.short);
    assert!(
        outlook.words[1].contains("up to 28232 new connections per second"),
        "{outlook:?}"
    );
}

#[test]
fn this_kernel_is_read() {
    let ports = Ports::read();
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
    let shown = format!("{}\t{}", ports.range.start(), ports.range.end());
    assert_eq!(text.trim(), shown);
    assert!(ports.reuse <= 2 && ports.fin_timeout > 0);
}
