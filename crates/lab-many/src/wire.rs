// SPDX-License-Identifier: Apache-2.0
//! Frames in a byte stream. Each has a JSON head and a binary body.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{self, Read, Write};

/// The first bytes that an agent writes. A login shell may write other output before them.
pub const MAGIC: &[u8] = b"\0benchlab-agent\0";

/// The maximum length of a head, in bytes.
const MAX_HEAD: usize = 64 << 20;
/// The maximum length of a body, in bytes.
const MAX_BODY: usize = 1 << 30;

/// Writes a frame.
pub fn write(out: &mut impl Write, head: &impl Serialize, body: &[u8]) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    let mut frame = Vec::with_capacity(8 + head.len() + body.len());
    for part in [&head[..], body] {
        let length = u32::try_from(part.len()).map_err(io::Error::other)?;
        frame.extend(length.to_be_bytes());
    }
    frame.extend(head);
    frame.extend(body);
    out.write_all(&frame)?;
    out.flush()
}

/// Reads a frame. Returns `None` if the stream ended between two frames.
pub fn read<T: DeserializeOwned>(input: &mut impl Read) -> io::Result<Option<(T, Vec<u8>)>> {
    let mut lengths = [0; 8];
    match input.read_exact(&mut lengths[..1]) {
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        first_byte => first_byte?,
    }
    input.read_exact(&mut lengths[1..])?;
    let length = |offset: usize| {
        let bytes = lengths[offset..offset + 4].try_into().unwrap_or_default();
        u32::from_be_bytes(bytes) as usize
    };
    let (head, body) = (length(0), length(4));
    if head > MAX_HEAD || body > MAX_BODY {
        return Err(io::Error::other(
            "a message is longer than the protocol allows",
        ));
    }
    let (head, body) = (exactly(input, head)?, exactly(input, body)?);
    Ok(Some((serde_json::from_slice(&head)?, body)))
}

/// Reads `length` bytes. Allocates memory as bytes arrive, rather than for the announced length.
fn exactly(input: &mut impl Read, length: usize) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() == length {
        Ok(bytes)
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

/// Reads up to and including the magic bytes, which may follow up to `max_before` other bytes.
///
/// If the magic bytes do not arrive, the error contains the received bytes.
pub fn read_magic(input: &mut impl Read, max_before: usize) -> Result<(), String> {
    let mut received = Vec::new();
    let mut byte = [0];
    while received.len() < max_before + MAGIC.len() {
        match input.read(&mut byte) {
            Ok(1) => received.push(byte[0]),
            Ok(_) => break,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        if received.ends_with(MAGIC) {
            return Ok(());
        }
    }
    Err(String::from_utf8_lossy(&received).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_round_trip_and_truncation_is_an_error() {
        let mut stream = Vec::new();
        write(&mut stream, &("a", 1), b"body").unwrap();
        write(&mut stream, &("b", 2), b"").unwrap();
        let mut input = &stream[..];
        let first: (String, u32) = ("a".into(), 1);
        assert_eq!(read(&mut input).unwrap(), Some((first, b"body".to_vec())));
        let second: (String, u32) = ("b".into(), 2);
        assert_eq!(read(&mut input).unwrap(), Some((second, Vec::new())));
        assert_eq!(read::<(String, u32)>(&mut input).unwrap(), None);
        for cut in 1..stream.len() {
            let mut input = &stream[..cut];
            let mut frames = 0;
            let end = loop {
                match read::<(String, u32)>(&mut input) {
                    Ok(Some(_)) => frames += 1,
                    other => break other,
                }
            };
            assert!(frames < 2 && (end.is_err() || frames == 1), "{cut}");
        }
    }

    #[test]
    fn an_invalid_frame_is_rejected_without_allocating() {
        assert!(read::<u32>(&mut &[0xff; 64][..]).is_err());
        assert!(read::<u32>(&mut &b"\0\0\0\x02\0\0\0\0{}"[..]).is_err());
    }

    #[test]
    fn the_beginning_is_found_after_login_shell_output() {
        let mut stream = b"Welcome to gen1\n".to_vec();
        stream.extend(MAGIC);
        stream.push(7);
        let mut input = &stream[..];
        read_magic(&mut input, 64).unwrap();
        assert_eq!(input, [7]);
        let output = read_magic(&mut &b"sh: benchlab: not found\n"[..], 64);
        assert_eq!(output.unwrap_err(), "sh: benchlab: not found");
        assert!(read_magic(&mut &[b'x'; 500][..], 64).is_err());
    }
}
