// SPDX-License-Identifier: Apache-2.0
//! Ports, queues and the kernel's connection counters.

use super::machine::{AuditedMachine, Probe};
use crate::value::{AuditObject, Value};
use lab_host::Root;
use lab_host::netstat::counter;
use lab_model::Unit;

pub struct HostNetwork;

/// The time that a port stays in TIME_WAIT, in s: TCP_TIMEWAIT_LEN in include/net/tcp.h, which no setting changes.
const TIME_WAIT_S: f64 = 60.0;
/// The time after which `tcp_tw_reuse` reuses a port in TIME_WAIT, in s. Both ends must use
/// timestamps (ip-sysctl.rst).
const REUSED_AFTER_S: f64 = 1.0;
const IPV4: &str = "proc/sys/net/ipv4";

impl Probe for HostNetwork {
    fn observe(&self, machine: &AuditedMachine) -> Vec<AuditObject> {
        let root = &machine.root;
        let mut host = machine.host();
        let count = |n: u64| Value::count(n, "connections");
        let setting = |name: &str| root.required_number(&format!("{IPV4}/{name}"));
        let number = |n: u64| Value::count(n, "");
        let reuse = root.number(&format!("{IPV4}/tcp_tw_reuse"));
        host.set("time_wait", Value::ns(TIME_WAIT_S * 1e9));
        host.set_some("tw_reuse", reuse.map(number));
        let ports = ports(root);
        if let Err(reason) = &ports {
            host.set("ports_per_second", Value::Unknown(reason.clone()));
        }
        if let Ok(ports) = ports {
            let rest_s = if reuse == Some(1) {
                REUSED_AFTER_S
            } else {
                TIME_WAIT_S
            };
            let rate = ports as f64 / rest_s;
            host.set("rest", Value::ns(rest_s * 1e9));
            host.set("ports", Value::count(ports, "ports"));
            host.set(
                "ports_per_second",
                Value::Number(rate.floor(), Unit::PerSecond("connections".into())),
            );
            set_load_fraction(machine.watched.load_connects, rate, &mut host);
        }
        host.set_result("time_wait_most", setting("tcp_max_tw_buckets"), count);
        host.set("tw_recycle", tw_recycle(root));
        host.set_result(
            "somaxconn",
            root.required_number("proc/sys/net/core/somaxconn"),
            count,
        );
        host.set_result("syn_backlog", setting("tcp_max_syn_backlog"), count);
        host.set_result("syncookies", setting("tcp_syncookies"), number);
        host.set_result(
            "slow_start_after_idle",
            setting("tcp_slow_start_after_idle"),
            number,
        );
        host.set_some(
            "congestion",
            root.line(&format!("{IPV4}/tcp_congestion_control"))
                .map(Value::Word),
        );
        set_counters(root, &mut host);
        host.set_some("conntrack_share", conntrack(root));
        vec![host]
    }
}

/// Sets the connection rate of the last `benchlab load`, in connections per second and as a
/// fraction of `rate`.
///
/// `rate` is the highest connection rate that the available ports allow, in connections per second.
fn set_load_fraction(connects: Option<f64>, rate: f64, host: &mut AuditObject) {
    let unknown = || Value::word("unknown");
    let per_second = |n: f64| Value::Number(n, Unit::PerSecond("connections".into()));
    host.set("load_connects", connects.map_or_else(unknown, per_second));
    host.set_some("load_share", connects.map(|n| Value::fraction(n / rate)));
}

/// Returns the number of local ports for outgoing connections, excluding reserved ports, or the
/// reason the number is unknown.
fn ports(root: &Root) -> Result<u64, String> {
    let range = root.required_line(&format!("{IPV4}/ip_local_port_range"))?;
    let ends: Vec<u64> = range
        .split_whitespace()
        .filter_map(|end| end.parse().ok())
        .collect();
    let [low, high] = ends[..] else {
        return Err(format!(
            "/{IPV4}/ip_local_port_range does not contain two numbers."
        ));
    };
    let reserved = root
        .line(&format!("{IPV4}/ip_local_reserved_ports"))
        .unwrap_or_default();
    let reserved_in = |range: &str| {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to) = (
            from.trim().parse::<u64>().ok()?,
            to.trim().parse::<u64>().ok()?,
        );
        let (from, to) = (from.max(low), to.min(high));
        Some((to + 1).saturating_sub(from))
    };
    let reserved: u64 = reserved.split(',').filter_map(reserved_in).sum();
    Ok((high + 1).saturating_sub(low).saturating_sub(reserved))
}

/// Returns the configuration files that set `tcp_tw_recycle`, which Linux 4.12 removed.
fn tw_recycle(root: &Root) -> Value {
    let mut files = vec!["etc/sysctl.conf".to_owned()];
    for folder in ["etc/sysctl.d", "run/sysctl.d", "usr/lib/sysctl.d"] {
        let names = root.names(folder);
        files.extend(names.iter().map(|name| format!("{folder}/{name}")));
    }
    let sets_recycle = |file: &&String| {
        let text = root.text(file).unwrap_or_default();
        let mut lines = text.lines().map(str::trim);
        lines.any(|line| !line.starts_with(['#', ';']) && line.contains("tcp_tw_recycle"))
    };
    let setters: Vec<String> = files
        .iter()
        .filter(sets_recycle)
        .map(|file| format!("/{file}"))
        .collect();
    match (
        setters.is_empty(),
        root.has(&format!("{IPV4}/tcp_tw_recycle")),
    ) {
        (false, _) => Value::Word(setters.join(", ")),
        (true, true) => Value::word("the kernel has it"),
        (true, false) if !root.has("etc") => Value::Unknown("There is no /etc.".into()),
        (true, false) => Value::word("nowhere"),
    }
}

fn set_counters(root: &Root, host: &mut AuditObject) {
    let netstat = root.text("proc/net/netstat");
    let names = [
        ("listen_overflows", "ListenOverflows"),
        ("listen_drops", "ListenDrops"),
        ("time_wait_overflows", "TCPTimeWaitOverflow"),
    ];
    for (name, field) in names {
        match &netstat {
            Ok(text) => {
                let count = counter(text, "TcpExt:", field);
                host.set_some(name, count.map(|n| Value::count(n, "connections")));
            }
            Err(reason) => host.set(name, Value::Unknown(format!("{reason}."))),
        }
    }
    host.set_result(
        "retransmitted",
        retransmitted_fraction(root),
        Value::fraction,
    );
    let sockstat = root.text("proc/net/sockstat").unwrap_or_default();
    let tcp = sockstat.lines().find_map(|line| line.strip_prefix("TCP:"));
    let mut words = tcp.unwrap_or_default().split_whitespace();
    let waiting = words.find(|word| *word == "tw").and_then(|_| words.next());
    let waiting = waiting.and_then(|n| n.parse().ok());
    host.set_some(
        "time_wait_now",
        waiting.map(|n| Value::count(n, "connections")),
    );
}

/// Returns the fraction of TCP segments that were retransmitted, or the reason the fraction is
/// unknown.
fn retransmitted_fraction(root: &Root) -> Result<f64, String> {
    const MIN_SEGMENTS: u64 = 1000;
    let text = root
        .text("proc/net/snmp")
        .map_err(|reason| format!("{reason}."))?;
    let counts = counter(&text, "Tcp:", "OutSegs").zip(counter(&text, "Tcp:", "RetransSegs"));
    match counts {
        None => Err("/proc/net/snmp does not contain the counts of segments.".into()),
        Some((all, _)) if all < MIN_SEGMENTS => Err(format!(
            "Only {all} segments were sent since boot; at least {MIN_SEGMENTS} are needed."
        )),
        Some((all, resent)) => Ok(resent as f64 / all as f64),
    }
}

fn conntrack(root: &Root) -> Option<Value> {
    let count = root.number("proc/sys/net/netfilter/nf_conntrack_count")?;
    let max = root
        .number("proc/sys/net/netfilter/nf_conntrack_max")
        .filter(|n| *n > 0)?;
    Some(Value::fraction(count as f64 / max as f64))
}

#[cfg(test)]
mod tests {
    use crate::host::machine::field;

    #[test]
    fn fields_are_found_by_their_names() {
        assert_eq!(field("a: 1\npswpin 7\n", "pswpin"), Some(7));
    }
}
