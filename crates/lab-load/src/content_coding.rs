// SPDX-License-Identifier: Apache-2.0
//! Content codings of bodies (RFC 9110, section 8.4).

use flate2::bufread::GzDecoder;
use flate2::read::{DeflateDecoder, ZlibDecoder};
use std::io::{self, Read};

/// The coding of a body, as named by `Content-Encoding`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ContentCoding {
    /// No coding.
    #[default]
    Identity,
    /// The gzip format (RFC 1952), with one or more members.
    Gzip,
    /// The zlib format (RFC 1950). Some servers send bare DEFLATE data (RFC 1951), which clients
    /// accept, too.
    Deflate,
    /// The Brotli format (RFC 7932).
    Brotli,
    /// The Zstandard format (RFC 8878). The window is at most 8 MiB (RFC 9659), which limits the
    /// memory that a server can make benchlab allocate.
    Zstd,
    /// An unknown coding, or multiple codings.
    Unknown,
}

/// The maximum window size of Zstandard, as the exponent of a power of two.
const MAX_WINDOW_LOG: u32 = 23;

const BUFFER_BYTES: usize = 4096;

/// The first bytes of a gzip member (RFC 1952, section 2.3).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The result of decoding a body up to a limit.
#[derive(Debug)]
pub struct DecodedBody {
    /// The decoded bytes, up to the limit.
    pub bytes: Vec<u8>,
    /// True if the body was decoded to its end without exceeding the limit.
    pub is_complete: bool,
}

impl ContentCoding {
    /// Parses the value of a `Content-Encoding` header.
    pub fn parse(value: &[u8]) -> ContentCoding {
        let value = value.trim_ascii();
        let is = |name: &str| value.eq_ignore_ascii_case(name.as_bytes());
        match () {
            () if value.is_empty() || is("identity") => ContentCoding::Identity,
            () if is("gzip") || is("x-gzip") => ContentCoding::Gzip,
            () if is("deflate") => ContentCoding::Deflate,
            () if is("br") => ContentCoding::Brotli,
            () if is("zstd") => ContentCoding::Zstd,
            () => ContentCoding::Unknown,
        }
    }

    /// Decodes at most `limit` bytes. Returns `None` if the coding is unknown.
    pub fn decode(self, body: &[u8], limit: u64) -> Option<DecodedBody> {
        let decoder: io::Result<Box<dyn Read + '_>> = match self {
            ContentCoding::Identity => Ok(Box::new(body)),
            ContentCoding::Gzip => Ok(Box::new(GzipMembers(GzDecoder::new(body)))),
            ContentCoding::Deflate if has_zlib_header(body) => Ok(Box::new(ZlibDecoder::new(body))),
            ContentCoding::Deflate => Ok(Box::new(DeflateDecoder::new(body))),
            ContentCoding::Brotli => {
                let decoder = brotli_decompressor::Decompressor::new(body, BUFFER_BYTES);
                Ok(Box::new(decoder))
            }
            ContentCoding::Zstd => {
                zstd_decoder(body).map(|decoder| Box::new(decoder) as Box<dyn Read>)
            }
            ContentCoding::Unknown => return None,
        };
        let mut bytes = Vec::new();
        let read = decoder.and_then(|decoder| decoder.take(limit + 1).read_to_end(&mut bytes));
        let is_complete = read.is_ok() && bytes.len() as u64 <= limit;
        bytes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Some(DecodedBody { bytes, is_complete })
    }
}

/// Decodes all members of a gzip file (RFC 1952, section 2.2). Contains the decoder of the current
/// member.
///
/// Like other clients, it ignores bytes after a member that do not begin another one.
struct GzipMembers<'b>(GzDecoder<&'b [u8]>);

impl Read for GzipMembers<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.0.read(buffer)?;
            let rest: &[u8] = self.0.get_ref();
            if read > 0 || buffer.is_empty() || !rest.starts_with(&GZIP_MAGIC) {
                return Ok(read);
            }
            self.0 = GzDecoder::new(rest);
        }
    }
}

/// Returns true if a body begins with a zlib header (RFC 1950, section 2.2): the method DEFLATE, and
/// a check value that makes the first two bytes a multiple of 31.
fn has_zlib_header(body: &[u8]) -> bool {
    let &[method, flags, ..] = body else {
        return true;
    };
    method & 0x0f == 8 && u16::from_be_bytes([method, flags]).is_multiple_of(31)
}

fn zstd_decoder(body: &[u8]) -> io::Result<zstd::Decoder<'_, &[u8]>> {
    let mut decoder = zstd::Decoder::with_buffer(body)?;
    decoder.window_log_max(MAX_WINDOW_LOG)?;
    Ok(decoder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::{DeflateEncoder, GzEncoder, ZlibEncoder};

    fn encoded(mut encoder: impl Read) -> Vec<u8> {
        let mut bytes = Vec::new();
        encoder
            .read_to_end(&mut bytes)
            .expect("reading from memory cannot fail");
        bytes
    }

    #[test]
    fn bodies_are_decoded_as_their_field_says() {
        let plain = b"{\"ok\":true}".repeat(20);
        let gzip = encoded(GzEncoder::new(&plain[..], Compression::default()));
        let zlib = encoded(ZlibEncoder::new(&plain[..], Compression::default()));
        let (first, second) = plain.split_at(7);
        let members =
            [first, second].map(|part| encoded(GzEncoder::new(part, Compression::fast())));
        let members = members.concat();
        let bare = encoded(DeflateEncoder::new(&plain[..], Compression::default()));
        let zstd = zstd::encode_all(&plain[..], 3).expect("reading from memory cannot fail");
        // Created in Node.js: zlib.brotliCompressSync("hello\n")
        let brotli = [0x8b, 0x02, 0x80, 0x68, 0x65, 0x6c, 0x6c, 0x6f, 0x0a, 0x03];
        for (name, body, expected) in [
            (&b""[..], &plain[..], &plain[..]),
            (b" identity ", &plain, &plain),
            (b"gzip", &gzip, &plain),
            (b"X-GZip", &gzip, &plain),
            (b"gzip", &members, &plain),
            (b"deflate", &zlib, &plain),
            (b"deflate", &bare, &plain),
            (b"zstd", &zstd, &plain),
            (b"br", &brotli, b"hello\n"),
        ] {
            let coding = ContentCoding::parse(name);
            let decoded = coding.decode(body, 1000).expect("the coding is known");
            assert_eq!(decoded.bytes, expected, "{coding:?}");
            assert!(decoded.is_complete, "{coding:?}");
            let limited = coding.decode(body, 3).expect("the coding is known");
            assert_eq!(
                (limited.bytes.len(), limited.is_complete),
                (3, false),
                "{coding:?}"
            );
            let cut = coding
                .decode(&body[..body.len() - 1], 1000)
                .expect("the coding is known");
            assert!(
                coding == ContentCoding::Identity || !cut.is_complete,
                "{coding:?}"
            );
        }
        assert!(
            ContentCoding::parse(b"gzip, br")
                .decode(&gzip, 1000)
                .is_none()
        );
        let padded = ContentCoding::Gzip.decode(&[&gzip[..], &[0; 9]].concat(), 1000);
        assert!(padded.is_some_and(|padded| padded.is_complete && padded.bytes == plain));
        let noise = ContentCoding::Gzip.decode(b"\x1f\x8bnoise", 1000);
        assert!(noise.is_some_and(|noise| !noise.is_complete));
    }
}
