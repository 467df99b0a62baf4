// SPDX-License-Identifier: Apache-2.0
//! Fetches a monitor's JSON with a single plain HTTP request, limited in time and size.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// The timeout for connecting, and for each read and each write.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum size of a response, in bytes.
const MAX_BYTES: u64 = 65 << 20;

/// Fetches the body of the response from a URL.
///
/// Returns an error if the URL does not begin with `http://`, if no response arrives in time, or if
/// the response's status is not 200.
pub fn fetch(url: &str) -> io::Result<Vec<u8>> {
    let error = |reason: String| io::Error::other(reason);
    let rest = url.strip_prefix("http://").ok_or_else(|| {
        error("the URL of a monitor must begin with http://; for https, pipe the output of curl to `benchlab logs -`".into())
    })?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let path = if path.is_empty() { "/" } else { path };
    if path.contains(|c: char| c.is_whitespace() || c.is_control()) || authority.contains('@') {
        return Err(error(
            "the URL contains blanks, control characters or a password".into(),
        ));
    }
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let socket = if has_port {
        authority.to_string()
    } else {
        format!("{authority}:80")
    };
    let mut addresses = socket.to_socket_addrs()?;
    let address = addresses
        .next()
        .ok_or_else(|| error(format!("cannot resolve {authority}: no address")))?;
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    // An HTTP/1.0 request never gets a chunked response (RFC 9112, 6.1).
    write!(
        stream,
        "GET {path} HTTP/1.0\r\nHost: {authority}\r\nAccept: application/json\r\nConnection: close\r\n\r\n"
    )?;
    let mut answer = Vec::new();
    stream.take(MAX_BYTES).read_to_end(&mut answer)?;
    let end = answer
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .ok_or_else(|| error("the response is not HTTP".into()))?;
    let head = String::from_utf8_lossy(&answer[..end]);
    let status = head.split_whitespace().nth(1).unwrap_or("");
    match status {
        "200" => Ok(answer.split_off(end + 4)),
        status => Err(error(format!(
            "the response has status {}, not 200",
            status.escape_default()
        ))),
    }
}
