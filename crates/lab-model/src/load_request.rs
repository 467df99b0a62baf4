// SPDX-License-Identifier: Apache-2.0
//! The requests and the expected responses of a load, without secrets, as run files store them.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;
use std::path::PathBuf;

/// The headers whose values are stored, because they only negotiate the format of a response and
/// contain no secrets.
const PUBLIC_HEADERS: [&str; 6] = [
    "accept",
    "accept-charset",
    "accept-encoding",
    "accept-language",
    "cache-control",
    "content-type",
];

/// One request, with its weight in the mix.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The URL without user and password.
    pub url: String,
    /// The frequency of the request relative to the other requests, at least 1.
    pub weight: u32,
    /// True if the URL contained a user name. User names and passwords are secrets and are not
    /// stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_user: bool,
}

/// A header of every request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedHeader {
    /// The name as the user wrote it. Its case is preserved.
    pub name: String,
    /// The value. `None` means that it may be a secret and is not stored.
    pub value: Option<String>,
}

impl PlannedHeader {
    /// Creates the stored form of a header. It contains the value only if the value is not secret.
    pub fn new(name: &str, value: &str) -> PlannedHeader {
        let is_public = PUBLIC_HEADERS.contains(&name.to_ascii_lowercase().as_str());
        PlannedHeader {
            name: name.to_owned(),
            value: is_public.then(|| value.to_owned()),
        }
    }
}

/// The body of every request. Its content may be a secret and is not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedBody {
    /// The length in bytes.
    pub bytes: u64,
    /// The absolute path of the file that contains the body. `None` means that the body was on the
    /// command line.
    pub file: Option<PathBuf>,
}

/// The file from which the requests of a load were read. Headers and bodies in it may be secrets
/// and are not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestsFile {
    /// The absolute path.
    pub path: PathBuf,
    /// The total length of all headers and bodies, in bytes. It changes with most edits to the
    /// file, but reveals no secrets.
    pub content_bytes: u64,
}

/// The expected response, as the command line describes it. `lab_load::Expect` parses it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedResponse {
    /// Status codes and classes, such as `200,3xx`. `None` means the default, `2xx,3xx`.
    pub statuses: Option<String>,
    /// The exact body, if benchlab checks it.
    pub body: Option<String>,
    /// Values that a JSON response must contain, such as `items.0.name="x"`.
    pub json: Vec<String>,
}

/// The server certificates that are accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Trust {
    /// Certificates issued by an authority that the system trusts.
    #[default]
    System,
    /// Only certificates issued by an authority in this PEM file.
    File(PathBuf),
    /// Only certificates issued by an authority in this PEM text.
    Authorities(String),
    /// Any certificate, without verification.
    Anybody,
}

impl Trust {
    /// Returns the warning for reports if certificates are not verified.
    pub fn words(&self) -> Option<&'static str> {
        match self {
            Trust::Anybody => {
                Some("WARNING: the server's certificate was not verified (--insecure)")
            }
            Trust::System | Trust::File(_) | Trust::Authorities(_) => None,
        }
    }
}

/// The family of an IP address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IpFamily {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

impl IpFamily {
    /// Returns the family of an address.
    pub fn from_address(address: &SocketAddr) -> IpFamily {
        if address.is_ipv4() {
            IpFamily::V4
        } else {
            IpFamily::V6
        }
    }

    /// Parses `4`, `6`, `4,6` or `6,4` and keeps the order. Returns an error message for any other
    /// text.
    pub fn parse(text: &str) -> Result<Vec<IpFamily>, String> {
        let family = |word: &str| match word.trim() {
            "4" => Some(IpFamily::V4),
            "6" => Some(IpFamily::V6),
            _ => None,
        };
        let families: Option<Vec<IpFamily>> = text.split(',').map(family).collect();
        match families {
            Some(list) if list.len() == 1 || (list.len() == 2 && list[0] != list[1]) => Ok(list),
            _ => Err(format!(
                "`{}` is not an address family: expected 4, 6, or 4,6 to compare both",
                text.escape_default()
            )),
        }
    }

    /// Returns `IPv4` or `IPv6`.
    pub fn name(self) -> &'static str {
        match self {
            IpFamily::V4 => "IPv4",
            IpFamily::V6 => "IPv6",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_values_of_public_headers_are_stored() {
        let value = |name| PlannedHeader::new(name, "x").value;
        for secret in ["Authorization", "Cookie", "X-Api-Key", "x-anything"] {
            assert_eq!(value(secret), None, "{secret}");
        }
        assert_eq!(value("Accept").as_deref(), Some("x"));
        assert_eq!(value("content-TYPE").as_deref(), Some("x"));
    }
}
