// SPDX-License-Identifier: Apache-2.0
//! Tests predictions about local ports, which depend on the kernel's settings.

use lab_load::Ports;
use std::time::Duration;

const DEFAULT: Ports = Ports {
    range: 32_768..=60_999,
    reuse: 2,
    timestamps: true,
    fin_timeout: 60,
    waiting: 0,
};
const MINUTES: Duration = Duration::from_secs(600);

#[test]
fn without_reuse_ports_last_for_a_minute_each() {
    // 28,232 ports, each of which is free again after 60 s: 470.5 connections per second.
    let forecast = |rate| DEFAULT.forecast(Some(rate), MINUTES, false);
    assert!(!forecast(470.0).short);
    let short = forecast(471.0);
    assert!(short.short);
    let words = short.words.join("\n");
    for part in [
        "there are 28232",
        "run out after 59.9 s",
        "at most 471 per second",
        "tcp_tw_reuse=1",
        "ip_local_port_range='1024 65535'",
        "regardless of tcp_fin_timeout (60 s)",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
    assert!(!words.contains("recycle"));
    assert!(forecast(1000.0).words[1].contains("run out after 28.2 s"));
}

#[test]
fn a_short_load_needs_only_as_many_ports_as_connections() {
    let ten = Duration::from_secs(10);
    assert!(!DEFAULT.forecast(Some(2_823.0), ten, false).short);
    assert!(DEFAULT.forecast(Some(2_824.0), ten, false).short);
    let used = Ports {
        waiting: 28_000,
        ..DEFAULT
    };
    assert!(!used.forecast(Some(23.0), ten, false).short);
    assert!(used.forecast(Some(24.0), ten, false).short);
    let full = Ports {
        waiting: 100_000,
        ..DEFAULT
    };
    assert!(full.forecast(Some(1.0), ten, false).short);
}

#[test]
fn reuse_gives_ports_back_after_a_second() {
    // 2 means only on the loopback interface; without timestamps, ports are never reused.
    assert!(!DEFAULT.forecast(Some(28_000.0), MINUTES, true).short);
    assert!(DEFAULT.forecast(Some(29_000.0), MINUTES, true).short);
    let always = Ports {
        reuse: 1,
        ..DEFAULT
    };
    assert!(!always.forecast(Some(28_000.0), MINUTES, false).short);
    let never = Ports {
        reuse: 0,
        ..DEFAULT
    };
    assert!(never.forecast(Some(500.0), MINUTES, true).short);
    let blind = Ports {
        timestamps: false,
        reuse: 1,
        ..DEFAULT
    };
    let forecast = blind.forecast(Some(500.0), MINUTES, true);
    assert!(
        forecast.short
            && forecast
                .words
                .iter()
                .any(|w| w.contains("tcp_timestamps=1"))
    );
}

#[test]
fn without_a_rate_the_limit_is_reported() {
    let forecast = DEFAULT.forecast(None, MINUTES, true);
    assert!(forecast.short);
    assert!(
        forecast.words[1].contains("up to 28232 new connections per second"),
        "{forecast:?}"
    );
}

#[test]
fn this_kernel_is_read() {
    let ports = Ports::read();
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
    let expected = format!("{}\t{}", ports.range.start(), ports.range.end());
    assert_eq!(text.trim(), expected);
    assert!(ports.reuse <= 2 && ports.fin_timeout > 0);
}
