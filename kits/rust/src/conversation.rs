// SPDX-License-Identifier: Apache-2.0
//! The two streams between benchlab and the subject.

use crate::Failure;
use crate::line::{self, Command, Reply};
use std::error::Error;
use std::io::{self, BufRead, Write};

/// The maximum length of an error message in characters, so that a reply fits into a line.
const MESSAGE_MAX: usize = 4_000;

/// Returns the SQLSTATE of an error, if it is an error of the driver and has one.
pub(crate) type SqlState = fn(&(dyn Error + 'static)) -> Option<String>;

/// Reads commands and writes one reply to each. After a stream has failed, there are no more commands.
pub(crate) struct Conversation {
    commands: Box<dyn BufRead>,
    replies: Box<dyn Write>,
    sqlstate: SqlState,
    ended: Option<io::Result<()>>,
}

impl Conversation {
    pub fn new(commands: Box<dyn BufRead>, replies: Box<dyn Write>, sqlstate: SqlState) -> Self {
        Self {
            commands,
            replies,
            sqlstate,
            ended: None,
        }
    }

    /// Returns the next valid command, or `None` after `quit` and at the end of the input.
    pub fn next(&mut self) -> Option<Command> {
        while self.ended.is_none() {
            match line::read(&mut *self.commands) {
                Ok(None) => self.ended = Some(Ok(())),
                Err(error) => self.ended = Some(Err(error)),
                Ok(Some(line)) => match line.and_then(|line| Command::parse(&line)) {
                    Ok(command) if command.verb == "quit" => self.ended = Some(Ok(())),
                    Ok(command) => return Some(command),
                    Err(failure) => self.refuse(failure),
                },
            }
        }
        None
    }

    /// Sends a reply with one write, so that benchlab wakes up once.
    pub fn reply(&mut self, reply: Reply) {
        if self.ended.is_none()
            && let Err(error) = self
                .replies
                .write_all(reply.line().as_bytes())
                .and_then(|()| self.replies.flush())
        {
            self.ended = Some(Err(error));
        }
    }

    /// Sends the reply `error`. After the end, the error is only logged.
    pub fn refuse(&mut self, failure: Failure) {
        let mut message: String = failure.message.chars().take(MESSAGE_MAX).collect();
        if let Some(state) = failure.causes().find_map(self.sqlstate) {
            message += &format!(" (SQLSTATE {state})");
        }
        if self.ended.is_some() {
            eprintln!("{message}");
        }
        let reply = Reply::new("error").with("code", failure.code.name());
        self.reply(reply.with("message", message));
    }

    /// Returns an error if a stream has failed.
    pub fn end(self) -> io::Result<()> {
        self.ended.unwrap_or(Ok(()))
    }
}
