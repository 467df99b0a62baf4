// SPDX-License-Identifier: Apache-2.0
//! Failures, as the reply `error` reports them.

use std::error::Error;
use std::iter::successors;

/// Why a case was not opened, or an operation not done.
///
/// Every [`std::error::Error`] becomes the code `failed` by `?`. (It is no `Error` itself, or that
/// would not be possible.)
#[derive(Debug)]
pub struct Failure {
    pub(crate) code: Code,
    pub(crate) message: String,
    cause: Option<Box<dyn Error + Send + Sync>>,
}

/// The codes of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Usage,
    Unsupported,
    Failed,
}

impl Failure {
    /// A missing or malformed argument, an unknown command, a command out of order.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message.into(), None)
    }

    /// This subject has no such case or parameter.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Code::Unsupported, message.into(), None)
    }

    /// The work itself went wrong, in words of one's own.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(Code::Failed, message.into(), None)
    }

    fn new(code: Code, message: String, cause: Option<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            code,
            message,
            cause,
        }
    }

    /// The error that this came from, and its causes in turn.
    pub(crate) fn causes(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        let cause = self.cause.as_deref().map(|error| error as &dyn Error);
        successors(cause, |&error| error.source())
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    /// The message is the error's and those of its causes, in the libraries' own words.
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        for cause in successors(error.source(), |&cause| cause.source()) {
            let more = cause.to_string();
            if !message.contains(&more) {
                message = format!("{message}: {more}");
            }
        }
        Self::new(Code::Failed, message, Some(Box::new(error)))
    }
}

impl Code {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Code::Usage => "usage",
            Code::Unsupported => "unsupported",
            Code::Failed => "failed",
        }
    }
}
