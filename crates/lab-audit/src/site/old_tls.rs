// SPDX-License-Identifier: Apache-2.0
//! Probes for TLS 1.0 and 1.1.
//!
//! The client sends a ClientHello that offers no later version, and reads the first record of the response (RFC 2246,
//! 6.2 and 7.4; RFC 5246, appendix A).

use std::io::{Read, Write};

/// Cipher suites that servers with old TLS versions support: AES and 3DES, with and without forward
/// secrecy.
const SUITES: [u16; 8] = [
    0xc014, 0xc013, 0xc00a, 0xc009, 0x0039, 0x0033, 0x0035, 0x002f,
];

/// Returns true if the server accepts `version`, which is 0x0301 (TLS 1.0) or 0x0302 (TLS 1.1).
///
/// Returns a message if the response is inconclusive.
pub fn speaks(stream: &mut (impl Read + Write), host: &str, version: u16) -> Result<bool, String> {
    let no_answer = |e: std::io::Error| format!("no response: {e}");
    stream
        .write_all(&client_hello(host, version))
        .map_err(no_answer)?;
    let mut head = [0; 5];
    match stream.read_exact(&mut head) {
        // Some servers close the connection immediately if they do not support the version.
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(false),
        Err(e) if e.kind() == std::io::ErrorKind::ConnectionReset => return Ok(false),
        other => other.map_err(no_answer)?,
    }
    parse_response(head, stream, version)
}

fn parse_response(head: [u8; 5], stream: &mut impl Read, version: u16) -> Result<bool, String> {
    let no_tls = || "the response is not TLS".to_owned();
    let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
    // RFC 8446, 5.1: a record contains at most 2^14 bytes.
    if head[1] != 3 || length == 0 || length > 1 << 14 {
        return Err(no_tls());
    }
    match head[0] {
        // alert
        21 => Ok(false),
        // handshake: ServerHello is type 2, three bytes of length, then the version
        22 if length >= 6 => {
            let mut hello = [0; 6];
            stream.read_exact(&mut hello).map_err(|_| no_tls())?;
            Ok(hello[0] == 2 && u16::from_be_bytes([hello[4], hello[5]]) == version)
        }
        _ => Err(no_tls()),
    }
}

fn client_hello(host: &str, version: u16) -> Vec<u8> {
    let mut body = version.to_be_bytes().to_vec();
    // The client random protects nothing, because the handshake is never finished.
    body.extend([0x5a; 32]);
    body.push(0);
    with_length(&mut body, &SUITES.map(u16::to_be_bytes).concat());
    body.extend([1, 0]);
    let mut extensions = Vec::new();
    if host.parse::<std::net::IpAddr>().is_err() && host.len() < 256 {
        // server_name (RFC 6066): a list of one name of type 0
        let mut name = vec![0];
        with_length(&mut name, host.as_bytes());
        let mut list = Vec::new();
        with_length(&mut list, &name);
        extensions.extend([0, 0]);
        with_length(&mut extensions, &list);
    }
    // supported_groups: P-256, P-384; ec_point_formats: uncompressed (RFC 8422)
    extensions.extend([0, 10, 0, 6, 0, 4, 0, 23, 0, 24]);
    extensions.extend([0, 11, 0, 2, 1, 0]);
    with_length(&mut body, &extensions);
    let mut message = vec![1, 0];
    with_length(&mut message, &body);
    let mut record = vec![22, 3, 1];
    with_length(&mut record, &message);
    record
}

/// Appends bytes, preceded by their length as a two-byte integer.
fn with_length(to: &mut Vec<u8>, bytes: &[u8]) {
    to.extend((bytes.len() as u16).to_be_bytes());
    to.extend(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server that responds with the given bytes.
    struct CannedServer(std::io::Cursor<Vec<u8>>);

    impl Read for CannedServer {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0.read(buffer)
        }
    }

    impl Write for CannedServer {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn responses_of_all_kinds_are_distinguished() {
        let result_of = |bytes: &[u8]| {
            speaks(
                &mut CannedServer(std::io::Cursor::new(bytes.to_vec())),
                "a.example",
                0x0301,
            )
        };
        let hello = |version: [u8; 2]| [22, 3, 1, 0, 6, 2, 0, 0, 70, version[0], version[1]];
        assert_eq!(result_of(&hello([3, 1])), Ok(true));
        assert_eq!(result_of(&hello([3, 3])), Ok(false));
        assert_eq!(result_of(&[21, 3, 1, 0, 2, 2, 70]), Ok(false), "an alert");
        assert_eq!(result_of(&[]), Ok(false), "closed");
        for malformed in [
            &b"HTTP/1.1 400 Bad"[..],
            &[22, 3, 1, 0xff, 0xff, 2],
            &[22, 3, 1, 0, 6, 2],
            &[23, 3, 1, 0, 6, 0, 0, 0, 0, 0, 0],
        ] {
            assert!(result_of(malformed).is_err(), "{malformed:?}");
        }
    }
}
