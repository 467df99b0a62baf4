// SPDX-License-Identifier: Apache-2.0
//! Finds COMMITs in the traffic from a client to a database server.

use lab_model::TargetKind;
use std::collections::HashSet;

/// The number of bytes examined per message. They include statement names and the text of a COMMIT.
const HEAD_BYTES: usize = 256;

/// PostgreSQL's start-up requests that another start-up request follows: SSLRequest and GSSENCRequest (PostgreSQL
/// documentation, 55.7).
const PRELIMINARY_REQUESTS: [u32; 2] = [80_877_103, 80_877_104];

/// MariaDB's command COM_QUERY (MariaDB documentation, Client/Server Protocol).
const COM_QUERY: u8 = 3;

/// A parser of a database protocol, with its state.
#[derive(Clone)]
pub enum Commits {
    /// PostgreSQL's protocol version 3.
    Postgresql {
        /// True during start-up, when messages have no type.
        starting: bool,
        /// The current message.
        message: MessageHead,
        /// The names of prepared statements that contain a COMMIT.
        prepared: HashSet<Vec<u8>>,
    },
    /// MariaDB's protocol without compression.
    Mariadb {
        /// The current packet.
        packet: MessageHead,
    },
}

/// The beginning of a message, and the number of its remaining bytes.
#[derive(Clone, Default)]
pub struct MessageHead {
    head: Vec<u8>,
    rest: usize,
}

impl MessageHead {
    /// Consumes the bytes of one message from `bytes`. Returns the head of the message once it is complete.
    fn take(
        &mut self,
        bytes: &mut &[u8],
        header: usize,
        length: impl Fn(&[u8]) -> usize,
    ) -> Option<Vec<u8>> {
        let skipped = self.rest.min(bytes.len());
        *bytes = &bytes[skipped..];
        self.rest -= skipped;
        self.fill(bytes, header);
        if self.head.len() < header {
            return None;
        }
        let total = length(&self.head).max(header);
        let head_length = total.min(HEAD_BYTES);
        self.fill(bytes, head_length);
        if self.head.len() < head_length {
            return None;
        }
        self.rest = total - head_length;
        Some(std::mem::take(&mut self.head))
    }

    fn fill(&mut self, bytes: &mut &[u8], length: usize) {
        let missing = length.saturating_sub(self.head.len()).min(bytes.len());
        let (part, rest) = bytes.split_at(missing);
        self.head.extend_from_slice(part);
        *bytes = rest;
    }
}

impl Commits {
    /// Creates a parser for a new connection to a server.
    pub fn of(kind: TargetKind) -> Commits {
        match kind {
            TargetKind::Mariadb => Commits::Mariadb {
                packet: MessageHead::default(),
            },
            TargetKind::Postgresql | TargetKind::Sqlite | TargetKind::Folder => {
                Commits::Postgresql {
                    starting: true,
                    message: MessageHead::default(),
                    prepared: HashSet::new(),
                }
            }
        }
    }

    /// Returns the number of COMMIT messages that the client's next bytes complete.
    pub fn count(&mut self, mut bytes: &[u8]) -> u64 {
        let mut commits = 0;
        while !bytes.is_empty() {
            commits += u64::from(self.next_commits(&mut bytes));
        }
        commits
    }

    /// Reads one message, or as much of it as has arrived. Returns true if the message commits.
    fn next_commits(&mut self, bytes: &mut &[u8]) -> bool {
        match self {
            Commits::Mariadb { packet } => {
                let length = |h: &[u8]| 4 + u32::from_le_bytes([h[0], h[1], h[2], 0]) as usize;
                let head = packet.take(bytes, 4, length).unwrap_or_default();
                // The first packet of a command has sequence number 0. Login packets have other numbers.
                head.get(3..5) == Some(&[0, COM_QUERY]) && commits(&head[5..])
            }
            Commits::Postgresql {
                starting: starting @ true,
                message,
                ..
            } => {
                let length = |h: &[u8]| number(h) as usize;
                if let Some(head) = message.take(bytes, 4, length) {
                    let code = head.get(4..8).map(number);
                    *starting = code.is_some_and(|code| PRELIMINARY_REQUESTS.contains(&code));
                }
                false
            }
            Commits::Postgresql {
                message, prepared, ..
            } => {
                let length = |h: &[u8]| 1 + number(&h[1..]) as usize;
                let head = message.take(bytes, 5, length);
                head.is_some_and(|head| postgresql_commits(&head, prepared))
            }
        }
    }
}

/// Returns true if a message executes a COMMIT, as a simple query or by binding a parsed statement.
fn postgresql_commits(message: &[u8], prepared: &mut HashSet<Vec<u8>>) -> bool {
    let mut words = message.get(5..).unwrap_or_default().split(|&b| b == 0);
    let (first, second) = (words.next().unwrap_or_default(), words.next());
    match message[0] {
        b'Q' => commits(first),
        b'P' => {
            if second.is_some_and(commits) {
                prepared.insert(first.to_vec());
            } else {
                prepared.remove(first);
            }
            false
        }
        // The name of the portal, followed by the name of the statement.
        b'B' => second.is_some_and(|name| prepared.contains(name)),
        _ => false,
    }
}

/// Returns true if a statement commits. This includes MariaDB blocks, which retries use to store their key and
/// commit.
fn commits(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text).to_ascii_uppercase();
    let text = match text.trim_start().strip_prefix("/*") {
        Some(comment) => comment.split_once("*/").map_or("", |(_, text)| text),
        None => &text,
    };
    let text = text.trim_matches(|c: char| c == ';' || c == '\0' || c.is_whitespace());
    text.split_whitespace().next() == Some("COMMIT")
        || text == "END"
        || text.starts_with("BEGIN NOT ATOMIC")
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u8, content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32 + 4).to_be_bytes();
        [&[kind][..], &length, content].concat()
    }

    fn packet(number: u8, content: &[u8]) -> Vec<u8> {
        let length = (content.len() as u32).to_le_bytes();
        [&length[..3], &[number], content].concat()
    }

    /// Counts the commits for every chunk length, and asserts that all counts are equal.
    fn count(kind: TargetKind, bytes: &[u8]) -> u64 {
        let counts: HashSet<u64> = (1..=bytes.len())
            .map(|n| {
                let mut commits = Commits::of(kind);
                bytes.chunks(n).map(|piece| commits.count(piece)).sum()
            })
            .collect();
        assert_eq!(counts.len(), 1, "{counts:?}");
        counts.into_iter().next().unwrap()
    }

    #[test]
    fn commits_to_postgresql_are_found_however_they_are_sent() {
        let start = |code: u32, rest: &[u8]| {
            let length = (8 + rest.len() as u32).to_be_bytes();
            [&length[..], &code.to_be_bytes(), rest].concat()
        };
        let long = format!("INSERT INTO t VALUES ('COMMIT {}')\0", "x".repeat(5000));
        let bytes = [
            start(PRELIMINARY_REQUESTS[0], &[]),
            start(196_608, b"user\0lab\0\0"),
            message(b'p', b"COMMIT\0"),
            message(b'Q', b"BEGIN\0"),
            message(b'Q', long.as_bytes()),
            message(b'Q', b" commit ;\0"),
            message(b'P', b"S_1\0COMMIT\0\0\0"),
            message(b'B', b"\0S_1\0\0\0\0\0\0\0"),
            message(b'B', b"\0S_2\0\0\0\0\0\0\0"),
            message(b'B', b"\0S_1\0\0\0\0\0\0\0"),
            message(b'P', b"S_1\0SELECT 1\0\0\0"),
            message(b'B', b"\0S_1\0\0\0\0\0\0\0"),
            message(b'Q', b"END\0"),
        ]
        .concat();
        assert_eq!(count(TargetKind::Postgresql, &bytes), 4);
    }

    #[test]
    fn commits_to_mariadb_are_found() {
        let long = [
            b"\x03INSERT INTO t VALUES ('".as_slice(),
            &[b'x'; 3000],
            b"')",
        ]
        .concat();
        let bytes = [
            packet(1, b"\x03COMMIT"),
            packet(0, b"\x03BEGIN"),
            packet(0, &long),
            packet(0, b"\x03COMMIT"),
            packet(
                0,
                b"\x03/*a hint*/BEGIN NOT ATOMIC DELETE FROM t; COMMIT; END",
            ),
            packet(0, b"\x16COMMIT"),
            packet(0, b"\x03commit"),
        ]
        .concat();
        assert_eq!(count(TargetKind::Mariadb, &bytes), 3);
    }

    #[test]
    fn nonsense_is_no_commit() {
        for kind in [TargetKind::Postgresql, TargetKind::Mariadb] {
            for byte in 0..=255 {
                count(kind, &[byte; 40]);
            }
        }
    }
}
