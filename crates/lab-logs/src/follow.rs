// SPDX-License-Identifier: Apache-2.0
//! Follows logs that grow: reads what they hold, then what is written to them. A file that is rotated is read to its
//! end and then its successor; one that is truncated is read from its beginning.

use crate::log_source::LogSource;
use crate::logs_error::LogsError;
use crate::logs_read::LogsRead;
use crate::read::ServerLog;
use crate::read_error::ReadError;
use crate::session::{LogsSession, Progress};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A server writes to a file for so long after it was rotated, as nginx's workers do.
const STILL_WRITTEN: Duration = Duration::from_millis(500);
/// Bytes that are read at once.
const CHUNK: usize = 256 << 10;

/// Logs that are followed.
pub struct Follower {
    files: Vec<FollowedFile>,
    /// The logs before them, which do not grow.
    before: LogsRead,
    buffer: Vec<u8>,
}

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

impl Follower {
    /// Reads the logs that do not grow, and begins to follow the others. Errors: a log is no plain file, or the user
    /// stopped it.
    pub fn new(
        session: &mut LogsSession,
        sources: &[LogSource],
        progress: Progress,
    ) -> Result<Follower, LogsError> {
        let (mut files, mut earlier) = (Vec::new(), Vec::new());
        for source in sources {
            let not_a_file = || LogsError::Wrong(format!("--follow: {} is no file", source.name));
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

    /// Reads what was written since. Returns the number of bytes. Error: a log cannot be read, or its format is not known.
    pub fn read(&mut self, session: &mut LogsSession) -> Result<usize, LogsError> {
        let mut bytes = 0;
        for file in &mut self.files {
            bytes += file.read(session, &mut self.buffer)?;
        }
        Ok(bytes)
    }

    /// Brings what the session knows of the logs up to date, for figures in between.
    pub fn update(&self, session: &mut LogsSession) {
        session.logs_read = self.before.clone();
        for file in &self.files {
            session.logs_read.merge(file.log.logs_read());
        }
    }

    /// Reads the rest, and ends the logs. Errors are those of [`Follower::read`].
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
    let end = path.extension().and_then(|e| e.to_str());
    matches!(end, Some("gz" | "zst" | "zstd"))
}

impl FollowedFile {
    /// `earlier`: the files before it.
    fn new(
        path: &Path,
        earlier: Option<ServerLog>,
        session: &LogsSession,
    ) -> Result<FollowedFile, LogsError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|e| LogsError::Wrong(format!("{name}: {e}")))?;
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

    /// Reads what is new, at most 64 chunks: the number of bytes.
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
            // Without this a short log would not be shown until more is written to it.
            let format_found = self.log.begin_if_whole(&mut session.tally);
            format_found
                .and_then(|()| self.poll(session))
                .map_err(|e| self.wrong(e))?;
        }
        Ok(bytes)
    }

    /// Reads to the end, and then the successor of a file that was rotated.
    fn read_rest(&mut self, session: &mut LogsSession, buffer: &mut [u8]) -> Result<(), LogsError> {
        while self.read(session, buffer)? > 0 {}
        if self.replaced.is_some() {
            self.switch_to_successor(session)
                .map_err(|e| self.wrong(e))?;
            while self.read(session, buffer)? > 0 {}
        }
        Ok(())
    }

    /// Goes on in the successor of a file that was rotated, and at the beginning of one that was truncated.
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
            // What was written and truncated since the last read is lost.
            self.file.seek(SeekFrom::Start(0))?;
            self.begin_file(session)?;
        }
        Ok(())
    }

    /// Goes on with the file that has the name now.
    fn switch_to_successor(&mut self, session: &mut LogsSession) -> Result<(), ReadError> {
        let Ok(file) = File::open(&self.path) else {
            return Ok(());
        };
        (self.inode, self.file) = (file.metadata()?.ino(), file);
        self.begin_file(session)
    }

    /// Goes on at the beginning of a file: a half line before it is complete, but a statement can have its duration there.
    fn begin_file(&mut self, session: &mut LogsSession) -> Result<(), ReadError> {
        (self.offset, self.replaced) = (0, None);
        self.log.end_file(&mut session.tally)
    }

    fn wrong(&self, e: ReadError) -> LogsError {
        LogsError::Wrong(format!("{}: {e}", self.path.display()))
    }
}
