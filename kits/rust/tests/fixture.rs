// SPDX-License-Identifier: Apache-2.0
//! Conversations with a fixture whose states are values of a cell.

use lab_kit::{Checked, Failure, Fixture, Outage, OutageStep, State, Visit, serve_fixture_on};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::time::Duration;

/// The value that the fixture changes.
type Host = Rc<RefCell<String>>;

struct Cell {
    host: Host,
    usual: String,
}

impl Fixture for Cell {
    fn open(&mut self) -> Result<Vec<(&'static str, String)>, Failure> {
        self.usual.clone_from(&self.host.borrow());
        Ok(vec![("port", "4711".into())])
    }

    fn check(&mut self, state: &State) -> Result<Checked, Failure> {
        let value = state.find("value").unwrap_or_default();
        if value == "impossible" {
            return Err(Failure::unsupported("there is no such value"));
        }
        let given: Vec<&str> = state.arguments().map(|(key, _)| key).collect();
        assert_eq!(given, ["value"]);
        Ok(Checked {
            is_current: *self.host.borrow() == value,
            permanent: state.disk().map(|disk| format!("on {disk}")),
            undo: Some(self.usual.clone()),
            claims: vec!["cell".into(), state.name().into()],
        })
    }

    fn set(&mut self, state: Option<&State>) -> Result<Vec<(&'static str, String)>, Failure> {
        let value = state.and_then(|state| state.find("value"));
        value
            .unwrap_or(&self.usual)
            .clone_into(&mut self.host.borrow_mut());
        Ok(Vec::new())
    }

    fn enter(&mut self, state: &State) -> Result<Box<dyn Visit>, Failure> {
        let doubled = 2 * state.integer("value", 0..=20)?;
        let name = state.name().to_owned();
        assert_eq!(state.arguments().count(), 1);
        let host = self.host.clone();
        Ok(Box::new(Guest {
            host,
            name,
            doubled,
        }))
    }

    fn undo(&mut self, record: &str) -> Result<Option<String>, Failure> {
        let earlier = self.host.replace(record.to_owned());
        Ok(Some(format!("the cell set to {earlier}")).filter(|_| earlier != record))
    }
}

/// A visit that writes into the cell.
struct Guest {
    host: Host,
    name: String,
    doubled: u64,
}

impl Visit for Guest {
    fn values(&self) -> Vec<(&'static str, String)> {
        vec![("doubled", self.doubled.to_string())]
    }

    fn begin(&mut self, expected: Option<Duration>) -> Result<Option<Outage>, Failure> {
        *self.host.borrow_mut() += " begun";
        Ok(expected.map(|expected| Outage {
            after: expected / 2,
            length: Duration::from_nanos(self.doubled),
        }))
    }

    fn outage(&mut self, step: OutageStep) -> Result<(), Failure> {
        match step {
            OutageStep::Starting => Err(Failure::failed("it is too late")),
            OutageStep::Stopping | OutageStep::Stopped | OutageStep::Started => Ok(()),
        }
    }

    fn end(&mut self, operations: u64) -> Result<Vec<(&'static str, f64)>, Failure> {
        Ok(vec![("each", self.doubled as f64 / operations as f64)])
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        *self.host.borrow_mut() += &format!(" {} left", self.name);
    }
}

/// Collects the written bytes. If the flag is true, the reply to `set` fails, as if the reader had
/// exited.
#[derive(Clone, Default)]
struct Replies(Rc<RefCell<Vec<u8>>>, bool);

impl Write for Replies {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.1 && bytes.starts_with(b"@lab set") {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the replies after hello and the final value of the cell, which is initially `usual`.
fn talk(commands: &'static str) -> (Vec<String>, String) {
    let host = Host::new("usual".to_owned().into());
    let replies = Replies::default();
    let (usual, cell) = (String::new(), host.clone());
    let fixture = Cell { host: cell, usual };
    serve_fixture_on("cell", fixture, commands.as_bytes(), replies.clone()).unwrap();
    let text = String::from_utf8(replies.0.take()).unwrap();
    let mut lines = text.lines();
    let hello = lines.next().unwrap();
    assert!(
        hello.starts_with("@lab hello protocol=1 fixture=cell runtime=rustc%20"),
        "{hello}"
    );
    (lines.map(str::to_owned).collect(), host.take())
}

#[test]
fn a_conversation() {
    let (replies, value) = talk(
        "open seed=7\ncheck state=a value=usual disk=vda folder=/x\ncheck state=b value=new\n\
         check state=c value=impossible\nset state=b value=new\nset\nset state=b value=new\nclose\nquit\n",
    );
    assert_eq!(
        replies,
        [
            "@lab opened port=4711",
            "@lab checked current=yes permanent=on%20vda undo=usual claims=cell,a",
            "@lab checked current=no undo=usual claims=cell,b",
            "@lab error code=unsupported message=there%20is%20no%20such%20value",
            "@lab set",
            "@lab set",
            "@lab set",
            "@lab closed",
        ]
    );
    assert_eq!(value, "usual");
}

#[test]
fn a_fixture_takes_part_in_visits() {
    let (replies, value) = talk(
        "open\nenter visit=1 state=a value=5\nenter visit=2 value=3\nbegin visit=1\nend visit=1 operations=4\n\
         leave visit=2\nleave visit=2\nbegin visit=7\nend visit=1\nenter visit=3 value=21\nleave visit=1\n",
    );
    assert_eq!(
        replies,
        [
            "@lab opened port=4711",
            "@lab entered doubled=10",
            "@lab entered doubled=6",
            "@lab begun",
            "@lab ended each=2.5",
            "@lab left",
            "@lab error code=usage message=there%20is%20no%20visit%202",
            "@lab error code=usage message=there%20is%20no%20visit%207",
            "@lab error code=usage message=the%20argument%20operations%20is%20missing",
            "@lab error code=usage message=value%20is%20not%20a%20whole%20number%20from%200%20to%2020",
            "@lab left",
        ]
    );
    assert_eq!(value, "usual");
}

#[test]
fn a_fixture_requests_an_outage_and_follows_it() {
    let (replies, _) = talk(
        "open\nenter visit=1 state=a value=5 seed=7 target=sqlite:/x\nbegin visit=1 expected_ns=1000\n\
         outage visit=1 step=stopping\noutage visit=1 step=stopped\noutage visit=1 step=starting\n\
         outage visit=1 step=gone\noutage visit=1\n",
    );
    assert_eq!(
        replies[2..],
        [
            "@lab begun down_after_ns=500 down_ns=10",
            "@lab noted",
            "@lab noted",
            "@lab error code=failed message=it%20is%20too%20late",
            "@lab error code=usage message=there%20is%20no%20step%20gone",
            "@lab error code=usage message=the%20argument%20step%20is%20missing",
        ]
    );
}

#[test]
fn visits_end_before_changes_are_undone() {
    let host = Host::new("usual".to_owned().into());
    let fixture = Keeper(Cell {
        host: host.clone(),
        usual: String::new(),
    });
    let commands = "open\nenter visit=1 state=a value=5\nbegin visit=1\n".as_bytes();
    serve_fixture_on("keeper", fixture, commands, Replies::default()).unwrap();
    assert_eq!(host.take(), "usual begun a left undone");
}

#[test]
fn a_state_may_have_only_known_arguments() {
    let fixture = Keeper(Cell {
        host: Host::default(),
        usual: String::new(),
    });
    let commands = "open\ncheck state=a value=5 disk=vda\ncheck state=a value=5 size=3 weight=2\n";
    let replies = Replies::default();
    serve_fixture_on("keeper", fixture, commands.as_bytes(), replies.clone()).unwrap();
    let text = String::from_utf8(replies.0.take()).unwrap();
    let [.., known, unknown] = &text.lines().collect::<Vec<_>>()[..] else {
        panic!("there should be two replies to check");
    };
    assert_eq!(*known, "@lab checked current=no");
    let expected = "@lab error code=usage message=expected%20value,%20color,%20got%20size";
    assert_eq!(*unknown, expected);
}

/// A fixture that notes when its changes are undone.
struct Keeper(Cell);

impl Fixture for Keeper {
    fn check(&mut self, state: &State) -> Result<Checked, Failure> {
        state.check_keys(&["value", "color"])?;
        Ok(Checked::default())
    }

    fn set(&mut self, _: Option<&State>) -> Result<Vec<(&'static str, String)>, Failure> {
        *self.0.host.borrow_mut() += " undone";
        Ok(Vec::new())
    }

    fn enter(&mut self, state: &State) -> Result<Box<dyn Visit>, Failure> {
        self.0.enter(state)
    }
}

#[test]
fn changes_are_undone_at_the_end_of_the_input() {
    let (replies, value) = talk("open\nset state=b value=new\n");
    assert_eq!(replies.last().unwrap(), "@lab set");
    assert_eq!(value, "usual");
}

#[test]
fn changes_are_undone_when_nobody_reads_the_replies() {
    let host = Host::new("usual".to_owned().into());
    let fixture = Cell {
        host: host.clone(),
        usual: String::new(),
    };
    let commands = "open\nset state=b value=new\n".as_bytes();
    let served = serve_fixture_on("cell", fixture, commands, Replies(Rc::default(), true));
    assert_eq!(served.unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    assert_eq!(host.take(), "usual");
}

#[test]
fn another_process_undoes_what_was_left() {
    let (replies, value) = talk("undo record=earlier\nundo record=earlier\nundo\n");
    assert_eq!(
        replies,
        [
            "@lab undone changed=the%20cell%20set%20to%20usual",
            "@lab undone",
            "@lab error code=usage message=the%20argument%20record%20is%20missing",
        ]
    );
    assert_eq!(value, "earlier");
}

#[test]
fn commands_out_of_order() {
    let (replies, _) = talk("set\ncheck state=a\nclose\nopen\nopen\ncheck\nrun operations=1\n");
    let codes = replies.iter().map(|reply| reply.contains("code=usage"));
    let codes: Vec<bool> = codes.collect();
    assert_eq!(codes, [true, true, true, false, true, true, true]);
}
