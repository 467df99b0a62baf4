// SPDX-License-Identifier: Apache-2.0
//! Servers that fail: errors are counted by kind, shown, and reflected in the exit code.

use super::{Manner, Place, Web, sums};
use lab_model::ErrorKind;

/// Asserts the errors of a server that fails after it has served 50 requests.
#[track_caller]
fn assert_errors(manner: Manner, more: &[&str], expected: &[ErrorKind]) {
    let (place, web) = (Place::new(), Web::after(50, manner));
    let outcome = place.load(&[&web.url("/")], more);
    outcome.expect(0);
    let (served, errors) = sums(&place.0.load());
    assert!(served >= 40, "{manner:?}: {served} served");
    let kinds: Vec<ErrorKind> = errors.iter().map(|(kind, _)| *kind).collect();
    assert!(!kinds.is_empty(), "{manner:?}");
    assert!(
        kinds.iter().all(|k| expected.contains(k)) && kinds.contains(&expected[0]),
        "{manner:?}: {errors:?}"
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
        "what a server says is escaped"
    );
}

#[test]
fn errors_are_counted_by_kind() {
    use ErrorKind::{Connect, Malformed, Reset, Status, Timeout, Unfinished};
    assert_errors(Manner::Resets, &[], &[Reset]);
    assert_errors(Manner::Garbage, &[], &[Malformed]);
    assert_errors(Manner::Refuses, &[], &[Status]);
    assert_errors(Manner::Truncates, &[], &[Reset]);
    assert_errors(Manner::Hangs, &[], &[Timeout, Unfinished]);
    assert_errors(Manner::Dies, &[], &[Connect, Reset]);
    let json = ["--expect-json", "ok=true"];
    assert_errors(Manner::Lies, &json, &[ErrorKind::Body]);
    let body = ["--expect-body", "{\"ok\":true}"];
    assert_errors(Manner::Lies, &body, &[ErrorKind::Body]);
}

/// In an open loop, all due requests count, even if no connection was free.
#[test]
fn what_was_due_is_served_or_an_error() {
    for manner in [Manner::Hangs, Manner::Dies, Manner::Slow(20)] {
        let (place, web) = (Place::new(), Web::after(20, manner));
        place
            .load(&[&web.url("/")], &["--rate", "1000", "--even"])
            .expect(0);
        let run = place.0.load();
        let (served, errors) = sums(&run);
        let failed: u64 = errors.iter().map(|(_, n)| n).sum();
        assert_eq!(served + failed, 300, "{manner:?}: {served} {errors:?}");
    }
}

#[test]
fn answers_of_every_form_are_served() {
    for (manner, more) in [
        (Manner::Chunked, &["--expect-json", "ok=true"][..]),
        (Manner::Closes, &[]),
        (Manner::Slow(5), &["--expect-body", "{\"ok\":true}"]),
        (Manner::Honest, &["--no-keep-alive"]),
        (Manner::Honest, &["--pipeline", "4", "--threads", "2"]),
        (Manner::Honest, &["--rate", "500", "--even"]),
        (Manner::Honest, &["--stages", "0:500:200ms,500:500:100ms"]),
    ] {
        let (place, web) = (Place::new(), Web::new(manner));
        place.load_patiently(&[&web.url("/")], more).expect(0);
        let (served, errors) = sums(&place.0.load());
        assert_eq!(errors, [], "{manner:?} {more:?}");
        assert_eq!(web.requests() as u64, served + 1, "{manner:?} {more:?}");
    }
}

#[test]
fn who_does_not_answer_at_all_is_not_loaded() {
    let closed_address = Web::new(Manner::Honest).address;
    let place = Place::new();
    let url = format!("http://{closed_address}/");
    place.load(&[&url], &[]).expect(1).says(&[
        "does not respond: connect",
        "is it running, and is this address correct?; no load was sent",
    ]);
    for (manner, kind) in [(Manner::Resets, "reset"), (Manner::Hangs, "timeout")] {
        let web = Web::new(manner);
        let outcome = place.load(&[&web.url("/")], &[]);
        outcome
            .expect(1)
            .says(&[&format!("does not respond: {kind}"), "no load was sent"]);
        assert_eq!(web.requests(), 1);
    }
    assert_eq!(place.0.files().len(), 0);
}

#[test]
fn answers_that_are_all_wrong_are_told_before_and_after() {
    for (manner, more, kind, message) in [
        (
            Manner::Refuses,
            &[][..],
            ErrorKind::Status,
            "--expect-status specifies the expected ones",
        ),
        (
            Manner::Lies,
            &["--expect-json", "ok=true"],
            ErrorKind::Body,
            "--expect-body and --expect-json specify",
        ),
        (
            Manner::Garbage,
            &[],
            ErrorKind::Malformed,
            "its first response is not HTTP",
        ),
    ] {
        let (place, web) = (Place::new(), Web::new(manner));
        let outcome = place.load(&[&web.url("/")], more);
        outcome
            .expect(1)
            .says(&[message, "no request was served: the report says why"]);
        let (served, errors) = sums(&place.0.load());
        assert_eq!((served, errors.len(), errors[0].0), (0, 1, kind));
    }
    let (place, web) = (Place::new(), Web::new(Manner::Refuses));
    place
        .load(&[&web.url("/")], &["--expect-status", "503"])
        .expect(0);
}
