// SPDX-License-Identifier: Apache-2.0
//! Removes the text that container runtimes write before each line of a log.
//!
//! Sources: Docker Compose, `docker compose logs`; Docker, *JSON File logging driver*; Kubernetes,
//! `kubectl logs --prefix`, and *CRI logging format*: a time, the stream, and `F` for a full line
//! or `P` for a part of a line.

use super::prefix_time::{HeadTime, local_time};
use memchr::memmem::find;
use std::borrow::Cow;
use std::collections::HashMap;

/// The maximum length of a line that a container runtime splits into parts, in bytes.
const MAX_PARTIAL: usize = 16 << 20;
/// The maximum number of lines whose remaining parts may still follow.
const MAX_SOURCES: usize = 1_000;
/// The maximum total length of the stored parts of incomplete lines, in bytes.
const MAX_PARTIALS: usize = 64 << 20;
/// The length of a part in Docker's JSON, in bytes.
///
/// A part can be longer if invalid UTF-8 in it was replaced.
const DOCKER_PART: usize = 16 << 10;

/// The text that a container runtime writes before each line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WrapperForm {
    /// `db-1  | `
    Service,
    /// `[pod/db-0/postgres] `
    Pod,
    /// `2024-01-13T11:04:00.123456789Z stderr F `
    Cri,
}

/// A line without its wrapper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnwrappedLine<'l> {
    /// The container or the stream.
    ///
    /// Empty if the line has no wrapper.
    pub source: &'l [u8],
    /// The time that the container runtime wrote.
    pub time: HeadTime<'l>,
    /// The line that the program wrote.
    pub text: Cow<'l, [u8]>,
}

/// The first parts of incomplete lines, by source.
#[derive(Clone, Debug, Default)]
struct LineParts {
    partial: HashMap<Vec<u8>, Vec<u8>>,
    /// The total length of the stored parts, in bytes.
    bytes: usize,
}

/// Removes the wrappers of a log's lines.
#[derive(Clone, Debug, Default)]
pub struct Wrapper {
    form: Option<WrapperForm>,
    parts: LineParts,
}

/// A joiner of the parts of lines in Docker's JSON.
///
/// Docker splits lines after 16 KiB. The last part of a line ends with a line end, unlike the parts
/// before it. Other programs that write the same JSON remove line ends.
#[derive(Clone, Debug, Default)]
pub struct DockerLines {
    has_line_ends: bool,
    parts: LineParts,
}

impl LineParts {
    /// Joins `text` with the earlier parts of its line.
    ///
    /// Returns `None` if more parts of the line follow.
    fn join<'l>(
        &mut self,
        source: &[u8],
        text: Cow<'l, [u8]>,
        is_part: bool,
    ) -> Option<Cow<'l, [u8]>> {
        if is_part {
            if self.partial.len() >= MAX_SOURCES || self.bytes > MAX_PARTIALS {
                self.partial.clear();
                self.bytes = 0;
            }
            let partial = self.partial.entry(source.to_vec()).or_default();
            let room = MAX_PARTIAL.saturating_sub(partial.len());
            let text = &text[..text.len().min(room)];
            partial.extend(text);
            self.bytes += text.len();
            return None;
        }
        Some(match self.partial.remove(source) {
            Some(mut begin) => {
                self.bytes -= begin.len();
                begin.extend_from_slice(&text);
                begin.into()
            }
            None => text,
        })
    }
}

impl DockerLines {
    /// Joins `text`, the value of `log` in a line of a container's stream, with the earlier parts
    /// of its line.
    ///
    /// Returns `None` if more parts of the line follow.
    pub fn join<'l>(&mut self, source: &str, text: Cow<'l, [u8]>) -> Option<Cow<'l, [u8]>> {
        let is_end = text.ends_with(b"\n");
        self.has_line_ends |= is_end;
        let is_part = self.has_line_ends && !is_end && text.len() >= DOCKER_PART;
        self.parts.join(source.as_bytes(), text, is_part)
    }
}

impl WrapperForm {
    const ALL: [WrapperForm; 3] = [WrapperForm::Service, WrapperForm::Pod, WrapperForm::Cri];

    /// Splits a line into its source and its text.
    ///
    /// The third value is true if more parts of the text follow.
    fn split(self, line: &[u8]) -> Option<(&[u8], &[u8], bool)> {
        match self {
            WrapperForm::Service => {
                let end = find(&line[..line.len().min(128)], b"| ")?;
                let name = line[..end].strip_suffix(b" ")?.trim_ascii_end();
                let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
                let is_service = !name.is_empty() && name.iter().all(is_name);
                is_service.then(|| (name, &line[end + 2..], false))
            }
            WrapperForm::Pod => {
                let inner = line.strip_prefix(b"[")?;
                let end = find(&inner[..inner.len().min(512)], b"] ")?;
                let is_pod = inner[..end].contains(&b'/') && !inner[..end].contains(&b' ');
                is_pod.then(|| (&inner[..end], &inner[end + 2..], false))
            }
            WrapperForm::Cri => {
                let (_, length) = local_time(line)?;
                let rest = line[length..].strip_prefix(b" ")?;
                let is_stream = rest.starts_with(b"stdout ") || rest.starts_with(b"stderr ");
                let (source, rest) = rest.split_at_checked(7).filter(|_| is_stream)?;
                let is_part = rest.starts_with(b"P");
                let text = rest.strip_prefix(b"F").or(rest.strip_prefix(b"P"))?;
                Some((source, text.strip_prefix(b" ")?, is_part))
            }
        }
    }
}

impl Wrapper {
    /// Detects the wrapper of most lines.
    pub fn detect(lines: &[&[u8]]) -> Wrapper {
        let is_common = |form: &&WrapperForm| {
            let wrapped = lines.iter().filter(|line| form.split(line).is_some());
            wrapped.count() * 2 > lines.len()
        };
        // In a wrapped log, the wrapper also precedes the next lines of a message.
        let has_bare_lines = lines.iter().any(|line| line.first() == Some(&b'\t'));
        let form = WrapperForm::ALL.iter().find(is_common).copied();
        Wrapper {
            form: form.filter(|_| !has_bare_lines),
            parts: LineParts::default(),
        }
    }

    /// Returns true if lines have a wrapper.
    pub fn is_present(&self) -> bool {
        self.form.is_some()
    }

    /// Returns true if lines have the name of a container. A log can then contain the lines of
    /// multiple containers.
    pub fn has_names(&self) -> bool {
        matches!(self.form, Some(WrapperForm::Service | WrapperForm::Pod))
    }

    /// Returns true if the lines can be parts of longer lines.
    pub fn can_split_lines(&self) -> bool {
        self.form == Some(WrapperForm::Cri)
    }

    /// Returns the text of a line.
    ///
    /// The text is incomplete if a container runtime split the program's line into parts.
    pub fn text<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let split = self.form.and_then(|form| form.split(line));
        split.map_or(line, |(_, text, _)| text)
    }

    /// Returns the container or the stream of a line. Empty if the line has no wrapper.
    pub fn source<'l>(&self, line: &'l [u8]) -> &'l [u8] {
        let split = self.form.and_then(|form| form.split(line));
        split.map_or(b"", |(source, _, _)| source)
    }

    /// Removes the wrapper of a line.
    ///
    /// Returns `None` if more parts of the program's line follow.
    pub fn unwrap<'l>(&mut self, line: &'l [u8]) -> Option<UnwrappedLine<'l>> {
        let split = self.form.and_then(|form| form.split(line));
        let Some((source, text, is_part)) = split else {
            return Some(UnwrappedLine {
                source: b"",
                time: HeadTime::None,
                text: line.into(),
            });
        };
        let text = self.parts.join(source, text.into(), is_part)?;
        let time = match self.form {
            Some(WrapperForm::Cri) => local_time(line).map_or(HeadTime::None, |(time, _)| time),
            _ => HeadTime::None,
        };
        Some(UnwrappedLine { source, time, text })
    }
}
