// SPDX-License-Identifier: Apache-2.0
//! Cookies and the requests that carry them. A cookie's value is kept in memory only while its file is read.

use super::owner::is_within;
use super::wire::{FIELD, SEPARATOR};
use crate::date::{Clock, ClockDoubt, cookie_seconds};
use sha2::{Digest, Sha256};
use std::io::Read;

/// A cookie without its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Cookie {
    /// The name. May be empty, because browsers accept cookies without a name.
    pub name: String,
    /// The host or domain that the cookie is sent to, without a leading dot. Empty if unknown.
    pub domain: String,
    /// The path prefix of the requests that carry the cookie.
    pub path: String,
    /// The size of the value in bytes.
    pub value_bytes: usize,
    /// A hash that does not reveal the value. Within one audit, equal values have equal hashes.
    pub hash: String,
    /// The attributes, or `None` if the response that set the cookie was not observed.
    pub attributes: Option<Attributes>,
    /// True if the server deleted the cookie later.
    pub is_deleted: bool,
}

/// The attributes of a `Set-Cookie` field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes {
    /// True if the cookie is sent only to the host that set it, not to its subdomains.
    pub host_only: bool,
    /// True if the cookie is sent over TLS only.
    pub secure: bool,
    /// True if scripts cannot read the cookie.
    pub http_only: bool,
    /// `Strict`, `Lax` or `None`. Empty if not set.
    pub same_site: String,
    /// True if the input does not show whether the cookie was set with `SameSite`.
    pub is_same_site_unknown: bool,
    /// The lifetime in seconds. `None` means until the end of the browser session.
    pub lifetime_s: Option<f64>,
    /// The reason the lifetime is uncertain, or `None` if it is known.
    pub lifetime_doubt: Option<ClockDoubt>,
    /// The attribute that browsers ignore because its value is invalid: `Max-Age` or `Expires`.
    pub ignored: Option<&'static str>,
    /// True if the path was specified, not derived from the path of the request.
    pub has_path: bool,
}

impl Attributes {
    /// Returns the text `Strict`, `Lax` or `None`. Returns [`Option::None`] if `SameSite` is
    /// missing or invalid, because browsers then use their default.
    pub fn same_site(&self) -> Option<&'static str> {
        let values = ["Strict", "Lax", "None"].into_iter();
        let mut values = values.filter(|value| self.same_site.eq_ignore_ascii_case(value));
        values.next()
    }
}

/// A request and the cookies that it carried.
#[derive(Clone, Debug, PartialEq)]
pub struct CookieRequest {
    /// The host of the request.
    pub host: String,
    /// The path of the request.
    pub path: String,
    /// The kind of the request.
    pub kind: RequestKind,
    /// The cookies, in the order in which they were sent.
    pub cookies: Vec<SentCookie>,
    /// The size of the request head in bytes, or `None` if unknown.
    pub head_bytes: Option<usize>,
    /// The number of bytes that the cookies add in HTTP/2: to the first request of a connection,
    /// and to a later request on the same connection.
    pub hpack: [usize; 2],
}

/// A cookie in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentCookie {
    /// The index of the cookie in the observation's list of cookies.
    pub index: usize,
    /// The size of `name=value` in bytes, as this request sent it. The value may have grown in later responses.
    pub bytes: usize,
}

impl CookieRequest {
    /// Returns the indexes of the cookies.
    pub fn indexes(&self) -> impl Iterator<Item = usize> {
        self.cookies.iter().map(|sent| sent.index)
    }

    /// Returns the size of the `Cookie` header field in bytes, including its name and line end.
    /// Returns 0 if there are no cookies.
    pub fn field_bytes(&self) -> usize {
        field_bytes(&self.cookies)
    }
}

/// Returns the size in bytes of a `Cookie` header field with these cookies, including its name and
/// line end.
///
/// Returns 0 if there are no cookies.
pub fn field_bytes(sent: &[SentCookie]) -> usize {
    match sent.len() {
        0 => 0,
        n => FIELD + sent.iter().map(|sent| sent.bytes).sum::<usize>() + SEPARATOR * (n - 1),
    }
}

/// The kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RequestKind {
    /// A request for an HTML document.
    Page,
    /// A call from a script.
    Api,
    /// An image, a script, a style sheet or a font.
    Static,
    /// Another kind of request, or unknown.
    Other,
}

impl RequestKind {
    /// All kinds of requests.
    pub const ALL: [RequestKind; 4] = [
        RequestKind::Page,
        RequestKind::Api,
        RequestKind::Static,
        RequestKind::Other,
    ];

    /// Returns the name for reports.
    pub fn name(self) -> &'static str {
        match self {
            RequestKind::Page => "page",
            RequestKind::Api => "API call",
            RequestKind::Static => "static file",
            RequestKind::Other => "other",
        }
    }

    /// Determines the kind of a request from the resource type that a browser recorded, the media
    /// type of the response, or the extension of the path.
    pub fn classify(browser: &str, media: &str, path: &str) -> RequestKind {
        let media = media.split(';').next().unwrap_or("").trim();
        let ending = path
            .rsplit('/')
            .next()
            .and_then(|name| name.rsplit_once('.'));
        let ending = ending.map_or("", |(_, ending)| ending).to_ascii_lowercase();
        const FILES: [&str; 16] = [
            "css", "js", "mjs", "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "woff",
            "woff2", "ttf", "mp4", "map",
        ];
        match (browser, media) {
            ("document", _) => RequestKind::Page,
            ("xhr" | "fetch", _) => RequestKind::Api,
            ("script" | "stylesheet" | "image" | "font" | "media", _) => RequestKind::Static,
            (_, "text/html" | "application/xhtml+xml") => RequestKind::Page,
            (_, "application/json" | "application/xml") => RequestKind::Api,
            (_, "text/css" | "text/javascript" | "application/javascript") => RequestKind::Static,
            (_, m)
                if ["image/", "font/", "video/", "audio/"]
                    .iter()
                    .any(|b| m.starts_with(b)) =>
            {
                RequestKind::Static
            }
            _ if FILES.contains(&ending.as_str()) => RequestKind::Static,
            _ => RequestKind::Other,
        }
    }
}

impl Cookie {
    /// Returns the name for reports. Cookies without a name, which browsers also send, get a
    /// placeholder.
    pub fn display_name(&self) -> &str {
        match self.name.as_str() {
            "" => "(no name)",
            name => name,
        }
    }

    /// Returns the size of `name=value` in bytes.
    pub fn bytes(&self) -> usize {
        self.name.len() + 1 + self.value_bytes
    }

    /// Returns true if the name begins with `prefix`, which is `__Host-` or `__Secure-`, in upper
    /// or lower case (RFC 6265bis, 5.7).
    pub fn has_prefix(&self, prefix: &str) -> bool {
        let begin = self.name.get(..prefix.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(prefix))
    }

    /// Returns true if the cookie meets the requirements of its prefix, or has none (RFC 6265bis,
    /// 4.1.3).
    pub fn keeps_prefix(&self, attributes: &Attributes) -> bool {
        let is_host_kept = attributes.host_only && attributes.has_path && self.path == "/";
        let needs_secure = self.has_prefix("__Host-") || self.has_prefix("__Secure-");
        (attributes.secure || !needs_secure) && (is_host_kept || !self.has_prefix("__Host-"))
    }

    /// Returns true if the name suggests a session or a token. CSRF tokens are excluded, because scripts must read
    /// them.
    pub fn is_login(&self) -> bool {
        const PARTS: [&str; 5] = ["session", "sessid", "token", "jwt", "login"];
        const WORDS: [&str; 4] = ["sid", "sess", "auth", "authorization"];
        let name = self.name.to_ascii_lowercase();
        let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
        let is_csrf_guard = name.contains("csrf") || name.contains("xsrf");
        let has_part = PARTS.iter().any(|part| name.contains(part));
        !is_csrf_guard && (has_part || words.any(|word| WORDS.contains(&word)))
    }

    /// Returns true if the name suggests a cookie that only the login itself needs.
    pub fn is_temporary_login(&self) -> bool {
        const PARTS: [&str; 7] = [
            "oauth_state",
            "nonce",
            "pkce",
            "redirect",
            "return_to",
            "returnurl",
            "login_hint",
        ];
        let name = self.name.to_ascii_lowercase();
        PARTS.iter().any(|part| name.contains(part))
    }

    /// Returns true if a browser would send the cookie to a host and path (RFC 6265, 5.4).
    ///
    /// Browsers send cookies with `Secure` to their own machine even without TLS.
    pub fn is_sent_to(&self, is_tls: bool, host: &str, path: &str) -> bool {
        let is_secure = self.attributes.as_ref().is_some_and(|a| a.secure);
        if self.is_deleted || (is_secure && !is_tls && !is_local(host)) {
            return false;
        }
        let host_only = self.attributes.as_ref().is_some_and(|a| a.host_only);
        let host_matches = if host_only {
            host.eq_ignore_ascii_case(&self.domain)
        } else {
            is_within(host, &self.domain)
        };
        let path = path.split(['?', '#']).next().unwrap_or("/");
        let is_below = path.strip_prefix(self.path.as_str()).is_some_and(|rest| {
            rest.is_empty() || self.path.ends_with('/') || rest.starts_with('/')
        });
        host_matches && is_below
    }
}

/// Returns true if a host is the browser's own machine (W3C, *Secure Contexts*, 3.1).
fn is_local(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    let is_loopback = address
        .parse::<std::net::IpAddr>()
        .is_ok_and(|ip| ip.is_loopback());
    is_loopback || host == "localhost" || host.ends_with(".localhost")
}

/// Computes hashes of cookie values. The salt is random and never stored, so hashes are comparable only within one
/// audit.
pub struct Hasher {
    salt: [u8; 16],
}

impl Hasher {
    /// Creates a hasher with a random salt from the system.
    pub fn new() -> std::io::Result<Hasher> {
        let mut salt = [0; 16];
        std::fs::File::open("/dev/urandom")?.read_exact(&mut salt)?;
        Ok(Hasher { salt })
    }

    /// Returns the hash of a value: 16 hexadecimal digits.
    pub fn hash(&self, value: &str) -> String {
        let digest = Sha256::new()
            .chain_update(self.salt)
            .chain_update(value)
            .finalize();
        digest
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

/// Splits a `Cookie` header field into names and values, as a server does (RFC 6265, 5.4 and 4.2.1).
pub fn pairs(field: &str) -> Vec<(&str, &str)> {
    let parts = field.split(';').map(|part| part.trim_matches([' ', '\t']));
    let parts = parts.filter(|part| !part.is_empty());
    parts
        .map(|part| part.split_once('=').unwrap_or(("", part)))
        .collect()
}

/// Returns true if a text is a list of `name=value` with a valid name and a valid value (RFC 6265,
/// 4.1.1), such as `a=1; b=2`.
pub fn is_cookie_list(text: &str) -> bool {
    let is_octet = |c: char| matches!(c, '!' | '#'..='+' | '-'..=':' | '<'..='[' | ']'..='~');
    let is_pair = |part: &str| {
        let Some((name, value)) = trimmed(part).split_once('=') else {
            return false;
        };
        let quoted = value
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'));
        let is_name = !name.is_empty() && name.chars().all(is_token);
        is_name && quoted.unwrap_or(value).chars().all(is_octet)
    };
    let list = trimmed(text);
    let list = list.strip_suffix(';').unwrap_or(list);
    !list.is_empty() && list.split(';').all(is_pair)
}

/// Returns true for a character of a token (RFC 9110, 5.6.2).
fn is_token(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

/// Splits a `Set-Cookie` value that was joined from multiple header fields into its cookies.
///
/// Programs that store header fields in a map join repeated fields with `, `. A comma separates two
/// cookies if a name and `=` follow it before the next attribute. Among the attributes, only
/// `Expires` contains commas, and its date contains no `=`.
pub fn split_set_cookie(field: &str) -> Vec<&str> {
    let is_name = |text: &str| {
        let name = text.trim_start_matches([' ', '\t']);
        let end = name.find(|c| !is_token(c));
        end.is_some_and(|end| end > 0 && name[end..].starts_with('='))
    };
    let mut fields = Vec::new();
    let (mut begin, mut in_attributes) = (0, false);
    for (index, c) in field.char_indices() {
        match c {
            ';' => in_attributes = true,
            ',' if in_attributes && is_name(&field[index + 1..]) => {
                fields.push(field[begin..index].trim());
                (begin, in_attributes) = (index + 1, false);
            }
            _ => {}
        }
    }
    fields.push(field[begin..].trim());
    fields
}

/// The attributes of a `Set-Cookie` field that limit the lifetime of its cookie.
#[derive(Default)]
struct Lifetime {
    max_age_s: Option<f64>,
    /// The expiry in seconds since 1970.
    expiry_s: Option<f64>,
    ignored: Option<&'static str>,
}

impl Lifetime {
    /// Reads a `Max-Age`: digits, possibly after a minus sign (RFC 6265, 5.2.2).
    fn set_max_age(&mut self, value: &str) {
        let digits = value.strip_prefix('-').unwrap_or(value);
        let is_valid = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
        match value.parse().ok().filter(|_| is_valid) {
            Some(seconds) => self.max_age_s = Some(seconds),
            None => self.ignored = Some("Max-Age"),
        }
    }

    /// Sets the expiry from the value of an `Expires` attribute.
    fn set_expires(&mut self, value: &str) {
        match cookie_seconds(value) {
            Some(expiry_s) => self.expiry_s = Some(expiry_s),
            None => self.ignored = Some("Expires"),
        }
    }

    /// Sets the lifetime of a cookie. `clock` is the time of the response that set the cookie.
    /// `Max-Age` takes precedence over `Expires`, regardless of their order.
    fn apply(self, clock: Clock, cookie: &mut Cookie, attributes: &mut Attributes) {
        attributes.ignored = self.ignored;
        match (self.max_age_s, self.expiry_s) {
            (Some(seconds), _) => {
                attributes.lifetime_s = Some(seconds);
                cookie.is_deleted = seconds <= 0.0;
            }
            (None, Some(expiry_s)) => {
                attributes.lifetime_s = Some(expiry_s - clock.at_s);
                attributes.lifetime_doubt = clock.doubt;
                cookie.is_deleted = clock.is_past(expiry_s);
            }
            (None, None) => {}
        }
    }
}

/// Parses a `Set-Cookie` header field into a cookie and its value (RFC 6265, 5.2).
///
/// `host` and `path` belong to the request. `clock` is the time of the response. Returns `None` for
/// cookies that browsers reject: cookies with neither a name nor a value, and cookies for a domain
/// that does not include the host, or for a whole top-level domain.
pub fn set_cookie(
    field: &str,
    host: &str,
    path: &str,
    clock: Clock,
    hasher: &Hasher,
) -> Option<(Cookie, String)> {
    let mut parts = field.split(';');
    let first = parts.next()?;
    let (name, value) = first.split_once('=').unwrap_or(("", first));
    let (name, value) = (trimmed(name), trimmed(value));
    if name.is_empty() && value.is_empty() {
        return None;
    }
    let mut attributes = Attributes {
        host_only: true,
        ..Attributes::default()
    };
    let mut lifetime = Lifetime::default();
    let mut cookie = Cookie {
        name: name.to_owned(),
        domain: host.to_ascii_lowercase(),
        path: default_path(path),
        value_bytes: value.len(),
        hash: hasher.hash(value),
        attributes: None,
        is_deleted: false,
    };
    for part in parts {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let value = trimmed(value);
        match trimmed(name).to_ascii_lowercase().as_str() {
            "domain" if !value.trim_start_matches('.').is_empty() => {
                cookie.domain = value.trim_start_matches('.').to_ascii_lowercase();
                attributes.host_only = false;
            }
            "path" if value.starts_with('/') => {
                cookie.path = value.to_owned();
                attributes.has_path = true;
            }
            "secure" => attributes.secure = true,
            "httponly" => attributes.http_only = true,
            "samesite" => attributes.same_site = value.to_owned(),
            "max-age" => lifetime.set_max_age(value),
            "expires" => lifetime.set_expires(value),
            _ => {}
        }
    }
    let is_single_label = !host.is_empty() && !cookie.domain.contains('.');
    if is_single_label && !attributes.host_only {
        // Browsers accept the domain of a whole top-level domain only from a host of this name.
        attributes.host_only = host.eq_ignore_ascii_case(&cookie.domain);
        if !attributes.host_only {
            return None;
        }
    }
    if !host.is_empty() && !is_within(host, &cookie.domain) {
        return None;
    }
    lifetime.apply(clock, &mut cookie, &mut attributes);
    cookie.attributes = Some(attributes);
    Some((cookie, value.to_owned()))
}

/// Removes the white space that RFC 6265, 5.2 allows around names and values.
fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t'])
}

/// Returns the default path of a cookie: the directory of the request's path (RFC 6265, 5.1.4).
pub fn default_path(path: &str) -> String {
    match path.rfind('/') {
        None | Some(0) => "/".into(),
        Some(slash) => path[..slash].into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_fields_are_split_between_cookies_alone() {
        let date = "Expires=Sat, 20 Mar 2027 14:28:57 GMT";
        let (first, second) = (
            format!("a=1; {date}; Secure"),
            format!("b=x,y; Path=/p; {date}"),
        );
        let joined = format!("{first}, {second},c=3");
        assert_eq!(split_set_cookie(&joined), [first.as_str(), &second, "c=3"]);
        for whole in [
            "a=1, b=2; Path=/",
            "a=1",
            "",
            date,
            "a=1; Path=/x,y; Secure",
            "a=1; Path=/, =2",
        ] {
            assert_eq!(split_set_cookie(whole), [whole]);
        }
    }
}
