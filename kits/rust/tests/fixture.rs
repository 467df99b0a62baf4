// SPDX-License-Identifier: Apache-2.0
//! Conversations with a fixture whose states are values of a cell.

use lab_kit::{Checked, Failure, Fixture, State, serve_fixture_on};
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;

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

    fn undo(&mut self, record: &str) -> Result<Option<String>, Failure> {
        let earlier = self.host.replace(record.to_owned());
        Ok(Some(format!("the cell set to {earlier}")).filter(|_| earlier != record))
    }
}

/// Collects what is written, until the reader is gone.
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

/// Returns the replies after hello and the final value of the cell, which begins as `usual`.
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
