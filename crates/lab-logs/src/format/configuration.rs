// SPDX-License-Identifier: Apache-2.0
//! Extracts a log format from a line of the server's configuration.
//!
//! Source: Apache HTTP Server 2.4, *Configuration Files*, mod_log_config; nginx, `ngx_conf_file.c`;
//! Tomcat 10, *Access Log Valve*; XML 1.0, *Predefined Entities*.

/// Extracts the format from `LogFormat "…" timed`, `CustomLog logs/access_log '…'`,
/// `log_format timed '…';` or `<Valve pattern="…" />`.
///
/// For `CustomLog logs/access_log combined` and `access_log logs/access.log combined;`, returns the
/// name of the format. Any other text is the format itself.
pub fn log_format(text: &str) -> String {
    let line = text.trim();
    if line.starts_with('<') || line.starts_with("pattern=") {
        return without_entities(attribute(line, "pattern=").unwrap_or(text));
    }
    let (directive, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    match directive.to_ascii_lowercase().as_str() {
        "log_format" => joined_strings(&words(arguments, Some(';'))),
        "logformat" => nth_word(arguments, 0),
        "customlog" | "globallog" => nth_word(arguments, 1),
        "access_log" => {
            let name = words(arguments, Some(';')).into_iter().nth(1);
            name.unwrap_or_else(|| "combined".into())
        }
        _ => without_entities(&text.replace("\\\"", "\"").replace("\\t", "\t")),
    }
}

fn nth_word(arguments: &str, n: usize) -> String {
    // Apache continues a line that ends with a backslash.
    let words = words(&arguments.replace("\\\n", ""), None);
    words.into_iter().nth(n).unwrap_or_default()
}

/// Joins the strings of nginx's `log_format`, without its name and its parameter `escape=`.
fn joined_strings(words: &[String]) -> String {
    let is_name = |n: usize, word: &str| n == 0 && !word.contains('$');
    let skipped = words
        .iter()
        .enumerate()
        .take_while(|(n, word)| is_name(*n, word) || word.starts_with("escape="));
    words[skipped.count()..].concat()
}

/// Splits the arguments of a directive into words, which can be in single or double quotation marks
/// and contain escapes.
///
/// Stops at the character `end`, or at the end of the text.
fn words(text: &str, end: Option<char>) -> Vec<String> {
    let mut words = Vec::new();
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(|c| c.is_whitespace()).is_some() {}
        if letters.peek().is_none_or(|c| Some(*c) == end) {
            return words;
        }
        let quote = letters.next_if(|c| matches!(c, '"' | '\''));
        let is_end = |c: char| match quote {
            Some(quote) => c == quote,
            None => c.is_whitespace() || Some(c) == end,
        };
        let mut word = String::new();
        while let Some(letter) = letters.next_if(|c| !is_end(*c)) {
            let escaped = letters.peek().copied().and_then(unescaped);
            match escaped.filter(|_| letter == '\\') {
                Some(escaped) => {
                    letters.next();
                    word.push(escaped);
                }
                None => word.push(letter),
            }
        }
        letters.next_if(|c| Some(*c) == quote);
        words.push(word);
    }
}

/// Returns the character that a backslash before `letter` represents.
///
/// Returns `None` if the backslash represents itself.
fn unescaped(letter: char) -> Option<char> {
    match letter {
        '"' | '\'' | '\\' => Some(letter),
        't' => Some('\t'),
        'n' => Some('\n'),
        'r' => Some('\r'),
        _ => None,
    }
}

/// Returns the value of an XML attribute, whose `name` ends with `=`.
fn attribute<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let value = &text[text.find(name)? + name.len()..];
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let value = &value[1..];
    Some(&value[..value.find(quote).unwrap_or(value.len())])
}

fn without_entities(text: &str) -> String {
    const ENTITIES: [(&str, &str); 5] = [
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&lt;", "<"),
        ("&gt;", ">"),
        // The last one, because its result can begin another entity.
        ("&amp;", "&"),
    ];
    let replace = |text: String, (entity, letter)| text.replace(entity, letter);
    ENTITIES.into_iter().fold(text.into(), replace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_extracted_from_configuration_lines() {
        for (line, format) in [
            (
                r#"LogFormat "%h \"%r\" %>s\t%D" timed"#,
                "%h \"%r\" %>s\t%D",
            ),
            (r#"LogFormat '%h "%r" %>s' timed"#, r#"%h "%r" %>s"#),
            (r"LogFormat %h|%r|%D timed", "%h|%r|%D"),
            ("LogFormat \"%h %r \\\n%>s\" timed", "%h %r %>s"),
            (
                r#"CustomLog "|/usr/bin/rotatelogs /var/log/%Y.log 86400" '%h "%r"' env=!x"#,
                r#"%h "%r""#,
            ),
            (r#"customlog logs/access_log "%h \"%r\"""#, r#"%h "%r""#),
            (
                r#"log_format a "$host \"$request\"";"#,
                r#"$host "$request""#,
            ),
            (
                "log_format a escape=json '{'\n  '\"a\":\"$request\",'\n  \"'b':$status}\" ; access_log $x;",
                "{\"a\":\"$request\",'b':$status}",
            ),
            (r"log_format a $host\t$request_uri;", "$host\t$request_uri"),
            (
                r"log_format a 'time:$msec\turi:$uri\x';",
                "time:$msec\turi:$uri\\x",
            ),
            (
                r#"<Valve className="x" pattern="%h &quot;%r&quot; &amp;lt; %D" suffix=".txt" />"#,
                r#"%h "%r" &lt; %D"#,
            ),
            ("%h &quot;%r&quot; %D", r#"%h "%r" %D"#),
            (r#"%h \"%r\" %D"#, r#"%h "%r" %D"#),
            ("CustomLog logs/access_log", ""),
            ("CustomLog logs/access_log combined", "combined"),
            ("access_log logs/a.log timed buffer=32k;", "timed"),
            ("access_log logs/a.log;", "combined"),
        ] {
            assert_eq!(log_format(line), format, "{line}");
        }
    }
}
