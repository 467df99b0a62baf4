// SPDX-License-Identifier: Apache-2.0
//! What a page refers to and a browser would load.

use html5gum::{DefaultEmitter, Token, Tokenizer};
use url::Url;

/// More references are not looked at.
const MOST: usize = 500;

/// The URLs that a page's HTML makes a browser load, each once, in their order.
pub fn references(html: &str, page: &Url) -> Vec<Url> {
    let mut base = page.clone();
    let mut found: Vec<Url> = Vec::new();
    let mut emitter = DefaultEmitter::default();
    // What is between <script> and </script> is no HTML.
    emitter.naively_switch_states(true);
    for token in Tokenizer::new_with_emitter(html, emitter).flatten() {
        let Token::StartTag(tag) = token else {
            continue;
        };
        let name = String::from_utf8_lossy(&tag.name).into_owned();
        let attribute = |wanted: &str| {
            let found = tag
                .attributes
                .iter()
                .find(|(name, _)| name.as_slice() == wanted.as_bytes());
            found.map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        };
        let wanted = match name.as_str() {
            "base" => {
                let new = attribute("href").and_then(|href| page.join(href.trim()).ok());
                base = new.unwrap_or(base);
                None
            }
            "link" => {
                let rel = attribute("rel").unwrap_or_default().to_ascii_lowercase();
                let loads = ["stylesheet", "icon", "preload", "modulepreload", "manifest"];
                let loads = rel.split_whitespace().any(|word| loads.contains(&word));
                attribute("href").filter(|_| loads)
            }
            "img" | "script" | "iframe" | "source" | "video" | "audio" | "embed" | "track"
            | "input" => attribute("src"),
            "object" => attribute("data"),
            _ => None,
        };
        let url = wanted
            .filter(|text| !text.trim().is_empty())
            .and_then(|text| base.join(text.trim()).ok());
        if let Some(mut url) = url.filter(|url| matches!(url.scheme(), "http" | "https")) {
            url.set_fragment(None);
            if !found.contains(&url) && url != *page && found.len() < MOST {
                found.push(url);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_s_references_are_found_as_a_browser_does() {
        let page = Url::parse("http://a.example/x/y.html").expect("a URL");
        let html = "<!-- <img src=no.png> --><base href='/z/'><LINK rel='Stylesheet preload' href=s.css>\
                    <script>'<img src=no2.png>'</script><script src='//b.example/j.js#f'></script><img src=' i.png '>\
                    <img src=i.png><a href=p.html>p</a><img src='data:image/png;base64,AA'><link rel=canonical href=c>";
        let found: Vec<String> = references(html, &page).iter().map(Url::to_string).collect();
        assert_eq!(
            found,
            [
                "http://a.example/z/s.css",
                "http://b.example/j.js",
                "http://a.example/z/i.png"
            ]
        );
    }
}
