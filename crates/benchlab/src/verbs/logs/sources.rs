// SPDX-License-Identifier: Apache-2.0
//! Where logs are: files, their rotated predecessors, standard input, the URL of a monitor or of a database server.

use super::fetch::fetch;
use crate::exit::Exit;
use lab_logs::UniqueFiles;
use lab_services::{DatabaseKind, kind_of_url};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A log.
#[derive(Clone)]
pub struct LogSource {
    /// For people: without user and password.
    pub name: String,
    /// A path or a URL as it was given; `-`: standard input.
    location: String,
    /// An older part of a rotated log: nothing is written to it anymore.
    pub is_rotated: bool,
}

impl LogSource {
    fn new(location: String) -> LogSource {
        LogSource {
            name: without_login(&location),
            location,
            is_rotated: false,
        }
    }

    /// The server, with its URL, if it is one that counts statements.
    pub fn database(&self) -> Option<(&'static DatabaseKind, &str)> {
        Some((kind_of_url(&self.location)?, &self.location))
    }

    /// Opens it for reading.
    pub fn open(&self) -> io::Result<Box<dyn Read>> {
        if self.location == "-" {
            Ok(Box::new(io::stdin()))
        } else if is_url(&self.location) {
            Ok(Box::new(io::Cursor::new(fetch(&self.location)?)))
        } else {
            Ok(Box::new(File::open(&self.location)?))
        }
    }

    /// Its file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        let is_file = self.location != "-" && !is_url(&self.location);
        is_file.then(|| Path::new(&self.location))
    }
}

/// True if it is a URL that can be read.
pub fn is_url(location: &str) -> bool {
    location.starts_with("http://")
        || location.starts_with("https://")
        || kind_of_url(location).is_some()
}

/// A location without the user and password of a URL.
pub fn without_login(location: &str) -> String {
    let stripped = || {
        let (scheme, rest) = location.split_once("://").filter(|_| is_url(location))?;
        // A password of a database may have a `/` that should have been encoded.
        let end = rest.find('/').filter(|_| kind_of_url(location).is_none());
        let (authority, path) = rest.split_at(end.unwrap_or(rest.len()));
        let (_, host) = authority.rsplit_once('@')?;
        let host = host.trim_end_matches('/');
        Some(format!("{scheme}://{host}{path}"))
    };
    stripped().unwrap_or_else(|| location.into())
}

/// The logs of the command line, with `rotated` also their rotated predecessors; each file once. Error: one does not exist.
pub fn sources(names: &[String], rotated: bool) -> Result<Vec<LogSource>, Exit> {
    let (mut sources, mut unique) = (Vec::new(), UniqueFiles::default());
    for name in names {
        let source = LogSource::new(name.clone());
        let Some(path) = source.file() else {
            sources.push(source);
            continue;
        };
        let files = lab_logs::files(path, rotated).map_err(Exit::wrong)?;
        let log = files.len() - 1;
        let source = |(i, path): (usize, std::path::PathBuf)| LogSource {
            is_rotated: i < log,
            ..LogSource::new(path.display().to_string())
        };
        for source in files.into_iter().enumerate().map(source) {
            match source.file().and_then(|path| unique.skip(path)) {
                Some(reason) => eprintln!("benchlab: {}", lab_document::clean(&reason)),
                None => sources.push(source),
            }
        }
    }
    Ok(sources)
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
