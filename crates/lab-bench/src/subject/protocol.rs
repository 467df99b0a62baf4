// SPDX-License-Identifier: Apache-2.0
//! Lines of the subject protocol (docs/protocol.md): writes commands and parses replies.

use lab_services::percent::{self, RESERVED};
use percent_encoding::AsciiSet;

/// The maximum length of a line in bytes, without its line feed.
pub const MAX_LINE: usize = 65_536;

/// Characters that are encoded as `%XX`.
const SPECIAL: &AsciiSet = &RESERVED.remove(b'/').remove(b':').remove(b',').remove(b'+');

/// A reply: its verb and its decoded arguments, in the order in which they were sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// The verb, such as `ran`.
    pub verb: String,
    args: Vec<(String, String)>,
}

/// A parsed line of a subject's standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SubjectLine {
    /// A line that begins with `@lab `.
    Reply(Reply),
    /// Any other line.
    Log(String),
    /// A line that begins with `@lab ` but violates the protocol. Contains the reason.
    Malformed(String),
}

impl SubjectLine {
    /// Parses a line without its line feed. Invalid UTF-8 is replaced.
    pub fn parse(bytes: &[u8]) -> SubjectLine {
        let text = String::from_utf8_lossy(bytes);
        match text.strip_prefix("@lab ") {
            None => SubjectLine::Log(text.into_owned()),
            Some(rest) => match Reply::parse(rest) {
                Ok(reply) => SubjectLine::Reply(reply),
                Err(reason) => SubjectLine::Malformed(reason),
            },
        }
    }
}

impl Reply {
    fn parse(text: &str) -> Result<Reply, String> {
        let mut words = text.split(' ');
        let verb = words.next().unwrap_or_default();
        if verb.is_empty() || !verb.bytes().all(|b| b.is_ascii_lowercase()) {
            return Err(format!("invalid verb `{verb}`"));
        }
        let mut args: Vec<(String, String)> = Vec::new();
        for word in words {
            let (key, value) = word
                .split_once('=')
                .ok_or(format!("expected key=value, got `{word}`"))?;
            if !is_key(key) {
                return Err(format!(
                    "invalid key `{key}`: expected a lowercase letter, followed by lowercase letters, digits or `_`"
                ));
            }
            if args.iter().any(|(k, _)| k == key) {
                return Err(format!("`{key}` is given twice"));
            }
            args.push((key.to_owned(), decode(value)?));
        }
        Ok(Reply {
            verb: verb.to_owned(),
            args,
        })
    }

    /// Returns an argument's value, or an error if it is missing.
    pub fn get(&self, key: &str) -> Result<&str, String> {
        self.find(key)
            .ok_or(format!("`{}` without `{key}=`", self.verb))
    }

    /// Returns the value of an optional argument.
    pub fn find(&self, key: &str) -> Option<&str> {
        let argument = self.args.iter().find(|(k, _)| k == key);
        argument.map(|(_, value)| value.as_str())
    }

    /// Parses an argument's value as an unsigned 64-bit decimal number.
    pub fn number(&self, key: &str) -> Result<u64, String> {
        let text = self.get(key)?;
        let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let number = digits.then(|| text.parse().ok()).flatten();
        number.ok_or(format!("`{key}={text}` is not an unsigned 64-bit number"))
    }

    /// Returns all arguments.
    pub fn args(&self) -> &[(String, String)] {
        &self.args
    }
}

/// Formats a command line with its line feed.
pub fn command<'a>(verb: &str, args: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut line = verb.to_owned();
    for (key, value) in args {
        line.push(' ');
        line.push_str(key);
        line.push('=');
        line.push_str(&percent::encoded(value, SPECIAL));
    }
    line.push('\n');
    line
}

fn is_key(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase())
        && key
            .bytes()
            .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn decode(value: &str) -> Result<String, String> {
    percent::decoded(value).map_err(|_| format!("`{value}` is not percent-encoded UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_reply_is_read() {
        let line = b"@lab hello protocol=1 runtime=GNAT%2012.2 thread=42";
        let SubjectLine::Reply(reply) = SubjectLine::parse(line) else {
            panic!("no reply")
        };
        assert_eq!(reply.verb, "hello");
        assert_eq!(reply.get("runtime"), Ok("GNAT 12.2"));
        assert_eq!(reply.number("thread"), Ok(42));
        assert!(reply.number("runtime").is_err());
        assert!(reply.get("library").unwrap_err().contains("library"));
    }

    #[test]
    fn what_is_not_a_reply_is_a_log_line_or_malformed() {
        assert_eq!(
            SubjectLine::parse(b"@laboratory"),
            SubjectLine::Log("@laboratory".into())
        );
        for bad in [
            "@lab ",
            "@lab ran  x=1",
            "@lab ran x",
            "@lab ran x=%2",
            "@lab ran x=%zz",
            "@lab ran x=1 x=2",
            "@lab ran X=1",
            "@lab ran =1",
            "@lab ran x=%ff",
        ] {
            assert!(
                matches!(
                    SubjectLine::parse(bad.as_bytes()),
                    SubjectLine::Malformed(_)
                ),
                "{bad}"
            );
        }
        for bad in ["-1", "+1", "", "1e3", "18446744073709551616"] {
            let SubjectLine::Reply(reply) =
                SubjectLine::parse(format!("@lab ran n={bad}").as_bytes())
            else {
                panic!("no reply")
            };
            assert!(reply.number("n").is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_crash(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut line = b"@lab ".to_vec();
            line.extend(&bytes);
            SubjectLine::parse(&bytes);
            SubjectLine::parse(&line);
        }

        #[test]
        fn written_commands_are_parsed_back(value in any::<String>()) {
            let line = command("open", [("target", value.as_str())]);
            prop_assert!(line.is_ascii() && line.ends_with('\n') && !line.trim_end().contains('\n'));
            let SubjectLine::Reply(reply) = SubjectLine::parse(format!("@lab {}", line.trim_end()).as_bytes()) else {
                return Err(TestCaseError::fail("no reply"));
            };
            prop_assert_eq!(reply.get("target"), Ok(value.as_str()));
        }
    }
}
