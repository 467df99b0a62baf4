// SPDX-License-Identifier: Apache-2.0
//! The targets of requests: parsed URLs, their common origin, and the address of the server.

use crate::error::{JobError, quoted};
use crate::guard::LoadGuard;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::uri::{Authority, PathAndQuery};
use lab_model::IpFamily;
use percent_encoding::percent_decode_str;
use std::fmt;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;
use url::{Host, Url};

/// The timeout for connecting to each address of a host that has multiple addresses.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// A parsed URL. It stores the user and password only as the value of the `Authorization` header.
#[derive(Clone, PartialEq, Eq)]
pub struct LoadUrl {
    /// Scheme, host and port.
    pub origin: Origin,
    pub(crate) path: PathAndQuery,
    /// The value of an `Authorization` header (RFC 7617), if the URL contains a user.
    pub(crate) authorization: Option<String>,
}

impl LoadUrl {
    /// Parses a URL such as `http://127.0.0.1:8080/list?page=2`. Removes a fragment, which browsers
    /// do not send either.
    ///
    /// # Errors
    /// Returns an error if the scheme is not http or https, or if the URL is invalid.
    pub fn parse(text: &str) -> Result<LoadUrl, JobError> {
        let quoted_url = || quoted(&without_user(text));
        if text.chars().any(char::is_control) {
            let words = "contains a control character; encode it as %XX";
            return Err(JobError::new(format!("the URL {} {words}", quoted_url())));
        }
        let lower = text.to_ascii_lowercase();
        if !lower.starts_with("http://") && !lower.starts_with("https://") {
            return Err(JobError::new(not_http(text)));
        }
        if let Some(zone) = zone(text) {
            let zone = zone.escape_default();
            let words = format!(
                "has the zone `{zone}` in its address, which HTTP does not support; use an address without a zone: \
                 `ip -6 address show dev {zone} scope global` lists them"
            );
            return Err(JobError::new(format!("the URL {} {words}", quoted_url())));
        }
        let url = Url::parse(text)
            .map_err(|error| JobError::new(format!("invalid URL {}: {error}", quoted_url())))?;
        let origin = Origin::parse(&url)
            .ok_or_else(|| JobError::new(format!("the URL {} has no host", quoted_url())))?;
        // A browser's URL parser accepts some hosts and paths that HTTP does not.
        let wrong = |error| JobError::new(format!("invalid URL {}: {error}", quoted_url()));
        Authority::try_from(origin.authority()).map_err(wrong)?;
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        Ok(LoadUrl {
            origin,
            path: PathAndQuery::try_from(path).map_err(wrong)?,
            authorization: authorization(&url),
        })
    }

    /// Returns the path and query, percent-encoded, as in a request line (RFC 9112, 3.2.1).
    pub fn path(&self) -> &str {
        self.path.as_str()
    }

    /// Returns the same URL with a user. `user` is `NAME:PASSWORD`, or `NAME` if there is no
    /// password.
    pub(crate) fn with_user(self, user: &str) -> LoadUrl {
        let colon = if user.contains(':') { "" } else { ":" };
        LoadUrl {
            authorization: Some(basic(format!("{user}{colon}").as_bytes())),
            ..self
        }
    }

    /// Returns the URL of another path on the same origin, with the same user.
    ///
    /// # Errors
    /// Returns an error if the path does not start with `/`, or contains invalid characters.
    pub fn with_path(&self, path: &str) -> Result<LoadUrl, JobError> {
        if !path.starts_with('/') {
            let words = "is neither a path that begins with `/` nor an http or https URL";
            return Err(JobError::new(format!("{} {words}", quoted(path))));
        }
        let link = LoadUrl::parse(&format!("{}{path}", self.origin))?;
        Ok(LoadUrl {
            authorization: self.authorization.clone(),
            ..link
        })
    }
}

/// Writes the URL without user and password.
impl fmt::Display for LoadUrl {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path)
    }
}

impl fmt::Debug for LoadUrl {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Link({self})")
    }
}

/// The scheme, host and port of a server (RFC 6454).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    uses_tls: bool,
    host: Host,
    port: u16,
}

impl Origin {
    /// Returns the common origin of all URLs.
    ///
    /// # Errors
    /// Returns an error if there is no URL, or if the URLs have different origins.
    pub fn shared<'a>(links: impl IntoIterator<Item = &'a LoadUrl>) -> Result<Origin, JobError> {
        let mut links = links.into_iter();
        let first = links.next().ok_or_else(|| {
            JobError::new("no URL was given: specify one, such as http://127.0.0.1:8080/")
        })?;
        match links.find(|link| link.origin != first.origin) {
            None => Ok(first.origin.clone()),
            Some(other) => Err(JobError::new(format!(
                "{first} and {other} are on different servers, but the requests of a file go to one server. To \
                 compare servers, specify their URLs, and write only paths in the file"
            ))),
        }
    }

    /// Returns true if requests are sent over TLS.
    pub fn uses_tls(&self) -> bool {
        self.uses_tls
    }

    /// Returns the name or address of the host, without brackets.
    pub fn host(&self) -> String {
        match &self.host {
            Host::Domain(name) => name.clone(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => address.to_string(),
        }
    }

    /// Returns the host and port for a `Host` header (RFC 9112, 3.2). An IPv6 address is in
    /// brackets. The port is omitted if it is the default port of the scheme.
    pub fn authority(&self) -> String {
        let default_port = if self.uses_tls { 443 } else { 80 };
        match self.port {
            port if port == default_port => self.host.to_string(),
            port => format!("{}:{port}", self.host),
        }
    }

    /// Returns the port, or the default port of the scheme.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.uses_tls { "https" } else { "http" }
    }

    /// Resolves the host once, and chooses the address to connect to.
    ///
    /// If multiple addresses belong to the requested family, chooses the first address that accepts
    /// a connection. `localhost` often has two addresses, and a server may listen on only one of
    /// them.
    ///
    /// # Errors
    /// Returns an error if the host is unknown or has no address of the requested family, or if the
    /// guard rejects one of its addresses.
    pub fn address(
        &self,
        family: Option<IpFamily>,
        guard: &LoadGuard,
    ) -> Result<SocketAddr, JobError> {
        let addresses = self.resolve_host()?;
        let of_family: Vec<SocketAddr> = addresses
            .iter()
            .copied()
            .filter(|address| family.is_none_or(|f| f == IpFamily::from_address(address)))
            .collect();
        guard.check(&self.host(), of_family.iter().map(SocketAddr::ip))?;
        match (of_family.as_slice(), family) {
            ([], Some(family)) => Err(JobError::new(format!(
                "{} has no {} address, only {}; omit `--family`, or specify another host",
                self.host(),
                family.name(),
                list(&addresses)
            ))),
            ([], None) => Err(JobError::new(format!("{} has no address", self.host()))),
            ([only], _) => Ok(*only),
            ([first, ..], _) => {
                let takes =
                    |a: &&SocketAddr| TcpStream::connect_timeout(a, CONNECT_TIMEOUT).is_ok();
                Ok(*of_family.iter().find(takes).unwrap_or(first))
            }
        }
    }

    fn resolve_host(&self) -> Result<Vec<SocketAddr>, JobError> {
        let name = match &self.host {
            Host::Ipv4(address) => return Ok(vec![(*address, self.port).into()]),
            Host::Ipv6(address) => return Ok(vec![(*address, self.port).into()]),
            Host::Domain(name) => name,
        };
        let found = (name.as_str(), self.port).to_socket_addrs();
        let found = found.map_err(|error| {
            JobError::new(format!("the host {} was not found: {error}", quoted(name)))
        })?;
        let mut addresses: Vec<SocketAddr> = Vec::new();
        for address in found {
            if !addresses.contains(&address) {
                addresses.push(address);
            }
        }
        Ok(addresses)
    }

    fn parse(url: &Url) -> Option<Origin> {
        Some(Origin {
            uses_tls: url.scheme() == "https",
            host: url.host()?.to_owned(),
            port: url.port_or_known_default()?,
        })
    }
}

/// Writes the origin, such as `http://127.0.0.1:8080`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}://{}", self.scheme(), self.authority())
    }
}

/// Returns the zone of an IPv6 address (RFC 4007), which is written as `%eth0` or, as in RFC 6874,
/// `%25eth0`.
fn zone(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let (_, address) = authority.rsplit_once('@').unwrap_or(("", authority));
    let (address, _) = address.strip_prefix('[')?.split_once(']')?;
    let (_, zone) = address.split_once('%')?;
    Some(zone.strip_prefix("25").unwrap_or(zone))
}

fn authorization(url: &Url) -> Option<String> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let mut pair: Vec<u8> = percent_decode_str(url.username()).collect();
    pair.push(b':');
    pair.extend(percent_decode_str(url.password().unwrap_or("")));
    Some(basic(&pair))
}

/// Returns the value of an `Authorization` header for `NAME:PASSWORD` (RFC 7617).
fn basic(pair: &[u8]) -> String {
    format!("Basic {}", BASE64.encode(pair))
}

fn not_http(text: &str) -> String {
    let without_secrets = without_user(text);
    match scheme(text) {
        Some(scheme) => format!(
            "unsupported scheme `{scheme}` in {}: use an http or https URL",
            quoted(&without_secrets)
        ),
        None => format!(
            "{} is not a URL; did you mean {}?",
            quoted(&without_secrets),
            quoted(&format!(
                "http://{}",
                without_secrets.trim_start_matches('/')
            ))
        ),
    }
}

fn scheme(text: &str) -> Option<&str> {
    let (scheme, _) = text.split_once("://")?;
    let word = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    scheme.chars().all(word).then_some(scheme)
}

/// Removes the user and password from text that may be an invalid URL. The password may contain any
/// character.
fn without_user(text: &str) -> String {
    match (text.rsplit_once('@'), scheme(text)) {
        (None, _) => text.to_owned(),
        (Some((_, host)), None) => format!("…@{host}"),
        (Some((_, host)), Some(scheme)) => format!("{scheme}://…@{host}"),
    }
}

fn list(addresses: &[SocketAddr]) -> String {
    let ips: Vec<String> = addresses.iter().map(|a| a.ip().to_string()).collect();
    ips.join(", ")
}
