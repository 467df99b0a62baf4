// SPDX-License-Identifier: Apache-2.0
//! Bytes of cookies on the wire.

use httlib_hpack::Encoder;

/// `Cookie: ` and the end of the line.
pub const FIELD: usize = "Cookie: \r\n".len();
/// Between two cookies: `; ` (RFC 6265, 4.2.1).
pub const SEPARATOR: usize = 2;

/// HTTP/2 on one connection, as browsers speak it: each cookie is a field of its own (RFC 9113, 8.2.3) that
/// goes into the table of 4096 bytes (RFC 7541, 4.2), names and values in Huffman code.
pub struct Http2 {
    encoder: Encoder<'static>,
}

impl Http2 {
    /// A new connection.
    pub fn new() -> Http2 {
        Http2 {
            encoder: Encoder::with_dynamic_size(4096),
        }
    }

    /// Bytes of these cookies, as `name=value`, in the next request.
    pub fn bytes(&mut self, cookies: &[String]) -> usize {
        let flags = Encoder::WITH_INDEXING
            | Encoder::HUFFMAN_NAME
            | Encoder::HUFFMAN_VALUE
            | Encoder::BEST_FORMAT;
        let mut wire = Vec::new();
        for cookie in cookies {
            let field = (b"cookie".to_vec(), cookie.as_bytes().to_vec(), flags);
            // It fails only on names that a table cannot hold.
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
        // Index 32 of the static table with indexing is 1 byte, a length 1 byte; "a=1" is 5 + 6 + 5 bits.
        assert_eq!(connection.bytes(&["a=1".into()]), 1 + 1 + 2);
        assert_eq!(connection.bytes(&["a=1".into()]), 1);
        // An entry has 32 bytes beside name and value: one of more than 4096 is never in the table.
        let long = format!("b={}", "x".repeat(4096));
        let first = connection.bytes(std::slice::from_ref(&long));
        assert_eq!(connection.bytes(&[long]), first);
    }
}
