// SPDX-License-Identifier: Apache-2.0
//! The end of a command that failed: exit code and message.

use lab_bench::BenchError;
use lab_load::JobError;
use lab_logs::LogsError;
use lab_logs::gates::GateOutcome;
use lab_many::StartError;
use lab_plan::PlanError;
use lab_store::StoreError;

/// A run failed.
pub const FAILED: u8 = 1;
/// The command or a file is wrong.
pub const WRONG: u8 = 2;
/// A gate found a regression.
pub const REGRESSION: u8 = 3;
/// A gate is inconclusive.
pub const UNDECIDED: u8 = 4;
/// The host is not fit, and `--strict` was given.
pub const UNFIT: u8 = 5;
/// Stopped by Ctrl-C, as shells count it: 128 + SIGINT.
pub const INTERRUPTED: u8 = 130;

/// An end with a message for standard error.
pub struct Exit {
    /// The exit code.
    pub code: u8,
    /// The problem, and how to solve it.
    pub message: String,
}

impl Exit {
    /// An end with this code.
    pub fn new(code: u8, message: impl ToString) -> Exit {
        Exit {
            code,
            message: message.to_string(),
        }
    }

    /// The command or a file is wrong.
    pub fn wrong(message: impl ToString) -> Exit {
        Exit::new(WRONG, message)
    }

    /// A run failed.
    pub fn failed(message: impl ToString) -> Exit {
        Exit::new(FAILED, message)
    }

    /// The end that gates on logs ask for, if they do.
    pub fn of_gates(outcome: GateOutcome) -> Result<(), Exit> {
        match outcome {
            GateOutcome::Passed => Ok(()),
            GateOutcome::Crossed(text) => Err(Exit::new(REGRESSION, text)),
            GateOutcome::Inconclusive(text) => Err(Exit::new(UNDECIDED, text)),
        }
    }

    /// Stopped by Ctrl-C.
    pub fn interrupted(message: impl ToString) -> Exit {
        Exit::new(INTERRUPTED, message)
    }
}

impl From<PlanError> for Exit {
    fn from(e: PlanError) -> Exit {
        Exit::wrong(e)
    }
}

impl From<JobError> for Exit {
    fn from(e: JobError) -> Exit {
        Exit::wrong(e)
    }
}

impl From<LogsError> for Exit {
    fn from(e: LogsError) -> Exit {
        let code = match e {
            LogsError::Wrong(_) => WRONG,
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
            _ => WRONG,
        };
        Exit::new(code, e)
    }
}

impl From<StartError> for Exit {
    fn from(e: StartError) -> Exit {
        match e {
            StartError::Stopped => Exit::interrupted("stopped; nothing was kept"),
            StartError::Refused(reason) => Exit::failed(reason),
        }
    }
}

impl From<BenchError> for Exit {
    fn from(e: BenchError) -> Exit {
        Exit::failed(e)
    }
}
