// SPDX-License-Identifier: Apache-2.0
//! The directory of a private daemon, and the user that runs the daemon.

use crate::abandoned::{self, DATA, SHORT, SOCKETS};
use crate::{ServiceError, Software};
use nix::sys::signal::Signal;
use nix::unistd::{Gid, Uid, User, chown, geteuid, mkdtemp};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The maximum length of a Unix socket's path in bytes (`sun_path`, unix(7)), without the NUL.
const MAX_SOCKET: usize = 107;

/// A private daemon's directory. Dropping it ends the processes in the directory and removes the
/// directory.
pub struct Folder {
    /// The daemon's software.
    pub software: &'static Software,
    /// The path of the directory.
    pub path: PathBuf,
    /// The directory of the Unix sockets.
    pub sockets: PathBuf,
    /// The user that runs the daemon, or `None` for the user of this process.
    account: Option<Account>,
}

#[derive(Clone)]
struct Account {
    name: String,
    uid: Uid,
    gid: Gid,
}

impl Folder {
    /// Creates a new directory for the daemon within `parent`. `socket` is the maximum length of a
    /// Unix socket's name, in bytes.
    pub(crate) fn new(
        software: &'static Software,
        parent: &Path,
        socket: usize,
    ) -> Result<Folder, ServiceError> {
        let folder_error = |operation: &str, error: io::Error| ServiceError::Folder {
            software,
            folder: parent.to_path_buf(),
            reason: format!("{operation}: {error}"),
        };
        let parent = fs::canonicalize(parent).map_err(|e| folder_error("cannot enter it", e))?;
        let account = account(software);
        if let Some(account) = &account {
            let _ = make_traversable(&parent);
            check_traversable(software, &parent, account)?;
        }
        let path = create(software, &parent)
            .map_err(|e| folder_error("cannot create a directory in it", e))?;
        let mut folder = Folder {
            software,
            sockets: path.clone(),
            path,
            account,
        };
        folder
            .set_owner(&folder.path)
            .map_err(|e| folder_error("cannot set its owner", e))?;
        if folder.sockets.as_os_str().len() + 1 + socket > MAX_SOCKET {
            let short = mkdtemp(&std::env::temp_dir().join(format!("{SHORT}XXXXXX")));
            folder.sockets = short.map_err(|e| {
                folder_error("cannot create a short directory for the socket", e.into())
            })?;
            let link = symlink(&folder.sockets, folder.path.join(SOCKETS));
            let owned = link.and_then(|()| folder.set_owner(&folder.sockets));
            owned.map_err(|e| folder_error("cannot create a short directory for the socket", e))?;
        }
        Ok(folder)
    }

    /// Returns the path of the data directory.
    pub fn data(&self) -> PathBuf {
        self.path.join(DATA)
    }

    /// Creates a file that only the daemon may read.
    pub fn write(&self, name: &str, content: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(content.as_bytes())?;
        self.set_owner(&path)?;
        Ok(path)
    }

    /// Returns a command that runs a program of the daemon as the daemon's user.
    ///
    /// The command inherits only the environment variables for the paths of programs and libraries.
    /// Its output is appended to the log.
    pub fn command(&self, program: &Path) -> io::Result<Command> {
        let mut command = Command::new(program);
        command.env_clear().envs(
            ["PATH", "LD_LIBRARY_PATH"]
                .iter()
                .filter_map(|name| Some((name, std::env::var_os(name)?))),
        );
        command
            .env("TZ", "UTC")
            .env("LC_ALL", "C")
            .env("HOME", &self.path);
        if let Some(account) = &self.account {
            command.uid(account.uid.as_raw()).gid(account.gid.as_raw());
            command
                .env("USER", &account.name)
                .env("LOGNAME", &account.name);
        }
        let log = File::options()
            .append(true)
            .create(true)
            .open(self.log_file())?;
        command.current_dir(&self.path).process_group(0);
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        Ok(command)
    }

    fn log_file(&self) -> PathBuf {
        self.path.join("log")
    }

    /// Returns the lines that the daemon's programs have written.
    pub fn log_lines(&self) -> Vec<String> {
        let text = fs::read(self.log_file()).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Kills all processes of the daemon, and waits until they have exited.
    pub fn kill_processes(&self) {
        abandoned::end(self.software, &self.path, Signal::SIGKILL);
    }

    /// Empties the log.
    pub fn empty_log(&self) {
        let _ = File::options()
            .write(true)
            .truncate(true)
            .open(self.log_file());
    }

    /// Returns the number of free bytes in the directory's filesystem.
    pub fn free_bytes(&self) -> u64 {
        let free = nix::sys::statvfs::statvfs(&self.path);
        free.map(|s| s.blocks_available() * s.fragment_size())
            .unwrap_or(u64::MAX)
    }

    /// Returns true if the directory is in memory, so that a commit does not wait for a disk.
    pub fn in_memory(&self) -> bool {
        use nix::sys::statfs::{TMPFS_MAGIC, statfs};
        statfs(&self.path).is_ok_and(|s| s.filesystem_type() == TMPFS_MAGIC)
    }

    fn set_owner(&self, path: &Path) -> io::Result<()> {
        match &self.account {
            Some(account) => Ok(chown(path, Some(account.uid), Some(account.gid))?),
            None => Ok(()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        abandoned::clear_folder(self.software, &self.path);
    }
}

/// Returns the user for the daemon if this process runs as root, or `None` otherwise.
fn account(software: &Software) -> Option<Account> {
    if !geteuid().is_root() {
        return None;
    }
    let by_name = |name| User::from_name(name).ok().flatten();
    let user = by_name(software.user).or_else(|| by_name("nobody"))?;
    Some(Account {
        name: user.name,
        uid: user.uid,
        gid: user.gid,
    })
}

/// Lets other users traverse the scratch directory, which belongs to benchlab.
fn make_traversable(folder: &Path) -> io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & 0o001 == 0 {
        fs::set_permissions(folder, Permissions::from_mode(mode | 0o011))?;
    }
    Ok(())
}

/// Checks that a user can traverse the parent directories that do not belong to benchlab.
fn check_traversable(
    software: &'static Software,
    folder: &Path,
    account: &Account,
) -> Result<(), ServiceError> {
    let can_enter = |folder: &&Path| {
        fs::metadata(folder).is_ok_and(|m| {
            let mode = m.permissions().mode();
            mode & 0o001 != 0
                || (mode & 0o100 != 0 && m.uid() == account.uid.as_raw())
                || (mode & 0o010 != 0 && m.gid() == account.gid.as_raw())
        })
    };
    match folder.ancestors().find(|folder| !can_enter(folder)) {
        None => Ok(()),
        Some(closed) => Err(ServiceError::Folder {
            software,
            folder: folder.to_path_buf(),
            reason: format!(
                "the server runs as user `{}`, which may not enter {}; choose another directory with `--scratch`",
                account.name,
                closed.display()
            ),
        }),
    }
}

fn create(software: &Software, parent: &Path) -> io::Result<PathBuf> {
    for number in 0.. {
        let folder = parent.join(format!("{}-{number}", software.name));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            created => return created.map(|()| folder),
        }
    }
    unreachable!("the range is infinite")
}
