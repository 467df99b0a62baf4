// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit net` in a private network.
//!
//! Some names have addresses of one family, some names have addresses of both families, and some
//! names have no address. Some addresses have no name, and some resolvers support only one family.

use lab_host::namespace::{NamespacePair, ip};
use serde_json::Value;
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use tempfile::TempDir;

/// A record of the resolver: its name, its type (RFC 1035, RFC 3596), and its data.
type Record = (String, u16, Vec<u8>);

const V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);

/// Returns an address whose last group is `end`.
fn v6(end: u16) -> Ipv6Addr {
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end)
}

fn records() -> Vec<Record> {
    let has_v4 = ["both.test", "four.test", "same.test", "apart.test"];
    let has_v6 = [
        ("both.test", 1),
        ("six.test", 1),
        ("same.test", 3),
        ("apart.test", 4),
    ];
    // 2001:db8::1 has no name.
    let named = [("3", "both.test"), ("4", "other.test")];
    let v4 = has_v4.map(|name| (name.to_owned(), 1, V4.octets().to_vec()));
    let v6 = has_v6.map(|(name, end)| (name.to_owned(), 28, v6(end).octets().to_vec()));
    let reverse = named.map(|(digit, name)| {
        let zeros = "0.".repeat(23);
        let address = format!("{digit}.{zeros}8.b.d.0.1.0.0.2.ip6.arpa");
        (address, 12, labels(name))
    });
    let v4_name = ("1.2.0.192.in-addr.arpa".to_owned(), 12, labels("both.test"));
    v4.into_iter()
        .chain(v6)
        .chain(reverse)
        .chain([v4_name])
        .collect()
}

/// Encodes a name as in a DNS message.
fn labels(name: &str) -> Vec<u8> {
    let each = name.split('.').flat_map(|label| {
        let length = [label.len() as u8].into_iter();
        length.chain(label.bytes())
    });
    each.chain([0]).collect()
}

/// Parses a question of a DNS message. Returns the requested name, its type, and the offset of the
/// question's end.
fn parse_question(question: &[u8]) -> Option<(String, u16, usize)> {
    let (mut offset, mut labels) = (12, Vec::new());
    loop {
        let length = usize::from(*question.get(offset)?);
        let label = question.get(offset + 1..offset + 1 + length)?;
        offset += 1 + length;
        if length == 0 {
            let kind = u16::from_be_bytes([*question.get(offset)?, *question.get(offset + 1)?]);
            return Some((labels.join("."), kind, offset + 4));
        }
        labels.push(String::from_utf8_lossy(label).to_lowercase());
    }
}

/// Returns the response to a DNS query: the records of its name and type, or NXDOMAIN.
fn respond(question: &[u8], records: &[Record]) -> Option<Vec<u8>> {
    let (name, kind, end) = parse_question(question)?;
    let records_of_name = records.iter().filter(|(owner, ..)| *owner == name);
    let data_of_kind = records_of_name
        .clone()
        .filter(|(_, record_kind, _)| *record_kind == kind);
    let data_of_kind: Vec<&[u8]> = data_of_kind.map(|(.., data)| &data[..]).collect();
    let no_such_name = if records_of_name.count() == 0 && !name.is_empty() {
        3
    } else {
        0
    };
    let mut reply = question[..2].to_vec();
    reply.extend([
        0x85,
        0x80 | no_such_name,
        0,
        1,
        0,
        data_of_kind.len() as u8,
        0,
        0,
        0,
        0,
    ]);
    reply.extend(question.get(12..end)?);
    for data in data_of_kind {
        reply.extend([0xc0, 12]);
        reply.extend(kind.to_be_bytes());
        reply.extend([0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        reply.extend(data);
    }
    Some(reply)
}

/// Answers queries at an address in the thread's network namespace until the process exits.
fn resolve(at: &str) {
    let socket = UdpSocket::bind((at, 53)).expect("a port");
    thread::spawn(move || {
        let (mut room, records) = ([0; 512], records());
        while let Ok((length, from)) = socket.recv_from(&mut room) {
            if let Some(reply) = respond(&room[..length], &records) {
                let _ = socket.send_to(&reply, from);
            }
        }
    });
}

fn serve(address: &str) {
    let listener = TcpListener::bind((address, 80)).expect("a port");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let (mut room, mut head) = ([0; 8192], Vec::new());
                while !head.ends_with(b"\r\n\r\n") {
                    match stream.read(&mut room) {
                        Ok(n @ 1..) => head.extend(&room[..n]),
                        _ => return,
                    }
                }
                let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n");
            });
        }
    });
}

/// Returns the findings about a name (rule and state) if `resolver` is the only resolver in
/// /etc/resolv.conf.
fn audit_findings(
    pair: &NamespacePair,
    folder: &Path,
    resolver: &str,
    name: &str,
) -> Vec<(String, String)> {
    let file = |name: &str, text: &str| {
        fs::write(folder.join(name), text).expect("a file");
    };
    file("resolv.conf", &format!("nameserver {resolver}\n"));
    file("hosts", "127.0.0.1 localhost\n");
    file("nsswitch.conf", "hosts: files dns\n");
    let script = "for file in resolv.conf hosts nsswitch.conf; do \
                  [ ! -e /etc/$file ] || mount --bind $file /etc/$file || exit; done; exec \"$@\"";
    let words = [
        "audit", "net", name, "--plain", "--port", "80", "--rounds", "20",
    ];
    let run = || {
        let mut command = Command::new("unshare");
        command.args([
            "--mount",
            "sh",
            "-c",
            script,
            "sh",
            env!("CARGO_BIN_EXE_benchlab"),
        ]);
        command.args(words).args(["--no-run", "--format", "json"]);
        command.current_dir(folder).stdin(Stdio::null()).output()
    };
    let output = pair
        .client
        .run_inside(run)
        .expect("a namespace")
        .expect("unshare");
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)));
    let rows = report["rows"].as_array().expect("rows");
    let word = |row: &Value, column: &str| row[column].as_str().expect("a word").to_owned();
    rows.iter()
        .map(|row| (word(row, "case"), word(row, "verdict")))
        .collect()
}

#[test]
fn names_addresses_and_resolvers_are_judged() {
    let pair = match NamespacePair::new() {
        Ok(pair) => pair,
        Err(why) => {
            let lacking = why.contains("requires root") || why.contains("is not installed");
            assert!(lacking, "{why}");
            return println!("skipped: {why}");
        }
    };
    let folder = TempDir::new().expect("a folder");
    pair.client
        .run_inside(|| ["127.0.0.1", "::1"].map(resolve))
        .expect("a namespace");
    let more = [v6(3).to_string(), v6(4).to_string()];
    let served = pair.server.run_inside(|| {
        for address in &more {
            let address = format!("{address}/64");
            ip(&[
                "address",
                "add",
                &address,
                "dev",
                NamespacePair::DEVICES[1],
                "nodad",
            ])?;
        }
        let all = NamespacePair::SERVER
            .into_iter()
            .chain(more.iter().map(String::as_str));
        all.for_each(serve);
        Ok::<(), String>(())
    });
    served.expect("a namespace").expect("addresses");
    // Findings about the name, the name of each address, its server, and the resolver.
    let cases = [
        (
            "both.test",
            "::1",
            "good",
            vec!["good", "advice"],
            "unknown",
            "good",
        ),
        (
            "same.test",
            "::1",
            "good",
            vec!["good", "good"],
            "good",
            "good",
        ),
        (
            "apart.test",
            "::1",
            "good",
            vec!["good", "good"],
            "advice",
            "good",
        ),
        (
            "four.test",
            "127.0.0.1",
            "advice",
            vec!["good"],
            "not-applicable",
            "advice",
        ),
        (
            "six.test",
            "::1",
            "advice",
            vec!["advice"],
            "not-applicable",
            "good",
        ),
        (
            "none.test",
            "127.0.0.1",
            "bad",
            vec!["not-applicable"],
            "not-applicable",
            "advice",
        ),
    ];
    for (name, resolver, named, reverse, ends, resolved) in cases {
        let findings = audit_findings(&pair, folder.path(), resolver, name);
        let states = |rule: &str| -> Vec<&str> {
            let of_rule = findings.iter().filter(|(name, _)| name == rule);
            let mut states: Vec<&str> = of_rule.map(|(_, state)| state.as_str()).collect();
            states.sort_unstable_by(|a, b| b.cmp(a));
            states
        };
        assert_eq!(states("net-name"), [named], "{name}: {findings:?}");
        assert_eq!(states("net-reverse"), reverse, "{name}: {findings:?}");
        assert_eq!(states("net-ends"), [ends], "{name}: {findings:?}");
        assert_eq!(states("net-resolver"), [resolved], "{name}: {findings:?}");
    }
}
