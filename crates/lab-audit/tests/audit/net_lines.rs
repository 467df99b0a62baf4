// SPDX-License-Identifier: Apache-2.0
//! Tests the audit of a link that delays packets of one family and drops echo requests.

use crate::line;
use lab_audit::net::{self, NetObservation};
use lab_host::namespace::{Namespace, NamespacePair, ip};
use lab_load::IpFamily;
use lab_model::audit::{Audit, State};
use std::fs::File;
use std::time::Duration;

const ROUNDS: u32 = 20;
/// The number of echo requests to an address family: two turns per round, with one request each.
const ECHOES: usize = 2 * ROUNDS as usize;

fn family(packet: &[u8]) -> IpFamily {
    if packet[0] >> 4 == 4 {
        IpFamily::V4
    } else {
        IpFamily::V6
    }
}

/// Returns true for an echo request of the default 56 bytes. Requests that measure the maximum
/// packet size have other lengths.
fn is_default_echo(packet: &[u8]) -> bool {
    match family(packet) {
        IpFamily::V4 => packet.len() == 84 && packet[9] == 1 && packet[20] == 8,
        IpFamily::V6 => packet.len() == 104 && packet[6] == 58 && packet[40] == 128,
    }
}

/// Observes a link that delays the packets of the family `slow` by 3 ms and drops one in `every` of
/// the family's echo requests.
fn slower(slow: IpFamily, every: usize) -> Result<NetObservation, String> {
    let [client, server] = [Namespace::new()?, Namespace::new()?];
    let mut echoes = 0;
    let delay = move |packet: &[u8]| {
        if family(packet) != slow {
            return Some(Duration::ZERO);
        }
        if is_default_echo(packet) {
            echoes += 1;
            if echoes % every == 0 {
                return None;
            }
        }
        Some(Duration::from_millis(3))
    };
    let end = |space: &Namespace, addresses| space.run_inside(|| end(addresses))?;
    line::join(
        end(&client, NamespacePair::CLIENT)?,
        end(&server, NamespacePair::SERVER)?,
        delay,
    )?;
    net::observe_namespaces(
        [&client, &server],
        NamespacePair::SERVER,
        ROUNDS,
        &mut |_| {},
    )
}

/// Creates an end of the link in the thread's namespace.
fn end([v4, v6]: [&str; 2]) -> Result<File, String> {
    const NAME: &str = "line0";
    let file = line::device(NAME)?;
    for address in [format!("{v4}/24"), format!("{v6}/64")] {
        ip(&["address", "add", &address, "dev", NAME])?;
    }
    ip(&["link", "set", NAME, "up"])?;
    Ok(file)
}

/// Returns the states of a rule's findings whose text contains a word.
fn states(audit: &Audit, rule: &str, word: &str) -> Vec<State> {
    let findings = audit.findings.iter().filter(|f| f.rule == rule);
    findings
        .filter(|f| f.seen.contains(word))
        .map(|f| f.state)
        .collect()
}

#[test]
fn a_slower_and_lossy_family_is_detected() {
    let rules = net::rules().expect("rules");
    let cases = [
        (IpFamily::V6, IpFamily::V4, ECHOES / 5, State::Bad, "12.5 %"),
        (IpFamily::V4, IpFamily::V6, ECHOES, State::Advice, "2.5 %"),
    ];
    for (slow, other, every, expected, loss_state) in cases {
        let observation = match slower(slow, every) {
            Ok(observation) => observation,
            Err(reason) => return crate::print_skipped(&reason),
        };
        let audit = net::audit(&[observation], &rules);
        assert_eq!(
            states(&audit, "net-loss", loss_state),
            [expected],
            "{:?}",
            audit.findings
        );
        assert_eq!(states(&audit, "net-loss", other.name()), [State::Good]);
        assert_eq!(states(&audit, "net-families", "times"), [State::Advice]);
        let cost = audit.findings.iter().find(|f| f.rule == "net-families");
        let cost = &cost.expect("a finding").cost;
        assert_eq!(
            slow == IpFamily::V4,
            cost.contains("for users of IPv4"),
            "{cost}"
        );
    }
}
