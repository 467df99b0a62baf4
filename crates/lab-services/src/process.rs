// SPDX-License-Identifier: Apache-2.0
//! A process of a private server. It is killed when benchlab exits for any reason.

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The interval between two checks of a condition.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);
/// The timeout for a server to exit after a signal. A server that is killed instead cannot release its
/// shared memory, so the timeout is long enough for busy machines.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The timeout for killed processes to exit.
const KILL_TIMEOUT: Duration = Duration::from_secs(30);

/// A child process. Dropping it ends the process.
pub(crate) struct DaemonProcess {
    child: Child,
    /// The signal that the kernel sends to the process when benchlab exits.
    death: Signal,
}

impl DaemonProcess {
    /// Starts a process. When the calling thread exits, the kernel sends the signal `death` to the process.
    pub fn start(mut command: Command, death: Signal) -> io::Result<DaemonProcess> {
        let lab_pid = std::process::id() as i32;
        // SAFETY: only async-signal-safe calls are made between fork and exec. They come after the
        // change of the user, because this change would cancel the request for the signal.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, death as libc::c_int) != 0 {
                    return Err(io::Error::last_os_error());
                }
                // benchlab may have exited before the signal was requested.
                if libc::getppid() != lab_pid {
                    return Err(io::Error::from_raw_os_error(libc::ESRCH));
                }
                Ok(())
            });
        }
        Ok(DaemonProcess {
            child: command.spawn()?,
            death,
        })
    }

    pub fn pid(&self) -> Pid {
        Pid::from_raw(self.child.id() as i32)
    }

    /// Returns true if the process is running.
    pub fn is_alive(&self) -> bool {
        self.end().is_none()
    }

    /// Kills the process and all processes in its group.
    pub fn kill(&self) {
        let _ = killpg(self.pid(), Signal::SIGKILL);
    }

    /// Returns the exit status, or `None` if the process is running.
    ///
    /// The process is reaped only when this object is dropped, so the process ID cannot be reused
    /// before then.
    pub fn end(&self) -> Option<WaitStatus> {
        let options = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
        let status = waitid(Id::Pid(self.pid()), options).ok();
        status.filter(|&status| status != WaitStatus::StillAlive)
    }
}

/// Describes how a process exited.
pub(crate) fn describe(status: WaitStatus) -> String {
    match status {
        WaitStatus::Exited(_, code) => format!("exit status {code}"),
        WaitStatus::Signaled(_, signal, _) => format!("signal {signal}"),
        other => format!("{other:?}"),
    }
}

impl Drop for DaemonProcess {
    fn drop(&mut self) {
        let _ = kill(self.pid(), self.death);
        let deadline = Instant::now() + TIMEOUT;
        while self.is_alive() && Instant::now() < deadline {
            std::thread::sleep(PAUSE);
        }
        // Processes that the child started and did not end, such as a script's commands.
        let _ = killpg(self.pid(), Signal::SIGKILL);
        let _ = self.child.wait();
        // Killed processes exit a moment later. Until then, they may write to the directory that is
        // removed next.
        let deadline = Instant::now() + KILL_TIMEOUT;
        while killpg(self.pid(), None).is_ok() && Instant::now() < deadline {
            std::thread::sleep(PAUSE);
        }
    }
}
