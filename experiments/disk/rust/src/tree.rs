// SPDX-License-Identifier: Apache-2.0
//! Small files in directories, as in a source tree or a mail store.

use crate::blocks::{BLOCK, fill, forget, verify};
use lab_kit::Failure;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The number of files per directory.
const IN_A_FOLDER: u64 = 100;

/// Numbered files with one block each.
#[derive(Clone, Debug)]
pub struct Tree {
    root: PathBuf,
    /// The number of files.
    pub files: u64,
}

impl Tree {
    /// Returns the tree `name` in a directory, creating it if it is missing.
    pub fn made(folder: &Path, name: &str, files: u64) -> io::Result<Tree> {
        let tree = Tree::new(folder.join(name), files);
        if !tree.root.exists() {
            let making = Tree::new(folder.join(format!("{name}.new")), files);
            making.folders()?;
            (0..files).try_for_each(|number| making.create(number))?;
            let root = File::open(&making.root)?;
            // SAFETY: a system call on an open file.
            unsafe { libc::syncfs(std::os::fd::AsRawFd::as_raw_fd(&root)) };
            fs::rename(&making.root, &tree.root)?;
        }
        Ok(tree)
    }

    /// Returns a tree without creating its directories or files.
    pub fn new(root: PathBuf, files: u64) -> Tree {
        Tree { root, files }
    }

    /// Creates the directories.
    pub fn folders(&self) -> io::Result<()> {
        let folders = 0..self.files.div_ceil(IN_A_FOLDER);
        folders
            .into_iter()
            .try_for_each(|n| fs::create_dir_all(self.root.join(n.to_string())))
    }

    /// Returns the path of a file.
    pub fn path(&self, number: u64) -> PathBuf {
        let folder = self.root.join((number / IN_A_FOLDER).to_string());
        folder.join(number.to_string())
    }

    /// Creates the file with the given number. The file contains one block.
    pub fn create(&self, number: u64) -> io::Result<()> {
        let mut block = [0; BLOCK];
        fill(&mut block, number);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(self.path(number))?;
        file.write_all(&block)
    }

    /// Opens, stats and reads a file.
    pub fn read(&self, number: u64) -> Result<File, Failure> {
        let mut file = File::open(self.path(number))?;
        self.size(file.metadata()?.len(), number)?;
        let mut block = [0; BLOCK];
        file.read_exact(&mut block)?;
        verify(&block, number)?;
        Ok(file)
    }

    /// Stats a file.
    pub fn stat(&self, number: u64) -> Result<(), Failure> {
        self.size(fs::metadata(self.path(number))?.len(), number)
    }

    fn size(&self, bytes: u64, number: u64) -> Result<(), Failure> {
        match bytes == BLOCK as u64 {
            true => Ok(()),
            false => Err(Failure::failed(format!(
                "file {number} has {bytes} bytes instead of {BLOCK}"
            ))),
        }
    }

    /// Drops the files of this tree from the page cache. As root, also drops the kernel's cached directory entries and
    /// inodes. Returns a word that describes what was done.
    pub fn forget(&self) -> &'static str {
        for number in 0..self.files {
            if let Ok(file) = File::open(self.path(number)) {
                forget(&file);
            }
        }
        match fs::write("/proc/sys/vm/drop_caches", "2") {
            Ok(()) => "drop_caches",
            Err(_) => "fadvise",
        }
    }

    /// Removes the tree.
    pub fn remove(&self) -> io::Result<()> {
        match fs::remove_dir_all(&self.root) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            _ => Ok(()),
        }
    }
}
