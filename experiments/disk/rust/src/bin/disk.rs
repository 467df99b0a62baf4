// SPDX-License-Identifier: Apache-2.0
//! The disk experiment. It measures the speed of each kind of operation on a file system and its
//! device.

use disk_subject::blocks::{
    BLOCK, BLOCKS, Buffer, LARGE, Uncached, fill, forget, large_file, open_uncached, verify,
};
use disk_subject::reader::Reader;
use disk_subject::tree::Tree;
use disk_subject::{folder, host};
use lab_kit::{Closed, Failure, Laps, Opening, Subject, Work};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// The number of files in the tree of the cases that stat and read files.
const FILES: u64 = 4000;
/// The maximum number of files that a batch creates or deletes.
const MAX_FILES: u64 = 100_000;
/// The size in bytes at which an appended file is truncated.
const APPENDED: u64 = 64 << 20;

fn main() -> io::Result<()> {
    let mut subject = Subject::new("disk", "Linux, io-uring 0.7");
    for (name, case) in [
        (
            "random_read",
            random_read as fn(Opening) -> Result<Closed, Failure>,
        ),
        ("sequential_read", sequential_read),
        ("sequential_write", sequential_write),
        ("append", append),
        ("create", create),
        ("stat", stat),
        ("read", read),
        ("delete", delete),
    ] {
        subject = subject.case(name, case);
    }
    subject.serve()
}

/// Returns true if the case requires the data to be in the page cache.
fn is_warm(opening: &Opening) -> Result<bool, Failure> {
    match opening.text("cache")? {
        "warm" => Ok(true),
        "cold" => Ok(false),
        other => Err(Failure::unsupported(format!("unknown cache {other}"))),
    }
}

/// Opens the large file, with or without the page cache.
fn large(opening: &mut Opening) -> Result<(File, Option<Uncached>), Failure> {
    let path = large_file(&folder(opening)?, "large")?;
    if is_warm(opening)? {
        let mut file = File::open(path)?;
        io::copy(&mut file, &mut io::sink())?;
        opening.setting("past_cache", "no");
        return Ok((file, None));
    }
    let (file, way) = open_uncached(OpenOptions::new().read(true), &path)?;
    opening.setting("past_cache", way.name());
    Ok((file, Some(way)))
}

fn random_read(mut opening: Opening) -> Result<Closed, Failure> {
    let depth = match opening.text("depth")? {
        "1" => 1,
        "4" => 4,
        "32" => 32,
        other => return Err(Failure::unsupported(format!("unknown depth {other}"))),
    };
    let (file, way) = large(&mut opening)?;
    let threads = std::env::args()
        .nth(1)
        .is_some_and(|word| word == "threads");
    let mut reader = Reader::new(file, depth, threads);
    opening.setting("reads", reader.way());
    Ok(opening.serve(|operations| {
        if way == Some(Uncached::Forgotten) {
            forget(reader.file());
        }
        let before = host::read_bytes();
        let work = reader.read(operations)?;
        Ok(told(work, operations, BLOCK, before))
    }))
}

fn sequential_read(mut opening: Opening) -> Result<Closed, Failure> {
    let (file, way) = large(&mut opening)?;
    let mut buffer = Buffer::new(LARGE);
    let mut at = 0;
    Ok(opening.serve(|operations| {
        if way == Some(Uncached::Forgotten) {
            forget(&file);
        }
        let before = host::read_bytes();
        let work = lapped(operations, |_| {
            file.read_exact_at(&mut buffer, at)?;
            verify(&buffer, at / BLOCK as u64)?;
            at = next_large(at);
            Ok(())
        })?;
        Ok(told(work, operations, LARGE, before))
    }))
}

/// Opens the case `sequential_write`. The last write of a batch ends when all data is on the disk.
fn sequential_write(mut opening: Opening) -> Result<Closed, Failure> {
    let path = folder(&opening)?.join("written");
    let mut options = OpenOptions::new();
    let options = options.write(true).read(true).create(true).truncate(false);
    let (file, way) = open_uncached(options, &path)?;
    opening.setting("past_cache", way.name());
    let mut buffer = Buffer::new(LARGE);
    fill(&mut buffer, 0);
    // Later rounds must not depend on block allocation in the first one.
    let mut whole = (0..BLOCKS * BLOCK as u64).step_by(LARGE);
    if file.metadata()?.len() < BLOCKS * BLOCK as u64 {
        whole.try_for_each(|at| file.write_all_at(&buffer, at))?;
        file.sync_all()?;
    }
    let mut at = 0;
    Ok(opening.serve(|operations| {
        let work = lapped(operations, |number| {
            file.write_all_at(&buffer, at)?;
            at = next_large(at);
            if number + 1 == operations {
                file.sync_data()?;
            }
            Ok(())
        })?;
        Ok(told(work, operations, LARGE, None))
    }))
}

fn append(opening: Opening) -> Result<Closed, Failure> {
    let path = folder(&opening)?.join("appended");
    let file = OpenOptions::new().append(true).create(true).open(path)?;
    let mut block = [0; BLOCK];
    fill(&mut block, 1);
    Ok(opening.serve(|operations| {
        if file.metadata()?.len() >= APPENDED {
            file.set_len(0)?;
            file.sync_all()?;
        }
        let work = lapped(operations, |_| {
            io::Write::write_all(&mut &file, &block)?;
            file.sync_all()?;
            Ok(())
        })?;
        Ok(told(work, operations, BLOCK, None))
    }))
}

fn create(opening: Opening) -> Result<Closed, Failure> {
    let root = folder(&opening)?.join("created");
    let closed = opening.serve(|operations| {
        let tree = empty_tree(&root, operations)?;
        counted(operations, |number| Ok(tree.create(number)?))
    });
    Tree::new(root, 0).remove()?;
    Ok(closed)
}

fn delete(opening: Opening) -> Result<Closed, Failure> {
    let root = folder(&opening)?.join("deleted");
    let closed = opening.serve(|operations| {
        let tree = empty_tree(&root, operations)?;
        (0..operations).try_for_each(|number| tree.create(number))?;
        counted(operations, |number| Ok(fs::remove_file(tree.path(number))?))
    });
    Tree::new(root, 0).remove()?;
    Ok(closed)
}

fn stat(opening: Opening) -> Result<Closed, Failure> {
    of_tree(opening, Tree::stat)
}

fn read(opening: Opening) -> Result<Closed, Failure> {
    of_tree(opening, |tree, number| tree.read(number).map(drop))
}

/// Opens a case that visits the files of a tree. At the start of a cold batch, the files are not cached.
fn of_tree(
    mut opening: Opening,
    work: fn(&Tree, u64) -> Result<(), Failure>,
) -> Result<Closed, Failure> {
    let warm = is_warm(&opening)?;
    let tree = Tree::made(&folder(&opening)?, "tree", FILES)?;
    let forgotten = if warm { "no" } else { tree.forget() };
    opening.setting("past_cache", forgotten);
    let mut next = 0;
    Ok(opening.serve(|operations| {
        if !warm {
            tree.forget();
        }
        counted(operations, |_| {
            // Coprime to the number of files: each file is visited once per round, and no two neighbors in sequence.
            next = (next + 1237) % tree.files;
            work(&tree, next)
        })
    }))
}

fn empty_tree(root: &Path, operations: u64) -> Result<Tree, Failure> {
    if operations > MAX_FILES {
        return Err(Failure::unsupported(format!(
            "a batch can create or delete at most {MAX_FILES} files; perform fewer operations"
        )));
    }
    let tree = Tree::new(root.to_path_buf(), operations);
    tree.remove()?;
    tree.folders()?;
    Ok(tree)
}

fn next_large(at: u64) -> u64 {
    (at + LARGE as u64) % (BLOCKS * BLOCK as u64)
}

/// Does operations and records the latency of each.
fn lapped(
    operations: u64,
    mut operation: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<Work, Failure> {
    let mut laps = Laps::default();
    laps.start();
    for number in 0..operations {
        operation(number)?;
        laps.lap();
    }
    laps.finish();
    Ok(Work {
        laps: Some(laps),
        ..Work::default()
    })
}

/// Does operations on files. Each file is one unit of work and adds 1 to the check.
fn counted(
    operations: u64,
    operation: impl FnMut(u64) -> Result<(), Failure>,
) -> Result<Work, Failure> {
    let mut work = lapped(operations, operation)?;
    (work.units, work.check) = (operations, operations);
    Ok(work)
}

/// Adds the throughput in bytes per second, and the percentage of read bytes that came from the
/// device. Each operation adds 1 to the check.
fn told(mut work: Work, operations: u64, bytes: usize, read_before: Option<u64>) -> Work {
    let moved = (operations * bytes as u64) as f64;
    let (start, end) = work.laps.as_ref().map_or((0, 1), Laps::span);
    work.metrics
        .insert("speed", (moved * 1e9 / (end - start).max(1) as f64).round());
    if let Some((before, after)) = read_before.zip(host::read_bytes()) {
        let part = (after - before) as f64 / moved;
        work.metrics
            .insert("from_device", (1e4 * part.min(1.0)).round() / 100.0);
    }
    (work.units, work.check) = (operations, operations);
    work
}
