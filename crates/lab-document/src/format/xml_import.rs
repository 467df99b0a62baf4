// SPDX-License-Identifier: Apache-2.0
//! Imports results from XML files, within limits.
//!
//! Rejects document types, and all entities except for those predefined in XML. Also rejects files
//! that exceed the limits on size, depth or number of elements.

use lab_model::{Imported, ImportedTime};
use quick_xml::Reader;
use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};

/// Limits for an imported file.
#[derive(Clone, Copy, Debug)]
pub struct ImportLimits {
    /// The maximum size in bytes; 16 MiB by default.
    pub bytes: usize,
    /// The maximum nesting depth of elements; 16 by default.
    pub depth: usize,
    /// The maximum number of `<benchmark>` and `<time>` elements; 100,000 by default.
    pub elements: usize,
}

impl Default for ImportLimits {
    fn default() -> Self {
        ImportLimits {
            bytes: 16 << 20,
            depth: 16,
            elements: 100_000,
        }
    }
}

/// The error for an invalid file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ImportError {
    /// The line number, starting at 1.
    pub line: usize,
    /// The column in characters, starting at 1.
    pub column: usize,
    /// The problem and its solution.
    pub message: String,
}

/// Reads a file of `<benchmark>` elements.
///
/// A file may contain one such element as the root, multiple within `<benchmarks>`, or multiple in
/// sequence, as in concatenated files. A root element `<measures>`, as Util.Measures writes it,
/// becomes a benchmark without language and driver.
///
/// Times have a unit: `ns`, `us`, `µs`, `ms` or `s`. `rss_size` and `peak_rss_size` are in KiB, and `user_time` and
/// `sys_time` in ms. 0 means unknown. Without `total`, `time` is the total time of `count` operations, as in
/// Util.Measures. With `total`, the time of one operation is `total / count`, because earlier tools rounded `time` to
/// microseconds.
///
/// Unknown elements and attributes are ignored.
pub fn import_xml(text: &[u8], limits: &ImportLimits) -> Result<Vec<Imported>, ImportError> {
    if text.len() > limits.bytes {
        let message = format!(
            "the file has {} bytes; the maximum is {} bytes",
            text.len(),
            limits.bytes
        );
        return Err(ImportError {
            line: 1,
            column: 1,
            message,
        });
    }
    let text = std::str::from_utf8(text).map_err(|error| {
        let valid = &text[..error.valid_up_to()];
        error_at(
            &String::from_utf8_lossy(valid),
            valid.len(),
            "the file is not UTF-8; convert it to UTF-8".into(),
        )
    })?;
    let mut import = Import {
        limits,
        open: Vec::new(),
        benchmarks: Vec::new(),
        elements: 0,
        has_root: false,
    };
    let mut reader = Reader::from_str(text);
    loop {
        let begin = position(reader.buffer_position());
        let event = reader.read_event();
        let event = event.map_err(|e| {
            error_at(
                text,
                position(reader.error_position()),
                format!("not well-formed XML: {e}"),
            )
        })?;
        if matches!(event, Event::Eof) {
            return import
                .finish()
                .map_err(|message| error_at(text, text.len(), message));
        }
        import
            .event(event)
            .map_err(|message| error_at(text, begin, message))?;
    }
}

/// The state of an import.
struct Import<'l> {
    limits: &'l ImportLimits,
    open: Vec<ElementKind>,
    benchmarks: Vec<Imported>,
    elements: usize,
    has_root: bool,
}

/// The kind of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ElementKind {
    Benchmarks,
    Benchmark,
    Measures,
    Time,
    Other,
}

impl Import<'_> {
    fn event(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::Empty(tag) => {
                self.start(&tag)?;
                self.open.pop();
                Ok(())
            }
            Event::End(_) => {
                self.open.pop();
                Ok(())
            }
            Event::DocType(_) => Err(
                "document types are not supported; remove the <!DOCTYPE> and its entities".into(),
            ),
            Event::GeneralRef(name) if !is_known_reference(&name) => Err(format!(
                "the entity &{}; is not supported; replace it with its text",
                &*name
            )),
            Event::Text(words) if self.open.is_empty() && !words.trim().is_empty() => {
                Err("text outside of <benchmark>: this is not a results file".into())
            }
            _ => Ok(()),
        }
    }

    fn start(&mut self, tag: &BytesStart) -> Result<(), String> {
        let kind = kind(tag.name().as_ref());
        let parent = self.open.last().copied();
        match (kind, parent) {
            (ElementKind::Benchmark, None | Some(ElementKind::Benchmarks)) => {
                self.count()?;
                self.benchmarks.push(benchmark(tag)?);
            }
            (ElementKind::Benchmarks, None)
            | (ElementKind::Measures, Some(ElementKind::Benchmark)) => {}
            (ElementKind::Measures, None) => self.benchmarks.push(Imported::default()),
            (ElementKind::Time, Some(ElementKind::Measures)) => {
                self.count()?;
                let time = time(tag)?;
                let benchmark = self
                    .benchmarks
                    .last_mut()
                    .ok_or("<time> outside of <benchmark>")?;
                benchmark.times.push(time);
            }
            (ElementKind::Other, Some(_)) => {}
            (ElementKind::Other, None) => {
                let name = tag.name().as_ref().to_string();
                return Err(format!(
                    "the root is <{name}>; expected <benchmark>, <benchmarks> or <measures>"
                ));
            }
            _ => {
                let name = tag.name().as_ref().to_string();
                return Err(format!(
                    "<{name}> does not belong here; expected benchmark > measures > time"
                ));
            }
        }
        self.has_root = true;
        self.open.push(kind);
        if self.open.len() > self.limits.depth {
            return Err(format!(
                "elements are nested deeper than {}",
                self.limits.depth
            ));
        }
        Ok(())
    }

    fn count(&mut self) -> Result<(), String> {
        self.elements += 1;
        if self.elements > self.limits.elements {
            return Err(format!(
                "there are more than {} <benchmark> and <time> elements",
                self.limits.elements
            ));
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<Imported>, String> {
        match (self.has_root, self.open.is_empty()) {
            (false, _) => Err("there is no <benchmark> in the file".into()),
            (true, false) => Err("the file ends within an element: it is truncated".into()),
            (true, true) => Ok(self.benchmarks),
        }
    }
}

fn kind(name: &str) -> ElementKind {
    match name {
        "benchmarks" => ElementKind::Benchmarks,
        "benchmark" => ElementKind::Benchmark,
        "measures" => ElementKind::Measures,
        "time" => ElementKind::Time,
        _ => ElementKind::Other,
    }
}

fn benchmark(tag: &BytesStart) -> Result<Imported, String> {
    Ok(Imported {
        language: text(tag, "language")?.unwrap_or_default(),
        driver: text(tag, "driver")?.unwrap_or_default(),
        threads: scaled(tag, "threads", 1)?,
        rss_bytes: scaled(tag, "rss_size", 1024)?,
        peak_rss_bytes: scaled(tag, "peak_rss_size", 1024)?,
        user_ns: scaled(tag, "user_time", 1_000_000)?,
        sys_ns: scaled(tag, "sys_time", 1_000_000)?,
        ..Imported::default()
    })
}

fn time(tag: &BytesStart) -> Result<ImportedTime, String> {
    let title = text(tag, "title")?.ok_or("<time> has no title")?;
    let count = text(tag, "count")?.ok_or("<time> has no count")?;
    let number = count.trim().parse::<u64>().ok().filter(|n| *n > 0);
    let count =
        number.ok_or_else(|| format!("count=\"{count}\" is not a whole number of 1 or more"))?;
    let time = duration(tag, "time")?;
    let total_ns = match duration(tag, "total")? {
        Some(total) => total,
        None => time.ok_or("<time> has neither time nor total")?,
    };
    Ok(ImportedTime {
        title,
        count,
        time_ns: total_ns / count as f64,
        total_ns,
    })
}

/// Returns the unescaped value of an attribute.
fn text(tag: &BytesStart, name: &str) -> Result<Option<String>, String> {
    let attribute = tag.try_get_attribute(name).map_err(|e| e.to_string())?;
    let value = attribute.map(|attribute| attribute.normalized_value(XmlVersion::Implicit1_0));
    let value = value.transpose().map_err(|e| e.to_string())?;
    Ok(value.map(|value| value.into_owned()))
}

/// Parses an attribute as an integer and multiplies it by `unit`. Returns `None` if the attribute is missing or 0.
fn scaled(tag: &BytesStart, name: &str, unit: u64) -> Result<Option<u64>, String> {
    let Some(text) = text(tag, name)? else {
        return Ok(None);
    };
    let number = text.trim().parse::<u64>().ok();
    match number.and_then(|n| n.checked_mul(unit)) {
        Some(0) => Ok(None),
        Some(n) => Ok(Some(n)),
        None => Err(format!(
            "{name}=\"{text}\" is not a whole number of 0 or more, or is too large"
        )),
    }
}

fn duration(tag: &BytesStart, name: &str) -> Result<Option<f64>, String> {
    let text = text(tag, name)?;
    let read = |text: String| {
        nanoseconds(&text).ok_or_else(|| {
            format!(
                "{name}=\"{text}\" is not a time; expected a number and ns, us, ms or s, such as 2.5 us"
            )
        })
    };
    text.map(read).transpose()
}

/// Parses a time such as `2.5 us` or `406.000000000us`, between 0 and a thousand years.
fn nanoseconds(text: &str) -> Option<f64> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?;
    let (number, unit) = text.split_at(split);
    let scale = match unit.trim_start() {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    let ns = number.parse::<f64>().ok()? * scale;
    (0.0..3.2e19).contains(&ns).then_some(ns)
}

/// Returns true for the five entities predefined in XML and for numeric character references.
fn is_known_reference(name: &str) -> bool {
    matches!(name, "lt" | "gt" | "amp" | "apos" | "quot") || name.starts_with('#')
}

fn position(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// Creates an error at the position of a byte offset in the text.
fn error_at(text: &str, byte: usize, message: String) -> ImportError {
    let mut byte = byte.min(text.len());
    while !text.is_char_boundary(byte) {
        byte -= 1;
    }
    let before = &text[..byte];
    let line_begin = before.rfind('\n').map_or(0, |i| i + 1);
    ImportError {
        line: before.matches('\n').count() + 1,
        column: before[line_begin..].chars().count() + 1,
        message,
    }
}
