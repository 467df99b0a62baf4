// SPDX-License-Identifier: Apache-2.0
//! Requests that failed.

use super::measured::SubjectScope;
use super::scope::Scope;
use super::table;
use lab_document::{Cell, Quantity, Table, Tone};
use lab_model::{ErrorKind, Unit};

/// Builds the table of errors by kind. It has no rows if there were no errors.
pub fn errors(scope: &Scope) -> Table {
    let all = &scope.results.errors;
    let kinds = ErrorKind::ALL.into_iter();
    let kinds = kinds.filter(|kind| all.iter().any(|(.., k, n)| k == kind && *n > 0));
    let kinds: Vec<(ErrorKind, String)> = kinds.map(|k| (k, k.name().into())).collect();
    let subject_scopes = scope.subject_scopes(&scope.subjects(), &scope.points());
    let has = |subject_scope: &SubjectScope| {
        all.iter()
            .any(|&(s, p, _, n)| (s, Some(p)) == *subject_scope && n > 0)
    };
    let subject_scopes = subject_scopes.into_iter().filter(has);
    let subject_scopes: Vec<(SubjectScope, String)> = subject_scopes
        .map(|p| (p, scope.subject_scope_name(p)))
        .collect();
    let unit = Unit::Count("requests".into());
    let sides = (&*subject_scopes, &*kinds);
    let title = "Errors by kind";
    let mut table = table::matrix(
        title,
        "server and point",
        sides,
        &unit,
        |subject_scope, kind| {
            let errors = all.iter().filter(|&&(s, p, k, _)| {
                (s, Some(p), k) == (subject_scope.0, subject_scope.1, kind)
            });
            let n: u64 = errors.map(|(.., n)| *n).sum();
            let cell = Cell::from(Quantity::exact(n as f64, unit.clone()));
            cell.with_tone(if n > 0 { Tone::Alarm } else { Tone::Plain })
        },
    );
    table.caption = "Times do not include failed requests.".into();
    let meanings = kinds
        .iter()
        .map(|(kind, name)| format!("{name}: {}", meaning(*kind)));
    table.notes = meanings.collect();
    table
}

/// Describes the meaning of a kind of request error.
fn meaning(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Connect => "no connection was established.",
        ErrorKind::Timeout => "no complete response in time.",
        ErrorKind::Reset => "the connection was closed before the response was complete.",
        ErrorKind::Malformed => "the response is not HTTP.",
        ErrorKind::Status => "a status other than expected.",
        ErrorKind::Body => "a body other than expected.",
        ErrorKind::Unfinished => "no response by the end of the load and its grace period.",
    }
}
