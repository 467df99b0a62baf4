// SPDX-License-Identifier: Apache-2.0
//! Percent-encoding for URLs and the subject protocol.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// All characters except the unreserved characters of RFC 3986, section 2.3.
pub const RESERVED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Encodes the `special` characters in a text as `%XX`.
pub fn encoded(text: &str, special: &'static AsciiSet) -> String {
    utf8_percent_encode(text, special).to_string()
}

/// Decodes `%XX`. Returns an error if a `%` is not followed by two hexadecimal digits, or if the
/// result is not UTF-8.
pub fn decoded(text: &str) -> Result<String, String> {
    let is_digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_hexdigit);
    let codes = text.split('%').skip(1).map(str::as_bytes);
    if codes
        .into_iter()
        .any(|c| !is_digit(c.first()) || !is_digit(c.get(1)))
    {
        return Err("a `%` is not followed by two hexadecimal digits".into());
    }
    let decoded = percent_decode_str(text).decode_utf8();
    Ok(decoded.map_err(|_| "the text is not UTF-8")?.into_owned())
}
