// SPDX-License-Identifier: Apache-2.0
//! Explains why the system did not start a program.

use crate::build::in_path;
use nix::errno::Errno;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The maximum length of a script's first line in bytes. The kernel reads 256.
const FIRST_LINE: u64 = 256;

/// Explains the error of an attempt to start `program` in a directory.
pub fn explain(program: &str, folder: &Path, error: &io::Error) -> String {
    let errno = error.raw_os_error().map(Errno::from_raw);
    let file = find(program, folder);
    match (errno, file) {
        (Some(Errno::ENOENT), None) if program.contains('/') => "the file does not exist".into(),
        (Some(Errno::ENOENT), None) => {
            "no directory in PATH contains it; aliases and functions of a shell cannot be used"
                .into()
        }
        (Some(Errno::ENOENT), Some(file)) => missing_interpreter(&file),
        (Some(Errno::EACCES), Some(file)) if file.is_dir() => "it is a directory".into(),
        (Some(Errno::EACCES), Some(file)) if !is_executable(&file) => {
            format!("it is not executable: run `chmod +x {}`", file.display())
        }
        (Some(Errno::ENOEXEC), Some(file)) if first_line(&file).is_empty() => {
            "it is empty, or not a program for this machine".into()
        }
        (Some(Errno::ENOEXEC), _) => {
            "it is neither a program for this machine nor a script whose first line names an \
                                     interpreter, such as #!/bin/sh"
                .into()
        }
        _ => error.to_string(),
    }
}

/// Finds the file that the system tried to start: `program` itself if it is a path, or else the
/// first file with this name in `PATH`.
fn find(program: &str, folder: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(folder.join(program)).filter(|file| file.exists());
    }
    in_path(program)
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|about| about.permissions().mode() & 0o111 != 0)
}

/// Explains why a file that exists cannot be found: the file's interpreter is missing.
fn missing_interpreter(file: &Path) -> String {
    let line = first_line(file);
    match line.strip_prefix("#!") {
        Some(line) if line.ends_with('\r') => format!(
            "its lines end with CR LF, so the name of its interpreter ends with CR: run `sed -i 's/\\r$//' {}`",
            file.display()
        ),
        Some(line) => {
            let interpreter = line.split_whitespace().next().unwrap_or_default();
            format!("its interpreter {interpreter}, named on its first line, does not exist")
        }
        None => {
            "the program exists, but its dynamic loader is missing: it was built for another system"
                .into()
        }
    }
}

/// Returns the first line of a file without the line feed. Empty if the file cannot be read as text.
fn first_line(file: &Path) -> String {
    let Ok(file) = File::open(file) else {
        return String::new();
    };
    let mut line = Vec::new();
    let mut reader = BufReader::new(file.take(FIRST_LINE));
    match reader.read_until(b'\n', &mut line) {
        Ok(_) => String::from_utf8(line)
            .unwrap_or_default()
            .trim_end_matches('\n')
            .to_owned(),
        Err(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_cannot_start_has_a_reason() {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, text: &str, mode: u32| {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        };
        script("plain", "echo 1\n", 0o755);
        script("empty", "", 0o755);
        script("crlf", "#!/bin/sh\r\necho 1\r\n", 0o755);
        script("lost", "#!/no/such/interpreter -x\n", 0o755);
        script("locked", "#!/bin/sh\n", 0o644);
        fs::create_dir(folder.path().join("directory")).unwrap();
        for (program, errno, reason) in [
            (
                "./plain",
                Errno::ENOEXEC,
                "nor a script whose first line names an interpreter",
            ),
            ("./empty", Errno::ENOEXEC, "it is empty"),
            ("./crlf", Errno::ENOENT, "CR LF"),
            (
                "./lost",
                Errno::ENOENT,
                "its interpreter /no/such/interpreter, named on its first line, does not exist",
            ),
            (
                "./locked",
                Errno::EACCES,
                "it is not executable: run `chmod +x",
            ),
            ("./directory", Errno::EACCES, "it is a directory"),
            ("./missing", Errno::ENOENT, "the file does not exist"),
            (
                "benchlab-no-such-program",
                Errno::ENOENT,
                "no directory in PATH contains it",
            ),
            ("./plain", Errno::ETXTBSY, "Text file busy"),
        ] {
            let error = io::Error::from_raw_os_error(errno as i32);
            let why = explain(program, folder.path(), &error);
            assert!(why.contains(reason), "{program}: {error}: {why}");
        }
    }
}
