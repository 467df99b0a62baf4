// SPDX-License-Identifier: Apache-2.0
//! A fixture: a helper program that changes the surroundings of subjects, and undoes its changes.

use crate::Failure;
use crate::conversation::Conversation;
use crate::line::{Arguments, Command, Reply};
use crate::subject::unknown;
use nix::unistd::dup2_stdout;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;

/// A helper program of an experiment.
///
/// [`Fixture::set`] may change what outlives the process only if [`Fixture::check`] returned how to undo it.
pub trait Fixture {
    /// Prepares the fixture. Returns values for subjects, such as the address of a proxy.
    ///
    /// # Errors
    /// Returns a failure if the fixture cannot work.
    fn open(&mut self) -> Result<Vec<(&'static str, String)>, Failure> {
        Ok(Vec::new())
    }

    /// Returns what a state would change, without changing anything.
    ///
    /// # Errors
    /// Returns [`Failure::unsupported`] if the state cannot be set on this machine.
    fn check(&mut self, state: &State) -> Result<Checked, Failure> {
        let _ = state;
        Ok(Checked::default())
    }

    /// Replaces the current state; `None` undoes all changes. Returns values for subjects.
    ///
    /// # Errors
    /// Returns a failure if the state cannot be set.
    fn set(&mut self, state: Option<&State>) -> Result<Vec<(&'static str, String)>, Failure>;

    /// Undoes what an earlier process changed, from a text in [`Checked::undo`]. Returns what was still changed.
    ///
    /// # Errors
    /// Returns a failure if a change cannot be undone.
    fn undo(&mut self, record: &str) -> Result<Option<String>, Failure> {
        let _ = record;
        Ok(None)
    }
}

/// A state of a fixture: its name and its arguments in the experiment, with the directory and the disk of the subject
/// that selects it.
#[derive(Debug)]
pub struct State {
    name: String,
    arguments: Arguments,
}

/// The effect of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// True if the machine is already in this state.
    pub is_current: bool,
    /// How a user makes the state permanent.
    pub permanent: Option<String>,
    /// The text from which a later process undoes the state.
    pub undo: Option<String>,
    /// Names of what only one run may change at a time, without commas.
    pub claims: Vec<String>,
}

impl State {
    fn new(arguments: Arguments) -> Result<State, Failure> {
        let name = arguments.text("state")?.to_owned();
        Ok(State { name, arguments })
    }

    /// Returns the name: that of a subject, or the value of a factor.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns an argument.
    pub fn find(&self, key: &str) -> Option<&str> {
        self.arguments.find(key)
    }

    /// Returns the name of the whole disk below the subject's directory, if it is on a disk.
    pub fn disk(&self) -> Option<&str> {
        self.find("disk")
    }

    /// Returns the arguments that the experiment gives to the state.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, &str)> {
        let added = ["state", "folder", "disk"];
        self.arguments
            .iter()
            .filter(move |(key, _)| !added.contains(key))
    }
}

/// Serves benchlab on this process's standard input and output until `quit` or the end of the input, and then undoes
/// all changes.
///
/// From this call on, standard output of the program is redirected to standard error, so that it cannot corrupt
/// replies.
///
/// # Errors
/// Returns an error if a stream fails, or if changes cannot be undone at the end of the input.
pub fn serve_fixture(name: &str, fixture: impl Fixture) -> io::Result<()> {
    let replies = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    dup2_stdout(io::stderr())?;
    serve_fixture_on(name, fixture, io::stdin().lock(), replies)
}

/// Serves benchlab like [`serve_fixture`], on these streams.
///
/// # Errors
/// Returns an error if a stream fails, or if changes cannot be undone at the end of the input.
pub fn serve_fixture_on(
    name: &str,
    mut fixture: impl Fixture,
    commands: impl BufRead + 'static,
    replies: impl Write + 'static,
) -> io::Result<()> {
    let mut lab = Conversation::new(Box::new(commands), Box::new(replies), |_| None);
    let hello = Reply::new("hello").with("protocol", 1);
    lab.reply(
        hello
            .with("fixture", name)
            .with("runtime", env!("LAB_KIT_RUNTIME")),
    );
    let mut is_open = false;
    while let Some(command) = lab.next() {
        match answer(&mut fixture, &mut is_open, command) {
            Ok(reply) => lab.reply(reply),
            Err(failure) => lab.refuse(failure),
        }
    }
    // benchlab may have been killed. Whatever became of the streams, the changes are undone first.
    let undone = if is_open {
        fixture.set(None)
    } else {
        Ok(Vec::new())
    };
    lab.end()?;
    undone.map(drop).map_err(|f| io::Error::other(f.message))
}

fn answer(
    fixture: &mut impl Fixture,
    is_open: &mut bool,
    command: Command,
) -> Result<Reply, Failure> {
    let Command { verb, arguments } = command;
    match verb.as_str() {
        "open" if *is_open => Err(Failure::usage("the fixture is already open")),
        "open" => {
            let values = fixture.open()?;
            *is_open = true;
            Ok(with_values("opened", values))
        }
        "undo" => {
            let changed = fixture.undo(arguments.text("record")?)?;
            let changed = changed.map(|changed| ("changed", changed));
            Ok(with_values("undone", changed))
        }
        "check" | "set" | "close" if !*is_open => Err(Failure::usage("the fixture is not open")),
        "check" => fixture.check(&State::new(arguments)?).map(checked),
        "set" => {
            let state = arguments.find("state").is_some();
            let state = state.then(|| State::new(arguments)).transpose()?;
            let values = fixture.set(state.as_ref())?;
            Ok(with_values("set", values))
        }
        "close" => {
            fixture.set(None)?;
            *is_open = false;
            Ok(Reply::new("closed"))
        }
        verb => Err(unknown(verb)),
    }
}

fn checked(checked: Checked) -> Reply {
    let current = if checked.is_current { "yes" } else { "no" };
    let mut reply = Reply::new("checked").with("current", current);
    let texts = [("permanent", checked.permanent), ("undo", checked.undo)];
    for (key, text) in texts {
        if let Some(text) = text {
            reply.push(key, text);
        }
    }
    if !checked.claims.is_empty() {
        reply.push("claims", checked.claims.join(","));
    }
    reply
}

fn with_values(verb: &str, values: impl IntoIterator<Item = (&'static str, String)>) -> Reply {
    let reply = Reply::new(verb);
    let values = values.into_iter();
    values.fold(reply, |reply, (key, value)| reply.with(key, value))
}
