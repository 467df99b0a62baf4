// SPDX-License-Identifier: Apache-2.0
//! Work that a user waits for: small operations at fixed times, independent of earlier operations.

use crate::blocks::{
    BLOCK, BLOCKS, Buffer, Uncached, fill, forget, large_file, mixed, open_uncached, verify,
};
use crate::host;
use crate::tree::Tree;
use lab_kit::{Failure, Laps, Work, now};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// The shortest wait that users notice, in ns.
pub const FREEZE: u64 = 100_000_000;
/// The shortest wait after which users think that the machine hangs, in ns.
pub const LONG_FREEZE: u64 = 1_000_000_000;

/// The number of files in the tree.
const OPENED: u64 = 1000;
/// The size in bytes at which an appended file is truncated.
const APPENDED: u64 = 16 << 20;

/// The argument that makes the program exit immediately.
pub const NOTHING: &str = "nothing";

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads 4 KiB at a random position of a file, bypassing the page cache.
    Read,
    /// Appends 4 KiB to a file, with fsync.
    Append,
    /// Opens, stats and reads a file that is not in the page cache.
    Open,
    /// Starts a program that is not in the page cache.
    Start,
}

impl Kind {
    /// All kinds of operations.
    pub const ALL: [Kind; 4] = [Kind::Read, Kind::Append, Kind::Open, Kind::Start];

    /// Returns the name of the kind and of its case.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Read => "read",
            Kind::Append => "append",
            Kind::Open => "open",
            Kind::Start => "start",
        }
    }

    /// Returns the name of the metric for the longest operation of the kind.
    fn longest(self) -> &'static str {
        match self {
            Kind::Read => "longest_read",
            Kind::Append => "longest_append",
            Kind::Open => "longest_open",
            Kind::Start => "longest_start",
        }
    }
}

/// A mix of ten operations: five reads, three opens, one append, and one start of a program.
pub const MIXED: [Kind; 10] = {
    use Kind::{Append, Open, Read, Start};
    [
        Read, Open, Read, Start, Read, Open, Read, Append, Read, Open,
    ]
};

/// An operation that took at least [`FREEZE`].
#[derive(Clone, Copy, Debug)]
pub struct Freeze {
    /// The kind of operation.
    pub kind: Kind,
    /// The start of the operation, in ns of CLOCK_MONOTONIC.
    pub began: u64,
    /// The duration of the operation in ns.
    pub took: u64,
}

/// Generates the foreground load: performs a pattern of operations on files at a fixed rate.
pub struct Foreground {
    pattern: Vec<Kind>,
    rate: u64,
    reading: File,
    way: Uncached,
    appending: File,
    tree: Tree,
    program: PathBuf,
    /// The state of the generator that chooses offsets and files. Each process starts with a
    /// different state.
    next: u64,
    /// The start times of operations in progress in ns, by kind; 0 for none.
    pub waiting: Arc<Mutex<[u64; 4]>>,
}

/// The results of a batch of operations.
#[derive(Default)]
pub struct Done {
    /// The result of the operations. Each latency counts from the operation's due time.
    pub work: Work,
    /// The duration of the longest operation of each kind in the pattern, in ns, with the name of
    /// its metric.
    pub longest: Vec<(&'static str, u64)>,
    /// The freezes of all kinds, in chronological order.
    pub freezes: Vec<Freeze>,
}

impl Foreground {
    /// Creates the files in a directory. `rate` is the number of operations that are due per second.
    pub fn new(folder: &Path, pattern: &[Kind], rate: u64) -> io::Result<Foreground> {
        let (reading, way) =
            open_uncached(OpenOptions::new().read(true), &large_file(folder, "large")?)?;
        let own = format!("program-{}", std::process::id());
        let program = folder.join(own);
        fs::copy("/proc/self/exe", &program)?;
        fs::set_permissions(&program, Permissions::from_mode(0o700))?;
        File::open(&program)?.sync_all()?;
        Ok(Foreground {
            pattern: pattern.to_vec(),
            rate,
            reading,
            way,
            appending: OpenOptions::new()
                .append(true)
                .create(true)
                .open(folder.join("appended"))?,
            tree: Tree::made(folder, "tree", OPENED)?,
            program,
            next: now(),
            waiting: Arc::default(),
        })
    }

    /// Does `operations` operations, each at its due time. Operations of different kinds do not
    /// wait for each other.
    pub fn at_the_rate(&mut self, operations: u64) -> Result<Done, Failure> {
        if self.appending.metadata()?.len() >= APPENDED {
            self.appending.set_len(0)?;
            self.appending.sync_all()?;
        }
        self.next = self.next.wrapping_add(operations);
        let begin = now() + 1_000_000;
        let this = &*self;
        let results: Vec<_> = thread::scope(|scope| {
            let kinds = Kind::ALL
                .into_iter()
                .filter(|kind| this.pattern.contains(kind));
            let kinds = kinds.filter(|kind| (0..operations).any(|k| this.kind(k) == *kind));
            let started =
                kinds.map(|kind| scope.spawn(move || this.of_kind(kind, begin, operations)));
            let started: Vec<_> = started.collect();
            started.into_iter().map(|thread| thread.join()).collect()
        });
        let mut all = Done::default();
        for result in results {
            let done = result.unwrap_or_else(|_| Err(Failure::failed("a thread panicked")))?;
            all.work = all.work.join(done.work);
            all.longest.extend(done.longest);
            all.freezes.extend(done.freezes);
        }
        all.freezes.sort_by_key(|freeze| freeze.began);
        Ok(all)
    }

    fn kind(&self, number: u64) -> Kind {
        self.pattern[number as usize % self.pattern.len()]
    }

    /// Does the operations of one kind in sequence. The latency of an operation that waited for the previous one
    /// counts from its due time.
    fn of_kind(&self, kind: Kind, begin: u64, operations: u64) -> Result<Done, Failure> {
        host::use_all_cores();
        let mut buffer = Buffer::new(BLOCK);
        let (mut done, mut laps, mut longest) = (Done::default(), Laps::default(), 0);
        laps.start();
        for number in (0..operations).filter(|number| self.kind(*number) == kind) {
            let due = begin + number * 1_000_000_000 / self.rate;
            thread::sleep(Duration::from_nanos(due.saturating_sub(now())));
            let began = now();
            self.set_waiting(kind, due);
            let result = self.operation(kind, self.next.wrapping_add(number), &mut buffer);
            self.set_waiting(kind, 0);
            let took = now() - began;
            laps.lap_since(due);
            done.work.note(due - begin, now().saturating_sub(due));
            longest = longest.max(took);
            if took >= FREEZE {
                done.freezes.push(Freeze { kind, began, took });
            }
            result?;
            done.work.add(1, 1);
        }
        done.longest.push((kind.longest(), longest));
        done.work.laps = Some(laps);
        Ok(done)
    }

    fn set_waiting(&self, kind: Kind, since: u64) {
        if let Ok(mut waiting) = self.waiting.lock() {
            waiting[kind as usize] = since;
        }
    }

    fn operation(&self, kind: Kind, number: u64, buffer: &mut Buffer) -> Result<(), Failure> {
        match kind {
            Kind::Read => {
                let block = mixed(number) % BLOCKS;
                if self.way == Uncached::Forgotten {
                    forget(&self.reading);
                }
                self.reading.read_exact_at(buffer, block * BLOCK as u64)?;
                verify(buffer, block)
            }
            Kind::Append => {
                fill(buffer, number);
                (&self.appending).write_all(buffer)?;
                Ok(self.appending.sync_all()?)
            }
            Kind::Open => {
                let file = self.tree.read(mixed(number) % self.tree.files)?;
                forget(&file); // The next read has to wait for the disk.
                Ok(())
            }
            Kind::Start => {
                let mut command = Command::new(&self.program);
                let status = command
                    .arg(NOTHING)
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .status()?;
                forget(&File::open(&self.program)?);
                match status.success() {
                    true => Ok(()),
                    false => Err(Failure::failed(format!("the program exited with {status}"))),
                }
            }
        }
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.program);
    }
}
