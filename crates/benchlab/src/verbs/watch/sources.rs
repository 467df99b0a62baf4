// SPDX-License-Identifier: Apache-2.0
//! Where logs are: files, their rotated predecessors, standard input, the URL of a monitor.

use super::fetch::fetch;
use crate::exit::Exit;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// A log.
pub struct Source {
    /// As it was given; `-`: standard input.
    pub name: String,
}

impl Source {
    /// Opens it.
    pub fn open(&self) -> io::Result<Box<dyn Read>> {
        if self.name == "-" {
            Ok(Box::new(io::stdin()))
        } else if is_url(&self.name) {
            Ok(Box::new(io::Cursor::new(fetch(&self.name)?)))
        } else {
            Ok(Box::new(File::open(&self.name)?))
        }
    }

    /// Its file, if it is one.
    pub fn file(&self) -> Option<&Path> {
        (self.name != "-" && !is_url(&self.name)).then(|| Path::new(&self.name))
    }
}

fn is_url(name: &str) -> bool {
    name.starts_with("http://") || name.starts_with("https://")
}

/// The logs that were given, with their rotated predecessors if asked for. Error: one is not there.
pub fn sources(names: &[String], rotated: bool) -> Result<Vec<Source>, Exit> {
    let mut sources = Vec::new();
    for name in names {
        let source = Source { name: name.clone() };
        let Some(path) = source.file() else {
            sources.push(source);
            continue;
        };
        let files = lab_watch::files(path, rotated).map_err(Exit::wrong)?;
        sources.extend(files.into_iter().map(|path| Source {
            name: path.display().to_string(),
        }));
    }
    Ok(sources)
}
