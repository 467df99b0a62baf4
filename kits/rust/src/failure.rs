// SPDX-License-Identifier: Apache-2.0
//! Failures, as reported by the reply `error`.

use std::error::Error;
use std::iter::successors;

/// An error that prevented a case from being opened, or an operation from succeeding.
///
/// The `?` operator converts every [`std::error::Error`] to a failure with the code `failed`. `Failure` does not
/// implement `Error` itself, because the conversion would then be impossible.
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
    /// Creates a failure for a missing or malformed argument, or for a command that is unknown or out of order.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Code::Usage, message.into(), None)
    }

    /// Creates a failure for a case or parameter that this subject does not support.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(Code::Unsupported, message.into(), None)
    }

    /// Creates a failure of the work itself, with a custom message.
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

    /// Returns the original error and its chain of causes.
    pub(crate) fn causes(&self) -> impl Iterator<Item = &(dyn Error + 'static)> {
        let cause = self.cause.as_deref().map(|error| error as &dyn Error);
        successors(cause, |&error| error.source())
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for Failure {
    /// Builds the message from the messages of the error and its causes.
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
