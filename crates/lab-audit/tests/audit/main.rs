// SPDX-License-Identifier: Apache-2.0
//! All tests are one program, because each additional test program would link the whole library again.

#[path = "../../../lab-services/tests/services/closed_port.rs"]
mod closed_port;
mod cookies;
mod har;
mod host;
mod line;
mod measured;
mod net;
mod net_lines;
mod report;
mod site;
mod well_set_up;
mod wording;

/// Prints that a test is skipped. Panics unless the reason is that this machine lacks a feature.
fn print_skipped(reason: &str) {
    const MISSING_FEATURES: [&str; 3] = ["takes root", "is not installed", "/dev/net/tun"];
    assert!(
        MISSING_FEATURES.iter().any(|word| reason.contains(word)),
        "{reason}"
    );
    println!("skipped: {reason}");
}
