// SPDX-License-Identifier: Apache-2.0
//! Tests fixtures that violate the protocol. benchlab reports the violation, and no process keeps
//! running.

use lab_bench::{Checked, Fault, FixtureDirectory, SubjectResult, check_states};
use lab_model::{Fixture, FixtureState};
use std::path::Path;

const HELLO: &str = "echo '@lab hello protocol=1 fixture=x'; ";
const OPENED: &str = "read line; echo '@lab opened'; ";

/// Asks a fixture about one state. The fixture is a shell script, and the state's argument contains
/// encoded characters.
fn ask(script: &str) -> SubjectResult<Vec<Checked>> {
    let fixture = Fixture {
        name: "x".into(),
        program: ["sh", "-c", script].map(String::from).into(),
        ..Fixture::default()
    };
    let state = FixtureState {
        name: "one".into(),
        args: vec![("value".into(), "a b".into())],
        ..FixtureState::default()
    };
    let place = FixtureDirectory {
        folder: Some("/mnt/a b".into()),
        disk: Some("vda".into()),
    };
    check_states(&fixture, Path::new("/"), [(&state, &place)])
}

#[test]
fn a_fixture_gets_commands_in_order() {
    let expected = "check state=one folder=/mnt/a%20b disk=vda value=a%20b";
    let script = format!(
        "{HELLO}{OPENED}read line; [ \"$line\" = '{expected}' ] || exit 9
         echo '@lab checked current=yes undo=x%0Ay claims=a,b permanent=so'
         read line; [ \"$line\" = close ] || exit 9; echo '@lab closed'; read line; [ \"$line\" = quit ]"
    );
    let checked = Checked::Possible {
        is_current: true,
        permanent: Some("so".into()),
        undo: Some("x\ny".into()),
        claims: vec!["a".into(), "b".into()],
    };
    assert_eq!(ask(&script), Ok(vec![checked]));
}

#[test]
fn mistakes_of_a_fixture_are_reported() {
    let checked = |reply: &str| format!("{HELLO}{OPENED}read line; echo '@lab {reply}'; read line");
    for (script, reason) in [
        (
            "echo '@lab hello'; read line",
            "`hello` without `protocol=`",
        ),
        (
            "echo '@lab hello protocol=x'; read line",
            "`protocol=x` is not",
        ),
        (
            "echo no module named lab_kit >&2; exit 3",
            "exit status: 3 instead of replying\nno module named lab_kit",
        ),
        (
            &format!("{HELLO}read line; echo '@lab set'; read line"),
            "got `set` instead of `opened`",
        ),
        (
            &format!("{HELLO}read line; echo '@lab error code=failed message=no'; read line"),
            "failed: no",
        ),
        (&checked("closed"), "got `closed` instead of `checked`"),
        (
            &checked("checked current=maybe"),
            "`current=maybe` is neither yes nor no",
        ),
        (
            &checked("error code=usage message=expected%20a_b"),
            "usage: expected a_b",
        ),
        (
            &format!("{}; exit 4", checked("checked")),
            "exit status: 4 instead of replying",
        ),
    ] {
        match ask(script) {
            Err(Fault::Failed("fixture", message)) => {
                assert!(message.starts_with("fixture `x`: "), "{message}");
                assert!(message.contains(reason), "no `{reason}` in {message}");
            }
            other => panic!("{script}: {other:?}"),
        }
    }
}

#[test]
fn an_unsupported_state_is_not_a_fault() {
    let script = format!(
        "{HELLO}{OPENED}read line; echo '@lab error code=unsupported message=not%20here'
         read line; echo '@lab closed'; read line"
    );
    let impossible = Checked::Impossible("not here".into());
    assert_eq!(ask(&script), Ok(vec![impossible]));
}
