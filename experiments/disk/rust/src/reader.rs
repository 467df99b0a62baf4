// SPDX-License-Identifier: Apache-2.0
//! Random reads of blocks, with a queue depth of 1 or more.

use crate::blocks::{BLOCK, BLOCKS, Buffer, mixed, verify};
use io_uring::{IoUring, opcode, types};
use lab_kit::{Failure, Laps, Work, now};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::thread;

/// Reads blocks at random positions of a file, with a queue depth of `depth`.
pub struct Reader {
    file: File,
    /// The state of the generator that chooses offsets. Each process starts with a different state.
    next: u64,
    buffers: Vec<Buffer>,
    way: Way,
}

enum Way {
    /// One call of `pread` after another.
    Pread,
    /// io_uring, which keeps multiple reads in progress from one thread.
    Ring(Box<IoUring>),
    /// One thread for each read in progress. Used if io_uring is missing, not permitted or
    /// excluded.
    Threads,
}

impl Reader {
    /// Creates a reader. `threads` prevents the use of io_uring.
    pub fn new(file: File, depth: usize, threads: bool) -> Reader {
        let ring = || IoUring::new(depth.next_power_of_two() as u32).ok();
        let way = match depth {
            1 => Way::Pread,
            _ => match ring().filter(|_| !threads) {
                Some(ring) => Way::Ring(Box::new(ring)),
                None => Way::Threads,
            },
        };
        // Otherwise the kernel reads ahead.
        // SAFETY: a system call on an open file.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_RANDOM) };
        Reader {
            file,
            next: now(),
            buffers: (0..depth).map(|_| Buffer::new(BLOCK)).collect(),
            way,
        }
    }

    /// Returns the method of reading, for the reply to `open`.
    pub fn way(&self) -> &'static str {
        match self.way {
            Way::Pread => "pread",
            Way::Ring(_) => "io_uring",
            Way::Threads => "threads",
        }
    }

    /// Returns the file that is read.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Reads `operations` blocks, and verifies each of them.
    pub fn read(&mut self, operations: u64) -> Result<Work, Failure> {
        let first = self.next;
        self.next = first.wrapping_add(operations);
        let mut work = match &mut self.way {
            Way::Pread => one_by_one(&self.file, &mut self.buffers[0], first, operations)?,
            Way::Ring(ring) => at_once(ring, &self.file, &mut self.buffers, first, operations)?,
            Way::Threads => in_threads(&self.file, &mut self.buffers, first, operations)?,
        };
        work.add(operations, operations as i64);
        Ok(work)
    }
}

fn place(number: u64) -> u64 {
    mixed(number) % BLOCKS
}

fn one_by_one(
    file: &File,
    buffer: &mut Buffer,
    first: u64,
    operations: u64,
) -> Result<Work, Failure> {
    let mut laps = Laps::default();
    laps.start();
    for number in 0..operations {
        let block = place(first.wrapping_add(number));
        file.read_exact_at(buffer, block * BLOCK as u64)?;
        verify(buffer, block)?;
        laps.lap();
    }
    laps.finish();
    Ok(with(laps))
}

/// Reads blocks with io_uring. A read is in progress for each of the buffers until the last read has been submitted.
fn at_once(
    ring: &mut IoUring,
    file: &File,
    buffers: &mut [Buffer],
    first: u64,
    operations: u64,
) -> Result<Work, Failure> {
    let mut began = vec![(0, 0); buffers.len()];
    let (mut asked, mut done, mut failure) = (0, 0, None);
    let mut free: Vec<usize> = (0..buffers.len()).collect();
    let mut laps = Laps::default();
    laps.start();
    while done < asked || (asked < operations && failure.is_none()) {
        while asked < operations && failure.is_none() {
            let Some(slot) = free.pop() else { break };
            let block = place(first.wrapping_add(asked));
            began[slot] = (now(), block);
            let (memory, file) = (buffers[slot].as_mut_ptr(), types::Fd(file.as_raw_fd()));
            let entry = opcode::Read::new(file, memory, BLOCK as u32).offset(block * BLOCK as u64);
            // SAFETY: the buffer lives, and is not accessed, until its completion is seen below.
            unsafe {
                ring.submission()
                    .push(&entry.build().user_data(slot as u64))
            }?;
            asked += 1;
        }
        if let Err(e) = ring.submit_and_wait(1)
            && e.raw_os_error() != Some(libc::EINTR)
        {
            // The kernel may still write to the buffers of submitted reads.
            panic!("io_uring_enter: {e}");
        }
        let completed: Vec<_> = ring
            .completion()
            .map(|c| (c.user_data() as usize, c.result()))
            .collect();
        for (slot, result) in completed {
            let (since, block) = began[slot];
            match result {
                n if n == BLOCK as i32 => {
                    failure = failure.or(verify(&buffers[slot], block).err());
                    laps.lap_since(since);
                }
                n if n >= 0 => {
                    failure = Some(Failure::failed(format!(
                        "a read of 4096 bytes returned {n}"
                    )))
                }
                n => failure = Some(std::io::Error::from_raw_os_error(-n).into()),
            }
            free.push(slot);
            done += 1;
        }
    }
    match failure {
        Some(failure) => Err(failure),
        None => Ok(with(laps)),
    }
}

fn in_threads(
    file: &File,
    buffers: &mut [Buffer],
    first: u64,
    operations: u64,
) -> Result<Work, Failure> {
    let count = buffers.len() as u64;
    let results: Vec<_> = thread::scope(|scope| {
        let started = buffers.iter_mut().zip(0..).filter_map(|(buffer, number)| {
            let share = operations / count + u64::from(number < operations % count);
            let from = first.wrapping_add(number << 32);
            (share > 0).then(|| scope.spawn(move || one_by_one(file, buffer, from, share)))
        });
        let started: Vec<_> = started.collect();
        let ended = started.into_iter().map(|thread| thread.join());
        ended
            .map(|result| result.unwrap_or_else(|_| Err(Failure::failed("a thread panicked"))))
            .collect()
    });
    results
        .into_iter()
        .try_fold(Work::default(), |all, work| Ok(all.join(work?)))
}

fn with(laps: Laps) -> Work {
    Work {
        laps: Some(laps),
        ..Work::default()
    }
}
