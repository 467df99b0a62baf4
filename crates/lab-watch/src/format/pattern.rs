// SPDX-License-Identifier: Apache-2.0
//! Formats as the server's configuration has them: Apache's and Tomcat's `%h … %D`, nginx's `$remote_addr …`.
//!
//! Source: Apache HTTP Server 2.4, mod_log_config; Tomcat 10, AccessLogValve; nginx, ngx_http_log_module.

use super::combined::method_and_target;
use crate::entry::Entry;
use crate::time::{Zone, clf, iso, number, offset, scaled};
use memchr::memmem::Finder;

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PatternField {
    Skip,
    /// `10/Oct/2000:13:55:36 -0700`
    Clf,
    Iso,
    /// Seconds since 1970, with or without a fraction; times 1, 10^3 or 10^6.
    Epoch(u64),
    /// Method, target and protocol.
    Request,
    Method,
    Target,
    Status,
    Bytes,
    Agent,
    /// With the number of ns of its unit.
    Duration(u64),
}

/// A field and the text behind it, up to which it reaches.
#[derive(Clone, Debug)]
struct PatternPiece {
    field: PatternField,
    terminator: Finder<'static>,
}

/// A compiled format.
#[derive(Clone, Debug)]
pub struct Pattern {
    before: Vec<u8>,
    pieces: Vec<PatternPiece>,
    zone: Zone,
}

impl Pattern {
    /// Compiles a format. Error, in words: what of it is not known, or that it lacks a time or a request.
    pub fn new(format: &str, zone: Zone) -> Result<Pattern, String> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut rest = format;
        while let Some(first) = rest.chars().next() {
            let field = match first {
                '%' => Some(apache(rest)?),
                '$' => Some(nginx(rest)?),
                _ => None,
            };
            match field {
                Some((field, length)) => {
                    parts.push((std::mem::take(&mut literal), field));
                    rest = &rest[length..];
                }
                None => {
                    literal.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        let before = parts
            .first()
            .map_or_else(String::new, |(text, _)| text.clone());
        let terminators = parts.iter().skip(1).map(|(text, _)| text.clone());
        let terminators: Vec<String> = terminators.chain([literal]).collect();
        let fields: Vec<PatternField> = parts.iter().map(|(_, field)| *field).collect();
        check(format, &fields, &terminators)?;
        let piece = |(field, terminator): (&PatternField, &String)| PatternPiece {
            field: *field,
            terminator: Finder::new(terminator.as_bytes()).into_owned(),
        };
        Ok(Pattern {
            before: before.into_bytes(),
            pieces: fields.iter().zip(&terminators).map(piece).collect(),
            zone,
        })
    }

    /// The finest step of its durations, ns; `None`: it has none.
    pub fn step(&self) -> Option<u64> {
        let durations = self.pieces.iter().filter_map(|p| match p.field {
            PatternField::Duration(scale) => Some(scale),
            _ => None,
        });
        // nginx writes s with three decimals, Apache's %T whole ones.
        durations
            .min()
            .map(|scale| if scale == NGINX_S { 1_000_000 } else { scale })
    }

    /// What a line tells of; `None`: it is malformed.
    pub fn parse<'a>(&mut self, line: &'a [u8]) -> Option<Entry<'a>> {
        let mut rest = line.strip_prefix(&self.before[..])?;
        let mut entry = Entry::default();
        let mut finest = u64::MAX;
        for PatternPiece { field, terminator } in &self.pieces {
            let end = match terminator.needle() {
                [] => rest.len(),
                text => terminator
                    .find(rest)
                    .or_else(|| (rest.is_empty() && text != b"\"").then_some(0))?,
            };
            let (value, after) = (
                &rest[..end],
                rest.get(end + terminator.needle().len()..)
                    .unwrap_or_default(),
            );
            rest = after;
            match *field {
                PatternField::Skip => {}
                PatternField::Clf => {
                    // Apache's `%t` has brackets of its own.
                    let value = value.strip_prefix(b"[").unwrap_or(value);
                    let value = value.strip_suffix(b"]").unwrap_or(value);
                    let offset = offset(value.get(21..)?)?;
                    (entry.time_s, entry.offset_s) =
                        (Some(clf(value)? - i64::from(offset)), offset);
                }
                PatternField::Iso => {
                    let (local, offset) = iso(value)?;
                    let offset = offset.unwrap_or_else(|| self.zone.offset_of_local(local));
                    (entry.time_s, entry.offset_s) = (Some(local - i64::from(offset)), offset);
                }
                PatternField::Epoch(scale) => {
                    let time = (scaled(value, 1_000_000)? / scale / 1_000_000) as i64;
                    (entry.time_s, entry.offset_s) = (Some(time), self.zone.offset_at(time));
                }
                PatternField::Request => (entry.method, entry.target) = method_and_target(value),
                PatternField::Method => entry.method = value,
                PatternField::Target => entry.target = value,
                PatternField::Status => {
                    entry.status = number(value).filter(|s| *s < 1000).unwrap_or(0) as u16
                }
                PatternField::Bytes => entry.bytes = number(value).unwrap_or(0),
                PatternField::Agent => entry.agent = value,
                // Of two durations the finer one counts.
                PatternField::Duration(scale) if scale < finest => {
                    finest = scale;
                    let ns = if scale == NGINX_S {
                        1_000_000_000
                    } else {
                        scale
                    };
                    entry.duration_ns = scaled(value, ns);
                }
                PatternField::Duration(_) => {}
            }
        }
        Some(entry)
    }
}

/// Seconds with three decimals: told apart from whole ones by a number that is no scale.
const NGINX_S: u64 = 999_999_999;

/// Error: without a time or a request there is nothing to see, and fields without text between them cannot be told
/// apart.
fn check(format: &str, fields: &[PatternField], terminators: &[String]) -> Result<(), String> {
    let has = |alternatives: &[PatternField]| fields.iter().any(|f| alternatives.contains(f));
    if !has(&[PatternField::Request, PatternField::Target]) {
        return Err(format!(
            "the format {format:?} has no request: add \"%r\" or $request"
        ));
    }
    let has_touching_fields = terminators.iter().rev().skip(1).any(String::is_empty);
    if has_touching_fields {
        Err(format!(
            "the format {format:?} has fields without a character between them"
        ))
    } else {
        Ok(())
    }
}

/// A `%` and what belongs to it.
fn apache(text: &str) -> Result<(PatternField, usize), String> {
    let bytes = text.as_bytes();
    let mut at = 1;
    // `%>s`, `%!200,304s`
    while matches!(bytes.get(at), Some(b'>' | b'<' | b'!' | b',' | b'0'..=b'9')) {
        at += 1;
    }
    let mut name = "";
    if bytes.get(at) == Some(&b'{') {
        let end = text[at..]
            .find('}')
            .ok_or_else(|| format!("a }} is missing behind {text:?}"))?;
        name = &text[at + 1..at + end];
        at += end + 1;
    }
    let letter = bytes.get(at).copied().unwrap_or(b' ');
    if letter == b'^' {
        return Ok((PatternField::Skip, (at + 4).min(text.len())));
    }
    let lower = name.to_ascii_lowercase();
    let field = match (letter, lower.as_str()) {
        (b't', "") => PatternField::Clf,
        (b't', "sec") => PatternField::Epoch(1),
        (b't', "msec") => PatternField::Epoch(1_000),
        (b't', "usec") => PatternField::Epoch(1_000_000),
        (b't', _) if name.starts_with("%Y-%m-%d") || name.starts_with("yyyy-MM-dd") => {
            PatternField::Iso
        }
        (b't', _) if name.starts_with("%d/%b/%Y:%H:%M:%S %z") => PatternField::Clf,
        (b'r', _) => PatternField::Request,
        (b'm', _) => PatternField::Method,
        (b'U', _) => PatternField::Target,
        (b's', _) => PatternField::Status,
        (b'b' | b'B' | b'O', _) => PatternField::Bytes,
        (b'i', "user-agent") => PatternField::Agent,
        (b'D', _) => PatternField::Duration(1_000),
        (b'T', "ms") => PatternField::Duration(1_000_000),
        (b'T', "us") => PatternField::Duration(1_000),
        (b'T', "ns") => PatternField::Duration(1),
        (b'T', _) => PatternField::Duration(1_000_000_000),
        (b'F', _) => PatternField::Skip,
        (b'a'..=b'z' | b'A'..=b'Z' | b'%', _) => PatternField::Skip,
        _ => return Err(format!("{text:?} is no field of a LogFormat")),
    };
    Ok((field, at + 1))
}

/// A `$` and the name behind it.
fn nginx(text: &str) -> Result<(PatternField, usize), String> {
    let braced = text.as_bytes().get(1) == Some(&b'{');
    let start = if braced { 2 } else { 1 };
    let is_name = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name: String = text[start..].chars().take_while(is_name).collect();
    if name.is_empty() {
        return Err(format!("a name is missing behind $ in {text:?}"));
    }
    let field = match name.as_str() {
        "time_local" => PatternField::Clf,
        "time_iso8601" => PatternField::Iso,
        "msec" => PatternField::Epoch(1),
        "request" => PatternField::Request,
        "request_method" => PatternField::Method,
        "request_uri" | "uri" | "document_uri" => PatternField::Target,
        "status" => PatternField::Status,
        "body_bytes_sent" | "bytes_sent" => PatternField::Bytes,
        "http_user_agent" => PatternField::Agent,
        "request_time" => PatternField::Duration(NGINX_S),
        _ => PatternField::Skip,
    };
    Ok((field, start + name.len() + usize::from(braced)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(format: &str) -> Pattern {
        Pattern::new(format, Zone::default()).expect("a format")
    }

    #[test]
    fn formats_of_apache_and_nginx_are_read() {
        let mut apache =
            pattern(r#"%h %l %u [%{%d/%b/%Y:%H:%M:%S %z}t] "%r" %>s %b "%{User-Agent}i" %D"#);
        let line = br#"::1 - - [10/Oct/2000:13:55:36 -0700] "POST /a HTTP/1.1" 503 - "curl" 250"#;
        let entry = apache.parse(line).expect("an entry");
        assert_eq!(
            (entry.time_s, entry.status, entry.duration_ns),
            (Some(971_211_336), 503, Some(250_000))
        );
        assert_eq!((entry.method, entry.agent), (&b"POST"[..], &b"curl"[..]));
        let mut nginx =
            pattern("$msec|$request_method|${request_uri}|$request_time|$upstream_addr");
        let entry = nginx
            .parse(b"1777629600.250|GET|/x?y|0.015|")
            .expect("an entry");
        assert_eq!(
            (entry.time_s, entry.duration_ns),
            (Some(1_777_629_600), Some(15_000_000))
        );
        assert_eq!(nginx.step(), Some(1_000_000));
        assert_eq!(nginx.parse(b"1777629600.250|GET"), None);
    }

    #[test]
    fn formats_that_cannot_be_read_say_why() {
        for format in ["%h %t", "%r%s", "$request$status", "%r %{open", "%r $"] {
            assert!(Pattern::new(format, Zone::default()).is_err(), "{format}");
        }
    }
}
