// SPDX-License-Identifier: Apache-2.0
//! Decodes input files into text.

use crate::cookies::input::MAX_INPUT_BYTES;
use crate::wording;
use flate2::read::MultiGzDecoder;
use std::io::Read;

/// Decodes a file into text: gzip, UTF-16 with or without a byte order mark, or UTF-8.
///
/// # Errors
///
/// Returns a message if the file cannot be decompressed, or is too long.
pub fn decode(bytes: Vec<u8>) -> Result<String, String> {
    let bytes = match bytes.as_slice() {
        [0x1f, 0x8b, ..] => decompress(&bytes)?,
        _ => bytes,
    };
    Ok(text(&bytes))
}

fn decompress(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    let decoder = MultiGzDecoder::new(bytes);
    let read = decoder.take(MAX_INPUT_BYTES + 1).read_to_end(&mut plain);
    read.map_err(|e| wording::not_gzip(&e))?;
    if plain.len() as u64 > MAX_INPUT_BYTES {
        return Err(wording::too_long(MAX_INPUT_BYTES >> 20));
    }
    Ok(plain)
}

/// Decodes UTF-16 or UTF-8. JSON begins with an ASCII character, so a zero byte next to it shows
/// UTF-16.
pub fn text(bytes: &[u8]) -> String {
    let units = |bytes: &[u8], unit: fn([u8; 2]) -> u16| -> Vec<u16> {
        let pairs = bytes.chunks_exact(2);
        pairs.map(|pair| unit([pair[0], pair[1]])).collect()
    };
    let decode = |bytes: &[u8], unit| String::from_utf16_lossy(&units(bytes, unit));
    match bytes {
        [0xff, 0xfe, rest @ ..] => decode(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => decode(rest, u16::from_be_bytes),
        [1..=0x7f, 0, 1..=0x7f, 0, ..] => decode(bytes, u16::from_le_bytes),
        [0, 1..=0x7f, 0, 1..=0x7f, ..] => decode(bytes, u16::from_be_bytes),
        bytes => String::from_utf8_lossy(bytes).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::read::GzEncoder;

    #[test]
    fn files_are_decoded_by_their_first_bytes() {
        let text = "{\"é\": 1}";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let mut gzip = Vec::new();
        let mut encoder = GzEncoder::new(text.as_bytes(), Compression::default());
        encoder.read_to_end(&mut gzip).expect("memory");
        let with_mark = |mark: [u8; 2], bytes: &[u8]| [&mark[..], bytes].concat();
        for bytes in [
            text.as_bytes().to_vec(),
            with_mark([0xff, 0xfe], &little),
            with_mark([0xfe, 0xff], &big),
            little,
            big,
            gzip.clone(),
        ] {
            assert_eq!(decode(bytes), Ok(text.to_owned()));
        }
        gzip.truncate(12);
        assert!(decode(gzip).is_err_and(|reason| reason.contains("gzip")));
    }
}
