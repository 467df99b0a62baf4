// SPDX-License-Identifier: Apache-2.0
//! A parser for HTTP/1.1 responses (RFC 9112) that arrive in pieces of any size.
//!
//! It never copies a body, and copies a head only if it arrives in more than one piece.

use crate::content_coding::ContentCoding;
use memchr::memchr;

/// The maximum size of a head, and of the trailers after a body, in bytes.
pub const MAX_HEAD: usize = 64 * 1024;

/// The maximum length of the line that precedes a chunk, in bytes.
const MAX_CHUNK_LINE: usize = 4096;

/// A parser for the consecutive responses on a connection.
#[derive(Debug, Default)]
pub struct ResponseReader {
    stage: HeadStage,
    head: ResponseHead,
    /// The beginning of an incomplete head.
    partial: Vec<u8>,
}

/// A response that was parsed completely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseEnd {
    /// The status code.
    pub status: u16,
    /// True if the connection may be reused.
    pub keep_alive: bool,
    /// The coding of the body.
    pub coding: ContentCoding,
}

/// An error for bytes that are not a valid HTTP/1.1 response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub &'static str);

type Result<T> = std::result::Result<T, Malformed>;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum HeadStage {
    #[default]
    Head,
    /// In a body of known length: the number of remaining bytes.
    Length(u64),
    UntilClose,
    Chunk(Chunk),
}

/// The state of parsing a chunked body (RFC 9112, section 7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    /// In the line before a chunk: the size so far, its number of digits, and the length of the line so far.
    Size(u64, u8, u16),
    /// In the spaces after the size: the size, and the length of the line so far.
    SizeSpace(u64, u16),
    /// After the semicolon, up to the end of the line: the size, and the length of the line so far.
    Extension(u64, u16),
    /// After the CR of the line: the size.
    SizeEnd(u64),
    /// In the data of a chunk: the number of remaining bytes.
    Data(u64),
    DataCr,
    DataLf,
    /// At the start of a trailer line or of the final empty line. Here and in the next three
    /// states, the number is the size of the trailers so far.
    Trailer(u32),
    /// Inside the name of a trailer field.
    TrailerName(u32),
    /// After the colon of a trailer field.
    TrailerValue(u32),
    /// After the CR of a trailer line.
    TrailerLf(u32),
    /// After the CR of the final empty line.
    End,
}

#[derive(Clone, Copy, Debug, Default)]
struct ResponseHead {
    status: u16,
    version_1_0: bool,
    length: Option<u64>,
    /// True if the last coding in the Transfer-Encoding is `chunked`. `None` if there is no
    /// Transfer-Encoding.
    chunked: Option<bool>,
    close: bool,
    stays: bool,
    coding: ContentCoding,
}

impl ResponseReader {
    /// Creates a parser at the start of a response.
    pub fn new() -> ResponseReader {
        ResponseReader::default()
    }

    /// Parses the next bytes of a response.
    ///
    /// Returns the number of bytes that belong to the response, and the response if it is complete.
    /// If the response is incomplete, all bytes belong to it. `to_head` is true if the request was
    /// a HEAD request, whose response has no body. `body` receives the pieces of the body.
    ///
    /// # Errors
    /// Returns an error if the bytes are not HTTP/1.1. In this case, the rest of the connection
    /// cannot be parsed either.
    pub fn read(
        &mut self,
        bytes: &[u8],
        to_head: bool,
        mut body: impl FnMut(&[u8]),
    ) -> Result<(usize, Option<ResponseEnd>)> {
        let mut at = 0;
        while at < bytes.len() {
            let rest = &bytes[at..];
            match self.stage {
                HeadStage::Head => {
                    let Some(used) = self.read_head(rest)? else {
                        return Ok((bytes.len(), None));
                    };
                    at += used;
                    // The final response follows an interim response (RFC 9110, section 15.2).
                    if self.head.status < 200 {
                        continue;
                    }
                    self.stage = self.head.body(to_head)?;
                    if self.stage == HeadStage::Length(0) {
                        return Ok((at, Some(self.complete())));
                    }
                }
                HeadStage::Length(left) => {
                    let n = piece(rest, left);
                    body(&rest[..n]);
                    at += n;
                    self.stage = HeadStage::Length(left - n as u64);
                    if left == n as u64 {
                        return Ok((at, Some(self.complete())));
                    }
                }
                HeadStage::UntilClose => {
                    body(rest);
                    at = bytes.len();
                }
                HeadStage::Chunk(Chunk::Data(left)) => {
                    let n = piece(rest, left);
                    body(&rest[..n]);
                    at += n;
                    self.stage = HeadStage::Chunk(match left - n as u64 {
                        0 => Chunk::DataCr,
                        left => Chunk::Data(left),
                    });
                }
                HeadStage::Chunk(chunk) => {
                    at += 1;
                    match chunk.next(rest[0])? {
                        Some(next) => self.stage = HeadStage::Chunk(next),
                        None => return Ok((at, Some(self.complete()))),
                    }
                }
            }
        }
        Ok((bytes.len(), None))
    }

    /// Handles the end of the connection.
    ///
    /// Returns the response that is completed by the end, or `None` if there was no response or it
    /// was truncated.
    ///
    /// # Errors
    /// Returns an error if the last chunk of a body has arrived, but the empty line after it is
    /// missing. A server that ends its responses this way violates HTTP, so this is not a mere
    /// interruption.
    pub fn end(&mut self) -> Result<Option<ResponseEnd>> {
        let ended = match self.stage {
            HeadStage::UntilClose => Ok(Some(self.complete())),
            HeadStage::Chunk(chunk) if chunk.is_after_last() => Err(Malformed(
                "the connection ended before the empty line after the last chunk",
            )),
            _ => Ok(None),
        };
        *self = ResponseReader::new();
        ended
    }

    fn complete(&mut self) -> ResponseEnd {
        let ResponseHead {
            status,
            version_1_0,
            close,
            stays,
            coding,
            ..
        } = self.head;
        let until_close = self.stage == HeadStage::UntilClose;
        self.stage = HeadStage::Head;
        ResponseEnd {
            status,
            keep_alive: !until_close && !close && (!version_1_0 || stays),
            coding,
        }
    }

    /// Returns the number of bytes that belong to the head, or `None` if the head is incomplete.
    fn read_head(&mut self, bytes: &[u8]) -> Result<Option<usize>> {
        if self.partial.is_empty() {
            if let Some((head, used)) = ResponseHead::parse(bytes)? {
                self.head = head;
                return Ok(Some(used));
            }
            self.keep(bytes)?;
            return Ok(None);
        }
        let before = self.partial.len();
        self.keep(&bytes[..bytes.len().min(MAX_HEAD + 1 - before)])?;
        let Some((head, used)) = ResponseHead::parse(&self.partial)? else {
            return Ok(None);
        };
        self.head = head;
        self.partial = Vec::new();
        Ok(Some(used - before))
    }

    fn keep(&mut self, bytes: &[u8]) -> Result<()> {
        self.partial.extend_from_slice(bytes);
        if self.partial.len() > MAX_HEAD {
            Err(Malformed("the response's head is longer than 64 KiB"))
        } else {
            Ok(())
        }
    }
}

/// Returns the number of bytes, but at most `left`.
fn piece(bytes: &[u8], left: u64) -> usize {
    usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()))
}

impl ResponseHead {
    /// Parses a head at the start of the bytes. Returns the head with its length, or `None` if the
    /// head is incomplete.
    fn parse(bytes: &[u8]) -> Result<Option<(ResponseHead, usize)>> {
        let mut lines = HeadLines { bytes, at: 0 };
        let Some(line) = lines.next()? else {
            // Rejects garbage without waiting for the end of the line.
            status_line_begins(bytes)?;
            return Ok(None);
        };
        let mut head = ResponseHead::status_line(line)?;
        loop {
            match lines.next()? {
                None if lines.at > MAX_HEAD => {
                    return Err(Malformed("the response's head is longer than 64 KiB"));
                }
                None => return Ok(None),
                Some([]) => return Ok(Some((head, lines.at))),
                Some(line) => match lines.continues() {
                    None => return Ok(None),
                    Some(false) => head.field(line)?,
                    Some(true) => match lines.unfold(line)? {
                        None => return Ok(None),
                        Some(field) => head.field(&field)?,
                    },
                },
            }
        }
    }

    /// Parses a line such as `HTTP/1.1 200 OK` (RFC 9112, section 4).
    fn status_line(line: &[u8]) -> Result<ResponseHead> {
        status_line_begins(line)?;
        let wrong = Malformed("the first line is not a status line");
        let (version, rest) = line.split_at_checked(9).ok_or(wrong)?;
        let (code, reason) = rest.split_at_checked(3).ok_or(wrong)?;
        let digits = code.iter().all(u8::is_ascii_digit);
        if !matches!(version, b"HTTP/1.1 " | b"HTTP/1.0 ") || !digits || code[0] == b'0' {
            return Err(wrong);
        }
        if !matches!(reason.first(), None | Some(b' ')) || !are_text(reason) {
            return Err(wrong);
        }
        let status = code.iter().fold(0, |n, c| 10 * n + u16::from(c - b'0'));
        if status == 101 {
            return Err(Malformed(
                "the server switches to a protocol that was not requested",
            ));
        }
        Ok(ResponseHead {
            status,
            version_1_0: version[7] == b'0',
            ..ResponseHead::default()
        })
    }

    /// Parses a line such as `Name: value` (RFC 9112, section 5).
    fn field(&mut self, line: &[u8]) -> Result<()> {
        let colon = memchr(b':', line).ok_or(Malformed("a header line has no colon"))?;
        let (name, value) = (&line[..colon], &line[colon + 1..]);
        if name.is_empty() || !name.iter().all(|&c| is_token(c)) {
            return Err(Malformed("a header field has an invalid name"));
        }
        if !are_text(value) {
            return Err(Malformed("a header field contains a control character"));
        }
        match name.len() {
            10 if name.eq_ignore_ascii_case(b"connection") => self.connection(value),
            14 if name.eq_ignore_ascii_case(b"content-length") => self.content_length(value)?,
            16 if name.eq_ignore_ascii_case(b"content-encoding") => self.content_coding(value),
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => self.transfer_coding(value),
            _ => {}
        }
        Ok(())
    }

    fn connection(&mut self, value: &[u8]) {
        for option in value.split(|&c| c == b',').map(<[u8]>::trim_ascii) {
            self.close |= option.eq_ignore_ascii_case(b"close");
            self.stays |= option.eq_ignore_ascii_case(b"keep-alive");
        }
    }

    /// Parses a Content-Length. Repeated equal values count as one (RFC 9110, section 8.6).
    fn content_length(&mut self, value: &[u8]) -> Result<()> {
        let wrong = Malformed("the Content-Length is not a number");
        for number in value.split(|&c| c == b',').map(<[u8]>::trim_ascii) {
            let digits = (1..=18).contains(&number.len()) && number.iter().all(u8::is_ascii_digit);
            let digits = digits.then_some(number).ok_or(wrong)?;
            let length = digits.iter().fold(0, |n, c| 10 * n + u64::from(c - b'0'));
            if self.length.is_some_and(|other| other != length) {
                return Err(Malformed("the response has two different Content-Lengths"));
            }
            self.length = Some(length);
        }
        Ok(())
    }

    /// Records a content coding. If there are multiple codings, the server applied them one after
    /// another.
    fn content_coding(&mut self, value: &[u8]) {
        self.coding = match self.coding {
            ContentCoding::Identity => ContentCoding::parse(value),
            _ => ContentCoding::Unknown,
        };
    }

    fn transfer_coding(&mut self, value: &[u8]) {
        let last = value.rsplit(|&c| c == b',').next().unwrap_or_default();
        self.chunked = Some(last.trim_ascii().eq_ignore_ascii_case(b"chunked"));
    }

    /// Returns the stage of the body that follows the head (RFC 9112, section 6.3).
    fn body(&self, to_head: bool) -> Result<HeadStage> {
        if to_head || self.status == 204 || self.status == 304 {
            return Ok(HeadStage::Length(0));
        }
        match (self.chunked, self.length) {
            (Some(_), Some(_)) => Err(Malformed(
                "the response has both a Transfer-Encoding and a Content-Length",
            )),
            (Some(_), None) if self.version_1_0 => Err(Malformed(
                "the response has a Transfer-Encoding in HTTP/1.0",
            )),
            (Some(true), None) => Ok(HeadStage::Chunk(Chunk::Size(0, 0, 0))),
            (None, Some(length)) => Ok(HeadStage::Length(length)),
            (Some(false) | None, None) => Ok(HeadStage::UntilClose),
        }
    }
}

/// Iterates over the lines of a head, without line endings. A lone LF also ends a line (RFC 9112, section 2.2).
struct HeadLines<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> HeadLines<'a> {
    /// Returns the next line, or `None` if it is incomplete.
    fn next(&mut self) -> Result<Option<&'a [u8]>> {
        let rest = &self.bytes[self.at..];
        let Some(end) = memchr(b'\n', rest) else {
            return Ok(None);
        };
        self.at += end + 1;
        if self.at > MAX_HEAD {
            return Err(Malformed("the response's head is longer than 64 KiB"));
        }
        let line = &rest[..end];
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// Returns true if the next line continues the current field, or `None` if that line has not arrived yet.
    fn continues(&self) -> Option<bool> {
        let first = self.bytes.get(self.at)?;
        Some(is_blank(*first))
    }

    /// Joins the lines of a folded field. A space replaces each line break (RFC 9112, section 5.2).
    ///
    /// Returns `None` if the field is incomplete.
    fn unfold(&mut self, first: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut field = first.to_vec();
        loop {
            match self.continues() {
                None => return Ok(None),
                Some(false) => return Ok(Some(field)),
                Some(true) => {}
            }
            let Some(line) = self.next()? else {
                return Ok(None);
            };
            // One space replaces all leading spaces and tabs of a line. A CR within a line is not a space.
            let text = line
                .iter()
                .position(|&c| !is_blank(c))
                .unwrap_or(line.len());
            field.push(b' ');
            field.extend_from_slice(&line[text..]);
        }
    }
}

/// Returns an error unless a response can begin with `bytes`.
fn status_line_begins(bytes: &[u8]) -> Result<()> {
    let begin = b"HTTP/1.";
    let n = bytes.len().min(begin.len());
    if bytes[..n] == begin[..n] {
        Ok(())
    } else {
        Err(Malformed("the response does not begin with HTTP/1."))
    }
}

impl Chunk {
    /// Returns true if the last chunk has arrived, but not everything that follows it.
    fn is_after_last(self) -> bool {
        matches!(
            self,
            Chunk::Trailer(_)
                | Chunk::TrailerName(_)
                | Chunk::TrailerValue(_)
                | Chunk::TrailerLf(_)
                | Chunk::End
        )
    }

    /// Returns the state after one more byte, or `None` if the body is complete.
    fn next(self, byte: u8) -> Result<Option<Chunk>> {
        let line = Malformed("a chunk has an invalid size");
        let trailer = Malformed("the trailers after the body are invalid");
        Ok(Some(match (self, byte) {
            (Chunk::Size(size, digits, n), _) if byte.is_ascii_hexdigit() => {
                let digit = (byte as char).to_digit(16).unwrap_or(0);
                // No body has a size of sixteen digits.
                let digits = Some(digits + 1).filter(|&d| d < 16).ok_or(line)?;
                Chunk::Size(16 * size + u64::from(digit), digits, n + 1)
            }
            (Chunk::Size(_, 0, _), _) => return Err(line),
            (Chunk::Size(size, ..), b'\r') => Chunk::SizeEnd(size),
            (Chunk::SizeSpace(size, _) | Chunk::Extension(size, _), b'\r') => Chunk::SizeEnd(size),
            (Chunk::SizeSpace(_, n) | Chunk::Extension(_, n), _)
                if usize::from(n) >= MAX_CHUNK_LINE =>
            {
                return Err(line);
            }
            (Chunk::Size(size, _, n) | Chunk::SizeSpace(size, n), b' ' | b'\t') => {
                Chunk::SizeSpace(size, n + 1)
            }
            (Chunk::Size(size, _, n) | Chunk::SizeSpace(size, n), b';') => {
                Chunk::Extension(size, n + 1)
            }
            (Chunk::Extension(size, n), _) if is_text(byte) => Chunk::Extension(size, n + 1),
            (Chunk::SizeEnd(0), b'\n') => Chunk::Trailer(0),
            (Chunk::SizeEnd(size), b'\n') => Chunk::Data(size),
            (Chunk::DataCr, b'\r') => Chunk::DataLf,
            (Chunk::DataLf, b'\n') => Chunk::Size(0, 0, 0),
            (Chunk::DataCr | Chunk::DataLf, _) => {
                return Err(Malformed("a chunk is longer than its declared size"));
            }
            (Chunk::Trailer(_), b'\r') => Chunk::End,
            (Chunk::Trailer(n) | Chunk::TrailerName(n) | Chunk::TrailerValue(n), _)
                if n as usize >= MAX_HEAD =>
            {
                return Err(trailer);
            }
            (Chunk::Trailer(n) | Chunk::TrailerName(n), _) if is_token(byte) => {
                Chunk::TrailerName(n + 1)
            }
            // A folded trailer continues in this line.
            (Chunk::Trailer(n), _) if n > 0 && is_blank(byte) => Chunk::TrailerValue(n + 1),
            (Chunk::TrailerName(n), b':') => Chunk::TrailerValue(n + 1),
            (Chunk::TrailerValue(n), b'\r') => Chunk::TrailerLf(n + 1),
            (Chunk::TrailerValue(n), _) if is_text(byte) => Chunk::TrailerValue(n + 1),
            (Chunk::TrailerLf(n), b'\n') => Chunk::Trailer(n + 1),
            (Chunk::End, b'\n') => return Ok(None),
            (
                Chunk::Size(..) | Chunk::SizeSpace(..) | Chunk::Extension(..) | Chunk::SizeEnd(_),
                _,
            ) => return Err(line),
            (_, _) => return Err(trailer),
        }))
    }
}

/// Returns true if the byte is valid in a field value or a reason phrase (RFC 9110, section 5.5).
fn is_text(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7f)
}

/// Returns true for a space or tab. A line that starts with one continues the field before it (RFC
/// 9112, section 5.2).
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// Returns true if the byte is valid in a field name (RFC 9110, section 5.6.2).
fn is_token(byte: u8) -> bool {
    TOKEN[usize::from(byte)]
}

/// A lookup table for [`is_token`]. Without it, checking field names would take most of the time
/// for parsing a head.
static TOKEN: [bool; 256] = {
    let (mut token, mut byte) = ([false; 256], 0);
    while byte < 128 {
        token[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let (others, mut n) = (b"!#$%&'*+-.^_`|~", 0);
    while n < others.len() {
        token[others[n] as usize] = true;
        n += 1;
    }
    token
};

/// Returns true if all bytes are valid in a field value or a reason phrase.
///
/// The loop runs to the end in any case, so that the compiler can vectorize it.
fn are_text(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |all, &byte| all & is_text(byte))
}
