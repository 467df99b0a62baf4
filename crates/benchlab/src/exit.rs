// SPDX-License-Identifier: Apache-2.0
//! The exit code and message of a command that failed.

use lab_bench::{BenchError, WorktreeError};
use lab_bisect::FileError;
use lab_load::JobError;
use lab_logs::LogsError;
use lab_many::StartError;
use lab_plan::PlanError;
use lab_store::StoreError;

/// A run failed.
pub const FAILED: u8 = 1;
/// The command line or a file is invalid.
pub const INVALID: u8 = 2;
/// A gate found a regression.
pub const REGRESSION: u8 = 3;
/// A gate is inconclusive.
pub const INCONCLUSIVE: u8 = 4;
/// The host is unfit for measuring, and `--strict` was given.
pub const UNFIT: u8 = 5;
/// The user stopped the run with Ctrl-C. Shells use the same code: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// An exit code with a message for standard error.
pub struct Exit {
    /// The exit code, such as [`FAILED`].
    pub code: u8,
    /// The message: the problem, and how to solve it.
    pub message: String,
}

impl Exit {
    /// Creates an exit with the given code and message.
    pub fn new(code: u8, message: impl ToString) -> Exit {
        Exit {
            code,
            message: message.to_string(),
        }
    }

    /// Creates an exit for an invalid command line or file.
    pub fn invalid(message: impl ToString) -> Exit {
        Exit::new(INVALID, message)
    }

    /// Creates an exit for a failed run.
    pub fn failed(message: impl ToString) -> Exit {
        Exit::new(FAILED, message)
    }

    /// Creates an exit for a run stopped with Ctrl-C.
    pub fn interrupted(message: impl ToString) -> Exit {
        Exit::new(INTERRUPTED, message)
    }
}

impl From<PlanError> for Exit {
    fn from(e: PlanError) -> Exit {
        Exit::invalid(e)
    }
}

impl From<JobError> for Exit {
    fn from(e: JobError) -> Exit {
        Exit::invalid(e)
    }
}

impl From<LogsError> for Exit {
    fn from(e: LogsError) -> Exit {
        let code = match e {
            LogsError::Invalid(_) => INVALID,
            LogsError::Failed(_) => FAILED,
            LogsError::Stopped => INTERRUPTED,
        };
        Exit::new(code, e)
    }
}

impl From<StoreError> for Exit {
    fn from(e: StoreError) -> Exit {
        let code = match e {
            StoreError::Full(_) | StoreError::NoRoom(_) => FAILED,
            _ => INVALID,
        };
        Exit::new(code, e)
    }
}

impl From<StartError> for Exit {
    fn from(e: StartError) -> Exit {
        match e {
            StartError::Stopped => Exit::interrupted("stopped; nothing was saved"),
            StartError::Refused(reason) => Exit::failed(reason),
        }
    }
}

impl From<BenchError> for Exit {
    fn from(e: BenchError) -> Exit {
        Exit::failed(e)
    }
}

impl From<WorktreeError> for Exit {
    fn from(e: WorktreeError) -> Exit {
        match e {
            WorktreeError::Interrupted => Exit::interrupted("stopped"),
            e => Exit::invalid(e),
        }
    }
}

impl From<FileError> for Exit {
    fn from(e: FileError) -> Exit {
        match e {
            FileError::Io(..) => Exit::failed(e),
            FileError::Invalid(..) => Exit::invalid(e),
        }
    }
}
