// SPDX-License-Identifier: Apache-2.0
//! Heavy I/O in a process of its own, as a backup makes it, until it is killed.

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

/// Bytes of each of the two files that are written in turns.
const WRITTEN: usize = 128 << 20;
/// Files of the tree that is copied.
const COPIED: u64 = 2000;
/// What a control group may read and write in a second.
const LIMIT: u64 = 20 << 20;

/// How the names of control groups begin; the rest is the number of the process that made one.
const GROUP: &str = "benchlab-";

/// The first word of its arguments.
pub const WORD: &str = "background";

/// What is done beside the work that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A large file is read, again and again.
    Read,
    /// Files are written through the page cache.
    Write,
    /// Small files are copied.
    Copy,
}

impl Kind {
    /// `None`: nothing. Error: there is no such background.
    pub fn named(name: &str) -> Result<Option<Kind>, Failure> {
        match name {
            "idle" => Ok(None),
            "read" => Ok(Some(Kind::Read)),
            "write" => Ok(Some(Kind::Write)),
            "copy" => Ok(Some(Kind::Copy)),
            other => Err(Failure::unsupported(format!(
                "there is no background {other}"
            ))),
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

/// How the background is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// Not at all.
    Free,
    /// By the I/O class "idle".
    Ionice,
    /// By a control group with an I/O limit.
    Group,
}

/// A background that runs. Dropping it ends it, and removes what it wrote.
pub struct Background {
    kind: Kind,
    child: Child,
    folder: PathBuf,
    _group: Option<Group>,
}

impl Background {
    /// Makes what it reads.
    pub fn prepare(kind: Kind, folder: &Path) -> io::Result<()> {
        match kind {
            Kind::Read => large_file(folder, "streamed").map(drop),
            Kind::Write => Ok(()),
            Kind::Copy => Tree::made(folder, "source", COPIED).map(drop),
        }
    }

    /// Starts it. It ends with this process.
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
        // SAFETY: system calls that take numbers, between fork and exec.
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
            _group: group,
        })
    }

    /// Bytes that it has read, or written, so far.
    pub fn bytes(&self) -> Option<u64> {
        let name = match self.kind {
            Kind::Read => "rchar",
            Kind::Write | Kind::Copy => "wchar",
        };
        host::counted_of(&self.child.id().to_string(), name)
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        for name in ["written-0", "written-1"] {
            let _ = fs::remove_file(self.folder.join(name));
        }
        for name in ["copy-0", "copy-1"] {
            let _ = fs::remove_dir_all(self.folder.join(name));
        }
        // What it left for the disk to do would be done in another's time.
        if let Ok(folder) = File::open(&self.folder) {
            // SAFETY: a system call on a file that is open.
            unsafe { libc::syncfs(folder.as_raw_fd()) };
        }
    }
}

/// The background itself: `background KIND FOLDER [ionice | GROUP's file]`.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let [_, kind, folder, held @ ..] = arguments else {
        return Err(Failure::usage("background KIND FOLDER is wanted"));
    };
    host::use_all_cores();
    match held.first().map(String::as_str) {
        None => {}
        Some("ionice") => host::be_idle()?,
        Some(group) => fs::write(group, std::process::id().to_string())?,
    }
    // SAFETY: a system call that reads a string that ends.
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

/// While a file is written, the one before it goes to the disk: so the disk is never without work, and at most two
/// files wait for it.
fn write(folder: &Path) -> Result<(), Failure> {
    let mut buffer = Buffer::new(LARGE);
    fill(&mut buffer, 0);
    let mut earlier: Option<File> = None;
    for number in 0.. {
        let path = folder.join(format!("written-{}", number % 2));
        let _ = fs::remove_file(&path);
        let mut file = File::create(path)?;
        for _ in 0..WRITTEN / LARGE {
            file.write_all(&buffer)?;
        }
        begin_writeback(&file);
        if let Some(earlier) = earlier.replace(file) {
            earlier.sync_data()?;
        }
    }
    Ok(())
}

/// Each file's pages go to the disk as soon as it is closed.
fn copy(folder: &Path) -> Result<(), Failure> {
    let source = Tree::made(folder, "source", COPIED)?;
    for number in 0.. {
        let tree = Tree::at(folder.join(format!("copy-{}", number % 2)), COPIED);
        tree.remove()?;
        tree.folders()?;
        let mut block = [0; BLOCK];
        for file in 0..source.files {
            let mut from = File::open(source.path(file))?;
            from.read_exact(&mut block)?;
            forget(&from);
            let mut to = File::create(tree.path(file))?;
            to.write_all(&block)?;
            begin_writeback(&to);
        }
    }
    Ok(())
}

fn begin_writeback(file: &File) {
    // SAFETY: a system call on a file that is open.
    unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, libc::SYNC_FILE_RANGE_WRITE) };
}

/// A control group with an I/O limit on the disk below a folder; removed when this is dropped.
struct Group {
    folder: PathBuf,
}

impl Group {
    fn new(folder: &Path) -> io::Result<Group> {
        let disk = disk_number(folder)?;
        let own = format!("{GROUP}{}", std::process::id());
        let unified = Path::new("/sys/fs/cgroup/cgroup.controllers");
        let has_io =
            fs::read_to_string(unified).is_ok_and(|all| all.split_whitespace().any(|c| c == "io"));
        let parent = Path::new(match has_io {
            true => "/sys/fs/cgroup",
            false => "/sys/fs/cgroup/blkio",
        });
        remove_abandoned(parent);
        let group = Group {
            folder: parent.join(own),
        };
        fs::create_dir(&group.folder)?;
        if has_io {
            let _ = fs::write("/sys/fs/cgroup/cgroup.subtree_control", "+io");
            fs::write(
                group.folder.join("io.max"),
                format!("{disk} rbps={LIMIT} wbps={LIMIT}"),
            )?;
        } else {
            // The older groups limit no writes through the page cache.
            for name in [
                "blkio.throttle.read_bps_device",
                "blkio.throttle.write_bps_device",
            ] {
                fs::write(group.folder.join(name), format!("{disk} {LIMIT}"))?;
            }
        }
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Removes the groups of subjects that were killed.
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

/// `MAJOR:MINOR` of the whole disk.
fn disk_number(folder: &Path) -> io::Result<String> {
    let number = fs::metadata(folder)?.st_dev();
    let (major, minor) = (libc::major(number), libc::minor(number));
    let mut device = fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))?;
    if device.join("partition").exists() {
        device.pop();
    }
    Ok(fs::read_to_string(device.join("dev"))?.trim().to_owned())
}
