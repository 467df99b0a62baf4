// SPDX-License-Identifier: Apache-2.0
//! URLs for display and storage, without passwords and query values, which may identify a user.

use url::{Position, Url};

/// Returns a URL without its credentials, fragment and query values: `https://a.example/x?token=…`.
pub fn redact(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    format!("{}{}", &url[..Position::AfterPath], redacted_query(&url))
}

/// Returns the path and the redacted query, shortened if they are long.
pub fn name(url: &Url) -> String {
    let name = format!("{}{}", url.path(), redacted_query(url));
    match name.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name,
    }
}

/// Returns a URL as a single shell word, which is safe even if the URL comes from a malicious
/// server.
///
/// VALUE replaces each query value. The user can replace it with the actual value.
pub fn shell_word(url: &Url) -> String {
    let text = redact(url).replace('…', "VALUE");
    let plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/[]%@+,".contains(c);
    if text.chars().all(plain) {
        text
    } else {
        format!("'{}'", text.replace('\'', "%27"))
    }
}

fn redacted_query(url: &Url) -> String {
    let part = |part: &str| match part.split_once('=') {
        Some((name, "")) => format!("{name}="),
        Some((name, _)) => format!("{name}=…"),
        None if part.is_empty() => String::new(),
        None => "…".into(),
    };
    let parts: Option<Vec<String>> = url
        .query()
        .map(|query| query.split('&').map(part).collect());
    parts.map_or(String::new(), |parts| format!("?{}", parts.join("&")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_values_are_not_shown() {
        let url = |text: &str| Url::parse(text).expect("a URL");
        let shown = redact(&url(
            "https://me:pass@a.example/x?token=s3cret&v=1&e=&plain#s3cret",
        ));
        assert_eq!(shown, "https://a.example/x?token=…&v=…&e=&…");
        assert_eq!(redact(&url("http://a.example:81/")), "http://a.example:81/");
        assert_eq!(name(&url("http://a.example/i.png?s3cret")), "/i.png?…");
        assert_eq!(
            name(&url(&format!("http://a/{}", "x".repeat(99))))
                .chars()
                .count(),
            61
        );
    }

    #[test]
    fn a_servers_address_is_one_word_of_a_command() {
        let word = |text: &str| shell_word(&Url::parse(text).expect("a URL"));
        assert_eq!(word("https://www.a.example/"), "https://www.a.example/");
        assert_eq!(word("http://a/$(id)';id;'"), "'http://a/$(id)%27;id;%27'");
        assert_eq!(word("https://a/x.js?v=s3cret"), "'https://a/x.js?v=VALUE'");
    }
}
