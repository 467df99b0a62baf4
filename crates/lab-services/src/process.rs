// SPDX-License-Identifier: Apache-2.0
//! A process of a private server: it dies with the lab, however that ends.

use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Between two checks of something that is waited for.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);
/// How long a server may take to end after it was signalled.
const TIMEOUT: Duration = Duration::from_secs(6);

/// How long killed processes are waited for.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

/// A process that this one started. Dropping it ends it.
pub(crate) struct DaemonProcess {
    child: Child,
    /// The signal that ends it when the lab is gone.
    death: Signal,
}

impl DaemonProcess {
    /// Starts it from the calling thread. When that thread ends, the kernel sends the signal.
    pub fn start(mut command: Command, death: Signal) -> io::Result<DaemonProcess> {
        let lab_pid = std::process::id() as i32;
        // SAFETY: only async-signal-safe calls are made between fork and exec. They come after the
        // change of the user, which would take the request back.
        unsafe {
            command.pre_exec(move || {
                if libc::prctl(libc::PR_SET_PDEATHSIG, death as libc::c_int) != 0 {
                    return Err(io::Error::last_os_error());
                }
                // The lab may have died before the signal was requested.
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

    /// True if it runs.
    pub fn is_alive(&self) -> bool {
        self.end().is_none()
    }

    /// Kills it and the processes in its group.
    pub fn kill(&self) {
        let _ = killpg(self.pid(), Signal::SIGKILL);
    }

    /// How it ended; `None`: it runs. It is not reaped before this is dropped, so that its number stays its own.
    pub fn end(&self) -> Option<WaitStatus> {
        let options = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT | WaitPidFlag::WNOHANG;
        let status = waitid(Id::Pid(self.pid()), options).ok();
        status.filter(|&status| status != WaitStatus::StillAlive)
    }
}

/// How a process ended, for people.
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
        // Processes that it started and did not end, such as a script's commands.
        let _ = killpg(self.pid(), Signal::SIGKILL);
        let _ = self.child.wait();
        // They end only a moment later, and until then may write into the folder that is removed next.
        let deadline = Instant::now() + KILL_TIMEOUT;
        while killpg(self.pid(), None).is_ok() && Instant::now() < deadline {
            std::thread::sleep(PAUSE);
        }
    }
}
