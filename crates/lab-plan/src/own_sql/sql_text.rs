// SPDX-License-Identifier: Apache-2.0
//! Splits SQL text into statements, and finds the named parameters outside of literals and
//! comments.

use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    /// White space or a comment.
    Space,
    /// A literal, a quoted name, or any other character.
    Other,
    /// A word, such as `SELECT`.
    Word,
    /// A named parameter, `:name`.
    Parameter,
    /// `;`
    End,
}

/// A statement found in a text, without its semicolon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The position in the text, from the first word to the last token.
    pub span: Range<usize>,
    /// The positions of the parameters, including their colons.
    pub parameters: Vec<Range<usize>>,
    /// The first word, in lowercase.
    pub first_word: String,
}

/// Returns the statements of a text, without empty statements.
///
/// # Errors
/// Returns the position and the kind of a literal or comment that is not closed.
pub fn statements(text: &str) -> Result<Vec<Found>, (Range<usize>, &'static str)> {
    let mut all = Vec::new();
    let mut current: Option<Found> = None;
    // The body of a trigger contains semicolons: only the one after END ends the statement.
    let (mut words, mut is_trigger, mut last_word) = (0, false, String::new());
    let mut at = 0;
    while at < text.len() {
        let (token, end) = next(text, at)?;
        match token {
            Token::Space => {}
            Token::End if !is_trigger || last_word == "end" => {
                all.extend(current.take());
                (words, is_trigger) = (0, false);
            }
            token => {
                let word = &text[at..end];
                let found = current.get_or_insert_with(|| Found {
                    span: at..end,
                    parameters: Vec::new(),
                    first_word: word.to_ascii_lowercase(),
                });
                found.span.end = end;
                if token == Token::Parameter {
                    found.parameters.push(at..end);
                }
                if token == Token::Word {
                    last_word = word.to_ascii_lowercase();
                    is_trigger |=
                        words < 5 && last_word == "trigger" && found.first_word == "create";
                    words += 1;
                } else if token != Token::End {
                    last_word.clear();
                }
            }
        }
        at = end;
    }
    all.extend(current);
    Ok(all)
}

/// Returns the kind of the token at a position, and the token's end.
fn next(text: &str, at: usize) -> Result<(Token, usize), (Range<usize>, &'static str)> {
    let rest = &text[at..];
    let first = rest.chars().next().unwrap_or(' ');
    let up_to = |start: usize, mark: &str, what| match rest[start..].find(mark) {
        Some(found) => Ok(at + start + found + mark.len()),
        None => Err((at..text.len(), what)),
    };
    let while_ = |start: usize, is_part: fn(char) -> bool| {
        let found = rest[start..].find(|c| !is_part(c));
        at + found.map_or(rest.len(), |found| start + found)
    };
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    Ok(match first {
        c if c.is_whitespace() => (Token::Space, while_(0, char::is_whitespace)),
        '-' if rest.starts_with("--") => (Token::Space, while_(0, |c| c != '\n')),
        '#' => (Token::Other, at + 1),
        '/' if rest.starts_with("/*") => (Token::Space, up_to(2, "*/", "a comment")?),
        '\'' => (Token::Other, quoted(text, at, '\'')?),
        '"' => (Token::Other, quoted(text, at, '"')?),
        '`' => (Token::Other, quoted(text, at, '`')?),
        '$' => match dollar_quote(rest) {
            Some(mark) => (Token::Other, up_to(mark.len(), mark, "a literal")?),
            None => (Token::Other, at + 1),
        },
        ';' => (Token::End, at + 1),
        ':' if rest.starts_with("::") => (Token::Other, at + 2),
        ':' if rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
            (Token::Parameter, while_(1, is_name))
        }
        c if is_name(c) => (Token::Word, while_(0, is_name)),
        c => (Token::Other, at + c.len_utf8()),
    })
}

/// Returns the end of a quoted text. A doubled quote ends one quoted text and starts the next
/// quoted text.
fn quoted(text: &str, at: usize, quote: char) -> Result<usize, (Range<usize>, &'static str)> {
    match text[at + 1..].find(quote) {
        Some(found) => Ok(at + 1 + found + 1),
        None => Err((at..text.len(), "a literal or a quoted name")),
    }
}

/// Returns the delimiter of a dollar-quoted literal of PostgreSQL, such as `$$` or `$body$`.
fn dollar_quote(rest: &str) -> Option<&str> {
    let end = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_')? + 1;
    let is_mark =
        rest[end..].starts_with('$') && !rest[1..].starts_with(|c: char| c.is_ascii_digit());
    is_mark.then(|| &rest[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        let all = statements(text).expect("the text is complete");
        all.into_iter().map(|found| &text[found.span]).collect()
    }

    #[test]
    fn statements_end_at_semicolons_outside_of_literals_and_comments() {
        assert_eq!(texts(" ; ;\n-- nothing;\n"), [""; 0]);
        assert_eq!(
            texts("SELECT ';', \";\" /* ; */ -- ;\n;SELECT 'it''s';"),
            ["SELECT ';', \";\"", "SELECT 'it''s'"]
        );
        assert_eq!(
            texts("SELECT $$a;b$$; SELECT $x$;$$;$x$, $1"),
            ["SELECT $$a;b$$", "SELECT $x$;$$;$x$, $1"]
        );
        let trigger =
            "CREATE TRIGGER t AFTER INSERT ON a BEGIN UPDATE b SET c = 1; DELETE FROM d; END";
        assert_eq!(
            texts(&format!("{trigger}; SELECT 1")),
            [trigger, "SELECT 1"]
        );
    }

    #[test]
    fn parameters_are_names_after_a_colon() {
        let text =
            "SELECT a::int, ':b', :c_1 /* :d */ FROM t WHERE x=:c_1 AND y > ':' AND \":e\" = :f";
        let found = &statements(text).unwrap()[0];
        let names: Vec<&str> = found.parameters.iter().map(|p| &text[p.clone()]).collect();
        assert_eq!(names, [":c_1", ":c_1", ":f"]);
        assert_eq!(found.first_word, "select");
    }

    #[test]
    fn unterminated_texts_are_reported() {
        for text in ["SELECT 'a", "SELECT 1 /* b", "SELECT \"c", "SELECT $$d"] {
            let (span, _) = statements(text).unwrap_err();
            assert!(span.start > 6 && span.end == text.len(), "{text}");
        }
    }
}
