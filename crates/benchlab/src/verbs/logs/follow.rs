// SPDX-License-Identifier: Apache-2.0
//! Follows logs that grow: reads what they hold, then what is written to them. A file that is rotated is read to its
//! end and then its successor; one that is truncated is read from its beginning.

use super::sources::LogSource;
use super::{LogsCommand, show};
use crate::exit::Exit;
use lab_bench::interrupt;
use lab_logs::{ReadError, ServerLog};
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between two reads of the files.
const POLL: Duration = Duration::from_millis(250);
/// Interval between two screens, or between two lines where there is no terminal.
const SCREEN: Duration = Duration::from_secs(1);
const LINE: Duration = Duration::from_secs(10);
/// How long a server may go on writing to a file after it was rotated, as nginx's workers do.
const STILL_WRITTEN: Duration = Duration::from_millis(500);
/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;

/// A file that is followed.
struct FollowedFile {
    path: PathBuf,
    file: File,
    inode: u64,
    /// Offset of the next byte.
    offset: u64,
    /// Since when another file has its name and nothing more was read.
    replaced: Option<Instant>,
    log: ServerLog,
}

/// Reads until Ctrl-C. Errors: a log is not a regular file, or its format is not known.
pub fn follow(command: &mut LogsCommand, sources: &[LogSource]) -> Result<(), Exit> {
    let (mut files, mut earlier) = (Vec::new(), Vec::new());
    for source in sources {
        let path = source
            .file()
            .ok_or_else(|| Exit::wrong(format!("--follow: {} is no file", source.name)))?;
        if source.is_rotated || has_compression(path) {
            earlier.push(source.clone());
        } else {
            let (log, failed) = command.read_files(&std::mem::take(&mut earlier))?;
            command.note_failed(failed);
            files.push(FollowedFile::new(path, log, command)?);
        }
    }
    command.read_all(&earlier)?;
    let is_live =
        io::stdout().is_terminal() && command.args.display.output.is_none() && !command.args.nagios;
    let before = command.logs_read.clone();
    let mut last_shown = Instant::now();
    let mut buffer = vec![0; CHUNK];
    loop {
        let mut bytes_read = 0;
        for file in &mut files {
            bytes_read += file.read(command, &mut buffer)?;
        }
        if interrupt::requested() {
            break;
        }
        let interval = if is_live { SCREEN } else { LINE };
        if last_shown.elapsed() >= interval {
            last_shown = Instant::now();
            command.logs_read = before.clone();
            files
                .iter()
                .for_each(|file| command.logs_read.merge(file.log.logs_read()));
            if is_live {
                redraw(command)?;
            } else {
                eprintln!(
                    "benchlab: {} requests, {} lines",
                    command.tally.entries(),
                    command.logs_read.lines.all
                );
            }
        }
        if bytes_read == 0 {
            std::thread::sleep(POLL);
        }
    }
    command.logs_read = before;
    for mut file in files {
        file.read_rest(command, &mut buffer)?;
        file.log
            .end(&mut command.tally)
            .map_err(|e| file.wrong(e))?;
        command.logs_read.merge(file.log.logs_read());
    }
    Ok(())
}

fn has_compression(path: &Path) -> bool {
    let end = path.extension().and_then(|e| e.to_str());
    matches!(end, Some("gz" | "zst" | "zstd"))
}

/// Clears the screen, and prints the answer so far.
fn redraw(command: &mut LogsCommand) -> Result<(), Exit> {
    let analysis = command.analysis();
    let run = command.run_without_host(analysis);
    let document = command.document(&run, None)?;
    let failed = |e: io::Error| Exit::failed(e);
    // Cursor to the top, and clear (ECMA-48, CUP and ED).
    io::stdout().write_all(b"\x1b[H\x1b[2J").map_err(failed)?;
    show(command.args, &document)?;
    let time = jiff::Zoned::now().strftime("%H:%M:%S").to_string();
    println!("{time}  Ctrl-C ends it and keeps the run.");
    io::stdout().flush().map_err(failed)
}

impl FollowedFile {
    /// `earlier`: the files before it.
    fn new(
        path: &Path,
        earlier: Option<ServerLog>,
        command: &LogsCommand,
    ) -> Result<FollowedFile, Exit> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| Exit::wrong(format!("{name}: {e}")))?;
        let inode = file.metadata().map_or(0, |m| m.ino());
        let log = match earlier {
            Some(mut log) => {
                log.begin_file(&name);
                log
            }
            None => ServerLog::new(&name, &command.hints),
        };
        Ok(FollowedFile {
            path: path.into(),
            file,
            inode,
            offset: 0,
            replaced: None,
            log,
        })
    }

    /// Reads the new bytes, at most 64 chunks. Returns their number.
    fn read(&mut self, command: &mut LogsCommand, buffer: &mut [u8]) -> Result<usize, Exit> {
        let mut bytes = 0;
        for _ in 0..64 {
            let n = match self.file.read(buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => break,
                Err(e) => return Err(self.wrong(e.into())),
            };
            self.offset += n as u64;
            self.replaced = None;
            bytes += n;
            let pushed = self.log.push(&buffer[..n], &mut command.tally);
            pushed.map_err(|e| self.wrong(e))?;
        }
        if bytes == 0 {
            // Without this a short log would not be shown until more is written to it.
            let format_found = self.log.begin_if_whole(&mut command.tally);
            format_found
                .and_then(|()| self.poll(command))
                .map_err(|e| self.wrong(e))?;
        }
        Ok(bytes)
    }

    /// Reads to the end, and then the successor of a file that was rotated.
    fn read_rest(&mut self, command: &mut LogsCommand, buffer: &mut [u8]) -> Result<(), Exit> {
        while self.read(command, buffer)? > 0 {}
        if self.replaced.is_some() {
            self.switch_to_successor(command)
                .map_err(|e| self.wrong(e))?;
            while self.read(command, buffer)? > 0 {}
        }
        Ok(())
    }

    /// Goes on in the successor of a file that was rotated, and at the beginning of one that was truncated.
    fn poll(&mut self, command: &mut LogsCommand) -> Result<(), ReadError> {
        let Ok(current) = std::fs::metadata(&self.path) else {
            return Ok(());
        };
        if current.ino() != self.inode {
            let replaced = self.replaced.get_or_insert_with(Instant::now);
            if replaced.elapsed() >= STILL_WRITTEN {
                self.switch_to_successor(command)?;
            }
        } else if current.len() < self.offset {
            // Lines that were written and truncated since the last read are lost.
            self.file.seek(SeekFrom::Start(0))?;
            self.begin_file(command)?;
        }
        Ok(())
    }

    /// Goes on with the file that has the name now.
    fn switch_to_successor(&mut self, command: &mut LogsCommand) -> Result<(), ReadError> {
        let Ok(file) = File::open(&self.path) else {
            return Ok(());
        };
        (self.inode, self.file) = (file.metadata()?.ino(), file);
        self.begin_file(command)
    }

    /// Goes on at the beginning of a file: a half line before it is complete, but a statement can have its duration there.
    fn begin_file(&mut self, command: &mut LogsCommand) -> Result<(), ReadError> {
        (self.offset, self.replaced) = (0, None);
        self.log.end_file(&mut command.tally)
    }

    fn wrong(&self, e: ReadError) -> Exit {
        Exit::wrong(format!("{}: {e}", self.path.display()))
    }
}
