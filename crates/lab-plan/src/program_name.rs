// SPDX-License-Identifier: Apache-2.0
//! Derives the name of a program from a command line. For a script, this is the name of the script
//! rather than of its interpreter.

use std::path::Path;

/// A program that runs another program, which is one of its arguments.
struct Launcher {
    /// The names of the launcher. A version such as the `3.11` of `python3.11` is ignored.
    names: &'static [&'static str],
    /// Options whose value is the next word.
    with_value: &'static [&'static str],
    /// Options whose value is code. With such an option, the launcher runs no other program.
    code: &'static [&'static str],
    /// Options whose value is the program.
    program: &'static [&'static str],
    /// The number of words, not counting options, before the program.
    skipped: usize,
}

const NONE: Launcher = Launcher {
    names: &[],
    with_value: &[],
    code: &[],
    program: &[],
    skipped: 0,
};

const LAUNCHERS: [Launcher; 12] = [
    Launcher {
        names: &["python", "pypy"],
        with_value: &["-X", "-W"],
        code: &["-c"],
        program: &["-m"],
        ..NONE
    },
    Launcher {
        names: &["node", "nodejs", "deno", "bun"],
        with_value: &["-r", "--require", "--import", "--loader"],
        code: &["-e", "-p", "--eval", "--print"],
        ..NONE
    },
    Launcher {
        names: &["java"],
        with_value: &[
            "-cp",
            "-classpath",
            "--class-path",
            "-p",
            "--module-path",
            "--add-modules",
        ],
        program: &["-jar", "-m", "--module"],
        ..NONE
    },
    Launcher {
        names: &["ruby", "perl"],
        with_value: &["-I", "-r"],
        code: &["-e", "-ne", "-pe"],
        ..NONE
    },
    Launcher {
        names: &["php"],
        with_value: &["-c", "-d"],
        code: &["-r"],
        program: &["-f"],
        ..NONE
    },
    Launcher {
        names: &["lua", "Rscript", "julia"],
        with_value: &["-l"],
        code: &["-e"],
        ..NONE
    },
    Launcher {
        names: &["sh", "bash", "dash", "zsh", "ksh"],
        with_value: &["-o"],
        code: &["-c"],
        ..NONE
    },
    Launcher {
        names: &["env"],
        with_value: &["-u", "-C"],
        ..NONE
    },
    Launcher {
        names: &["nice", "ionice"],
        with_value: &["-n", "-c"],
        ..NONE
    },
    Launcher {
        names: &["taskset"],
        with_value: &["-c"],
        skipped: 1,
        ..NONE
    },
    Launcher {
        names: &["time", "sudo", "nohup", "setarch", "stdbuf", "exec"],
        with_value: &["-u", "-g", "-f"],
        ..NONE
    },
    Launcher {
        names: &["npx", "pnpx", "bunx", "uvx", "pipx", "uv"],
        ..NONE
    },
];

/// Extensions that name the language of a program.
const EXTENSIONS: [&str; 13] = [
    "py", "js", "mjs", "cjs", "ts", "rb", "pl", "php", "lua", "R", "jl", "jar", "sh",
];

/// Returns the name of the program that a line runs, without its directory and extension, such as
/// `slow` for `python3 slow.py`. If the first word does not launch another program, returns the
/// name of the first word.
pub fn program_name(line: &str) -> String {
    let words =
        shlex::split(line).unwrap_or_else(|| line.split_whitespace().map(str::to_owned).collect());
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    let first = words.iter().find(|word| !is_assignment(word));
    let mut name = first.map_or("", |word| file_name(word));
    while let Some(rest) = launched(&words) {
        words.drain(..rest);
        name = file_name(words[0]);
    }
    let path = Path::new(name);
    let extension = path.extension().and_then(|e| e.to_str());
    let stem = path.file_stem().and_then(|s| s.to_str());
    let is_known = extension.is_some_and(|e| EXTENSIONS.contains(&e));
    stem.filter(|_| is_known).unwrap_or(name).to_owned()
}

/// Returns the position of the program that the line's first program launches, if any.
fn launched(words: &[&str]) -> Option<usize> {
    let start = words.iter().position(|word| !is_assignment(word))?;
    if start > 0 {
        return Some(start);
    }
    let launcher = LAUNCHERS.iter().find(|l| l.is(file_name(words[0])))?;
    let mut skipped = if words.contains(&"-c") {
        0
    } else {
        launcher.skipped
    };
    let mut at = 1;
    while let Some(&word) = words.get(at) {
        let is_option = word.starts_with('-') && word.len() > 1;
        if launcher.code.contains(&word) {
            return None;
        } else if launcher.program.contains(&word) {
            return (at + 1 < words.len()).then_some(at + 1);
        } else if launcher.with_value.contains(&word) {
            at += 2;
        } else if is_option || is_assignment(word) || word == "run" {
            at += 1;
        } else if skipped > 0 {
            skipped -= 1;
            at += 1;
        } else {
            return Some(at);
        }
    }
    None
}

impl Launcher {
    fn is(&self, program: &str) -> bool {
        let bare = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        self.names.contains(&program) || self.names.contains(&bare)
    }
}

/// Returns true for `NAME=value`.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !name.is_empty()
        && name.chars().all(is_letter)
        && !name.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the last component of a path or of a Java class name.
fn file_name(word: &str) -> &str {
    word.trim_end_matches('/')
        .rsplit('/')
        .next()
        .unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::program_name;

    #[test]
    fn the_name_is_that_of_the_program_and_not_of_its_interpreter() {
        for (line, name) in [
            ("python3 slow.py", "slow"),
            ("/usr/bin/python3.11 -X dev -u bench/slow.py 10", "slow"),
            ("python3 -m json.tool x.json", "json.tool"),
            ("python3 -c 'print(1)'", "python3"),
            ("python3", "python3"),
            ("node --max-old-space-size=100 -r ./x.js app.mjs", "app"),
            ("java -Xmx1g -cp a.jar:b.jar Main 5", "Main"),
            ("java -jar target/server.jar", "server"),
            ("FOO=1 BAR=2 ./run.sh --fast", "run"),
            ("env -u X A=1 nice -n 10 bash -e build.sh", "build"),
            ("bash -c 'sort x | uniq'", "bash"),
            ("taskset -c 0 ./prog x", "prog"),
            ("taskset 0x1 ./prog x", "prog"),
            ("npx prettier .", "prettier"),
            ("sort a.txt", "sort"),
            ("./tool.v2 x", "tool.v2"),
            ("", ""),
        ] {
            assert_eq!(program_name(line), name, "{line}");
        }
    }
}
