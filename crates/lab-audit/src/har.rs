// SPDX-License-Identifier: Apache-2.0
//! HTTP archives (HAR 1.2), the format in which browsers export their network panel.

use crate::date::{Clock, ClockDoubt, now, recorded_time};
use crate::page_choice::PageChoice;
use crate::wording;
use serde_json::Value as Json;
use std::borrow::Cow;
use std::collections::HashMap;
use url::{Position, Url};

/// The maximum number of redirects that are followed to the page.
const MAX_REDIRECTS: usize = 100;

/// A HAR. Its entries are in the order of their timestamps, because exporters may write them in any
/// order (HAR 1.2, `entries`).
pub struct Har {
    /// The entries, the earliest first.
    pub entries: Vec<HarEntry>,
    /// Facts about the file that the user needs to know, one sentence each.
    pub notes: Vec<String>,
    /// The `id` of the first page.
    first_page: Option<String>,
    /// The indexes of the entries with each URL, without its fragment.
    by_url: HashMap<String, Vec<usize>>,
}

/// A request and its response.
pub struct HarEntry {
    /// The URL of the request, or `None` if it is invalid.
    pub url: Option<Url>,
    /// The time of the request, in whole seconds.
    pub clock: Clock,
    /// The time of the request in seconds since 1970, by which the entries are ordered.
    began_s: f64,
    /// The entry as a JSON object.
    pub json: Json,
    /// The target, if the response is a redirect to an HTTP URL.
    target: Option<Url>,
}

/// The page in a HAR.
pub struct HarPage {
    /// The indexes of the redirects before the page, followed by the index of the page.
    pub chain: Vec<usize>,
    /// The way in which the page was recognized.
    pub choice: PageChoice,
    /// True if no other response precedes the page or its redirects.
    pub is_first: bool,
}

impl Har {
    /// Parses a HAR.
    ///
    /// # Errors
    ///
    /// Returns a message if the text is not JSON or not a HAR.
    pub fn parse(text: &str) -> Result<Har, String> {
        let (mut json, replaced) = parse_json(text.trim_start_matches('\u{feff}'))?;
        let entries = json.pointer_mut("/log/entries").map(Json::take);
        let Some(Json::Array(entries)) = entries else {
            return Err(wording::NO_HAR.into());
        };
        let mut notes = Vec::new();
        if replaced > 0 {
            notes.push(wording::har_broken_text(replaced));
        }
        let pages = json["log"]["pages"].as_array();
        let first_page = pages.and_then(|pages| pages.first()?["id"].as_str());
        let first_page = first_page.map(str::to_owned);
        let clocks = clocks(&entries, pages.map_or(&[][..], Vec::as_slice));
        if clocks.has_numbers {
            notes.push(wording::HAR_TIMES_ARE_NUMBERS.into());
        }
        let entries = entries.into_iter().zip(clocks.clocks);
        let mut entries: Vec<HarEntry> =
            entries.map(|(e, clock)| HarEntry::new(e, clock)).collect();
        entries.sort_by(|a, b| a.began_s.total_cmp(&b.began_s));
        let mut by_url: HashMap<String, Vec<usize>> = HashMap::new();
        for (index, entry) in entries.iter().enumerate() {
            if let Some(url) = entry.url.as_ref().filter(|_| entry.is_answered_get()) {
                by_url.entry(sent_part(url)).or_default().push(index);
            }
        }
        Ok(Har {
            entries,
            notes,
            first_page,
            by_url,
        })
    }

    /// Returns the page that the browser loaded, or `None` if no GET request got a response.
    ///
    /// The page is a document of the first page in the file, a document of any page, or the first
    /// HTML response.
    pub fn page(&self) -> Option<HarPage> {
        let answered: Vec<usize> = (0..self.entries.len())
            .filter(|index| self.entries[*index].is_answered_get())
            .collect();
        let is_of_page = |index: &usize| {
            let page = self.entries[*index].json["pageref"].as_str();
            page.is_some() && page == self.first_page.as_deref()
        };
        let of_page: Vec<usize> = answered.iter().copied().filter(is_of_page).collect();
        let mut found = None;
        for indexes in [&of_page, &answered] {
            let document = indexes.iter().find(|i| self.entries[**i].is_document());
            let document = document.map(|index| (*index, PageChoice::Document));
            let html = || {
                let html = indexes.iter().find(|index| self.leads_to_html(**index));
                html.map(|index| (*index, PageChoice::Html))
            };
            found = found.or(document).or_else(html);
        }
        let first = || of_page.first().or(answered.first());
        let first = || first().map(|index| (*index, PageChoice::First));
        let (start, choice) = found.or_else(first)?;
        let start = self.first_redirect(start);
        Some(HarPage {
            chain: self.chain(start),
            choice,
            is_first: answered.first() == Some(&start),
        })
    }

    /// Returns the host of the page, or of the first request over HTTP.
    pub fn site(&self) -> Option<&str> {
        let page = self.page().and_then(|page| page.chain.last().copied());
        let first = || self.entries.iter().position(HarEntry::is_http);
        let entry = &self.entries[page.or_else(first)?];
        entry.url.as_ref()?.host_str()
    }

    /// Returns the first of the redirects that lead to an entry.
    fn first_redirect(&self, end: usize) -> usize {
        let mut chain = vec![end];
        while let Some(&first) = chain.last().filter(|_| chain.len() <= MAX_REDIRECTS) {
            let mut indexes = 0..self.entries.len();
            let leads_here = |index: &usize| {
                let entry = &self.entries[*index];
                entry.target.is_some()
                    && entry.is_answered_get()
                    && self.next(*index) == Some(first)
            };
            match indexes.find(|index| !chain.contains(index) && leads_here(index)) {
                Some(before) => chain.push(before),
                None => break,
            }
        }
        chain.last().copied().unwrap_or(end)
    }

    /// Returns the redirects that begin with an entry, and the entry to which they lead.
    fn chain(&self, start: usize) -> Vec<usize> {
        let mut chain = vec![start];
        while let Some(next) = chain.last().and_then(|last| self.next(*last)) {
            if chain.contains(&next) || chain.len() > MAX_REDIRECTS {
                break;
            }
            chain.push(next);
        }
        chain
    }

    /// Returns the first request that was made after a redirect and is for its target.
    fn next(&self, index: usize) -> Option<usize> {
        let target = self.entries[index].target.as_ref()?;
        let same_url = self.by_url.get(&sent_part(target))?;
        let later = same_url.partition_point(|other| *other <= index);
        // Times may be too coarse to order a redirect and its target.
        let is_at_once = |other: &usize| {
            *other != index && self.entries[*other].began_s == self.entries[index].began_s
        };
        let at_once = || same_url[..later].iter().find(|other| is_at_once(other));
        same_url.get(later).or_else(at_once).copied()
    }

    fn leads_to_html(&self, start: usize) -> bool {
        let end = self.chain(start).last().copied().unwrap_or(start);
        self.entries[end].is_html()
    }
}

impl HarEntry {
    fn new(json: Json, clock: Clock) -> HarEntry {
        let url = json["request"]["url"].as_str();
        let url = url.and_then(|url| Url::parse(url.trim()).ok());
        let target = url.as_ref().and_then(|url| {
            let to = url.join(&location(&json["response"])?).ok()?;
            let is_redirect = matches!(status(&json["response"]), Some(301..=303 | 307 | 308));
            Some(to).filter(|to| is_redirect && is_http(to))
        });
        HarEntry {
            url,
            began_s: clock.at_s,
            clock: Clock {
                at_s: clock.at_s.floor(),
                ..clock
            },
            json,
            target,
        }
    }

    /// Returns true for a GET request over HTTP that got a response.
    fn is_answered_get(&self) -> bool {
        let method = self.json["request"]["method"].as_str().unwrap_or("GET");
        let has_status = status(&self.json["response"]).is_some_and(|status| status >= 200);
        self.is_http() && method.eq_ignore_ascii_case("GET") && has_status
    }

    fn is_http(&self) -> bool {
        self.url.as_ref().is_some_and(is_http)
    }

    fn is_document(&self) -> bool {
        let kind = self.json["_resourceType"].as_str();
        kind.is_some_and(|kind| kind.eq_ignore_ascii_case("document"))
    }

    fn is_html(&self) -> bool {
        let response = &self.json["response"];
        let content = response["content"]["mimeType"].as_str().unwrap_or_default();
        let has_html = |text: &str| text.to_ascii_lowercase().contains("html");
        has_html(content) || values(response, "content-type").iter().any(|v| has_html(v))
    }
}

fn is_http(url: &Url) -> bool {
    matches!(url.scheme(), "http" | "https")
}

/// Returns a URL without its fragment, which is not sent.
fn sent_part(url: &Url) -> String {
    url[..Position::AfterQuery].to_owned()
}

/// Returns the status of a response.
fn status(response: &Json) -> Option<u16> {
    let status = response["status"].as_u64()?;
    u16::try_from(status).ok().filter(|status| *status > 0)
}

/// Returns the target of a redirect as the response contains it. It may be a relative URL.
pub fn location(response: &Json) -> Option<String> {
    let target = response["redirectURL"].as_str().filter(|to| !to.is_empty());
    let field = values(response, "location").into_iter().next();
    field.or_else(|| target.map(str::to_owned))
}

/// Returns the header fields of a request or a response, or `None` if the file does not contain
/// them.
///
/// HAR 1.2 has a list of objects with name and value. Some exporters write a list of pairs, or an
/// object with the names of the fields as keys. Every message over HTTP has fields, so an empty
/// list means that the exporter left them out.
pub fn fields(message: &Json) -> Option<Vec<(String, String)>> {
    let text = |value: &Json| value.as_str().map(str::to_owned);
    let fields: Vec<(String, String)> = match &message["headers"] {
        Json::Array(list) => {
            let field = |header: &Json| match header {
                Json::Array(pair) => Some((text(pair.first()?)?, text(pair.get(1)?)?)),
                header => Some((text(&header["name"])?, text(&header["value"])?)),
            };
            list.iter().filter_map(field).collect()
        }
        Json::Object(map) => {
            let values = |value: &Json| match value {
                Json::Array(values) => values.iter().filter_map(text).collect(),
                value => text(value).into_iter().collect::<Vec<String>>(),
            };
            let named = map.iter().flat_map(|(name, value)| {
                let values = values(value).into_iter();
                values.map(|value| (name.clone(), value))
            });
            named.collect()
        }
        _ => Vec::new(),
    };
    Some(fields).filter(|fields| !fields.is_empty())
}

/// Returns the values of a field of a request or a response. `name` is in lowercase.
pub fn values(message: &Json, name: &str) -> Vec<String> {
    let fields = fields(message).unwrap_or_default().into_iter();
    let own = fields.filter(|(own, _)| own.trim().eq_ignore_ascii_case(name));
    // Firefox joins multiple fields with line breaks.
    own.flat_map(|(_, value)| value.lines().map(str::to_owned).collect::<Vec<String>>())
        .collect()
}

/// The timestamps of the entries of a HAR.
struct Clocks {
    clocks: Vec<Clock>,
    /// True if timestamps are numbers, whose unit was determined by their size.
    has_numbers: bool,
}

/// Reads the timestamps of entries. An entry without a timestamp gets that of the previous entry,
/// and the first entries get the first timestamp in the file.
fn clocks(entries: &[Json], pages: &[Json]) -> Clocks {
    let time = |item: &Json| recorded_time(&item["startedDateTime"]);
    let first = entries.iter().chain(pages).find_map(time);
    let no_time = || Clock {
        at_s: now(),
        doubt: Some(ClockDoubt::NoTime),
    };
    let mut last = first.map_or_else(no_time, |time| time.clock);
    let mut has_numbers = false;
    let clocks = entries.iter().map(|entry| {
        if let Some(time) = time(entry) {
            has_numbers |= time.is_number;
            last = time.clock;
        }
        last
    });
    Clocks {
        clocks: clocks.collect(),
        has_numbers,
    }
}

/// Parses JSON. Returns the number of broken characters that were replaced.
///
/// `JSON.stringify` writes text that is not valid UTF-16 with surrogates that have no partner,
/// which JSON parsers reject.
fn parse_json(text: &str) -> Result<(Json, usize), String> {
    let error = match serde_json::from_str(text) {
        Ok(json) => return Ok((json, 0)),
        Err(error) => error,
    };
    let not_json = || wording::not_json(&error);
    let (Cow::Owned(text), replaced) = replace_lone_surrogates(text) else {
        return Err(not_json());
    };
    serde_json::from_str(&text)
        .map(|json| (json, replaced))
        .map_err(|e| wording::not_json(&e))
}

/// Replaces the escapes of surrogates without a partner by the replacement character. Returns the
/// number of replacements.
fn replace_lone_surrogates(text: &str) -> (Cow<'_, str>, usize) {
    let unit = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(escape, 16).ok()
    };
    let (mut fixed, mut copied, mut at, mut replaced) = (String::new(), 0, 0, 0);
    while let Some(found) = text[at..].find('\\') {
        at += found;
        let partner = unit(at + 6);
        at += match (unit(at), partner) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                fixed.push_str(&text[copied..at]);
                fixed.push_str("\\ufffd");
                replaced += 1;
                copied = at + 6;
                6
            }
            // The escaped character can be another backslash.
            _ => 1 + text[at + 1..].chars().next().map_or(0, char::len_utf8),
        };
    }
    if replaced == 0 {
        return (Cow::Borrowed(text), 0);
    }
    fixed.push_str(&text[copied..]);
    (Cow::Owned(fixed), replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_surrogates_without_a_partner_are_replaced() {
        for (text, expected, count) in [
            (r#""\ud83d\ude00""#, None, 0),
            (r#""a\\ud83d""#, None, 0),
            (r#""\ud83d""#, Some(r#""\ufffd""#), 1),
            (
                r#""\ud83d\ud83d\ude00\udead""#,
                Some(r#""\ufffd\ud83d\ude00\ufffd""#),
                2,
            ),
            (r#""\\\ud83dé""#, Some(r#""\\\ufffdé""#), 1),
            (r#""\u"#, None, 0),
            ("\\", None, 0),
        ] {
            let (fixed, replaced) = replace_lone_surrogates(text);
            assert_eq!((&*fixed, replaced), (expected.unwrap_or(text), count));
        }
    }
}
