// SPDX-License-Identifier: Apache-2.0
//! The locations of logs: files, their rotated predecessors, standard input, and URLs of monitors
//! and database servers.

use crate::logs_read::{UniqueFiles, files};
use crate::monitor_fetch::fetch;
use lab_services::{DatabaseKind, kind_of_url};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A log: a file, standard input, or the URL of a monitor or a database server.
#[derive(Clone, Debug)]
pub struct LogSource {
    /// The displayed name, without user and password.
    pub name: String,
    /// The path or URL as the user wrote it. `-` means standard input.
    location: String,
    /// True if the file is a rotated file of a log, which no longer grows.
    pub is_rotated: bool,
}

/// The logs for the names that the user specified.
#[derive(Clone, Debug, Default)]
pub struct LogSources {
    /// The logs, in the order in which they are read.
    pub all: Vec<LogSource>,
    /// A message for each file that is skipped, for example because the user specified it twice.
    pub skipped: Vec<String>,
}

impl LogSource {
    fn new(location: String) -> LogSource {
        LogSource {
            name: without_login(&location),
            location,
            is_rotated: false,
        }
    }

    /// Returns the server and its URL if the source is a database server that counts statements.
    pub(crate) fn database(&self) -> Option<(&'static DatabaseKind, &str)> {
        Some((kind_of_url(&self.location)?, &self.location))
    }

    /// Opens the source for reading.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Read>> {
        if self.location == "-" {
            Ok(Box::new(io::stdin()))
        } else if is_url(&self.location) {
            Ok(Box::new(io::Cursor::new(fetch(&self.location)?)))
        } else {
            Ok(Box::new(File::open(&self.location)?))
        }
    }

    /// Returns the path if the source is a file.
    pub(crate) fn file(&self) -> Option<&Path> {
        let is_file = self.location != "-" && !is_url(&self.location);
        is_file.then(|| Path::new(&self.location))
    }
}

impl LogSources {
    /// Finds the logs in `names` and, if `rotated` is true, their rotated predecessors.
    ///
    /// Each file is listed once. Returns an error if a file does not exist.
    pub fn new(names: &[String], rotated: bool) -> Result<LogSources, String> {
        let (mut sources, mut unique) = (LogSources::default(), UniqueFiles::default());
        for name in names {
            let source = LogSource::new(name.clone());
            let Some(path) = source.file() else {
                sources.all.push(source);
                continue;
            };
            let files = files(path, rotated)?;
            sources.skipped.extend(files.skipped);
            for file in files.paths {
                match unique.skip(&file) {
                    Some(reason) => sources.skipped.push(reason),
                    None => sources.all.push(LogSource {
                        is_rotated: file != path,
                        ..LogSource::new(file.display().to_string())
                    }),
                }
            }
        }
        Ok(sources)
    }
}

/// Checks that all `names` are names of files, because agents can read only files.
///
/// Returns an error for the first name that is not a file.
pub fn check_files(names: &[String]) -> Result<(), String> {
    let Some(name) = names.iter().find(|name| *name == "-" || is_url(name)) else {
        return Ok(());
    };
    let kind = match name.as_str() {
        "-" => "is standard input",
        _ => "is a URL",
    };
    Err(format!(
        "cannot read `{}` with --on: it {kind}; specify files",
        without_login(name)
    ))
}

/// Returns true if the location is a URL that can be read.
fn is_url(location: &str) -> bool {
    location.starts_with("http://")
        || location.starts_with("https://")
        || kind_of_url(location).is_some()
}

/// Removes user and password from a URL.
fn without_login(location: &str) -> String {
    let stripped = || {
        let (scheme, rest) = location.split_once("://").filter(|_| is_url(location))?;
        // A database password may contain an unencoded `/`.
        let end = rest.find('/').filter(|_| kind_of_url(location).is_none());
        let (authority, path) = rest.split_at(end.unwrap_or(rest.len()));
        let (_, host) = authority.rsplit_once('@')?;
        let host = host.trim_end_matches('/');
        Some(format!("{scheme}://{host}{path}"))
    };
    stripped().unwrap_or_else(|| location.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (location, name) in [
            (
                "postgresql://me:s3:cr@et@h:5432/db",
                "postgresql://h:5432/db",
            ),
            ("mariadb://me:secret@[::1]/", "mariadb://[::1]"),
            ("mariadb://me:se/cret@h/", "mariadb://h"),
            ("http://me:secret@h/monitor", "http://h/monitor"),
            ("http://h/a@b", "http://h/a@b"),
            ("logs/a@b.log", "logs/a@b.log"),
            ("-", "-"),
        ] {
            assert_eq!(without_login(location), name);
        }
    }
}
