// SPDX-License-Identifier: Apache-2.0
//! Tests a request to stop. This is a separate program, because a request stays in effect until the
//! process exits.

use lab_bench::interrupt;
use nix::sys::signal::{Signal, raise};
use std::os::fd::AsFd;
use std::time::Duration;

#[test]
fn a_signal_just_before_a_wait_ends_the_wait() {
    let (silent, _open) = nix::unistd::pipe().unwrap();
    interrupt::watch().unwrap();
    let wait = |limit| interrupt::wait_readable(&[silent.as_fd()], limit).unwrap();
    assert!(!wait(Duration::ZERO));
    raise(Signal::SIGINT).unwrap();
    assert!(wait(Duration::from_secs(20)));
    assert!(interrupt::requested());
}
