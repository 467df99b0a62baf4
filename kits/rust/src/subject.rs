// SPDX-License-Identifier: Apache-2.0
//! A program's cases, and the execution of commands.

use crate::clock;
use crate::conversation::{Conversation, SqlState};
use crate::line::{Arguments, Reply};
use crate::{Failure, Inputs, Laps, Work};
use nix::unistd::{dup2_stdout, gettid};
use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, Write};
use std::ops::RangeInclusive;
use std::os::fd::AsFd;
use std::str::FromStr;

/// The maximum number of operations in a batch.
const OPERATIONS_MAX: u64 = 1 << 53;

/// A function that opens a case, serves it, and releases its resources.
///
/// Work before and after [`Opening::serve`] is not timed. A failure before it is the reply to `open`, and a failure
/// after it is the reply to `close`.
pub type Case = fn(Opening<'_>) -> Result<Closed, Failure>;

/// The proof that a case was served; only [`Opening::serve`] creates one.
#[derive(Debug)]
pub struct Closed(());

/// A program under test: its name and its cases.
pub struct Subject {
    name: String,
    library: String,
    cases: Vec<(&'static str, Case)>,
    sqlstate: SqlState,
}

impl Subject {
    /// Creates a subject with the built-in case `noop`.
    ///
    /// `name` is the subject's name in the experiment; `library` is the driver or library under test with its
    /// version.
    pub fn new(name: impl Into<String>, library: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            library: library.into(),
            cases: vec![("noop", noop)],
            sqlstate: |_| None,
        }
    }

    /// Adds a case.
    pub fn case(mut self, name: &'static str, case: Case) -> Self {
        self.cases.push((name, case));
        self
    }

    /// Sets a function that returns an error's SQLSTATE, if the driver's message does not contain it.
    ///
    /// The function is called for each error and its causes, and the SQLSTATE is added to the message.
    pub fn sqlstate(mut self, sqlstate: SqlState) -> Self {
        self.sqlstate = sqlstate;
        self
    }

    /// Serves benchlab on this process's standard input and output, on the calling thread, until `quit` or the end of
    /// the input.
    ///
    /// From this call on, standard output of the program is redirected to standard error, so that it cannot corrupt
    /// replies.
    pub fn serve(self) -> io::Result<()> {
        let replies = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        dup2_stdout(io::stderr())?;
        self.serve_on(io::stdin().lock(), replies)
    }

    /// Serves benchlab like [`Subject::serve`], on the given streams.
    pub fn serve_on(
        self,
        commands: impl BufRead + 'static,
        replies: impl Write + 'static,
    ) -> io::Result<()> {
        let mut lab = Conversation::new(Box::new(commands), Box::new(replies), self.sqlstate);
        lab.reply(
            Reply::new("hello")
                .with("protocol", 1)
                .with("subject", &self.name)
                .with("thread", gettid())
                .with("runtime", env!("LAB_KIT_RUNTIME"))
                .with("library", &self.library),
        );
        while let Some(command) = lab.next() {
            let done = match command.verb.as_str() {
                "open" => self.open(command.arguments, &mut lab),
                "verify" | "run" | "close" => Err(Failure::usage("no case is open")),
                verb => Err(unknown(verb)),
            };
            match done {
                Ok(Closed(())) => lab.reply(Reply::new("closed")),
                Err(failure) => lab.refuse(failure),
            }
        }
        lab.end()
    }

    /// Executes `open` and all following commands until the case is closed.
    fn open(&self, arguments: Arguments, lab: &mut Conversation) -> Result<Closed, Failure> {
        let name = arguments.text("case")?;
        let inputs = Inputs::seeded(arguments.integer("seed", 0..=u64::MAX)?);
        let Some((_, case)) = self.cases.iter().find(|(key, _)| *key == name) else {
            return Err(Failure::unsupported(format!("there is no case {name}")));
        };
        case(Opening {
            opened: Reply::new("opened"),
            arguments,
            inputs,
            lab,
        })
    }
}

/// A command `open`: the arguments for opening a case, and the reply.
pub struct Opening<'a> {
    opened: Reply,
    arguments: Arguments,
    inputs: Inputs,
    lab: &'a mut Conversation,
}

impl Opening<'_> {
    /// Returns the argument `key`, which is required.
    pub fn text(&self, key: &str) -> Result<&str, Failure> {
        self.arguments.text(key)
    }

    /// Returns the argument `key`, which must be a decimal integer in `range`.
    pub fn integer<T>(&self, key: &str, range: RangeInclusive<T>) -> Result<T, Failure>
    where
        T: FromStr + PartialOrd + fmt::Display,
    {
        self.arguments.integer(key, range)
    }

    /// Returns the sequence for the command's seed.
    pub fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Adds a setting, as it was read back, to the reply. Keys match `[a-z][a-z0-9_]*`.
    pub fn setting(&mut self, key: &str, value: impl fmt::Display) {
        self.opened.push(key, value);
    }

    /// Replies that the case is open, and calls `perform` for each batch until the case is closed.
    ///
    /// `perform` does the given number of operations, from 1 to 2^53, in a loop that starts with the first input.
    /// This is the timed code. After a failure it may be called again.
    pub fn serve(self, mut perform: impl FnMut(u64) -> Result<Work, Failure>) -> Closed {
        let lab = self.lab;
        lab.reply(self.opened);
        while let Some(command) = lab.next() {
            let done = match command.verb.as_str() {
                "run" => run(&command.arguments, &mut perform),
                "verify" => verify(&command.arguments, &mut perform),
                "close" => break,
                "open" => Err(Failure::usage("a case is already open")),
                verb => Err(unknown(verb)),
            };
            match done {
                Ok(reply) => lab.reply(reply),
                Err(failure) => lab.refuse(failure),
            }
        }
        Closed(())
    }

    /// Replies that the case is open, and waits until it is closed.
    ///
    /// This is for a server, which does its work in separate threads or tasks and does no operations.
    pub fn wait(self) -> Closed {
        self.serve(|_| {
            let message = "the case is a server and has no operations";
            Err(Failure::unsupported(message))
        })
    }
}

type Perform<'a> = &'a mut dyn FnMut(u64) -> Result<Work, Failure>;

fn verify(arguments: &Arguments, perform: Perform) -> Result<Reply, Failure> {
    let operations = match arguments.find("operations") {
        Some(_) => arguments.integer("operations", 1..=OPERATIONS_MAX)?,
        None => 1,
    };
    let work = perform(operations)?;
    Ok(with_work(Reply::new("verified"), operations, &work))
}

fn run(arguments: &Arguments, perform: Perform) -> Result<Reply, Failure> {
    let operations = arguments.integer("operations", 1..=OPERATIONS_MAX)?;
    let start = clock::now();
    let work = perform(operations)?;
    let end = clock::now();
    let (start, end) = work.laps.as_ref().map_or((start, end), Laps::span);
    let reply = Reply::new("ran").with("start", start).with("end", end);
    let mut reply = with_work(reply, operations, &work);
    if let Some(laps) = work.laps.filter(|laps| !laps.is_empty()) {
        reply.push("latencies", laps);
    }
    if !work.timeline.is_empty() {
        let steps: Vec<String> = work.timeline.iter().map(u64::to_string).collect();
        reply.push("timeline", steps.join(","));
    }
    for (metric, value) in work.metrics {
        reply.push(metric, value);
    }
    Ok(reply)
}

fn with_work(reply: Reply, operations: u64, work: &Work) -> Reply {
    let reply = reply.with("operations", operations);
    reply.with("units", work.units).with("check", work.check)
}

pub(crate) fn unknown(verb: &str) -> Failure {
    let verb: String = verb.chars().take(40).collect();
    Failure::usage(format!("there is no command {verb}"))
}

/// Measures the cost of the protocol itself.
fn noop(opening: Opening) -> Result<Closed, Failure> {
    Ok(opening.serve(|operations| {
        Ok(Work {
            check: operations,
            units: operations,
            ..Work::default()
        })
    }))
}
