// SPDX-License-Identifier: Apache-2.0
//! Escaping of paths in /etc/fstab and in the output of findmnt.

/// Escapes whitespace and backslashes as octal numbers, as in fstab(5).
pub fn escape(text: &str) -> String {
    text.replace('\\', r"\134")
        .replace(' ', r"\040")
        .replace('\t', r"\011")
}

/// Decodes `\x20` and similar escapes, which `findmnt --raw` uses for whitespace, backslashes and non-ASCII characters.
pub fn unescape(text: &str) -> String {
    let mut parts = text.split("\\x");
    let mut plain = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let hex = part.get(..2);
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                plain.extend(&part.as_bytes()[2..]);
            }
            None => plain.extend([b"\\x", part.as_bytes()].concat()),
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_findmnt_escaped_is_decoded() {
        assert_eq!(unescape(r"/mnt/my\x20ssd\x5cx"), r"/mnt/my ssd\x");
        assert_eq!(unescape(r"/mnt/\xc3\xa4"), "/mnt/ä");
        assert_eq!(unescape(r"/mnt/\xyz"), r"/mnt/\xyz");
    }
}
