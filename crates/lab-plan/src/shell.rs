// SPDX-License-Identifier: Apache-2.0
//! Parses a command line. Decides whether it needs a shell, and splits it into words if it does
//! not.

/// Returns the program and the arguments that run a line, and true if the program is a shell.
///
/// # Errors
/// Returns an error if a quotation mark is not closed or if there are no words.
pub fn program(line: &str, parameters: &[&str]) -> Result<(Vec<String>, bool), String> {
    let words = shlex::split(line).ok_or("a quotation mark is not closed")?;
    if words.is_empty() {
        return Err("it contains no words".into());
    }
    if needs_shell(line, parameters) {
        return Ok((["sh", "-c", line].map(String::from).to_vec(), true));
    }
    Ok((words, false))
}

/// Returns true if a line contains something that a shell would not take literally.
///
/// Such parts are operators, expansions, patterns, comments, reserved words, builtins and
/// assignments (POSIX.1-2017, Shell Command Language, 2.2 and 2.6). Parameter names in braces
/// belong to benchlab and do not count.
fn needs_shell(line: &str, parameters: &[&str]) -> bool {
    let line = parameters.iter().fold(line.to_owned(), |line, name| {
        line.replace(&format!("{{{name}}}"), "x")
    });
    let (mut quote, mut at_start) = (None, true);
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        let start = std::mem::replace(&mut at_start, false);
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => drop(characters.next()),
            (_, '$' | '`') => return true,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '|' | '&' | ';' | '<' | '>' | '(' | ')' | '*' | '?' | '[' | '\n') => {
                return true;
            }
            (None, '#' | '~') if start => return true,
            (None, ' ' | '\t') => at_start = true,
            _ => {}
        }
    }
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    first.contains('=')
        || BUILTINS.contains(&first)
        || line
            .split_whitespace()
            .any(|w| ["{", "}", "!"].contains(&w))
}

/// Commands that exist only in a shell.
///
/// The list contains the commands of POSIX.1-2017, Shell Command Language, 2.14 and 2.9.4, and utilities that
/// change the shell itself. Commands that also exist as programs, such as `test` and `echo`, are run as programs.
const BUILTINS: [&str; 40] = [
    ".", ":", "alias", "bg", "break", "case", "cd", "command", "continue", "eval", "exec", "exit",
    "export", "fc", "fg", "for", "getopts", "hash", "if", "jobs", "local", "read", "readonly",
    "return", "set", "shift", "source", "times", "trap", "type", "ulimit", "umask", "unalias",
    "unset", "until", "wait", "while", "[[", "function", "select",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str) -> bool {
        program(line, &["n"]).expect("a sound line").1
    }

    #[test]
    fn a_line_of_plain_and_quoted_words_needs_no_shell() {
        for line in [
            "sort a.txt",
            "grep 'a|b' x",
            "awk '{print $1; exit}' f",
            r"echo a\|b \$HOME",
            "prog --n={n} {n}",
            r#"echo "a; b" 'c > d'"#,
            "cut -d# -f1 x",
            "make CFLAGS=-O2",
            "git show HEAD~1",
        ] {
            assert!(!shell(line), "{line}");
        }
        let words = program("awk '{print $1}' \"a b\"", &[]).unwrap().0;
        assert_eq!(words, ["awk", "{print $1}", "a b"]);
    }

    #[test]
    fn shell_syntax_is_detected() {
        for line in [
            "a | b",
            "a && b",
            "a > f",
            "a < f",
            "(a)",
            "a $HOME",
            "a \"$HOME\"",
            "a `b`",
            "ls *.c",
            "ls ?",
            "ls [ab]",
            "cat ~/x",
            "a # comment",
            "X=1 a",
            "! a",
            "{ a; }",
            "a\nb",
            "exit 3",
            ". ./x",
            "cd /tmp",
            ":",
            "while false; do true; done",
        ] {
            assert!(shell(line), "{line}");
        }
        assert_eq!(program("a | b", &[]).unwrap().0, ["sh", "-c", "a | b"]);
    }

    #[test]
    fn open_quotes_and_empty_lines_are_errors() {
        assert!(program("sort 'a", &[]).is_err());
        assert!(program("  ", &[]).is_err());
        assert!(program("# only a comment", &[]).is_err());
    }
}
