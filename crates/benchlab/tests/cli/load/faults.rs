// SPDX-License-Identifier: Apache-2.0
//! Servers that fail: errors are counted by kind, shown, and reflected in the exit code.

use super::{Behavior, LONG_TIMEOUT, SHORT_TIMEOUT, TestDirectory, Web, sums};
use crate::closed_port::closed_port;
use crate::project::wait_until;
use lab_model::ErrorKind;

/// Returns the timeout option: a short timeout for a server that never responds, or a long timeout
/// for any other server.
fn timeout(behavior: Behavior) -> &'static [&'static str] {
    match behavior {
        Behavior::Hangs => &SHORT_TIMEOUT,
        _ => &LONG_TIMEOUT,
    }
}

/// Asserts the number of served requests and the kinds of errors if the server fails after ten
/// requests, which include the request before the load.
#[track_caller]
fn assert_errors(behavior: Behavior, more: &[&str], expected: &[ErrorKind]) {
    let (directory, web) = (TestDirectory::new(), Web::after(10, behavior));
    let outcome = directory.load_within(timeout(behavior), &[&web.url("/")], more);
    outcome.expect(0);
    let (served, errors) = sums(&directory.0.load());
    // Responses may be cut off by the server's death, or exceed the short timeout.
    let may_be_lost = matches!(behavior, Behavior::Dies | Behavior::Hangs);
    assert!(
        served == 9 || may_be_lost && served < 9,
        "{behavior:?}: {served} served"
    );
    let kinds: Vec<ErrorKind> = errors.iter().map(|(kind, _)| *kind).collect();
    assert!(!kinds.is_empty(), "{behavior:?}");
    assert!(
        kinds.iter().all(|k| expected.contains(k)) && kinds.contains(&expected[0]),
        "{behavior:?}: {errors:?}"
    );
    for kind in kinds {
        assert!(
            outcome.stdout.contains(kind.name()),
            "{kind:?} is not in\n{}",
            outcome.stdout
        );
    }
    assert!(
        !(outcome.stdout.clone() + &outcome.stderr).contains('\u{1b}'),
        "text from a server must be escaped"
    );
}

#[test]
fn errors_are_counted_by_kind() {
    use ErrorKind::{Connect, Malformed, Reset, Status, Timeout, Unfinished};
    assert_errors(Behavior::Resets, &[], &[Reset]);
    assert_errors(Behavior::Garbage, &[], &[Malformed]);
    assert_errors(Behavior::Unavailable, &[], &[Status]);
    assert_errors(Behavior::Truncates, &[], &[Reset]);
    assert_errors(Behavior::Hangs, &[], &[Timeout, Unfinished]);
    assert_errors(Behavior::Dies, &[], &[Connect, Reset]);
    let json = ["--expect-json", "ok=true"];
    assert_errors(Behavior::Lies, &json, &[ErrorKind::Body]);
    let body = ["--expect-body", "{\"ok\":true}"];
    assert_errors(Behavior::Lies, &body, &[ErrorKind::Body]);
}

/// In an open loop, all due requests count, even if no connection was free.
#[test]
fn every_due_request_is_served_or_an_error() {
    for behavior in [Behavior::Hangs, Behavior::Dies, Behavior::Slow(20)] {
        let (directory, web) = (TestDirectory::new(), Web::after(20, behavior));
        let rate = ["--rate", "1000", "--even"];
        directory
            .load_within(timeout(behavior), &[&web.url("/")], &rate)
            .expect(0);
        let run = directory.0.load();
        let (served, errors) = sums(&run);
        let failed: u64 = errors.iter().map(|(_, n)| n).sum();
        assert_eq!(served + failed, 1000, "{behavior:?}: {served} {errors:?}");
    }
}

#[test]
fn responses_in_every_form_are_served() {
    for (behavior, more) in [
        (Behavior::Chunked, &["--expect-json", "ok=true"][..]),
        (Behavior::Closes, &[]),
        (Behavior::Slow(5), &["--expect-body", "{\"ok\":true}"]),
        (Behavior::Honest, &["--no-keep-alive"]),
        (Behavior::Honest, &["--pipeline", "4", "--threads", "2"]),
        (Behavior::Honest, &["--rate", "500", "--even"]),
        (Behavior::Honest, &["--stages", "0:500:700ms,500:500:300ms"]),
    ] {
        let (directory, web) = (TestDirectory::new(), Web::new(behavior));
        directory.load(&[&web.url("/")], more).expect(0);
        let (served, errors) = sums(&directory.0.load());
        assert_eq!(errors, [], "{behavior:?} {more:?}");
        assert_eq!(web.requests() as u64, served + 1, "{behavior:?} {more:?}");
    }
}

#[test]
fn an_unresponsive_server_is_not_loaded() {
    let directory = TestDirectory::new();
    let url = format!("http://127.0.0.1:{}/", closed_port());
    directory.load(&[&url], &[]).expect(1).says(&[
        "does not respond: connect",
        "is the server running, and is this address correct?",
    ]);
    for (behavior, kind) in [(Behavior::Resets, "reset"), (Behavior::Hangs, "timeout")] {
        let web = Web::new(behavior);
        let outcome = directory.load_within(timeout(behavior), &[&web.url("/")], &[]);
        outcome
            .expect(1)
            .says(&[&format!("does not respond: {kind}"), "no load was sent"]);
        wait_until("the request", || web.requests() > 0);
        assert_eq!(web.requests(), 1);
    }
    assert_eq!(directory.0.files().len(), 0);
}

#[test]
fn wrong_responses_are_reported_before_and_after_the_load() {
    for (behavior, more, kind, message) in [
        (
            Behavior::Unavailable,
            &[][..],
            ErrorKind::Status,
            "--expect-status sets the expected statuses",
        ),
        (
            Behavior::Lies,
            &["--expect-json", "ok=true"],
            ErrorKind::Body,
            "--expect-body and --expect-json specify",
        ),
        (
            Behavior::Garbage,
            &[],
            ErrorKind::Malformed,
            "the server's first response is not HTTP",
        ),
    ] {
        let (directory, web) = (TestDirectory::new(), Web::new(behavior));
        let outcome = directory.load(&[&web.url("/")], more);
        outcome
            .expect(1)
            .says(&[message, "no request was served: the report says why"]);
        let (served, errors) = sums(&directory.0.load());
        assert_eq!((served, errors.len(), errors[0].0), (0, 1, kind));
    }
    let (directory, web) = (TestDirectory::new(), Web::new(Behavior::Unavailable));
    directory
        .load(&[&web.url("/")], &["--expect-status", "503"])
        .expect(0);
}
