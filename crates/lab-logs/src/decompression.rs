// SPDX-License-Identifier: Apache-2.0
//! Decompresses logs.

use flate2::bufread::GzDecoder;
use std::io::{self, BufRead, BufReader, Read};

/// The size of the buffer for compressed bytes.
const BUFFER: usize = 256 << 10;

/// Decompresses gzip and zstd, which are detected by their first bytes. Passes other input through.
pub fn decompressed<'r>(input: impl Read + 'r) -> io::Result<Box<dyn Read + 'r>> {
    let mut input = BufReader::with_capacity(BUFFER, input);
    // A pipe may return fewer bytes than requested.
    let mut magic = [0; 4];
    let mut n = 0;
    while n < magic.len() {
        match input.read(&mut magic[n..])? {
            0 => break,
            more => n += more,
        }
    }
    let input = io::Cursor::new(magic[..n].to_vec()).chain(input);
    Ok(match magic {
        [0x1f, 0x8b, ..] if n == 4 => Box::new(GzipMembers {
            member: Some(GzDecoder::new(input)),
        }),
        [0x28, 0xb5, 0x2f, 0xfd] => Box::new(zstd::Decoder::with_buffer(BufReader::new(input))?),
        _ => Box::new(input),
    })
}

/// Decompresses the members of a gzip file. Like gzip(1), it ignores zero bytes after a member,
/// because tapes and disks pad files with zeros.
struct GzipMembers<R> {
    /// The current member, or `None` at the end.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.member.take() {
            let outcome = member.read(buffer);
            if buffer.is_empty() || !matches!(outcome, Ok(0)) {
                self.member = Some(member);
                return outcome;
            }
            let mut rest = member.into_inner();
            if skip_zeros(&mut rest)? {
                self.member = Some(GzDecoder::new(rest));
            }
        }
        Ok(0)
    }
}

/// Skips zeros, and returns false at the end of the input.
fn skip_zeros(input: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let bytes = input.fill_buf()?;
        let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
        let (is_end, has_more) = (bytes.is_empty(), zeros < bytes.len());
        input.consume(zeros);
        if is_end || has_more {
            return Ok(has_more);
        }
    }
}
