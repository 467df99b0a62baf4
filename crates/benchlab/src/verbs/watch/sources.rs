// SPDX-License-Identifier: Apache-2.0
//! Where logs are: files, their rotated predecessors, standard input, the URL of a monitor or of a database server.

use super::fetch::fetch;
use crate::exit::Exit;
use lab_services::{DatabaseKind, kind_of_url};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A log.
#[derive(Clone)]
pub struct Source {
    /// For people: without user and password.
    pub name: String,
    /// As it was given; `-`: standard input.
    place: String,
}

impl Source {
    fn new(place: String) -> Source {
        Source {
            name: without_login(&place),
            place,
        }
    }

    /// The server, with its URL, if it is one that counts statements.
    pub fn database(&self) -> Option<(&'static DatabaseKind, &str)> {
        Some((kind_of_url(&self.place)?, &self.place))
    }

    /// Opens it.
    pub fn open(&self) -> io::Result<Box<dyn Read>> {
        if self.place == "-" {
            Ok(Box::new(io::stdin()))
        } else if is_url(&self.place) {
            Ok(Box::new(io::Cursor::new(fetch(&self.place)?)))
        } else {
            Ok(Box::new(File::open(&self.place)?))
        }
    }

    /// Its file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        let is_file = self.place != "-" && !is_url(&self.place);
        is_file.then(|| Path::new(&self.place))
    }
}

/// Whether it is a URL that can be read.
pub fn is_url(place: &str) -> bool {
    place.starts_with("http://") || place.starts_with("https://") || kind_of_url(place).is_some()
}

/// A URL without user and password; of others all.
pub fn without_login(place: &str) -> String {
    let bare = || {
        let (scheme, rest) = place.split_once("://").filter(|_| is_url(place))?;
        // A password of a database may have a `/` that should have been encoded.
        let end = rest.find('/').filter(|_| kind_of_url(place).is_none());
        let (authority, path) = rest.split_at(end.unwrap_or(rest.len()));
        let (_, host) = authority.rsplit_once('@')?;
        let host = host.trim_end_matches('/');
        Some(format!("{scheme}://{host}{path}"))
    };
    bare().unwrap_or_else(|| place.into())
}

/// The logs that were given, with their rotated predecessors if asked for. Error: one is not there.
pub fn sources(names: &[String], rotated: bool) -> Result<Vec<Source>, Exit> {
    let mut sources = Vec::new();
    for name in names {
        let source = Source::new(name.clone());
        let Some(path) = source.file() else {
            sources.push(source);
            continue;
        };
        let files = lab_watch::files(path, rotated).map_err(Exit::wrong)?;
        let files = files.into_iter();
        sources.extend(files.map(|path| Source::new(path.display().to_string())));
    }
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        for (place, shown) in [
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
            assert_eq!(without_login(place), shown);
        }
    }
}
