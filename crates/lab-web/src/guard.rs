// SPDX-License-Identifier: Apache-2.0
//! Protects the pages. Other sites can neither read them nor act on behalf of the user.

use crate::address::PageAddress;
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

/// The name of the token's URL parameter and form field.
pub const TOKEN: &str = "token";

/// The headers of every response.
///
/// They prevent browsers from loading anything from other sites, from showing the pages in a frame,
/// and from guessing content types.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Decides which requests are allowed.
pub struct PageGuard {
    socket: SocketAddr,
    names: Vec<String>,
    token: String,
}

impl PageGuard {
    /// Creates a guard with a new random token.
    ///
    /// # Errors
    /// Returns an error if the system cannot generate random numbers.
    pub fn new(socket: SocketAddr, names: &[String]) -> io::Result<PageGuard> {
        let mut random = [0; 24];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        Ok(PageGuard {
            socket,
            names: names.iter().map(|name| name.to_lowercase()).collect(),
            token: random.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// Returns the address of the pages.
    pub fn address(&self) -> PageAddress {
        PageAddress {
            socket: self.socket,
            token: self.token.clone(),
        }
    }

    /// Returns the token if the request's cookies contain it.
    ///
    /// The cookie is set when the user opens the URL that the server printed.
    pub fn token_of(&self, headers: &HeaderMap) -> Option<&str> {
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter();
        let mut pairs = cookies
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let has_token = pairs.any(|(key, value)| key == name && self.is_token(value));
        has_token.then_some(&*self.token)
    }

    /// Compares text with the token in constant time.
    pub fn is_token(&self, text: &str) -> bool {
        let (expected, actual) = (self.token.as_bytes(), text.as_bytes());
        let differing = expected
            .iter()
            .zip(actual)
            .fold(0, |all, (a, b)| all | (a ^ b));
        expected.len() == actual.len() && differing == 0
    }

    /// Returns the name of the token's cookie.
    ///
    /// The name contains the port, because browsers send a host's cookies to all of the host's
    /// ports (RFC 6265, 8.5).
    fn cookie_name(&self) -> String {
        format!("benchlab_{}", self.socket.port())
    }

    fn cookie(&self) -> String {
        let (name, token) = (self.cookie_name(), &self.token);
        format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict")
    }

    /// Returns true if a host is an IP address, `localhost` or a configured name.
    ///
    /// Any port is allowed, because it may be the port of a tunnel. This check stops a site that
    /// points its own domain name at this server (DNS rebinding).
    fn is_known_host(&self, host: &str) -> bool {
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.contains(']') => (name, port),
            _ => (host, ""),
        };
        let bare = name.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
        let is_address = match bare {
            Some(v6) => v6.parse::<std::net::Ipv6Addr>().is_ok(),
            None => name.parse::<IpAddr>().is_ok_and(|ip| ip.is_ipv4()),
        };
        let name = name.to_ascii_lowercase();
        port.bytes().all(|b| b.is_ascii_digit())
            && (is_address || name == "localhost" || self.names.contains(&name))
    }

    /// Returns an error if the request comes from another site or is for another host.
    fn examine(&self, request: &Request) -> Result<(), Problem> {
        let headers = request.headers();
        let hosts: Vec<_> = headers.get_all(header::HOST).iter().collect();
        let host = match hosts[..] {
            [host] => host.to_str().unwrap_or_default(),
            _ => {
                return Err(Problem::wrong(
                    "a request must have exactly one Host header",
                ));
            }
        };
        if !self.is_known_host(host) {
            let reason = "these pages are not served under the requested host name; `benchlab serve --name HOST` adds a name";
            return Err(Problem::new(StatusCode::MISDIRECTED_REQUEST, reason));
        }
        match *request.method() {
            Method::GET | Method::HEAD => Ok(()),
            Method::POST if is_same_origin(headers, host) => Ok(()),
            Method::POST => Err(Problem::forbidden("the request comes from another site")),
            _ => Err(Problem::new(
                StatusCode::METHOD_NOT_ALLOWED,
                "only GET, HEAD and POST are allowed",
            )),
        }
    }
}

/// Returns true if a form was sent from one of benchlab's own pages, according to `Origin` and
/// `Sec-Fetch-Site`.
///
/// Clients other than browsers send neither header, but they still need the token.
fn is_same_origin(headers: &HeaderMap, host: &str) -> bool {
    let header_value = |name: &str| headers.get(name).map(HeaderValue::as_bytes);
    let pages_origin = format!("http://{host}");
    header_value("origin").is_none_or(|origin| origin == pages_origin.as_bytes())
        && header_value("sec-fetch-site").is_none_or(|site| site == b"same-origin")
}

/// Passes allowed requests to the pages, and adds [`HEADERS`] to every response.
pub async fn check(State(guard): State<Arc<PageGuard>>, request: Request, next: Next) -> Response {
    let mut response = match guard.examine(&request) {
        Err(problem) => problem.into_response(),
        Ok(()) => match token_in_url(&request) {
            Some(token) => set_token(&guard, &token, request.uri().path()),
            None => next.run(request).await,
        },
    };
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// Returns the token in a URL that the server has printed.
fn token_in_url(request: &Request) -> Option<String> {
    let query = request
        .uri()
        .query()
        .filter(|_| *request.method() == Method::GET)?;
    let mut pairs = form_urlencoded::parse(query.as_bytes());
    let token = pairs.find(|(key, _)| key == TOKEN)?.1;
    Some(token.into_owned())
}

/// Moves the token from the URL to a cookie, so that the browser's address bar does not show it.
fn set_token(guard: &PageGuard, token: &str, path: &str) -> Response {
    if !guard.is_token(token) {
        return Problem::forbidden(
            "the token belongs to another server: open the address that `benchlab serve` printed",
        )
        .into_response();
    }
    // A path with two leading slashes would lead to another host.
    let path = format!("/{}", path.trim_start_matches(['/', '\\']));
    let mut response = Redirect::to(&path).into_response();
    if let Ok(cookie) = HeaderValue::from_str(&guard.cookie()) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_and_known_names_are_accepted_as_hosts() {
        let guard = PageGuard {
            socket: ([127, 0, 0, 1], 8640).into(),
            names: vec!["lab.example".into()],
            token: "ab".into(),
        };
        for host in [
            "127.0.0.1:8640",
            "127.0.0.1",
            "localhost:1",
            "LOCALHOST",
            "[::1]:8640",
            "[::1]",
            "10.1.2.3:80",
            "lab.example:8640",
            "Lab.Example",
        ] {
            assert!(guard.is_known_host(host), "{host}");
        }
        for host in [
            "",
            ":8640",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:8640",
            "evil.example:127.0.0.1",
            "::1",
            "[::1",
            "[evil]",
            "127.0.0.1:80@evil.example",
            "localhost:80:80",
            "localhost:x",
        ] {
            assert!(!guard.is_known_host(host), "{host}");
        }
    }

    #[test]
    fn a_token_must_match_completely() {
        let guard = PageGuard::new(([127, 0, 0, 1], 1).into(), &[]).unwrap();
        let token = guard.address().token;
        assert_eq!(token.len(), 48);
        assert!(guard.is_token(&token));
        for wrong in ["", "a", &token[1..], &format!("{token}a")] {
            assert!(!guard.is_token(wrong), "{wrong}");
        }
        assert_ne!(
            token,
            PageGuard::new(([127, 0, 0, 1], 1).into(), &[])
                .unwrap()
                .token
        );
    }
}
