// SPDX-License-Identifier: Apache-2.0
//! Heavy I/O like that of a backup. It runs in a separate process until that process is killed.

use crate::blocks::{BLOCK, Buffer, LARGE, fill, forget, large_file};
use crate::host;
use crate::tree::Tree;
use lab_kit::Failure;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::AsRawFd;
use std::os::linux::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The size in bytes of each of the two files that are written alternately. It limits the amount of
/// data that waits for the disk.
const WRITTEN: u64 = 256 << 20;
/// The number of bytes per write to the disk, as in the kernel's own writeback (MIN_WRITEBACK_PAGES).
const STEP: u64 = 4 << 20;
/// The number of files in the tree that is copied.
const COPIED: u64 = 2000;
/// The I/O limit of a control group in bytes per second, for reads and for writes.
const LIMIT: u64 = 20 << 20;

/// The prefix of control groups' names; the rest is the ID of the process that created the group.
const GROUP: &str = "benchlab-";

/// The first command-line argument of the background process.
pub const WORD: &str = "background";

/// A kind of background work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads a large file repeatedly.
    Read,
    /// Writes files through the page cache.
    Write,
    /// Copies small files.
    Copy,
}

impl Kind {
    /// Returns the kind named `name`, `None` for `idle`, or an error if there is no such kind.
    pub fn named(name: &str) -> Result<Option<Kind>, Failure> {
        match name {
            "idle" => Ok(None),
            "read" => Ok(Some(Kind::Read)),
            "write" => Ok(Some(Kind::Write)),
            "copy" => Ok(Some(Kind::Copy)),
            other => Err(Failure::unsupported(format!("unknown background {other}"))),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Copy => "copy",
        }
    }
}

/// The method of throttling the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// No throttling.
    Free,
    /// The I/O class "idle".
    Ionice,
    /// A control group with an I/O limit.
    Group,
}

/// A running background process. Dropping this value ends the process and removes the files that it wrote.
pub struct Background {
    kind: Kind,
    child: Child,
    folder: PathBuf,
    group: Option<Group>,
}

impl Background {
    /// Creates the files that the background reads. Returns an error if this machine cannot
    /// throttle the background as `held` requires.
    pub fn prepare(kind: Kind, folder: &Path, held: Held) -> Result<(), Failure> {
        if held == Held::Group {
            Group::new(folder).map_err(|error| {
                Failure::unsupported(format!("no control group can limit I/O here: {error}"))
            })?;
        }
        match kind {
            Kind::Read => large_file(folder, "streamed").map(drop)?,
            Kind::Write => {}
            Kind::Copy => Tree::made(folder, "source", COPIED).map(drop)?,
        }
        Ok(())
    }

    /// Starts the background process, which ends with this process.
    pub fn start(kind: Kind, folder: &Path, held: Held) -> io::Result<Background> {
        let group = match held {
            Held::Group => Some(Group::new(folder)?),
            Held::Free | Held::Ionice => None,
        };
        let join = group
            .as_ref()
            .map(|group| group.folder.join("cgroup.procs"));
        let own = std::process::id() as i32;
        let mut command = Command::new("/proc/self/exe");
        command.args([WORD, kind.name()]).arg(folder);
        command.args((held == Held::Ionice).then_some("ionice"));
        command.args(join.map(OsString::from));
        command.stdin(Stdio::null()).stdout(Stdio::null());
        // SAFETY: system calls with numeric arguments, between fork and exec.
        unsafe {
            command.pre_exec(move || {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                match libc::getppid() == own {
                    true => Ok(()),
                    false => Err(io::Error::from_raw_os_error(libc::ESRCH)),
                }
            })
        };
        Ok(Background {
            kind,
            child: command.spawn()?,
            folder: folder.to_path_buf(),
            group,
        })
    }

    /// Returns the number of bytes that the background has read or written so far.
    pub fn bytes(&self) -> Option<u64> {
        let name = match self.kind {
            Kind::Read => "rchar",
            Kind::Write | Kind::Copy => "wchar",
        };
        host::counted_of(&self.child.id().to_string(), name)
    }

    /// Returns an error if the background process has exited. It never exits by itself unless it failed.
    pub fn check(&mut self) -> Result<(), Failure> {
        match self.child.try_wait()? {
            None => Ok(()),
            Some(status) => Err(Failure::failed(format!(
                "the background process exited unexpectedly ({status})"
            ))),
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        // Lifts the limit first: otherwise the wait below would include I/O that the group throttles.
        if let Some(group) = &self.group {
            let _ = group.limit(None);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        for name in ["written-0", "written-1"] {
            let _ = fs::remove_file(self.folder.join(name));
        }
        for name in ["copy-0", "copy-1"] {
            let _ = fs::remove_dir_all(self.folder.join(name));
        }
        // Otherwise remaining writes would affect the next measurement.
        if let Ok(folder) = File::open(&self.folder) {
            // SAFETY: a system call on an open file.
            unsafe { libc::syncfs(folder.as_raw_fd()) };
        }
    }
}

/// Runs the load of the background process. The command line is `background KIND FOLDER`, followed
/// by `ionice` or the path of a control group's file if the load is throttled.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let [_, kind, folder, held @ ..] = arguments else {
        return Err(Failure::usage("usage: background KIND FOLDER"));
    };
    host::use_all_cores();
    match held.first().map(String::as_str) {
        None => {}
        Some("ionice") => host::be_idle()?,
        Some(group) => fs::write(group, std::process::id().to_string())?,
    }
    // SAFETY: a system call that reads a NUL-terminated string.
    unsafe { libc::prctl(libc::PR_SET_NAME, c"background".as_ptr()) };
    let folder = Path::new(folder);
    match Kind::named(kind)? {
        None => Ok(()),
        Some(Kind::Read) => read(folder),
        Some(Kind::Write) => write(folder),
        Some(Kind::Copy) => copy(folder),
    }
}

fn read(folder: &Path) -> Result<(), Failure> {
    let path = large_file(folder, "streamed")?;
    let mut buffer = Buffer::new(LARGE);
    loop {
        let mut file = File::open(&path)?;
        forget(&file);
        while file.read(&mut buffer)? > 0 {}
    }
}

/// Writes two files alternately. After every [`STEP`] bytes, the loop waits until the bytes at the
/// same position of the previous file are on the disk. The disk therefore always has work, but
/// never falls behind by more than the size of one file.
fn write(folder: &Path) -> Result<(), Failure> {
    let mut buffer = Buffer::new(STEP as usize);
    fill(&mut buffer, 0);
    let mut earlier: Option<File> = None;
    for number in 0.. {
        let path = folder.join(format!("written-{}", number % 2));
        let _ = fs::remove_file(&path);
        let mut file = File::create(path)?;
        for at in (0..WRITTEN).step_by(STEP as usize) {
            file.write_all(&buffer)?;
            begin_writeback(&file, at);
            if let Some(earlier) = &earlier {
                end_writeback(earlier, at)?;
            }
        }
        if let Some(earlier) = earlier.replace(file) {
            earlier.sync_data()?;
        }
    }
    Ok(())
}

/// Copies a tree of small files repeatedly. The pages of each file are written to the disk as soon
/// as the file is complete.
fn copy(folder: &Path) -> Result<(), Failure> {
    let source = Tree::made(folder, "source", COPIED)?;
    for number in 0.. {
        let tree = Tree::new(folder.join(format!("copy-{}", number % 2)), COPIED);
        tree.remove()?;
        tree.folders()?;
        let mut block = [0; BLOCK];
        for file in 0..source.files {
            let mut from = File::open(source.path(file))?;
            from.read_exact(&mut block)?;
            forget(&from);
            let mut to = File::create(tree.path(file))?;
            to.write_all(&block)?;
            begin_writeback(&to, 0);
        }
    }
    Ok(())
}

/// Starts to write [`STEP`] bytes at an offset back to the disk.
fn begin_writeback(file: &File, at: u64) {
    let _ = sync_range(file, at, libc::SYNC_FILE_RANGE_WRITE);
}

/// Waits until the [`STEP`] bytes at an offset are on the disk.
fn end_writeback(file: &File, at: u64) -> io::Result<()> {
    let whole = libc::SYNC_FILE_RANGE_WAIT_BEFORE
        | libc::SYNC_FILE_RANGE_WRITE
        | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    sync_range(file, at, whole)
}

fn sync_range(file: &File, at: u64, flags: libc::c_uint) -> io::Result<()> {
    // SAFETY: a system call on an open file.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), at as i64, STEP as i64, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// A control group with an I/O limit for the disk of a directory. Dropping this value removes the group.
struct Group {
    folder: PathBuf,
    disk: String,
    /// True for unified groups (cgroup v2).
    unified: bool,
}

impl Group {
    fn new(folder: &Path) -> io::Result<Group> {
        let disk = disk_number(folder)?;
        let root = Path::new("/sys/fs/cgroup");
        let unified = fs::read_to_string(root.join("cgroup.controllers"))
            .is_ok_and(|all| all.split_whitespace().any(|name| name == "io"));
        let parent = if unified {
            root.to_path_buf()
        } else {
            root.join("blkio")
        };
        remove_abandoned(&parent);
        let folder = parent.join(format!("{GROUP}{}", std::process::id()));
        fs::create_dir(&folder)?;
        let group = Group {
            folder,
            disk,
            unified,
        };
        if unified {
            fs::write(parent.join("cgroup.subtree_control"), "+io")?;
        }
        group.limit(Some(LIMIT))?;
        Ok(group)
    }

    /// Sets the limit in bytes per second for reads and for writes. Version 1 groups do not limit the kernel's own
    /// writeback.
    fn limit(&self, bytes: Option<u64>) -> io::Result<()> {
        let disk = &self.disk;
        if self.unified {
            let most = bytes.map_or("max".to_owned(), |bytes| bytes.to_string());
            return fs::write(
                self.folder.join("io.max"),
                format!("{disk} rbps={most} wbps={most}"),
            );
        }
        ["read", "write"].into_iter().try_for_each(|way| {
            let file = format!("blkio.throttle.{way}_bps_device");
            fs::write(
                self.folder.join(file),
                format!("{disk} {}", bytes.unwrap_or(0)),
            )
        })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes the control groups that killed subjects left behind.
fn remove_abandoned(parent: &Path) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in entries {
        let name = entry.file_name();
        let subject = name.to_str().and_then(|name| name.strip_prefix(GROUP));
        if subject.is_some_and(|pid| !Path::new("/proc").join(pid).exists()) {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

/// Returns `MAJOR:MINOR` of the disk that contains a directory: the whole disk, not a partition.
fn disk_number(folder: &Path) -> io::Result<String> {
    let number = fs::metadata(folder)?.st_dev();
    let (major, minor) = (libc::major(number), libc::minor(number));
    let mut device = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))?;
    if device.join("partition").exists() {
        device.pop();
    }
    Ok(fs::read_to_string(device.join("dev"))?.trim().to_owned())
}
