// SPDX-License-Identifier: Apache-2.0
//! Fuzz targets for all parsers of external input. Each target is a function that accepts any
//! bytes, and panics if the parser breaks a guarantee.
//!
//! libFuzzer calls the targets with generated inputs (`fuzz/`). The test `replay` calls them with
//! the interesting inputs that libFuzzer has found (`fuzz/corpus`).

pub mod audit;
pub mod experiments;
pub mod http;
pub mod logs;
pub mod options;
pub mod profiles;
pub mod run_files;
pub mod runs;

/// A parser under test.
pub struct Target {
    /// The name of the binary in `fuzz/fuzz_targets` and of the directory in `fuzz/corpus`.
    pub name: &'static str,
    /// A function that parses the bytes and checks the result.
    pub check: fn(&[u8]),
}

/// All targets, sorted by name.
pub const TARGETS: &[Target] = &[
    Target {
        name: "access_log",
        check: logs::access_log,
    },
    Target {
        name: "agent_message",
        check: runs::agent_message,
    },
    Target {
        name: "argument",
        check: runs::argument,
    },
    Target {
        name: "audit_rule",
        check: audit::audit_rule,
    },
    Target {
        name: "cachegrind",
        check: profiles::cachegrind,
    },
    Target {
        name: "callgrind",
        check: profiles::callgrind,
    },
    Target {
        name: "content_coding",
        check: http::content_coding,
    },
    Target {
        name: "cookies",
        check: audit::cookies,
    },
    Target {
        name: "dhat",
        check: profiles::dhat,
    },
    Target {
        name: "expected_json",
        check: http::expected_json,
    },
    Target {
        name: "experiment",
        check: experiments::experiment,
    },
    Target {
        name: "har",
        check: audit::har,
    },
    Target {
        name: "host_file",
        check: audit::host_file,
    },
    Target {
        name: "html_page",
        check: audit::html_page,
    },
    Target {
        name: "http_response",
        check: http::http_response,
    },
    Target {
        name: "imported_file",
        check: runs::imported_file,
    },
    Target {
        name: "imported_xml",
        check: runs::imported_xml,
    },
    Target {
        name: "json_log",
        check: logs::json_log,
    },
    Target {
        name: "load_argument",
        check: http::load_argument,
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
        name: "massif",
        check: profiles::massif,
    },
    Target {
        name: "option_value",
        check: options::option_value,
    },
    Target {
        name: "postgresql_log",
        check: logs::postgresql_log,
    },
    Target {
        name: "profile_condition",
        check: profiles::profile_condition,
    },
    Target {
        name: "request_file",
        check: http::request_file,
    },
    Target {
        name: "rotated_log",
        check: logs::rotated_log,
    },
    Target {
        name: "run_file",
        check: run_files::run_file,
    },
    Target {
        name: "set_cookie",
        check: audit::set_cookie,
    },
    Target {
        name: "slow_log",
        check: logs::slow_log,
    },
    Target {
        name: "smartctl",
        check: audit::smartctl,
    },
    Target {
        name: "sql",
        check: logs::sql,
    },
    Target {
        name: "strace",
        check: runs::strace,
    },
    Target {
        name: "subject_line",
        check: runs::subject_line,
    },
    Target {
        name: "tally_part",
        check: logs::tally_part,
    },
    Target {
        name: "times",
        check: runs::times,
    },
    Target {
        name: "workload",
        check: experiments::workload,
    },
];

/// Splits an input into its first line and the rest.
fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|byte| *byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}
