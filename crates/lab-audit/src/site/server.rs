// SPDX-License-Identifier: Apache-2.0
//! The server of a site: the software that it reveals, its protocols, and files that it should not
//! serve.

use super::client::{self, Client, Method, PageResponse};
use super::page::{Safety, safety};
use super::served::{MADE_WITH, served_by};
use super::tls::{TlsClient, TlsObservation};
use super::{address, old_tls, resource};
use crate::date::{day, now};
use crate::timed::Timed;
use crate::value::{AuditObject, Class, Value};
use lab_load::IpFamily;
use rustls::version::{TLS12, TLS13};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};
use url::Url;

pub const SERVER: Class = Class {
    name: "server",
    none: "No server was examined.",
    values: &[
        ("software", "software according to the Server field"),
        ("served_by", "origin of the page, as far as its fields show"),
        ("version", "HTTP version of the request"),
        ("reveals_version", "whether the server reveals its version"),
        (
            "powered_by",
            "software of the application, according to fields such as X-Powered-By",
        ),
        (
            "leak_bytes",
            "bytes of the fields that reveal software in each response",
        ),
        ("https", "whether the page came over TLS"),
        ("to_https", "whether plain HTTP leads to TLS"),
        ("redirects", "redirects before the page"),
        (
            "redirect_loop",
            "whether the redirects form a loop, or do not end",
        ),
        ("redirect_path", "URLs of the redirects"),
        ("elsewhere", "URL of the page, if it is on another host"),
        ("elsewhere_word", "`elsewhere` as a shell word"),
        ("http2", "whether the server supports HTTP/2"),
        ("tls12", "whether the server supports TLS 1.2"),
        ("tls13", "whether the server supports TLS 1.3"),
        ("old_tls", "supported TLS versions before 1.2"),
        ("certificate", "problem with the certificate"),
        ("certificate_left", "remaining validity of the certificate"),
        (
            "certificate_from",
            "first day of the certificate's validity",
        ),
        (
            "certificate_until",
            "last day of the certificate's validity",
        ),
        ("hsts", "how long browsers use TLS only"),
        (
            "csp",
            "effect of the Content-Security-Policy: restricts scripts, lets inline scripts run, \
            does not mention scripts, or none",
        ),
        (
            "permissions",
            "whether the page restricts its access to the device",
        ),
        (
            "isolated",
            "whether the page restricts which pages share its window",
        ),
        ("opener_policy", "Cross-Origin-Opener-Policy, or none"),
        (
            "unpinned",
            "scripts and style sheets that the page loads from other hosts without an integrity hash \
            (SRI)",
        ),
        (
            "unpinned_first",
            "URL of the first script or style sheet without an integrity hash",
        ),
        ("unpinned_word", "`unpinned_first` as a shell word"),
        ("nosniff", "whether X-Content-Type-Options is nosniff"),
        (
            "framed",
            "whether the page specifies which sites may frame it",
        ),
        ("frame_options", "X-Frame-Options, or none"),
        (
            "referrer",
            "whether there is a Referrer-Policy that hides the page's URL from other sites",
        ),
        ("referrer_policy", "Referrer-Policy, or none"),
        ("exposed", "served paths that should not be served"),
        ("exposed_what", "content of the exposed paths"),
        ("ajp", "whether the AJP port is open"),
        ("ipv4", "whether the site is reachable over IPv4"),
        ("ipv4_address", "whether the name has an IPv4 address"),
        ("ipv6", "whether the site is reachable over IPv6"),
        ("ipv6_address", "whether the name has an IPv6 address"),
        ("head", "status of HEAD, followed by the status of GET"),
        ("head_same", "whether HEAD returns the same fields as GET"),
        ("head_bytes", "bytes of the page's response head"),
        ("complete", "whether the page is complete"),
    ],
};

/// The timeout for connecting to a probed port.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The maximum number of addresses that a probe tries for a name.
const MAX_ADDRESSES: usize = 4;

/// The redirects on the way to the page.
#[derive(Clone, Debug, Default)]
pub struct Redirects {
    /// The number of redirects.
    pub count: u64,
    /// The URLs of the redirects.
    pub path: Vec<String>,
    /// True if a redirect leads to a URL that was already requested, or if there are too many redirects.
    pub is_loop: bool,
    /// True if a redirect leads from http to https.
    pub to_https: bool,
    /// The target of the last redirect, if the user did not name its host.
    pub elsewhere: Option<Url>,
}

/// The input for describing a server.
pub struct ServerContext<'a> {
    /// The URL of the page's response, after any redirects.
    pub url: &'a Url,
    /// The page's response.
    pub page: &'a PageResponse,
    /// The redirects on the way to the page.
    pub redirects: Redirects,
    /// The port to probe for AJP.
    pub ajp_port: u16,
}

#[derive(Deserialize)]
struct Exposed {
    path: Vec<ExposedPath>,
}

#[derive(Deserialize)]
struct ExposedPath {
    path: String,
    has: String,
    not: Option<String>,
    what: String,
}

impl ExposedPath {
    /// Returns true if the beginning of a decoded body has the typical content of the file.
    fn is_in(&self, text: &str) -> bool {
        let beginning: String = text.chars().take(2048).collect();
        let has_excluded = self.not.as_ref().is_some_and(|not| beginning.contains(not));
        beginning.contains(&self.has) && !has_excluded
    }
}

impl ServerContext<'_> {
    /// Describes the server as an object that rules judge. Sends requests to determine values that
    /// the page's response does not contain.
    pub fn object(&self, client: &mut Client) -> AuditObject {
        let mut object = describe_from_response(self.url, self.page, &self.redirects);
        let addresses = client.addresses(self.url);
        let addresses =
            addresses.map_err(|e| format!("The second lookup of the name failed: {e}."));
        // This probe comes first, because a server may ban clients that request sensitive paths, as later probes do.
        self.set_families(&addresses, &mut object);
        self.set_head(client, &mut object);
        self.set_tls(client, &mut object);
        self.set_exposed(client, &mut object);
        object.set_result("ajp", addresses, |all| self.has_ajp(&all));
        object
    }

    /// Checks that HEAD returns the same header fields as GET (RFC 9110, 9.3.2).
    fn set_head(&self, client: &mut Client, object: &mut AuditObject) {
        let unreadable = self.page.malformed.as_deref().map(unreadable_text);
        match unreadable.map_or_else(|| client.request(Method::Head, self.url, ""), Err) {
            Ok(head) => {
                let is_same = head.status == self.page.status
                    && head.field("content-type") == self.page.field("content-type");
                object.set(
                    "head",
                    Value::word(format!("{}, GET {}", head.status, self.page.status)),
                );
                object.set("head_same", Value::Flag(is_same));
            }
            Err(reason) => {
                let unknown = Value::Unknown(format!("{reason}."));
                object.set("head", unknown.clone());
                object.set("head_same", unknown);
            }
        }
    }

    fn set_tls(&self, client: &mut Client, object: &mut AuditObject) {
        let Some(observed) = &self.page.tls else {
            return self.set_plain(object);
        };
        set_certificate(observed, object);
        let host = self
            .url
            .host_str()
            .unwrap_or_default()
            .trim_matches(['[', ']']);
        let offer = |versions: &[&'static rustls::SupportedProtocolVersion],
                     protocols: &[&[u8]]| {
            let tcp = self.connect(client).ok_or("no connection for the probe")?;
            TlsClient::new()?.offers(host, tcp, versions, protocols)
        };
        let is_spoken = |handshake: Result<Option<TlsObservation>, String>| {
            Value::from_result(
                handshake.map_err(|reason| format!("{reason}.")),
                |observed| Value::Flag(observed.is_some()),
            )
        };
        object.set("tls13", is_spoken(offer(&[&TLS13], &[])));
        object.set("tls12", is_spoken(offer(&[&TLS12], &[])));
        object.set("old_tls", self.old_tls_versions(client, host));
        let h2_or_http1 = offer(&[&TLS13, &TLS12], &[b"h2", b"http/1.1"]);
        object.set(
            "http2",
            is_spoken(
                h2_or_http1.map(|observed| observed.filter(|observed| observed.alpn == "h2")),
            ),
        );
        object.set("to_https", self.plain_leads_to_tls(client));
    }

    /// Returns a flag that is true if plain HTTP on the default port redirects to TLS. The page
    /// itself was loaded over TLS.
    fn plain_leads_to_tls(&self, client: &mut Client) -> Value {
        if self.redirects.to_https {
            return Value::Flag(true);
        }
        let mut plain = self.url.clone();
        if plain.port().is_some() || plain.set_scheme("http").is_err() {
            let reason = "The URL has a port, so the port of plain HTTP is unknown.";
            return Value::Unknown(reason.into());
        }
        match client.request(Method::Head, &plain, "") {
            Ok(response) => leads_to_tls(&response, &plain),
            Err(reason) => Value::Unknown(format!("Plain HTTP failed: {reason}.")),
        }
    }

    fn old_tls_versions(&self, client: &Client, host: &str) -> Value {
        let mut spoken = Vec::new();
        for (name, version) in [("1.0", 0x0301), ("1.1", 0x0302)] {
            let no_connection = || "no connection for the probe".to_owned();
            let connection = self.connect(client).ok_or_else(no_connection);
            match connection.and_then(|mut tcp| old_tls::speaks(&mut tcp, host, version)) {
                Ok(true) => spoken.push(name),
                Ok(false) => {}
                Err(reason) => {
                    return Value::Unknown(format!("Probing TLS {name} failed: {reason}."));
                }
            }
        }
        if spoken.is_empty() {
            Value::word("none")
        } else {
            Value::Word(spoken.join(", "))
        }
    }

    /// For a page that was loaded over plain HTTP, sets a flag that is true if the page redirects
    /// to TLS.
    fn set_plain(&self, object: &mut AuditObject) {
        let value = match leads_to_tls(self.page, self.url) {
            Value::Flag(false) if self.url.port().is_some() => {
                Value::Unknown("The URL has a port, so the port of TLS is unknown.".into())
            }
            other => other,
        };
        object.set("to_https", value);
    }

    fn set_exposed(&self, client: &mut Client, object: &mut AuditObject) {
        let list: Exposed =
            toml::from_str(include_str!("../../data/exposed.toml")).expect("a test reads it");
        let path_count = list.path.len();
        let (mut exposed, mut refused): (Vec<ExposedPath>, Vec<String>) = Default::default();
        for path in list.path {
            match self.serves(client, &path) {
                Ok(true) => exposed.push(path),
                Ok(false) => {}
                Err(reason) => refused.push(format!("{}: {reason}", path.path)),
            }
        }
        let list = |text_of: fn(&ExposedPath) -> &str| {
            let texts: Vec<&str> = exposed.iter().map(text_of).collect();
            Value::Word(texts.join(", "))
        };
        let (paths, what) = match (exposed.is_empty(), refused.first()) {
            (false, _) => (list(|path| &path.path), list(|path| &path.what)),
            (true, None) => (Value::word("none"), Value::word("none")),
            (true, Some(first)) => {
                let refused = refused.len();
                let reason = format!(
                    "{refused} of {path_count} paths returned no result. The first: {first}."
                );
                (Value::Unknown(reason.clone()), Value::Unknown(reason))
            }
        };
        object.set("exposed", paths);
        object.set("exposed_what", what);
    }

    /// Returns true if the response for a path has the typical content of an exposed file.
    ///
    /// Returns an error if there is no response, if its body cannot be decoded, or if the server
    /// asks the client to slow down (status 429 or 503).
    fn serves(&self, client: &mut Client, path: &ExposedPath) -> Result<bool, String> {
        let url = self.url.join(&path.path).map_err(|e| e.to_string())?;
        let response = client.request(Method::Get, &url, "Range: bytes=0-2047\r\n")?;
        match response.status {
            200 | 206 => resource::text(&response).map(|text| path.is_in(&text)),
            429 | 503 => Err(format!("status {}", response.status)),
            _ => Ok(false),
        }
    }

    fn connect(&self, client: &Client) -> Option<Timed> {
        let addresses = client.addresses(self.url).ok()?;
        addresses.iter().find_map(|address| connect(*address))
    }

    fn has_ajp(&self, addresses: &[SocketAddr]) -> Value {
        let mut tried = addresses.iter().take(MAX_ADDRESSES);
        Value::Flag(tried.any(|address| supports_ajp(SocketAddr::new(address.ip(), self.ajp_port))))
    }

    /// Sets the address families over which the name is reachable. The family over which the page
    /// was loaded is known to work.
    fn set_families(&self, addresses: &Result<Vec<SocketAddr>, String>, object: &mut AuditObject) {
        if !matches!(self.url.host(), Some(url::Host::Domain(_))) {
            return;
        }
        let families = [
            (IpFamily::V4, "ipv4_address", "ipv4"),
            (IpFamily::V6, "ipv6_address", "ipv6"),
        ];
        for (family, address_name, reach_name) in families {
            let (has_address, is_reached) = match addresses {
                _ if self.page.family == Some(family) => {
                    (Value::Flag(true), Some(Value::Flag(true)))
                }
                Ok(all) => {
                    let in_family = addresses_of(family, all);
                    let reach_name =
                        (!in_family.is_empty()).then(|| reached_over(family, &in_family));
                    (Value::Flag(!in_family.is_empty()), reach_name)
                }
                Err(reason) => {
                    let unknown = Value::Unknown(reason.clone());
                    (unknown.clone(), Some(unknown))
                }
            };
            object.set(address_name, has_address);
            object.set_some(reach_name, is_reached);
        }
    }
}

/// Returns the first addresses of a family, at most [`MAX_ADDRESSES`].
fn addresses_of(family: IpFamily, all: &[SocketAddr]) -> Vec<SocketAddr> {
    let in_family = all
        .iter()
        .filter(|address| IpFamily::from_address(address) == family);
    in_family.copied().take(MAX_ADDRESSES).collect()
}

/// Checks whether any of the addresses accepts a connection within the timeout of an exchange.
fn reached_over(family: IpFamily, addresses: &[SocketAddr]) -> Value {
    let loopback = addresses.iter().all(|address| address.ip().is_loopback());
    let deadline = Instant::now() + client::TIMEOUT;
    match (
        client::connect(addresses, deadline).is_ok(),
        loopback || has_route(family),
    ) {
        (true, _) => Value::Flag(true),
        (false, true) => Value::Flag(false),
        (false, false) => Value::Unknown(format!(
            "This machine has no {} connectivity.",
            family.name()
        )),
    }
}

/// Describes the server from the response to the page request alone, without further requests.
pub fn describe_from_response(
    url: &Url,
    page: &PageResponse,
    redirects: &Redirects,
) -> AuditObject {
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let mut object = AuditObject::new("server", authority);
    match &page.malformed {
        None => set_response(url, page, &mut object),
        Some(reason) => {
            set_response(url, &PageResponse::default(), &mut object);
            let unknown = Value::Unknown(format!("{}.", unreadable_text(reason)));
            object
                .values
                .values_mut()
                .for_each(|v| *v = unknown.clone());
        }
    }
    object.set("https", Value::Flag(url.scheme() == "https"));
    set_redirects(redirects, &mut object);
    object
}

/// Explains that the values of a page are unknown because its response cannot be read.
fn unreadable_text(reason: &str) -> String {
    format!("The page's response cannot be read: {reason}")
}

/// Sets the number and the targets of redirects.
fn set_redirects(redirects: &Redirects, object: &mut AuditObject) {
    object.set("redirects", Value::count(redirects.count, "redirects"));
    object.set("redirect_loop", Value::Flag(redirects.is_loop));
    let path = if redirects.path.is_empty() {
        "none".into()
    } else {
        redirects.path.join(", then ")
    };
    object.set("redirect_path", Value::Word(path));
    let elsewhere = redirects.elsewhere.as_ref();
    let not_elsewhere = || "no".to_owned();
    let word =
        |text_of: fn(&Url) -> String| Value::Word(elsewhere.map_or_else(not_elsewhere, text_of));
    object.set("elsewhere", word(address::redact));
    object.set("elsewhere_word", word(address::shell_word));
}

/// Sets the values that the response reveals about the server. The response of a redirect reveals
/// nothing about the page.
fn set_response(url: &Url, page: &PageResponse, object: &mut AuditObject) {
    set_fields(page, object);
    if url.scheme() == "https" {
        object.set("hsts", hsts_lifetime(page));
    }
    if page.redirect_target(url).is_none() {
        set_security(page, object);
        let html = resource::text(page).map(|html| safety(&html, url));
        set_html(page, &html, object);
        object.set("complete", Value::Flag(!page.is_truncated));
    }
    if page.status == 304 {
        forget_missing_fields(object);
    }
}

/// Marks values as unknown if they were derived from a missing field. A 304 leaves out fields that
/// the browser already has (RFC 9110, 15.4.5), so a missing field proves nothing.
fn forget_missing_fields(object: &mut AuditObject) {
    const NAMES: [&str; 10] = [
        "csp",
        "frame_options",
        "framed",
        "hsts",
        "isolated",
        "nosniff",
        "opener_policy",
        "permissions",
        "referrer",
        "referrer_policy",
    ];
    let missing = [Value::Flag(false), Value::word("none"), Value::ns(0.0)];
    for name in NAMES {
        if object.values.get(name).is_some_and(|v| missing.contains(v)) {
            let reason = "The page's response is 304, which leaves out fields.";
            object.set(name, Value::Unknown(reason.into()));
        }
    }
}

fn set_fields(page: &PageResponse, object: &mut AuditObject) {
    let field = |name: &str| page.field(name);
    let software = field("server").unwrap_or_default();
    object.set(
        "software",
        Value::word(if software.is_empty() {
            "not reported"
        } else {
            software
        }),
    );
    object.set(
        "reveals_version",
        Value::Flag(software.chars().any(|c| c.is_ascii_digit())),
    );
    object.set("served_by", Value::Word(served_by(page)));
    if !page.version.is_empty() {
        object.set("version", Value::word(&page.version));
    }
    let frameworks: Vec<&str> = MADE_WITH.iter().filter_map(|name| field(name)).collect();
    object.set(
        "powered_by",
        Value::word(if frameworks.is_empty() {
            "not reported".into()
        } else {
            frameworks.join(", ")
        }),
    );
    let leaks = page
        .fields
        .iter()
        .filter(|(name, _)| name == "server" || MADE_WITH.contains(&name.as_str()));
    let bytes: usize = leaks
        .map(|(name, value)| name.len() + value.len() + ": \r\n".len())
        .sum();
    object.set("leak_bytes", Value::bytes(bytes as u64));
    object.set("head_bytes", Value::bytes(page.head_bytes as u64));
}

/// Checks whether a response over plain HTTP redirects to TLS.
fn leads_to_tls(response: &PageResponse, url: &Url) -> Value {
    match response.redirect_target(url) {
        Some(to) if to.scheme() == "https" => Value::Flag(true),
        Some(to) if to.host() != url.host() => Value::Unknown(
            "Plain HTTP redirects to another host, which benchlab did not contact.".into(),
        ),
        _ => Value::Flag(false),
    }
}

/// Returns the time for which browsers use only TLS for the host (HSTS), or 0 if the response does
/// not specify it.
fn hsts_lifetime(page: &PageResponse) -> Value {
    let hsts = page.field("strict-transport-security").unwrap_or_default();
    let hsts = hsts.to_ascii_lowercase();
    let age = hsts.split([';', ',']).find_map(|part| {
        let age = part.trim().strip_prefix("max-age")?.trim_start();
        let age = age.strip_prefix('=')?.trim().trim_matches('"');
        resource::seconds(age)
    });
    Value::ns(age.unwrap_or(0.0) * 1e9)
}

fn set_security(page: &PageResponse, object: &mut AuditObject) {
    let joined = |name: &str| page.all(name).collect::<Vec<&str>>().join(", ");
    let word = |text: &str| match text.trim() {
        "" => Value::word("none"),
        text => Value::word(text),
    };
    let permissions = joined("permissions-policy");
    object.set("permissions", Value::Flag(restricts_device(&permissions)));
    let opener = joined("cross-origin-opener-policy");
    object.set("isolated", Value::Flag(isolates_window(&opener)));
    object.set("opener_policy", word(&opener));
    let type_options = joined("x-content-type-options");
    // Browsers use the first of multiple values (WHATWG, *Fetch*, 3.6).
    let first = type_options.split(',').next().unwrap_or_default();
    let nosniff = first.trim().eq_ignore_ascii_case("nosniff");
    object.set("nosniff", Value::Flag(nosniff));
    let frame_options = joined("x-frame-options");
    let is_framed =
        refuses_frames(&frame_options) || policies(page).iter().any(|policy| limits_frames(policy));
    object.set("framed", Value::Flag(is_framed));
    object.set("frame_options", word(&frame_options));
    let referrer = joined("referrer-policy");
    object.set("referrer", Value::Flag(hides_url(&referrer)));
    object.set("referrer_policy", word(&referrer));
}

/// Returns true if a Permissions-Policy denies at least one feature to some sites.
fn restricts_device(policy: &str) -> bool {
    let allowed = policy
        .split(',')
        .filter_map(|feature| feature.split_once('='));
    let mut allowed = allowed.map(|(_, sites)| sites.split(';').next().unwrap_or_default().trim());
    allowed.any(|sites| !matches!(sites, "*" | "(*)" | ""))
}

/// Returns true if a Cross-Origin-Opener-Policy separates the page from pages of other sites. More
/// than one value is invalid, so browsers ignore it (WHATWG, *HTML*, 7.1.3).
fn isolates_window(policy: &str) -> bool {
    const ISOLATING: [&str; 3] = [
        "same-origin",
        "same-origin-allow-popups",
        "noopener-allow-popups",
    ];
    let value = policy.split(';').next().unwrap_or_default().trim();
    ISOLATING.contains(&value) && !policy.contains(',')
}

/// Returns true if the values of X-Frame-Options, joined by commas, keep other sites from framing
/// the page. If the values contradict each other, browsers do not show the page in a frame.
/// Browsers ignore unknown values (WHATWG, *HTML*, 7.7).
fn refuses_frames(options: &str) -> bool {
    let values = options
        .split(',')
        .map(|value| value.trim().to_ascii_lowercase());
    let values: BTreeSet<String> = values.filter(|value| !value.is_empty()).collect();
    let has = |name: &str| values.contains(name);
    match values.len() {
        0 | 1 => has("deny") || has("sameorigin"),
        _ => has("deny") || has("sameorigin") || has("allowall"),
    }
}

/// Returns true if a Content-Security-Policy limits the sites that may frame the page.
fn limits_frames(policy: &str) -> bool {
    let open = ["*", "http:", "https:"];
    let sources = directive(policy, &["frame-ancestors"]);
    sources.is_some_and(|sources| !sources.iter().any(|source| open.contains(source)))
}

/// Returns true if a Referrer-Policy hides paths and queries from other sites. If there are
/// multiple values, the last value that browsers support applies (W3C, *Referrer Policy*, 8.1).
fn hides_url(policy: &str) -> bool {
    const HIDING: [&str; 6] = [
        "no-referrer",
        "same-origin",
        "origin",
        "strict-origin",
        "origin-when-cross-origin",
        "strict-origin-when-cross-origin",
    ];
    const REVEALING: [&str; 2] = ["unsafe-url", "no-referrer-when-downgrade"];
    let mut values = policy
        .split(',')
        .map(|value| value.trim().to_ascii_lowercase());
    let is_known = |value: &String| [&HIDING[..], &REVEALING].concat().contains(&value.as_str());
    values
        .rfind(is_known)
        .is_some_and(|value| HIDING.contains(&value.as_str()))
}

/// Returns the Content-Security-Policies in the header, in lowercase. A field can contain multiple
/// policies, separated by commas.
fn policies(page: &PageResponse) -> Vec<String> {
    let policies = page
        .all("content-security-policy")
        .flat_map(|field| field.split(','));
    policies.map(str::to_ascii_lowercase).collect()
}

/// Returns the sources of the first directive in `names` that a policy contains.
fn directive<'p>(policy: &'p str, names: &[&str]) -> Option<Vec<&'p str>> {
    let directives = policy.split(';').map(str::split_whitespace);
    let directives: Vec<(&str, Vec<&str>)> = directives
        .filter_map(|mut words| Some((words.next()?, words.collect())))
        .collect();
    let find = |name: &&str| directives.iter().find(|(own, _)| own == name);
    let found = names.iter().find_map(find);
    found.map(|(_, sources)| sources.clone())
}

/// Sets the values that show how the page's policy and HTML protect it against malicious scripts.
/// `html` is an error if the HTML cannot be read.
fn set_html(page: &PageResponse, html: &Result<Safety, String>, object: &mut AuditObject) {
    let unreadable =
        |reason: &String| Value::Unknown(format!("The page cannot be read: {reason}."));
    let html_policy = html.as_ref().map_or("", |safety| &safety.policy);
    let mut policies = policies(page);
    policies.extend(html_policy.split(',').map(str::to_ascii_lowercase));
    let csp = match (script_policy(&policies), html) {
        // A policy in the HTML can only add restrictions to the policy in the header.
        (csp @ "restricts scripts", _) | (csp, Ok(_)) => Value::word(csp),
        (_, Err(reason)) => unreadable(reason),
    };
    object.set("csp", csp);
    if !resource::is_html(page) {
        return;
    }
    let of_unpinned = |value: &dyn Fn(&[Url]) -> Value| match html {
        Ok(safety) => value(&safety.unpinned),
        Err(reason) => unreadable(reason),
    };
    let first = |as_text: fn(&Url) -> String| {
        of_unpinned(&|files| Value::Word(files.first().map_or("none".into(), as_text)))
    };
    object.set(
        "unpinned",
        of_unpinned(&|files| Value::count(files.len() as u64, "files")),
    );
    object.set("unpinned_first", first(address::redact));
    object.set("unpinned_word", first(address::shell_word));
}

/// Returns the effect of the policies on scripts, which the strictest policy determines (CSP Level
/// 3). The scores follow Mozilla's Observatory.
///
/// Both `<script>` elements and attributes such as `onclick` contain inline scripts, for which
/// there are separate directives.
fn script_policy(policies: &[String]) -> &'static str {
    const OF_ELEMENTS: [&str; 3] = ["script-src-elem", "script-src", "default-src"];
    const OF_ATTRIBUTES: [&str; 3] = ["script-src-attr", "script-src", "default-src"];
    let policies: Vec<&String> = policies.iter().filter(|p| !p.trim().is_empty()).collect();
    let restricted = |names: &[&str]| -> Vec<bool> {
        let sources = policies
            .iter()
            .filter_map(|policy| directive(policy, names));
        sources.map(|sources| refuses_inline(&sources)).collect()
    };
    let outcomes = [restricted(&OF_ELEMENTS), restricted(&OF_ATTRIBUTES)];
    match outcomes {
        _ if policies.is_empty() => "none",
        outcomes if outcomes.iter().all(Vec::is_empty) => "does not mention scripts",
        outcomes if outcomes.iter().all(|each| each.contains(&true)) => "restricts scripts",
        _ => "lets inline scripts run",
    }
}

/// Returns true if a list of sources allows no inline scripts, or only inline scripts with a nonce
/// or a hash.
fn refuses_inline(sources: &[&str]) -> bool {
    let is_strict = |source: &&str| {
        let prefixes = [
            "'nonce-",
            "'sha256-",
            "'sha384-",
            "'sha512-",
            "'strict-dynamic'",
        ];
        prefixes.iter().any(|prefix| source.starts_with(prefix))
    };
    !sources.contains(&"'unsafe-inline'") || sources.iter().any(is_strict)
}

fn connect(address: SocketAddr) -> Option<Timed> {
    let stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_write_timeout(Some(TIMEOUT)).ok()?;
    Some(Timed::new(stream, Instant::now() + TIMEOUT))
}

/// Returns true if this machine has a route to the Internet for an address family.
///
/// The probed addresses are reserved for documentation (RFC 5737, RFC 3849), and no packet is sent.
fn has_route(family: IpFamily) -> bool {
    let (local, remote) = match family {
        IpFamily::V4 => ("0.0.0.0:0", "198.51.100.1:9"),
        IpFamily::V6 => ("[::]:0", "[2001:db8::1]:9"),
    };
    std::net::UdpSocket::bind(local).is_ok_and(|socket| socket.connect(remote).is_ok())
}

/// Returns true if an AJP server responds to a CPing with a CPong (AJPv13 reference).
fn supports_ajp(address: SocketAddr) -> bool {
    const PING: [u8; 5] = [0x12, 0x34, 0x00, 0x01, 0x0a];
    const PONG: [u8; 5] = [0x41, 0x42, 0x00, 0x01, 0x09];
    let Some(mut stream) = connect(address) else {
        return false;
    };
    let mut response = [0; 5];
    stream.write_all(&PING).is_ok() && stream.read_exact(&mut response).is_ok() && response == PONG
}

fn set_certificate(tls: &TlsObservation, object: &mut AuditObject) {
    object.set(
        "certificate",
        Value::word(tls.wrong.as_deref().unwrap_or("no problem")),
    );
    if let Some((from, until)) = tls.valid {
        object.set("certificate_from", Value::Word(day(from)));
        object.set("certificate_until", Value::Word(day(until)));
    }
    let left = match tls.valid {
        Some((_, until)) => Value::ns((until - now()) * 1e9),
        None => Value::Unknown("The certificate cannot be read.".into()),
    };
    object.set("certificate_left", left);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_cannot_be_looked_up_again_may_have_addresses() {
        let url = Url::parse("http://a.example/").expect("a URL");
        let page = PageResponse {
            family: Some(IpFamily::V6),
            ..PageResponse::default()
        };
        let context = ServerContext {
            url: &url,
            page: &page,
            redirects: Redirects::default(),
            ajp_port: 0,
        };
        let mut object = AuditObject::new("server", "a.example");
        context.set_families(&Err("Nobody answers.".into()), &mut object);
        let texts = ["ipv4_address", "ipv4", "ipv6_address", "ipv6"];
        let texts = texts.map(|name| object.values[name].text());
        assert_eq!(texts, ["unknown", "unknown", "yes", "yes"]);
    }

    #[test]
    fn policies_are_read_for_what_they_do_to_scripts() {
        let policy_of = |policies: &[&str]| {
            let all: Vec<String> = policies.iter().map(|p| p.to_string()).collect();
            script_policy(&all)
        };
        assert_eq!(policy_of(&[""]), "none");
        assert_eq!(
            policy_of(&["frame-ancestors 'none'"]),
            "does not mention scripts"
        );
        assert_eq!(policy_of(&["default-src 'self'"]), "restricts scripts");
        let open = "default-src 'self'; script-src 'self' 'unsafe-inline'";
        assert_eq!(policy_of(&[open]), "lets inline scripts run");
        let nonce = "script-src 'unsafe-inline' 'nonce-abc'";
        assert_eq!(policy_of(&[nonce]), "restricts scripts");
        assert_eq!(
            policy_of(&[open, "default-src 'none'"]),
            "restricts scripts"
        );
        let inline = "lets inline scripts run";
        for (policy, expected) in [
            (
                "default-src 'self'; script-src-elem 'self' 'unsafe-inline'",
                inline,
            ),
            (
                "default-src 'self'; script-src-attr 'unsafe-inline'",
                inline,
            ),
            ("script-src-elem 'self'", inline),
            (
                "script-src-elem 'self'; script-src-attr 'none'",
                "restricts scripts",
            ),
            ("script-src 'unsafe-inline'; script-src 'self'", inline),
        ] {
            assert_eq!(policy_of(&[policy]), expected, "{policy}");
        }
    }

    #[test]
    fn values_that_protect_nothing_do_not_count() {
        for (policy, expected) in [
            ("same-origin", true),
            ("same-origin; report-to=\"x\"", true),
            ("same-origin-allow-popups", true),
            ("unsafe-none", false),
            ("same-origin, same-origin", false),
            ("", false),
        ] {
            assert_eq!(isolates_window(policy), expected, "{policy}");
        }
        for (policy, expected) in [
            ("no-referrer", true),
            ("unsafe-url", false),
            ("Unsafe-URL, strict-origin-when-cross-origin", true),
            ("no-referrer, unsafe-url", false),
            ("strict-origin, unknown", true),
            ("no-referrer-when-downgrade", false),
            ("unknown", false),
            ("", false),
        ] {
            assert_eq!(hides_url(policy), expected, "{policy}");
        }
        for (options, expected) in [
            ("DENY", true),
            ("SameOrigin, sameorigin", true),
            ("ALLOWALL", false),
            ("ALLOW-FROM https://a.example", false),
            ("DENY, ALLOWALL", true),
            ("a, b", false),
            ("", false),
        ] {
            assert_eq!(refuses_frames(options), expected, "{options}");
        }
        for (policy, expected) in [
            ("frame-ancestors 'none'", true),
            ("default-src *; frame-ancestors a.example", true),
            ("frame-ancestors", true),
            ("frame-ancestors *", false),
            ("frame-ancestors https:", false),
            ("default-src 'self'", false),
        ] {
            assert_eq!(limits_frames(policy), expected, "{policy}");
        }
        for (policy, expected) in [
            ("camera=()", true),
            ("camera=*, microphone=(self)", true),
            ("camera=*", false),
            ("", false),
        ] {
            assert_eq!(restricts_device(policy), expected, "{policy}");
        }
    }

    #[test]
    fn the_list_of_paths_is_read() {
        let list: Exposed =
            toml::from_str(include_str!("../../data/exposed.toml")).expect("a list");
        assert!(
            list.path
                .iter()
                .all(|path| path.path.starts_with('/') && !path.has.is_empty())
        );
    }
}
