// SPDX-License-Identifier: Apache-2.0
//! Follows growing logs: reads their current content, then everything that is appended.
//!
//! A rotated file is read to its end before its successor. A truncated file is read again from its
//! beginning.

use crate::log_source::LogSource;
use crate::logs_error::LogsError;
use crate::logs_read::LogsRead;
use crate::read::ServerLog;
use crate::read_error::ReadError;
use crate::rotation::compression_rank;
use crate::session::{LogsSession, Progress};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The time during which a server may still write to a file after its rotation, as nginx's workers
/// do.
const STILL_WRITTEN: Duration = Duration::from_millis(500);
/// The number of bytes per read.
const CHUNK: usize = 256 << 10;

/// Logs that are followed.
pub struct Follower {
    files: Vec<FollowedFile>,
    /// The facts about the logs that do not grow. These logs were read first.
    before: LogsRead,
    buffer: Vec<u8>,
}

/// A file that is followed.
struct FollowedFile {
    path: PathBuf,
    file: File,
    inode: u64,
    /// The offset of the next byte.
    offset: u64,
    /// The time when another file was found under this file's name. `None` if there is no other
    /// file, or if this file has received data since then.
    replaced: Option<Instant>,
    log: ServerLog,
}

impl Follower {
    /// Reads the logs that do not grow, and starts to follow the other logs.
    ///
    /// Returns an error if a log is not a plain file, or if the user interrupted the program.
    pub fn new(
        session: &mut LogsSession,
        sources: &[LogSource],
        progress: Progress,
    ) -> Result<Follower, LogsError> {
        let (mut files, mut earlier) = (Vec::new(), Vec::new());
        for source in sources {
            let not_a_file =
                || LogsError::Invalid(format!("--follow: {} is not a file", source.name));
            let path = source.file().ok_or_else(not_a_file)?;
            if source.is_rotated || has_compression(path) {
                earlier.push(source.clone());
            } else {
                let mut failed = Vec::new();
                let log =
                    session.read_files(&std::mem::take(&mut earlier), &mut failed, progress)?;
                session.note_unread(failed);
                files.push(FollowedFile::new(path, log, session)?);
            }
        }
        session.read_to_end(&earlier, progress)?;
        Ok(Follower {
            files,
            before: session.logs_read.clone(),
            buffer: vec![0; CHUNK],
        })
    }

    /// Reads everything written since the last call, and returns the number of bytes.
    ///
    /// Returns an error if a log cannot be read or has an unknown format.
    pub fn read(&mut self, session: &mut LogsSession) -> Result<usize, LogsError> {
        let mut bytes = 0;
        for file in &mut self.files {
            bytes += file.read(session, &mut self.buffer)?;
        }
        Ok(bytes)
    }

    /// Updates the session's statistics about the logs, for interim reports.
    pub fn update(&self, session: &mut LogsSession) {
        session.logs_read = self.before.clone();
        for file in &self.files {
            session.logs_read.merge(file.log.logs_read());
        }
    }

    /// Reads the remaining data and finishes the logs. Returns the same errors as
    /// [`Follower::read`].
    pub fn end(mut self, session: &mut LogsSession) -> Result<(), LogsError> {
        session.logs_read = self.before;
        for mut file in self.files {
            file.read_rest(session, &mut self.buffer)?;
            let ended = file.log.end(&mut session.tally);
            ended.map_err(|e| file.wrong(e))?;
            session.logs_read.merge(file.log.logs_read());
        }
        Ok(())
    }
}

fn has_compression(path: &Path) -> bool {
    compression_rank(&path.to_string_lossy()) > 0
}

impl FollowedFile {
    /// Opens a log. `earlier` is the state of the log's rotated files.
    fn new(
        path: &Path,
        earlier: Option<ServerLog>,
        session: &LogsSession,
    ) -> Result<FollowedFile, LogsError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| LogsError::Invalid(format!("{name}: {e}")))?;
        let inode = file.metadata().map_or(0, |m| m.ino());
        let log = match earlier {
            Some(mut log) => {
                log.begin_file(&name);
                log
            }
            None => ServerLog::new(&name, &session.hints),
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

    /// Reads new data, at most 64 chunks, and returns the number of bytes.
    fn read(&mut self, session: &mut LogsSession, buffer: &mut [u8]) -> Result<usize, LogsError> {
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
            let pushed = self.log.push(&buffer[..n], &mut session.tally);
            pushed.map_err(|e| self.wrong(e))?;
        }
        if bytes == 0 {
            // Detect the format now. Otherwise, a short log would appear only after the server
            // writes more lines.
            let format_found = self.log.begin_if_whole(&mut session.tally);
            format_found
                .and_then(|()| self.poll(session))
                .map_err(|e| self.wrong(e))?;
        }
        Ok(bytes)
    }

    /// Reads to the end, and then reads the successor of a rotated file.
    fn read_rest(&mut self, session: &mut LogsSession, buffer: &mut [u8]) -> Result<(), LogsError> {
        while self.read(session, buffer)? > 0 {}
        if self.replaced.is_some() {
            self.switch_to_successor(session)
                .map_err(|e| self.wrong(e))?;
            while self.read(session, buffer)? > 0 {}
        }
        Ok(())
    }

    /// Switches to the successor of a rotated file, or to the beginning of a truncated file.
    fn poll(&mut self, session: &mut LogsSession) -> Result<(), ReadError> {
        let Ok(current) = std::fs::metadata(&self.path) else {
            return Ok(());
        };
        if current.ino() != self.inode {
            let replaced = self.replaced.get_or_insert_with(Instant::now);
            if replaced.elapsed() >= STILL_WRITTEN {
                self.switch_to_successor(session)?;
            }
        } else if current.len() < self.offset {
            // Data that was written and truncated since the last read is lost.
            self.file.seek(SeekFrom::Start(0))?;
            self.begin_file(session)?;
        }
        Ok(())
    }

    /// Switches to the file that now has the log's name.
    fn switch_to_successor(&mut self, session: &mut LogsSession) -> Result<(), ReadError> {
        let Ok(file) = File::open(&self.path) else {
            return Ok(());
        };
        (self.inode, self.file) = (file.metadata()?.ino(), file);
        self.begin_file(session)
    }

    /// Continues at the beginning of a file.
    ///
    /// An unterminated last line of the previous file counts as a whole line, but a statement's
    /// duration can still follow in the new file.
    fn begin_file(&mut self, session: &mut LogsSession) -> Result<(), ReadError> {
        (self.offset, self.replaced) = (0, None);
        self.log.end_file(&mut session.tally)
    }

    fn wrong(&self, e: ReadError) -> LogsError {
        LogsError::Invalid(format!("{}: {e}", self.path.display()))
    }
}
