// SPDX-License-Identifier: Apache-2.0
//! The resources that a page refers to and that a browser would load.

use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};
use std::collections::HashSet;
use url::Url;

/// The security settings in a page's HTML.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Safety {
    /// The Content-Security-Policies in `<meta http-equiv>` elements, separated by commas. Empty if
    /// there is none.
    pub policy: String,
    /// Scripts and style sheets from other hosts without an integrity hash (W3C, Subresource Integrity).
    pub unpinned: Vec<Url>,
}

/// The maximum number of references that are examined.
const MAX_REFERENCES: usize = 100_000;

/// Extracts the security settings from a page's HTML.
pub fn safety(html: &str, page: &Url) -> Safety {
    let mut safety = Safety::default();
    for tag in tags(html) {
        let attribute = |name: &str| attribute(&tag, name);
        let has_value = |name: &str, expected: &str| {
            attribute(name).is_some_and(|value| value.trim().eq_ignore_ascii_case(expected))
        };
        let reference = match tag.name.as_slice() {
            b"meta" if has_value("http-equiv", "content-security-policy") => {
                if !safety.policy.is_empty() {
                    safety.policy.push_str(", ");
                }
                safety.policy += &attribute("content").unwrap_or_default();
                None
            }
            b"script" => attribute("src"),
            b"link" if has_value("rel", "stylesheet") => attribute("href"),
            _ => None,
        };
        let url = reference.and_then(|text| page.join(text.trim()).ok());
        let is_elsewhere = |url: &Url| url.has_host() && url.host() != page.host();
        let is_pinned = attribute("integrity").is_some_and(|hash| !hash.trim().is_empty());
        if let Some(url) = url.filter(|url| is_elsewhere(url) && !is_pinned) {
            safety.unpinned.push(url);
        }
    }
    safety.unpinned.truncate(MAX_REFERENCES);
    safety
}

/// Returns the start tags of an HTML text.
fn tags(html: &str) -> impl Iterator<Item = StartTag<()>> {
    let mut emitter = DefaultEmitter::default();
    // The text between <script> and </script> is not HTML.
    emitter.naively_switch_states(true);
    let tokens = Tokenizer::new_with_emitter(html, emitter).flatten();
    tokens.filter_map(|token| match token {
        Token::StartTag(tag) => Some(tag),
        _ => None,
    })
}

fn attribute(tag: &StartTag<()>, name: &str) -> Option<String> {
    let mut attributes = tag.attributes.iter();
    let matching = attributes.find(|(key, _)| key.as_slice() == name.as_bytes());
    matching.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
}

/// Returns the URLs that a browser would load for a page's HTML, in order and without duplicates.
pub fn references(html: &str, page: &Url) -> Vec<Url> {
    let mut base = page.clone();
    let (mut urls, mut known) = (Vec::new(), HashSet::new());
    for tag in tags(html) {
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        let attribute = |name: &str| attribute(&tag, name);
        let reference = match name.as_str() {
            "base" => {
                let new_base = attribute("href").and_then(|href| page.join(href.trim()).ok());
                base = new_base.unwrap_or(base);
                None
            }
            "link" => {
                let rel = attribute("rel").unwrap_or_default().to_ascii_lowercase();
                let loaded_types = ["stylesheet", "icon", "preload", "modulepreload", "manifest"];
                let is_loaded = rel
                    .split_whitespace()
                    .any(|word| loaded_types.contains(&word));
                attribute("href").filter(|_| is_loaded)
            }
            "img" | "script" | "iframe" | "source" | "video" | "audio" | "embed" | "track"
            | "input" => attribute("src"),
            "object" => attribute("data"),
            _ => None,
        };
        let url = reference
            .filter(|text| !text.trim().is_empty())
            .and_then(|text| base.join(text.trim()).ok());
        if let Some(mut url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) {
            url.set_fragment(None);
            if urls.len() < MAX_REFERENCES && url != *page && known.insert(url.clone()) {
                urls.push(url);
            }
        }
    }
    urls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn security_settings_of_a_page_are_read() {
        let page = Url::parse("https://a.example/").expect("a URL");
        let html = "<META http-equiv='Content-Security-Policy' content=\"default-src 'self'\"><script src=/own.js></script>\
                    <script src=//b.example/x.js></script><script src=https://b.example/y.js integrity=sha384-x></script>\
                    <link rel=stylesheet href=https://c.example/s.css><link rel=icon href=https://c.example/i.png>";
        let observed = safety(html, &page);
        assert_eq!(observed.policy, "default-src 'self'");
        let unpinned: Vec<&str> = observed.unpinned.iter().map(Url::as_str).collect();
        assert_eq!(
            unpinned,
            ["https://b.example/x.js", "https://c.example/s.css"]
        );
        assert_eq!(safety("", &page), Safety::default());
        let two = html.replace(
            "<script src=/own.js>",
            "<meta http-equiv=Content-Security-Policy content=img-src>",
        );
        assert_eq!(safety(&two, &page).policy, "default-src 'self', img-src");
    }

    #[test]
    fn a_page_s_references_are_found_as_a_browser_does() {
        let page = Url::parse("http://a.example/x/y.html").expect("a URL");
        let html = "<!-- <img src=no.png> --><base href='/z/'><LINK rel='Stylesheet preload' href=s.css>\
                    <script>'<img src=no2.png>'</script><script src='//b.example/j.js#f'></script><img src=' i.png '>\
                    <img src=i.png><a href=p.html>p</a><img src='data:image/png;base64,AA'><link rel=canonical href=c>";
        let urls: Vec<String> = references(html, &page).iter().map(Url::to_string).collect();
        assert_eq!(
            urls,
            [
                "http://a.example/z/s.css",
                "http://b.example/j.js",
                "http://a.example/z/i.png"
            ]
        );
    }
}
