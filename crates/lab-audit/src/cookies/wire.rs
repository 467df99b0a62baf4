// SPDX-License-Identifier: Apache-2.0
//! The size of cookies on the wire.

use httlib_hpack::Encoder;

/// The size of `Cookie: ` and the line end, in bytes.
pub const FIELD: usize = "Cookie: \r\n".len();
/// The size of `; ` between two cookies (RFC 6265, 4.2.1), in bytes.
pub const SEPARATOR: usize = 2;

/// The HTTP/2 header compression (HPACK) of one connection, as browsers implement it.
///
/// Each cookie is a separate header field (RFC 9113, 8.2.3), is Huffman-coded, and is added to the dynamic table of
/// 4096 bytes (RFC 7541, 4.2).
pub struct Http2 {
    encoder: Encoder<'static>,
}

impl Http2 {
    /// Creates the state of a new connection.
    pub fn new() -> Http2 {
        Http2 {
            encoder: Encoder::with_dynamic_size(4096),
        }
    }

    /// Returns the number of bytes that `cookies` add to the next request of the connection. Each
    /// cookie is given as `name=value`.
    pub fn bytes(&mut self, cookies: &[String]) -> usize {
        let flags = Encoder::WITH_INDEXING
            | Encoder::HUFFMAN_NAME
            | Encoder::HUFFMAN_VALUE
            | Encoder::BEST_FORMAT;
        let mut wire = Vec::new();
        for cookie in cookies {
            let field = (b"cookie".to_vec(), cookie.as_bytes().to_vec(), flags);
            // Encoding fails only if a name does not fit in a table.
            if self.encoder.encode(field, &mut wire).is_err() {
                wire.extend(cookie.as_bytes());
            }
        }
        wire.len()
    }
}

impl Default for Http2 {
    fn default() -> Http2 {
        Http2::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_those_of_the_table_and_the_huffman_code() {
        let mut connection = Http2::new();
        // Index 32 of the static table with indexing takes 1 byte, and a length 1 byte; "a=1" is 5 + 6 + 5 bits.
        assert_eq!(connection.bytes(&["a=1".into()]), 1 + 1 + 2);
        assert_eq!(connection.bytes(&["a=1".into()]), 1);
        // An entry takes 32 bytes in addition to name and value, so an entry over 4096 bytes is never in the table.
        let long = format!("b={}", "x".repeat(4096));
        let first = connection.bytes(std::slice::from_ref(&long));
        assert_eq!(connection.bytes(&[long]), first);
    }
}
