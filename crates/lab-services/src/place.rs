// SPDX-License-Identifier: Apache-2.0
//! Where a private server lives: its folder, and the user that it runs as.

use crate::{Kind, ServiceError, abandoned};
use nix::unistd::{Gid, Uid, User, chown, geteuid, mkdtemp};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The longest path of a Unix socket (`sun_path`, unix(7)), without its NUL.
const LONGEST_SOCKET: usize = 107;
/// The data directory, within the folder.
pub(crate) const DATA: &str = "data";
/// Leads to the folder of the sockets where it is another one.
pub(crate) const SOCKETS: &str = "sockets";
/// How the folders of sockets are named that lie elsewhere.
pub(crate) const SHORT: &str = "benchlab-s";

/// A private server's folder. Dropping it ends what runs in it, and removes it.
pub(crate) struct Place {
    pub kind: Kind,
    pub folder: PathBuf,
    /// The folder of its Unix socket.
    pub sockets: PathBuf,
    /// `None`: it runs as this process's user.
    account: Option<Account>,
}

#[derive(Clone)]
struct Account {
    name: String,
    uid: Uid,
    gid: Gid,
}

impl Place {
    /// Makes a folder of the server's own within `parent`.
    pub fn new(kind: Kind, parent: &Path) -> Result<Place, ServiceError> {
        let refused = |what: &str, error: io::Error| ServiceError::Folder {
            kind,
            folder: parent.to_path_buf(),
            why: format!("{what}: {error}"),
        };
        let parent = fs::canonicalize(parent).map_err(|e| refused("it cannot be entered", e))?;
        let account = account(kind);
        if let Some(account) = &account {
            let _ = let_through(&parent);
            check_way(kind, &parent, account)?;
        }
        let folder = make(kind, &parent).map_err(|e| refused("no folder can be made in it", e))?;
        let mut place = Place {
            kind,
            sockets: folder.clone(),
            folder,
            account,
        };
        place
            .give(&place.folder)
            .map_err(|e| refused("its owner cannot be set", e))?;
        if place.socket(u16::MAX).as_os_str().len() > LONGEST_SOCKET {
            let short = mkdtemp(&std::env::temp_dir().join(format!("{SHORT}XXXXXX")));
            place.sockets =
                short.map_err(|e| refused("no short folder for its socket", e.into()))?;
            let link = symlink(&place.sockets, place.folder.join(SOCKETS));
            let given = link.and_then(|()| place.give(&place.sockets));
            given.map_err(|e| refused("no short folder for its socket", e))?;
        }
        Ok(place)
    }

    pub fn data(&self) -> PathBuf {
        self.folder.join(DATA)
    }

    /// Its Unix socket.
    pub fn socket(&self, port: u16) -> PathBuf {
        self.sockets.join(match self.kind {
            Kind::Postgresql => format!(".s.PGSQL.{port}"),
            Kind::Mariadb => "socket".into(),
        })
    }

    /// A file that only the server may read.
    pub fn write(&self, name: &str, content: &str) -> io::Result<PathBuf> {
        let path = self.folder.join(name);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        file.write_all(content.as_bytes())?;
        self.give(&path)?;
        Ok(path)
    }

    /// A program of the server's, started as its user, with nothing of this process's environment but
    /// the way to programs and libraries, and its output in the log.
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
            .env("HOME", &self.folder);
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
        command.current_dir(&self.folder).process_group(0);
        command
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log);
        Ok(command)
    }

    fn log_file(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// What its programs have written.
    pub fn log_lines(&self) -> Vec<String> {
        let text = fs::read(self.log_file()).unwrap_or_default();
        String::from_utf8_lossy(&text)
            .lines()
            .map(str::to_owned)
            .collect()
    }

    /// Forgets what was written so far.
    pub fn empty_log(&self) {
        let _ = File::options()
            .write(true)
            .truncate(true)
            .open(self.log_file());
    }

    /// Bytes that are free.
    pub fn free_bytes(&self) -> u64 {
        let free = nix::sys::statvfs::statvfs(&self.folder);
        free.map(|s| s.blocks_available() * s.fragment_size())
            .unwrap_or(u64::MAX)
    }

    /// Whether it is in memory, so that a commit waits for no disk.
    pub fn in_memory(&self) -> bool {
        use nix::sys::statfs::{TMPFS_MAGIC, statfs};
        statfs(&self.folder).is_ok_and(|s| s.filesystem_type() == TMPFS_MAGIC)
    }

    fn give(&self, path: &Path) -> io::Result<()> {
        match &self.account {
            Some(account) => Ok(chown(path, Some(account.uid), Some(account.gid))?),
            None => Ok(()),
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        abandoned::clear_place(&self.folder);
    }
}

/// The server's own user if this process is root: neither server runs as root.
fn account(kind: Kind) -> Option<Account> {
    if !geteuid().is_root() {
        return None;
    }
    let name = match kind {
        Kind::Postgresql => "postgres",
        Kind::Mariadb => "mysql",
    };
    let named = |name| User::from_name(name).ok().flatten();
    let user = named(name).or_else(|| named("nobody"))?;
    Some(Account {
        name: user.name,
        uid: user.uid,
        gid: user.gid,
    })
}

/// The scratch folder is the lab's own.
fn let_through(folder: &Path) -> io::Result<()> {
    let mode = fs::metadata(folder)?.permissions().mode();
    if mode & 0o001 == 0 {
        fs::set_permissions(folder, Permissions::from_mode(mode | 0o011))?;
    }
    Ok(())
}

/// The folders above are not.
fn check_way(kind: Kind, folder: &Path, account: &Account) -> Result<(), ServiceError> {
    let enters = |folder: &&Path| {
        fs::metadata(folder).is_ok_and(|m| {
            let mode = m.permissions().mode();
            mode & 0o001 != 0
                || (mode & 0o100 != 0 && m.uid() == account.uid.as_raw())
                || (mode & 0o010 != 0 && m.gid() == account.gid.as_raw())
        })
    };
    match folder.ancestors().find(|folder| !enters(folder)) {
        None => Ok(()),
        Some(closed) => Err(ServiceError::Folder {
            kind,
            folder: folder.to_path_buf(),
            why: format!(
                "it runs as user `{}`, who may not enter {}; choose another folder with `--scratch`",
                account.name,
                closed.display()
            ),
        }),
    }
}

fn make(kind: Kind, parent: &Path) -> io::Result<PathBuf> {
    for number in 0.. {
        let folder = parent.join(format!("{}-{number}", kind.name()));
        match DirBuilder::new().mode(0o700).create(&folder) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            made => return made.map(|()| folder),
        }
    }
    unreachable!("numbers do not end")
}
