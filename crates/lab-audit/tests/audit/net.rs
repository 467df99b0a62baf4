// SPDX-License-Identifier: Apache-2.0
//! Tests the network audit on this machine's own addresses, with a good and a bad case for each
//! rule.

use lab_audit::net::{self, NetObservation, NetTarget};
use lab_audit::{AuditObject, Value, judge};
use lab_host::namespace::{End, Namespace, NamespacePair, cable, ip};
use lab_model::Unit;
use lab_model::audit::{Audit, AuditFinding, EvidenceValue, State};
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpListener;

fn audit(name: &str, port: u16) -> Audit {
    let target = NetTarget {
        name: name.into(),
        port,
        tls: false,
    };
    let observation = net::observe(&target, 20, &mut |_| {});
    net::audit(&[observation], &net::rules().expect("rules"))
}

fn state(audit: &Audit, rule: &str) -> State {
    audit
        .findings
        .iter()
        .find(|f| f.rule == rule)
        .expect("a finding")
        .state
}

#[test]
fn both_loopback_addresses_respond_and_are_compared() {
    let observation = net::local(20, &mut |_| {});
    let audit = net::audit(&[observation], &net::rules().expect("rules"));
    for rule in ["net-answers", "net-request", "net-large", "net-mtu"] {
        assert_eq!(state(&audit, rule), State::Good, "{rule}");
    }
    // Without a lookup, the order of the two addresses is unknown.
    for rule in ["net-name", "net-happy-eyeballs"] {
        assert_eq!(state(&audit, rule), State::NotApplicable, "{rule}");
    }
    // Each step has a ratio with its bounds, and no turn is missing.
    let icmp = audit
        .facts
        .iter()
        .any(|(_, text)| text.contains("with ICMP"));
    assert_eq!(
        (audit.tables[0].rows.len(), audit.tables[1].rows.len()),
        if icmp { (6, 3) } else { (4, 2) }
    );
    let turns = audit
        .facts
        .iter()
        .filter(|(name, _)| name.starts_with("turns of "));
    let turns: Vec<&str> = turns.map(|(_, turns)| turns.as_str()).collect();
    assert_eq!(turns, ["40", "40"]);
    assert!(
        !audit
            .facts
            .iter()
            .any(|(name, _)| name.starts_with("lookup"))
    );
}

/// Without IPv6, or if the loopback interface is down, the missing values are unknown and all other
/// values are reported.
#[test]
fn an_address_that_this_machine_lacks_is_unknown() {
    let in_space = |change: &[&str], file: Option<&str>| -> Result<NetObservation, String> {
        let space = Namespace::new()?;
        space.run_inside(|| -> Result<NetObservation, String> {
            if !change.is_empty() {
                ip(change)?;
            }
            if let Some(file) = file {
                std::fs::write(file, "1").map_err(|e| format!("takes root: {e}"))?;
            }
            Ok(net::local(20, &mut |_| {}))
        })?
    };
    let no_v6 = in_space(&[], Some("/proc/sys/net/ipv6/conf/all/disable_ipv6"));
    let Some(no_v6) = with_root(no_v6) else {
        return;
    };
    let state_and_reason = |audit: &Audit, rule: &str, address: &str| {
        let mut findings = audit.findings.iter().filter(|f| f.rule == rule);
        let finding = findings
            .find(|f| f.place.ends_with(address))
            .expect("a finding");
        (finding.state, finding.seen.clone())
    };
    assert_eq!(
        state_and_reason(&no_v6, "net-answers", "(127.0.0.1)").0,
        State::Good
    );
    let (state, reason) = state_and_reason(&no_v6, "net-answers", "(::1)");
    assert_eq!(state, State::Unknown);
    assert!(
        reason.contains("does not have the address ::1: Cannot assign"),
        "{reason}"
    );
    let Some(down) = with_root(in_space(&["link", "set", "lo", "down"], None)) else {
        return;
    };
    for address in ["(127.0.0.1)", "(::1)"] {
        let state = state_and_reason(&down, "net-answers", address).0;
        assert!(matches!(state, State::Unknown), "{address}");
    }
    assert_eq!(down.count(State::Bad), 0);
}

/// With root privileges, the link between two namespaces supports both families and loses no
/// packets.
#[test]
fn two_namespaces_are_compared_if_permitted() {
    let before = std::fs::read_link("/proc/thread-self/ns/net").expect("a namespace");
    if let Some(audit) = with_root(net::linked(20, &mut |_| {})) {
        for rule in [
            "net-answers",
            "net-loss",
            "net-large",
            "net-larger",
            "net-mtu",
        ] {
            assert_eq!(state(&audit, rule), State::Good, "{rule}");
        }
        let words = serde_json::to_string(&audit.tables).expect("JSON");
        assert!(words.contains("192.0.2.1") && words.contains("2001:db8::1"));
    }
    let after = std::fs::read_link("/proc/thread-self/ns/net").expect("a namespace");
    assert_eq!(before, after);
}

/// Returns the audit of an observation over namespaces, or `None` if root or iproute2 is missing.
fn with_root(observation: Result<NetObservation, String>) -> Option<Audit> {
    match observation {
        Err(reason) => {
            crate::print_skipped(&reason);
            None
        }
        Ok(observation) => Some(net::audit(&[observation], &net::rules().expect("rules"))),
    }
}

/// Returns the state and the text of a rule's finding about a family.
fn state_and_text<'a>(audit: &'a Audit, rule: &str, family: &str) -> (State, &'a str) {
    let mut findings = audit.findings.iter().filter(|f| f.rule == rule);
    let finding = findings.find(|f| f.seen.starts_with(family));
    let finding = finding.expect("the family has a finding");
    (finding.state, &finding.seen)
}

/// Creates a path that silently drops packets above 1,280 bytes, while the client sends 1,500.
fn black_hole() -> Result<NetObservation, String> {
    let pair = NamespacePair::new()?;
    let [near, far] = NamespacePair::DEVICES;
    // By default, the kernel passes on multiple segments as a single large packet, which no device
    // rejects.
    let unsegmented = |device| ip(&["link", "set", device, "gso_max_segs", "1"]);
    pair.client.run_inside(|| unsegmented(near))??;
    pair.server.run_inside(|| {
        unsegmented(far)?;
        ip(&["link", "set", far, "mtu", "1280"])?;
        // The server still announces that it accepts large segments, as if the small link were in the middle of the
        // path.
        ip(&[
            "route",
            "change",
            "192.0.2.0/24",
            "dev",
            far,
            "advmss",
            "1460",
        ])?;
        let v6 = [
            "-6",
            "route",
            "change",
            "2001:db8::/64",
            "dev",
            far,
            "metric",
            "256",
        ];
        ip(&[&v6[..], &["advmss", "1440"]].concat())
    })??;
    net::observe_pair(&pair, 20, &mut |_| {})
}

#[test]
fn a_black_hole_for_large_packets_is_found() {
    let Some(audit) = with_root(black_hole()) else {
        return;
    };
    for family in ["IPv4", "IPv6"] {
        let (state, words) = state_and_text(&audit, "net-large", family);
        assert_eq!(state, State::Bad, "{words}");
        assert!(words.contains("in packets of 500 bytes it does"), "{words}");
        let (state, words) = state_and_text(&audit, "net-larger", family);
        assert_eq!(state, State::Advice, "{words}");
        // A veth device accepts the four bytes of a VLAN tag in addition to its MTU.
        let limit = ["1280", "1284"].map(|limit| format!("up to {limit} bytes"));
        assert!(limit.iter().any(|limit| words.contains(limit)), "{words}");
        assert_eq!(state_and_text(&audit, "net-answers", family).0, State::Good);
    }
}

/// Creates a path with a router whose second link supports packets of up to 1,400 bytes. The router
/// reports this limit.
fn behind_router() -> Result<(NetObservation, [Namespace; 3]), String> {
    let spaces = [Namespace::new()?, Namespace::new()?, Namespace::new()?];
    let [client, router, server] = &spaces;
    let addresses = |v4: &str, v6: &str| [format!("{v4}/24"), format!("{v6}/64")];
    let [a, b, c, d] = [
        addresses("192.0.2.2", "2001:db8::2"),
        addresses("192.0.2.1", "2001:db8::1"),
        addresses("198.51.100.1", "2001:db8:1::1"),
        addresses("198.51.100.2", "2001:db8:1::2"),
    ];
    let end = |space, device, addresses| End {
        space: Some(space),
        device,
        addresses,
    };
    cable(&end(client, "lab0", &a), &end(router, "lab1", &b))?;
    cable(&end(router, "lab2", &c), &end(server, "lab3", &d))?;
    let through = |[v4, v6]: [&str; 2]| {
        ip(&["route", "add", "default", "via", v4])?;
        ip(&["-6", "route", "add", "default", "via", v6])
    };
    router.run_inside(|| {
        for family in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
            let file = format!("/proc/sys/net/{family}");
            std::fs::write(&file, "1").map_err(|e| format!("{file}: {e}"))?;
        }
        ip(&["link", "set", "lab2", "mtu", "1400"])
    })??;
    client.run_inside(|| through(["192.0.2.1", "2001:db8::1"]))??;
    server.run_inside(|| through(["198.51.100.1", "2001:db8:1::1"]))??;
    let addresses = ["198.51.100.2", "2001:db8:1::2"];
    let observation = net::observe_namespaces([client, server], addresses, 20, &mut |_| {})?;
    Ok((observation, spaces))
}

#[test]
fn a_router_that_reports_the_mtu_is_not_a_black_hole() {
    let observation = behind_router().map(|(observation, _spaces)| observation);
    let Some(audit) = with_root(observation) else {
        return;
    };
    let hops = audit.facts.iter().filter(|(name, text)| {
        name.starts_with("round trip of") && text.contains("with ICMP, 1 router on the way back")
    });
    assert_eq!(hops.count(), 2, "{:?}", audit.facts);
    for family in ["IPv4", "IPv6"] {
        assert_eq!(state_and_text(&audit, "net-large", family).0, State::Good);
        let (state, words) = state_and_text(&audit, "net-larger", family);
        assert_eq!(state, State::Good, "{words}");
        assert!(words.contains("larger ones: refused"), "{words}");
        let (state, words) = state_and_text(&audit, "net-mtu", family);
        assert_eq!(state, State::Advice, "{words}");
        assert!(words.contains("up to 1400 bytes"), "{words}");
    }
}

#[test]
fn no_response_is_bad_and_a_failed_lookup_is_unknown() {
    let port = TcpListener::bind("127.0.0.1:0")
        .expect("a port")
        .local_addr()
        .expect("an address")
        .port();
    let closed = audit("127.0.0.1", port);
    let (state_of, words) = state_and_text(&closed, "net-answers", "IPv4");
    assert_eq!(state_of, State::Bad);
    assert!(words.contains("they were refused after"), "{words}");
    let costs = closed.findings.iter().find(|f| f.rule == "net-answers");
    let cost = &costs.expect("a finding").cost;
    assert!(!cost.contains("timeout"), "{cost}");
    // An address has one family.
    assert_eq!(state(&closed, "net-name"), State::NotApplicable);
    let space = match Namespace::new() {
        Ok(space) => space,
        Err(reason) => return crate::print_skipped(&reason),
    };
    let nobody = space.run_inside(|| audit("a.example", 80));
    let nobody = nobody.expect("a namespace");
    assert_eq!(state(&nobody, "net-name"), State::Unknown);
    assert_eq!(
        nobody.count(State::Bad),
        0,
        "a missing network is never bad"
    );
}

/// The finding about requests describes failed requests, not failed connections.
///
/// The second and the fourth connection end without a response. After that, the port is closed.
#[test]
fn the_last_failure_belongs_to_the_step() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        // The first connection is made before the turns, without a request.
        let _ = listener.accept();
        for responds in [true, false, true] {
            let (mut stream, _) = listener.accept().expect("a connection");
            let _ = stream.read(&mut [0; 4096]);
            if responds {
                let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
            }
        }
        let (mut stream, _) = listener.accept().expect("a connection");
        drop(listener);
        let _ = stream.read(&mut [0; 4096]);
    });
    let stopped = audit("127.0.0.1", port);
    let (_, words) = state_and_text(&stopped, "net-request", "IPv4");
    assert!(
        words.ends_with("the last failure: the connection was closed."),
        "{words}"
    );
}

/// Gives the client a wrong hardware address for the server's addresses, so that its packets are lost silently.
fn drop_packets_silently(pair: &NamespacePair, addresses: &[&str]) -> Result<(), String> {
    pair.client.run_inside(|| {
        addresses.iter().try_for_each(|address| {
            let [near, _] = NamespacePair::DEVICES;
            let nobody = [
                "lladdr",
                "02:00:00:00:00:99",
                "dev",
                near,
                "nud",
                "permanent",
            ];
            ip(&[&["neigh", "replace", *address][..], &nobody].concat())
        })
    })?
}

#[test]
fn a_silent_failure_is_distinguished_from_a_refusal() {
    let observation = NamespacePair::new().and_then(|pair| {
        drop_packets_silently(&pair, &NamespacePair::SERVER[..1])?;
        net::observe_pair(&pair, 20, &mut |_| {})
    });
    let Some(audit) = with_root(observation) else {
        return;
    };
    let (verdict, words) = state_and_text(&audit, "net-answers", "IPv4");
    assert_eq!(verdict, State::Bad);
    assert!(words.contains("no response within 3"), "{words}");
    assert_eq!(state_and_text(&audit, "net-answers", "IPv6").0, State::Good);
    assert_eq!(state(&audit, "net-families"), State::Unknown);
}

/// Without replies and without a resolver, no finding is bad, and only the resolver gets advice.
#[test]
fn without_a_network_all_states_are_unknown() {
    let observation = NamespacePair::new().and_then(|pair| {
        drop_packets_silently(&pair, &NamespacePair::SERVER)?;
        net::observe_pair(&pair, 20, &mut |_| {})
    });
    let Some(silent) = with_root(observation) else {
        return;
    };
    let away = Namespace::new().and_then(|space| {
        let target = NetTarget {
            name: NamespacePair::SERVER[0].into(),
            port: 80,
            tls: false,
        };
        space.run_inside(|| net::observe(&target, 20, &mut |_| {}))
    });
    let Some(away) = with_root(away) else { return };
    for audit in [silent, away] {
        let is_unexpected = |f: &&AuditFinding| match f.state {
            State::Bad => true,
            State::Advice => f.rule != "net-resolver",
            _ => false,
        };
        let unexpected: Vec<&AuditFinding> = audit.findings.iter().filter(is_unexpected).collect();
        assert!(unexpected.is_empty(), "{unexpected:#?}");
        assert_eq!(state(&audit, "net-answers"), State::Unknown);
    }
}

#[test]
fn each_family_s_addresses_are_looked_up_in_each_turn() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let steps = |name: &str| -> Vec<String> {
        let table = &audit(name, port).tables[0];
        let step = |row: &Vec<EvidenceValue>| match &row[1] {
            EvidenceValue::Word(step) => step.clone(),
            other => panic!("{other:?}"),
        };
        table.rows.iter().map(step).collect()
    };
    let by_name = steps("localhost");
    let lookups = by_name.iter().filter(|step| *step == "name lookup").count();
    let connects = by_name.iter().filter(|step| *step == "connect").count();
    assert_eq!(lookups, connects, "{by_name:?}");
    assert!(!steps("127.0.0.1").contains(&"name lookup".to_owned()));
}

/// If TLS is used on a port with plain HTTP, connections succeed but all handshakes fail.
#[test]
fn a_handshake_that_always_fails_is_bad() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 512]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let audit = |name: &str| {
        let name = name.into();
        let tls = true;
        let observation = net::observe(&NetTarget { name, port, tls }, 20, &mut |_| {});
        net::audit(&[observation], &net::rules().expect("rules"))
    };
    let by_name = audit("localhost");
    let (verdict, words) = state_and_text(&by_name, "net-tls", "IPv4");
    assert_eq!(verdict, State::Bad);
    assert!(words.contains("100 % of the handshakes failed"), "{words}");
    // A server may refuse a handshake without a name.
    let by_address = audit("127.0.0.1");
    assert_eq!(state(&by_address, "net-tls"), State::Unknown);
    assert_eq!(state(&by_address, "net-answers"), State::Good);
}

/// A server that accepts connections and then resets them does not refuse them, but it never
/// responds.
#[test]
fn a_server_that_accepts_connections_but_never_responds_is_bad() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A connection that is dropped with unread bytes is reset (RFC 2525, 2.17).
            let _ = stream.peek(&mut [0]);
        }
    });
    let audit = audit("127.0.0.1", port);
    let (state, words) = state_and_text(&audit, "net-request", "IPv4");
    assert_eq!(state, State::Bad);
    assert!(words.contains("100 % of the HEAD requests"), "{words}");
    let (state, words) = state_and_text(&audit, "net-answers", "IPv4");
    assert_eq!((state, words.contains("refused")), (State::Good, false));
}

#[test]
fn a_server_that_does_not_read_large_requests_is_detected() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for mut stream in listener.incoming().flatten() {
            let mut room = [0; 512];
            let n = stream.read(&mut room).unwrap_or(0);
            if n > 0 && n < 512 {
                let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
            }
        }
    });
    assert_eq!(state(&audit("127.0.0.1", port), "net-large"), State::Bad);
}

#[test]
fn every_rule_has_a_good_case_and_another_case() {
    let ratio = |value| Value::Number(value, Unit::Ratio);
    let (yes, no) = (|| Value::Flag(true), || Value::Flag(false));
    let part = Value::fraction;
    let bytes = |n| Value::count(n, "bytes");
    let tls = |failed| vec![("tls_failed_share", part(failed))];
    let unanswered = |failed| vec![("unanswered_share", part(failed))];
    let ends = |same: &str| vec![("same_end", Value::word(same))];
    let larger = |word: &str| vec![("larger", Value::word(word))];
    let ratios = |low, high| vec![("ratio_low", ratio(low)), ("ratio_high", ratio(high))];
    type StateCase<'a> = (&'a str, &'static str, Vec<(&'static str, Value)>, State);
    let name = |has_address, v4, v6| vec![("found", has_address), ("ipv4", v4), ("ipv6", v6)];
    let large = |large, small| vec![("large_answered", large), ("small_answered", small)];
    use State::{Advice, Bad, Good, Unknown};
    let cases: Vec<StateCase> = vec![
        ("net-name", "name", name(yes(), yes(), yes()), Good),
        ("net-name", "name", name(no(), no(), no()), Bad),
        ("net-name", "name", name(yes(), yes(), no()), Advice),
        ("net-name", "name", name(yes(), no(), yes()), Advice),
        (
            "net-answers",
            "address",
            vec![("failed_share", part(0.0))],
            Good,
        ),
        (
            "net-answers",
            "address",
            vec![("failed_share", part(1.0))],
            Bad,
        ),
        (
            "net-answers",
            "address",
            vec![("failed_share", part(0.1))],
            Advice,
        ),
        (
            "net-answers",
            "address",
            vec![
                ("failed_share", part(1.0)),
                ("failing", Value::word("refused")),
            ],
            Bad,
        ),
        ("net-tls", "address", tls(0.0), Good),
        ("net-tls", "address", tls(1.0), Bad),
        ("net-tls", "address", tls(0.1), Advice),
        ("net-request", "address", unanswered(0.0), Good),
        ("net-request", "address", unanswered(1.0), Bad),
        ("net-request", "address", unanswered(0.1), Advice),
        ("net-ends", "pair", ends("yes"), Good),
        ("net-ends", "pair", ends("no"), Advice),
        (
            "net-reverse",
            "address",
            vec![("reverse", Value::word("a.example"))],
            Good,
        ),
        (
            "net-reverse",
            "address",
            vec![("reverse", Value::word("none"))],
            Advice,
        ),
        ("net-loss", "address", vec![("lost_share", part(0.0))], Good),
        ("net-loss", "address", vec![("lost_share", part(0.1))], Bad),
        (
            "net-loss",
            "address",
            vec![("lost_share", part(0.01))],
            Advice,
        ),
        (
            "net-resolver",
            "resolvers",
            vec![("over_ipv6", yes())],
            Good,
        ),
        (
            "net-resolver",
            "resolvers",
            vec![("over_ipv6", no())],
            Advice,
        ),
        ("net-large", "address", large(yes(), yes()), Good),
        ("net-large", "address", large(no(), yes()), Bad),
        ("net-large", "address", large(no(), no()), Bad),
        ("net-mtu", "address", vec![("mtu", bytes(1500))], Good),
        ("net-mtu", "address", vec![("mtu", bytes(1280))], Advice),
        ("net-larger", "address", larger("refused"), Good),
        ("net-larger", "address", larger("lost"), Advice),
        ("net-families", "pair", ratios(0.9, 1.1), Good),
        ("net-families", "pair", ratios(1.1, 1.2), Advice),
        ("net-families", "pair", ratios(0.8, 0.9), Advice),
        (
            "net-happy-eyeballs",
            "pair",
            vec![("first_fails", no())],
            Good,
        ),
        (
            "net-happy-eyeballs",
            "pair",
            vec![("first_fails", yes())],
            Bad,
        ),
        (
            "net-happy-eyeballs",
            "pair",
            vec![
                ("first_fails", yes()),
                ("first_failing", Value::word("refused")),
            ],
            Advice,
        ),
        (
            "net-happy-eyeballs",
            "pair",
            vec![("first_fails", Value::Unknown("away".into()))],
            Unknown,
        ),
    ];
    let rules = net::rules().expect("rules");
    for (rule, class, values, expected) in &cases {
        let mut object = AuditObject::new(class, "a");
        values
            .iter()
            .for_each(|(name, value)| object.set(name, value.clone()));
        let findings = judge(&rules, &[object], &net::CLASSES);
        let finding = findings
            .iter()
            .find(|f| f.rule == *rule)
            .expect("a finding");
        assert_eq!(finding.state, *expected, "{rule}");
    }
    let tested: BTreeSet<(&str, State)> = cases.iter().map(|(rule, _, _, s)| (*rule, *s)).collect();
    for rule in &rules {
        let states = rule.cases.iter().map(|case| case.state).chain([Good]);
        for state in states {
            assert!(
                tested.contains(&(rule.id.as_str(), state)),
                "{} {state:?}",
                rule.id
            );
        }
    }
}
