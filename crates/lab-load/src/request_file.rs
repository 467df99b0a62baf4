// SPDX-License-Identifier: Apache-2.0
//! Request files, similar to the `.http` files that editors support.
//!
//! ```text
//! # Comments begin with # or //. A path refers to the server of the command's URL.
//! # @weight 3
//! GET /items?page=1
//! Accept: application/json
//!
//! ### A line that begins with ### ends a request
//! POST http://127.0.0.1:8080/items
//! Content-Type: application/json
//!
//! {"name": "after an empty line comes the body"}
//!
//! ###
//! PUT /items/7
//! @item.json
//! ```
//!
//! `@FILE` (or `< FILE`) reads the body from a file, relative to the directory of the request file. An inline body
//! extends to the next `###` or the end of the file, without trailing line ends and without the comments before the
//! `###`. A line that looks like the first line of a request, at the position of a header or of a body, starts the next
//! request. Lists of `GET /path` therefore need no `###`. Variables (`{{name}}`) and scripts are errors.

use crate::error::{JobError, escaped};
use crate::requests::{Header, Request, method};
use crate::target::LoadUrl;
use bytes::Bytes;
use std::path::Path;

/// The maximum size of a request file and of a body file, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// The maximum total size of all bodies, in bytes.
const MAX_BODY_BYTES: usize = 256 << 20;

/// Reads a request file. `base` is the URL of the server for lines with only a path.
///
/// # Errors
/// Returns an error if the file cannot be read, or if a line is invalid. The message contains the
/// line and its number.
pub fn read_requests(file: &Path, base: Option<&LoadUrl>) -> Result<Vec<Request>, JobError> {
    let bytes =
        content(file).map_err(|reason| JobError::new(format!("{}: {reason}", file.display())))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let reader = RequestFileReader { base, folder };
    reader.requests(&bytes).map_err(|wrong| wrong.in_file(file))
}

struct LineError {
    number: usize,
    line: String,
    reason: String,
}

impl LineError {
    fn in_file(self, file: &Path) -> JobError {
        let LineError {
            number,
            line,
            reason,
        } = self;
        let mut words = format!("{}:{number}: {reason}", file.display());
        if !line.is_empty() {
            words += &format!("\n  {number} | {}", escaped(&line));
        }
        JobError::new(words)
    }
}

#[derive(Clone, Copy)]
struct RequestLine<'a> {
    number: usize,
    /// The line without its line ending.
    text: &'a str,
    /// The line with its line ending.
    with_end: &'a str,
}

impl RequestLine<'_> {
    fn wrong(&self, reason: impl Into<String>) -> LineError {
        LineError {
            number: self.number,
            line: self.text.to_owned(),
            reason: reason.into(),
        }
    }

    fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn separates(&self) -> bool {
        self.text.starts_with("###")
    }

    fn comment(&self) -> Option<&str> {
        let text = self.text.trim_start();
        let comment = text.strip_prefix('#').or_else(|| text.strip_prefix("//"));
        comment.map(str::trim)
    }

    fn is_remark(&self) -> bool {
        self.is_empty() || (self.comment().is_some() && !self.separates())
    }

    /// Returns true if the line sets the weight of the next request.
    fn weighs(&self) -> bool {
        self.comment()
            .is_some_and(|comment| comment.starts_with("@weight"))
    }

    /// Returns true if the line looks like the first line of a request.
    fn begins(&self) -> bool {
        let mut words = self.text.split_whitespace();
        let (Some(name), Some(target)) = (words.next(), words.next()) else {
            return false;
        };
        let capital = name.bytes().all(|b| b.is_ascii_uppercase() || b == b'-');
        let target = target.to_ascii_lowercase();
        capital
            && ["/", "http://", "https://"]
                .iter()
                .any(|begin| target.starts_with(begin))
    }

    fn body_file(&self) -> Option<&str> {
        let name = self
            .text
            .strip_prefix('@')
            .or_else(|| self.text.strip_prefix("< "));
        name.map(str::trim)
    }
}

struct RequestFileReader<'a> {
    base: Option<&'a LoadUrl>,
    folder: &'a Path,
}

impl RequestFileReader<'_> {
    fn requests(&self, bytes: &[u8]) -> Result<Vec<Request>, LineError> {
        let lines = lines(bytes)?;
        let mut rest = lines.as_slice();
        let (mut requests, mut bodies) = (Vec::new(), 0);
        let mut weight = 1;
        while let Some((line, after)) = rest.split_first() {
            if line.separates() || line.is_empty() {
                rest = after;
            } else if let Some(comment) = line.comment() {
                weight = weight_in(line, comment)?.unwrap_or(weight);
                rest = after;
            } else {
                let mut request = self.first_line(line)?;
                request.weight = std::mem::replace(&mut weight, 1);
                rest = self.headers(&mut request, after)?;
                rest = self.body(&mut request, rest)?;
                bodies += request.body.len();
                if bodies > MAX_BODY_BYTES {
                    let most = MAX_BODY_BYTES >> 20;
                    return Err(line.wrong(format!(
                        "the bodies up to this line are larger than {most} MiB in total"
                    )));
                }
                requests.push(request);
            }
        }
        let empty = || LineError {
            number: lines.len().max(1),
            line: String::new(),
            reason:
                "the file contains no request; a request begins with a line such as `GET /path`"
                    .to_owned(),
        };
        if requests.is_empty() {
            Err(empty())
        } else {
            Ok(requests)
        }
    }

    fn first_line(&self, line: &RequestLine) -> Result<Request, LineError> {
        let wrong = |error: JobError| line.wrong(error.to_string());
        no_variables(line)?;
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let (name, target) = match words.as_slice() {
            [name, target] => (*name, *target),
            [name, target, version] if version.starts_with("HTTP/") => (*name, *target),
            _ => {
                let reason =
                    "a request must begin with a method and a path or URL, such as `GET /path`";
                return Err(line.wrong(reason));
            }
        };
        Ok(Request {
            method: method(name).map_err(wrong)?,
            ..Request::new(self.link(target).map_err(wrong)?)
        })
    }

    fn link(&self, target: &str) -> Result<LoadUrl, JobError> {
        match self.base {
            Some(base) if target.starts_with('/') => base.with_path(target),
            None if target.starts_with('/') => Err(JobError::new(
                "the path has no server: write the whole URL here, or specify the server on the command line",
            )),
            _ => LoadUrl::parse(target),
        }
    }

    /// Reads the headers, up to the body, the end of the request, or the next request.
    fn headers<'a>(
        &self,
        request: &mut Request,
        mut rest: &'a [RequestLine<'a>],
    ) -> Result<&'a [RequestLine<'a>], LineError> {
        while let Some((line, after)) = rest.split_first() {
            let ends = line.is_empty() || line.separates() || line.begins() || line.weighs();
            if ends || line.body_file().is_some() {
                break;
            }
            if line.comment().is_none() {
                no_variables(line)?;
                no_bare_url(line)?;
                let header = Header::parse(line.text);
                request
                    .headers
                    .push(header.map_err(|error| line.wrong(error.to_string()))?);
            }
            rest = after;
        }
        Ok(rest)
    }

    /// Reads the body, up to the end of the request or the next request.
    fn body<'a>(
        &self,
        request: &mut Request,
        rest: &'a [RequestLine<'a>],
    ) -> Result<&'a [RequestLine<'a>], LineError> {
        let remarks = rest.iter().take_while(|line| line.is_remark()).count();
        let (remarks, rest_of_it) = rest.split_at(remarks);
        let Some(first) = rest_of_it.first().filter(|l| !l.separates() && !l.begins()) else {
            return Ok(rest);
        };
        if let Some(line) = remarks.iter().find(|line| line.weighs()) {
            return Err(line.wrong("a weight comes before the first line of its request"));
        }
        if let Some(name) = first.body_file() {
            request.body = self.body_file(first, name)?;
            return Ok(&rest_of_it[1..]);
        }
        let end = rest_of_it.iter().position(RequestLine::separates);
        let (body, next) = rest_of_it.split_at(end.unwrap_or(rest_of_it.len()));
        if let Some(script) = body.iter().find(|line| line.text.starts_with("> {%")) {
            return Err(
                script.wrong("scripts are not supported; use `--expect-json` or another --expect option to check \
                     responses")
            );
        }
        body.iter().try_for_each(no_variables)?;
        let text: String = body.iter().map(|line| line.with_end).collect();
        request.body = Bytes::from(text.trim_end_matches(['\r', '\n']).to_owned());
        Ok(next)
    }

    fn body_file(&self, line: &RequestLine, name: &str) -> Result<Bytes, LineError> {
        if name.is_empty() || name.contains(" = ") {
            let reason = "a line that begins with @ names the file of a body, such as `@body.json`; variables are not supported";
            return Err(line.wrong(reason));
        }
        let bytes = content(&self.folder.join(name));
        bytes
            .map(Bytes::from)
            .map_err(|reason| line.wrong(format!("the body cannot be read: {reason}")))
    }
}

fn weight_in(line: &RequestLine, comment: &str) -> Result<Option<u32>, LineError> {
    match comment.strip_prefix("@weight") {
        None => Ok(None),
        Some(weight) => {
            match weight.trim_start_matches([' ', '\t', '=', ':']).parse() {
                Ok(weight) if weight > 0 => Ok(Some(weight)),
                _ => Err(line
                    .wrong("a weight must be a whole number of 1 or more, such as `# @weight 3`")),
            }
        }
    }
}

fn no_variables(line: &RequestLine) -> Result<(), LineError> {
    if line.text.contains("{{") {
        return Err(line.wrong("variables are not supported; write the text to send"));
    }
    Ok(())
}

/// Returns an error if the line is a bare URL, which would be parsed as a header.
fn no_bare_url(line: &RequestLine) -> Result<(), LineError> {
    match LoadUrl::parse(line.text.trim()) {
        Ok(_) => Err(line.wrong("a request must begin with a method: write `GET` before the URL")),
        Err(_) => Ok(()),
    }
}

fn lines(bytes: &[u8]) -> Result<Vec<RequestLine<'_>>, LineError> {
    let text = std::str::from_utf8(bytes).map_err(|error| LineError {
        number: 1 + bytes[..error.valid_up_to()]
            .iter()
            .filter(|b| **b == b'\n')
            .count(),
        line: String::new(),
        reason: "is not UTF-8; put a binary body into a separate file, such as `@body.bin`"
            .to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text
        .split_inclusive('\n')
        .zip(1..)
        .map(|(with_end, number)| RequestLine {
            number,
            text: with_end.trim_end_matches(['\r', '\n']),
            with_end,
        });
    Ok(lines.collect())
}

fn content(file: &Path) -> Result<Vec<u8>, String> {
    use std::io::Read;
    let opened = std::fs::File::open(file).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    // Reads one byte more than allowed, to detect a longer or endless file.
    let read = opened.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| error.to_string())?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        Err(format!("is larger than {} MiB", MAX_FILE_BYTES >> 20))
    } else {
        Ok(bytes)
    }
}
