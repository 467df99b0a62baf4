// SPDX-License-Identifier: Apache-2.0
//! A fixture: a helper program that changes the surroundings of subjects, and undoes its changes.

use crate::Failure;
use crate::conversation::Conversation;
use crate::line::{Arguments, Command, Reply};
use crate::subject::unknown;
use nix::unistd::dup2_stdout;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::ops::RangeInclusive;
use std::os::fd::AsFd;
use std::str::FromStr;
use std::time::Duration;

/// The arguments that benchlab adds to the arguments of a state.
const ADDED: [&str; 6] = ["state", "folder", "disk", "visit", "seed", "target"];

/// A helper program of an experiment.
///
/// [`Fixture::set`] may make changes that outlive the process only if [`Fixture::check`] returned
/// how to undo them.
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

    /// Starts a visit: a subject's process is about to open a case. Called if the experiment has `visits = true`,
    /// instead of [`Fixture::set`] with a state.
    ///
    /// # Errors
    /// Returns a failure if the fixture cannot start the visit.
    fn enter(&mut self, state: &State) -> Result<Box<dyn Visit>, Failure> {
        let _ = state;
        Err(Failure::unsupported("the fixture does not support visits"))
    }

    /// Undoes what an earlier process changed, from a text in [`Checked::undo`]. Returns a
    /// description of the changes that it undid.
    ///
    /// # Errors
    /// Returns a failure if a change cannot be undone.
    fn undo(&mut self, record: &str) -> Result<Option<String>, Failure> {
        let _ = record;
        Ok(None)
    }
}

/// A fixture's side of a visit, such as a proxy in front of a server. Dropping this value ends the
/// visit.
pub trait Visit {
    /// Returns values for the subject, such as the address of the proxy.
    fn values(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Called before the subject works. `expected` is the approximate duration of the work if it is
    /// measured, and `None` for other work. Returns the outage that should occur during the work,
    /// if any.
    ///
    /// # Errors
    /// Returns a failure if the subject cannot work.
    fn begin(&mut self, expected: Option<Duration>) -> Result<Option<Outage>, Failure> {
        let _ = expected;
        Ok(None)
    }

    /// Called at each step of an outage, unless the subject has done its work before the outage.
    ///
    /// # Errors
    /// Returns a failure if there can be no outage.
    fn outage(&mut self, step: OutageStep) -> Result<(), Failure> {
        let _ = step;
        Ok(())
    }

    /// Called after the subject has performed `operations` operations. Returns the fixture's metrics of this work, in
    /// their units. The metric of an event that did not occur is omitted.
    ///
    /// # Errors
    /// Returns a failure if the work must not count.
    fn end(&mut self, operations: u64) -> Result<Vec<(&'static str, f64)>, Failure> {
        let _ = operations;
        Ok(Vec::new())
    }
}

/// An outage of a subject's target. benchlab kills the server if benchlab started it, and starts it
/// again. All other outages are up to the fixture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The time from the beginning of the work to the outage.
    pub after: Duration,
    /// The time from [`OutageStep::Stopped`] to [`OutageStep::Starting`]. The outage ends earlier if
    /// the subject finishes its work.
    pub length: Duration,
}

/// A step of an outage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutageStep {
    /// The server is about to be killed.
    Stopping,
    /// The server has been killed.
    Stopped,
    /// The server is about to be started again.
    Starting,
    /// The server responds again.
    Started,
}

impl OutageStep {
    fn parse(name: &str) -> Result<OutageStep, Failure> {
        Ok(match name {
            "stopping" => OutageStep::Stopping,
            "stopped" => OutageStep::Stopped,
            "starting" => OutageStep::Starting,
            "started" => OutageStep::Started,
            _ => return Err(Failure::usage(format!("there is no step {name}"))),
        })
    }
}

/// A state of a fixture: its name, its arguments in the experiment, and the directory and the disk
/// of the subject that selects it.
///
/// In a visit, it also has the parameters of the case, a seed, and the subject's target. The name is empty if the fixture
/// has no states.
#[derive(Debug)]
pub struct State {
    name: String,
    arguments: Arguments,
}

/// The effect of a state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// True if the machine is already in the state.
    pub is_current: bool,
    /// Instructions for making the state permanent.
    pub permanent: Option<String>,
    /// The text from which a later process undoes the state.
    pub undo: Option<String>,
    /// The names, without commas, of the resources that only one run may change at a time.
    pub claims: Vec<String>,
}

impl State {
    fn new(arguments: Arguments) -> Result<State, Failure> {
        let name = arguments.text("state")?.to_owned();
        Ok(State { name, arguments })
    }

    /// Returns the name of the state, which is the name of a subject or the value of a factor.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns an argument, or `None` if it is missing.
    pub fn find(&self, key: &str) -> Option<&str> {
        self.arguments.find(key)
    }

    /// Returns an argument, which must be a whole number in `range`.
    ///
    /// # Errors
    /// Returns [`Failure::usage`] if the argument is missing or not such a number.
    pub fn integer<T>(&self, key: &str, range: RangeInclusive<T>) -> Result<T, Failure>
    where
        T: FromStr + PartialOrd + fmt::Display,
    {
        self.arguments.integer(key, range)
    }

    /// Returns the target of the subject in a visit, such as `postgresql://…` or `sqlite:/PATH`.
    pub fn target(&self) -> Option<&str> {
        self.find("target")
    }

    /// Returns the name of the whole disk that contains the subject's directory, if the directory is on a disk.
    pub fn disk(&self) -> Option<&str> {
        self.find("disk")
    }

    /// Returns the arguments that the experiment passes to the state. During a visit, they are followed by the
    /// parameters of the case.
    pub fn arguments(&self) -> impl Iterator<Item = (&str, &str)> {
        let arguments = self.arguments.iter();
        arguments.filter(|(key, _)| !ADDED.contains(key))
    }

    /// Checks that [`State::arguments`] has only known keys.
    ///
    /// # Errors
    /// Returns [`Failure::usage`] if an argument has another key.
    pub fn check_keys(&self, known: &[&str]) -> Result<(), Failure> {
        let unknown = self.arguments().find(|(key, _)| !known.contains(key));
        unknown.map_or(Ok(()), |(key, _)| {
            let known = known.join(", ");
            Err(Failure::usage(format!("expected {known}, got {key}")))
        })
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

/// Serves benchlab like [`serve_fixture`], on the given streams.
///
/// # Errors
/// Returns an error if a stream fails, or if changes cannot be undone at the end of the input.
pub fn serve_fixture_on(
    name: &str,
    fixture: impl Fixture,
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
    let mut session = Session {
        fixture,
        is_open: false,
        visits: BTreeMap::new(),
    };
    while let Some(command) = lab.next() {
        match session.answer(command) {
            Ok(reply) => lab.reply(reply),
            Err(failure) => lab.refuse(failure),
        }
    }
    // benchlab may have been killed, so changes are undone first, even if the streams are broken.
    let undone = session.close();
    lab.end()?;
    undone.map_err(|f| io::Error::other(f.message))
}

/// A fixture and its visits.
struct Session<F> {
    fixture: F,
    is_open: bool,
    visits: BTreeMap<u64, Box<dyn Visit>>,
}

impl<F: Fixture> Session<F> {
    fn answer(&mut self, command: Command) -> Result<Reply, Failure> {
        let Command { verb, arguments } = command;
        match verb.as_str() {
            "open" if self.is_open => Err(Failure::usage("the fixture is already open")),
            "open" => {
                let values = self.fixture.open()?;
                self.is_open = true;
                Ok(with_values("opened", values))
            }
            "undo" => {
                let changed = self.fixture.undo(arguments.text("record")?)?;
                let changed = changed.map(|changed| ("changed", changed));
                Ok(with_values("undone", changed))
            }
            "check" | "set" | "close" | "enter" | "begin" | "outage" | "end" | "leave"
                if !self.is_open =>
            {
                Err(Failure::usage("the fixture is not open"))
            }
            "check" => self.fixture.check(&State::new(arguments)?).map(checked),
            "set" => {
                let state = arguments.find("state").is_some();
                let state = state.then(|| State::new(arguments)).transpose()?;
                let values = self.fixture.set(state.as_ref())?;
                Ok(with_values("set", values))
            }
            "enter" => {
                let visit = arguments.integer("visit", 0..=u64::MAX)?;
                let name = arguments.find("state").unwrap_or_default().to_owned();
                let entered = self.fixture.enter(&State { name, arguments })?;
                let reply = with_values("entered", entered.values());
                self.visits.insert(visit, entered);
                Ok(reply)
            }
            "begin" => {
                let expected = match arguments.find("expected_ns") {
                    Some(_) => Some(arguments.integer("expected_ns", 0..=u64::MAX)?),
                    None => None,
                };
                let expected = expected.map(Duration::from_nanos);
                let outage = self.visit(&arguments)?.begin(expected)?;
                let times = outage.into_iter().flat_map(|outage| {
                    let ns = |time: Duration| time.as_nanos();
                    [
                        ("down_after_ns", ns(outage.after)),
                        ("down_ns", ns(outage.length)),
                    ]
                });
                Ok(with_values("begun", times))
            }
            "outage" => {
                let step = OutageStep::parse(arguments.text("step")?)?;
                self.visit(&arguments)?.outage(step)?;
                Ok(Reply::new("noted"))
            }
            "end" => {
                let operations = arguments.integer("operations", 1..=u64::MAX)?;
                let metrics = self.visit(&arguments)?.end(operations)?;
                Ok(with_values("ended", metrics))
            }
            "leave" => {
                self.visit(&arguments)?;
                let visit = arguments.integer("visit", 0..=u64::MAX)?;
                self.visits.remove(&visit);
                Ok(Reply::new("left"))
            }
            "close" => {
                self.close()?;
                Ok(Reply::new("closed"))
            }
            verb => Err(unknown(verb)),
        }
    }

    /// Returns the fixture's side of the visit that a command names.
    fn visit(&mut self, arguments: &Arguments) -> Result<&mut Box<dyn Visit>, Failure> {
        let number = arguments.integer("visit", 0..=u64::MAX)?;
        let visit = self.visits.get_mut(&number);
        visit.ok_or_else(|| Failure::usage(format!("there is no visit {number}")))
    }

    /// Ends all visits, and undoes all changes.
    fn close(&mut self) -> Result<(), Failure> {
        self.visits.clear();
        if self.is_open {
            self.fixture.set(None)?;
        }
        self.is_open = false;
        Ok(())
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

fn with_values<V: fmt::Display>(
    verb: &str,
    values: impl IntoIterator<Item = (&'static str, V)>,
) -> Reply {
    let reply = Reply::new(verb);
    let values = values.into_iter();
    values.fold(reply, |reply, (key, value)| reply.with(key, value))
}
