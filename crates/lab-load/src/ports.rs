// SPDX-License-Identifier: Apache-2.0
//! Predicts whether a load with one connection per request exhausts the local ports.
//!
//! Each closed connection occupies its port for a minute (TIME_WAIT, RFC 9293, 3.4.1).

use std::fs;
use std::ops::RangeInclusive;
use std::time::Duration;

/// The time for which Linux keeps a closed connection in TIME_WAIT, in seconds (`TCP_TIMEWAIT_LEN`,
/// which is not configurable).
const TIME_WAIT_S: f64 = 60.0;

/// The time after which the kernel may reuse a port in TIME_WAIT, in seconds (tcp(7), `tcp_tw_reuse`).
const REUSE_S: f64 = 1.0;

/// The local ports of this host, and the settings that determine when a used port becomes available
/// again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports {
    /// The range of local ports (`net.ipv4.ip_local_port_range`, which also applies to IPv6).
    pub range: RangeInclusive<u16>,
    /// The value of `net.ipv4.tcp_tw_reuse`: 0 for never, 1 for always, 2 for the loopback
    /// interface only.
    pub reuse: u8,
    /// The value of `net.ipv4.tcp_timestamps`. Without timestamps, ports in TIME_WAIT are never
    /// reused.
    pub timestamps: bool,
    /// The value of `net.ipv4.tcp_fin_timeout`, in seconds.
    pub fin_timeout: u32,
    /// The current number of connections in TIME_WAIT.
    pub waiting: u32,
}

/// The effect of a load on the ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortForecast {
    /// True if there are not enough ports.
    pub short: bool,
    /// A description of the consequences, and of the settings that help.
    pub words: Vec<String>,
}

impl Ports {
    /// Reads the kernel's settings. Uses default values for missing settings.
    pub fn read() -> Ports {
        let setting = |name: &str| text(&format!("/proc/sys/net/ipv4/{name}"));
        let stat = text("/proc/net/sockstat");
        let range = range(&setting("ip_local_port_range")).unwrap_or(32_768..=60_999);
        Ports {
            range,
            reuse: setting("tcp_tw_reuse").trim().parse().unwrap_or(2),
            timestamps: setting("tcp_timestamps").trim() != "0",
            fin_timeout: setting("tcp_fin_timeout").trim().parse().unwrap_or(60),
            waiting: waiting(&stat).unwrap_or(0),
        }
    }

    /// Predicts the effect of one connection per request to a single address and port.
    ///
    /// `rate` is in connections per second. `None` means as fast as the server responds.
    pub fn forecast(&self, rate: Option<f64>, length: Duration, loopback: bool) -> PortForecast {
        let reused = self.reused(loopback);
        let kept_s = if reused { REUSE_S } else { TIME_WAIT_S };
        let free = (self.count() - if reused { 0.0 } else { f64::from(self.waiting) }).max(0.0);
        let seconds = length.as_secs_f64();
        // A port is free again after `kept_s`. A load shorter than that needs one port for each connection.
        let most = (free / seconds.min(kept_s)).max(0.0);
        let short = rate.is_none_or(|rate| rate > most);
        let mut words = vec![self.state(reused, kept_s)];
        words.push(match rate {
            Some(rate) if !short => format!(
                "{rate:.0} new connections per second for {seconds:.0} s are possible; the maximum is {most:.0}"
            ),
            Some(rate) => format!(
                "at {rate:.0} new connections per second, ports can run out after {:.1} s, and connections then \
                 fail; for {seconds:.0} s, at most {most:.0} per second are possible",
                free / rate
            ),
            None => format!(
                "there are enough ports for {seconds:.0} s at up to {most:.0} new connections per second; if \
                 the server responds faster, ports run out and connections fail"
            ),
        });
        if short {
            words.extend(self.help(reused));
        }
        PortForecast { short, words }
    }

    fn count(&self) -> f64 {
        f64::from(self.range.end().saturating_sub(*self.range.start())) + 1.0
    }

    fn reused(&self, loopback: bool) -> bool {
        self.timestamps && (self.reuse == 1 || self.reuse == 2 && loopback)
    }

    fn state(&self, reused: bool, kept_s: f64) -> String {
        let after = if reused {
            format!(
                "the kernel reuses a port after {kept_s:.0} s (tcp_tw_reuse = {})",
                self.reuse
            )
        } else {
            format!(
                "a connection that this side closes first keeps its port for {kept_s:.0} s, regardless of \
                 tcp_fin_timeout ({} s)",
                self.fin_timeout
            )
        };
        format!(
            "each request opens a connection and needs a local port: there are {} ports ({} to {}), the number of \
             connections in TIME_WAIT is {}, and {after}",
            self.count(),
            self.range.start(),
            self.range.end(),
            self.waiting
        )
    }

    fn help(&self, reused: bool) -> Vec<String> {
        let timestamps = (!self.timestamps).then_some("`sysctl -w net.ipv4.tcp_timestamps=1`");
        let reuse = (!reused && self.reuse != 1)
            .then_some("`sysctl -w net.ipv4.tcp_tw_reuse=1` reuses ports after one second");
        let wider = (*self.range.start() > 10_000 || *self.range.end() < 65_000).then_some(
            "`sysctl -w net.ipv4.ip_local_port_range='1024 65535'` provides 64512 ports",
        );
        let words = [
            timestamps.map(|command| format!("{command} lets the kernel distinguish old packets from new ones, \
                 which is necessary for reusing ports")),
            reuse.map(str::to_owned),
            wider.map(str::to_owned),
            Some("the limit applies separately to each address and port of the server; with keep-alive, a load \
                 uses up no ports".to_owned()),
        ];
        words.into_iter().flatten().collect()
    }
}

fn range(text: &str) -> Option<RangeInclusive<u16>> {
    let mut numbers = text.split_whitespace().map(str::parse);
    let (first, last) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (first <= last).then_some(first..=last)
}

/// Parses a line such as `TCP: inuse 5 orphan 0 tw 12 alloc 7 mem 1`.
fn waiting(stat: &str) -> Option<u32> {
    let line = stat.lines().find_map(|line| line.strip_prefix("TCP:"))?;
    let mut words = line.split_whitespace();
    words.find(|word| *word == "tw")?;
    words.next()?.parse().ok()
}

fn text(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_default()
}
