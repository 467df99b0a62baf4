// SPDX-License-Identifier: Apache-2.0
//! The parsers that read input from outside, one target each: a function that takes any bytes and panics if the parser
//! breaks one of its promises.
//!
//! libFuzzer calls the targets with inputs of its own (`fuzz/`); the test `replay` calls them with the inputs that it
//! found interesting (`fuzz/corpus`).

pub mod logs;

/// A parser under test.
pub struct Target {
    /// The name of its binary in `fuzz/fuzz_targets` and of its folder in `fuzz/corpus`.
    pub name: &'static str,
    /// Parses the bytes and checks the result.
    pub check: fn(&[u8]),
}

/// All targets, by name.
pub const TARGETS: &[Target] = &[
    Target {
        name: "access_log",
        check: logs::access_log,
    },
    Target {
        name: "json_log",
        check: logs::json_log,
    },
    Target {
        name: "log_file",
        check: logs::log_file,
    },
    Target {
        name: "log_format",
        check: logs::log_format,
    },
    Target {
        name: "postgresql_log",
        check: logs::postgresql_log,
    },
    Target {
        name: "slow_log",
        check: logs::slow_log,
    },
    Target {
        name: "sql",
        check: logs::sql,
    },
    Target {
        name: "tally_part",
        check: logs::tally_part,
    },
];

/// The first line of an input, and what is behind it.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}
