// SPDX-License-Identifier: Apache-2.0
//! The server of a site: what it tells of itself, how it speaks, what it should not answer.

use super::Options;
use super::client::{Answer, Client, Method, addresses};
use super::old_tls;
use super::tls::{Seen, TlsClient};
use crate::value::{Class, Thing, Value};
use rustls::version::{TLS12, TLS13};
use serde::Deserialize;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use url::Url;

pub const SERVER: Class = Class {
    name: "server",
    none: "There is no server.",
    values: &[
        ("software", "what it says that it is"),
        ("front", "what answered, as far as it shows"),
        ("tells_version", "whether it tells its version"),
        ("powered_by", "what it says that it is made with"),
        ("leak_bytes", "bytes of these fields in each answer"),
        ("https", "whether the page came over TLS"),
        ("to_https", "whether plain HTTP leads to TLS"),
        ("redirects", "redirects before the page"),
        ("redirect_loop", "whether redirects lead in a circle"),
        ("http2", "whether it speaks HTTP/2"),
        ("tls12", "whether it speaks TLS 1.2"),
        ("tls13", "whether it speaks TLS 1.3"),
        ("old_tls", "versions of TLS before 1.2 that it speaks"),
        ("certificate", "what is wrong with its certificate"),
        ("certificate_left", "how long its certificate still holds"),
        ("hsts", "for how long browsers use TLS without asking"),
        ("csp", "whether it says what scripts may run"),
        ("nosniff", "whether browsers believe its media types"),
        ("framed", "whether it says who may frame it"),
        ("referrer", "whether it says what links tell"),
        ("exposed", "paths that it should not answer"),
        ("exposed_what", "what they show"),
        ("ajp", "whether a port of AJP is open"),
        ("ipv6", "whether it is reached over IPv6"),
        ("ipv6_address", "whether its name has an IPv6 address"),
        ("head", "status of HEAD, beside that of GET"),
        ("head_same", "whether HEAD says what GET says"),
        ("keeps", "whether it says that it would keep the connection"),
        ("head_bytes", "bytes of the head of the page's answer"),
        ("complete", "whether the page ended"),
    ],
};

/// How long a probe of a port waits.
const PATIENCE: Duration = Duration::from_secs(2);

/// Redirects on the way to the page.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redirects {
    /// How many.
    pub count: u64,
    /// One leads to a URL that was asked before.
    pub looped: bool,
    /// One leads from http to https.
    pub to_https: bool,
}

/// What is known of a server before it is looked at.
pub struct Looked<'a> {
    /// The page.
    pub url: &'a Url,
    /// Its answer.
    pub page: &'a Answer,
    /// On the way to it.
    pub redirects: Redirects,
    /// What may be done.
    pub options: &'a Options,
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

impl Looked<'_> {
    /// For rules, by asking the server what its answer does not tell.
    pub fn thing(&self, client: &mut Client) -> Thing {
        let mut thing = recorded(self.url, self.page, self.redirects);
        self.head(client, &mut thing);
        self.tls(client, &mut thing);
        self.exposed(client, &mut thing);
        self.network(&mut thing);
        thing
    }

    /// HEAD must say what GET says (RFC 9110, 9.3.2).
    fn head(&self, client: &mut Client, thing: &mut Thing) {
        match client.ask(Method::Head, self.url, "") {
            Ok(head) => {
                let same = head.status == self.page.status
                    && head.field("content-type") == self.page.field("content-type");
                thing.set(
                    "head",
                    Value::word(format!("{}, GET {}", head.status, self.page.status)),
                );
                thing.set("head_same", Value::Flag(same));
            }
            Err(why) => {
                thing.set("head", Value::Unknown(why.clone()));
                thing.set("head_same", Value::Unknown(why));
            }
        }
    }

    fn tls(&self, client: &mut Client, thing: &mut Thing) {
        let Some(seen) = &self.page.tls else {
            return self.plain(client, thing);
        };
        certificate(seen, thing);
        let host = self
            .url
            .host_str()
            .unwrap_or_default()
            .trim_matches(['[', ']']);
        let offers = |versions: &[&'static rustls::SupportedProtocolVersion],
                      protocols: &[&[u8]]| {
            let tcp = self.connect()?;
            TlsClient::new()
                .ok()?
                .offers(host, tcp, versions, protocols)
                .ok()
        };
        thing.set("tls13", Value::Flag(offers(&[&TLS13], &[]).is_some()));
        thing.set("tls12", Value::Flag(offers(&[&TLS12], &[]).is_some()));
        thing.set("old_tls", self.old_tls(host));
        let both = offers(&[&TLS13, &TLS12], &[b"h2", b"http/1.1"]);
        thing.set(
            "http2",
            Value::Flag(both.is_some_and(|seen| seen.alpn == "h2")),
        );
        thing.set("to_https", Value::Flag(true));
    }

    fn old_tls(&self, host: &str) -> Value {
        let mut spoken = Vec::new();
        for (name, version) in [("1.0", 0x0301), ("1.1", 0x0302)] {
            let no_connection = || "no connection for it".to_owned();
            let told = self.connect().ok_or_else(no_connection);
            match told.and_then(|mut tcp| old_tls::speaks(&mut tcp, host, version)) {
                Ok(true) => spoken.push(name),
                Ok(false) => {}
                Err(why) => return Value::Unknown(format!("TLS {name} was tried; {why}.")),
            }
        }
        match spoken.is_empty() {
            true => Value::word("none"),
            false => Value::Word(spoken.join(", ")),
        }
    }

    /// Without TLS: whether there is a server with it, on its usual port.
    fn plain(&self, client: &mut Client, thing: &mut Thing) {
        if self.url.port().is_some() {
            let why = "The URL names a port: where TLS would be is not known.";
            thing.set("to_https", Value::Unknown(why.into()));
            return;
        }
        let mut secure = self.url.clone();
        let there =
            secure.set_scheme("https").is_ok() && client.ask(Method::Head, &secure, "").is_ok();
        thing.set("to_https", Value::Flag(there && self.redirects.to_https));
    }

    fn exposed(&self, client: &mut Client, thing: &mut Thing) {
        let list: Exposed =
            toml::from_str(include_str!("../../data/exposed.toml")).expect("a test reads it");
        let mut found: Vec<ExposedPath> = Vec::new();
        for path in list.path {
            let Ok(url) = self.url.join(&path.path) else {
                continue;
            };
            let Ok(answer) = client.ask(Method::Get, &url, "Range: bytes=0-2047\r\n") else {
                continue;
            };
            let begin =
                String::from_utf8_lossy(&answer.body[..answer.body.len().min(2048)]).into_owned();
            let unlike = path
                .not
                .as_ref()
                .is_some_and(|not| begin.contains(not.as_str()));
            if matches!(answer.status, 200 | 206) && begin.contains(&path.has) && !unlike {
                found.push(path);
            }
        }
        let list = |of: fn(&ExposedPath) -> &str| match found.is_empty() {
            true => "none".to_owned(),
            false => found.iter().map(of).collect::<Vec<_>>().join(", "),
        };
        thing.set("exposed", Value::Word(list(|path| &path.path)));
        thing.set("exposed_what", Value::Word(list(|path| &path.what)));
    }

    fn connect(&self) -> Option<TcpStream> {
        let addresses = addresses(self.url).ok()?;
        addresses.iter().find_map(|address| connect(*address))
    }

    fn network(&self, thing: &mut Thing) {
        let addresses = addresses(self.url).unwrap_or_default();
        let ajp = addresses
            .first()
            .is_some_and(|first| answers_ajp(SocketAddr::new(first.ip(), self.options.ajp_port)));
        thing.set("ajp", Value::Flag(ajp));
        if matches!(self.url.host(), Some(url::Host::Domain(_))) {
            let v6: Vec<&SocketAddr> = addresses
                .iter()
                .filter(|address| address.is_ipv6())
                .collect();
            thing.set("ipv6_address", Value::Flag(!v6.is_empty()));
            if !v6.is_empty() {
                thing.set("ipv6", self.reached_over_ipv6(&v6));
            }
        }
    }

    fn reached_over_ipv6(&self, addresses: &[&SocketAddr]) -> Value {
        let loopback = addresses.iter().all(|address| address.ip().is_loopback());
        match (
            addresses.iter().any(|address| connect(**address).is_some()),
            loopback || has_ipv6(),
        ) {
            (true, _) => Value::Flag(true),
            (false, true) => Value::Flag(false),
            (false, false) => Value::Unknown("This machine has no IPv6 itself.".into()),
        }
    }
}

/// What the answer to the request for the page tells of the server, without asking it anything more.
pub fn recorded(url: &Url, page: &Answer, redirects: Redirects) -> Thing {
    let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
    let mut thing = Thing::new("server", authority);
    fields(page, &mut thing);
    security(url, page, &mut thing);
    thing.set("https", Value::Flag(url.scheme() == "https"));
    thing.set("redirects", Value::count(redirects.count, "redirects"));
    thing.set("redirect_loop", Value::Flag(redirects.looped));
    thing.set("complete", Value::Flag(!page.cut));
    thing
}

fn fields(page: &Answer, thing: &mut Thing) {
    let field = |name: &str| page.field(name);
    let software = field("server").unwrap_or_default();
    thing.set(
        "software",
        Value::word(if software.is_empty() {
            "not told"
        } else {
            software
        }),
    );
    thing.set(
        "tells_version",
        Value::Flag(software.chars().any(|c| c.is_ascii_digit())),
    );
    let front = field("via")
        .or(field("x-cache"))
        .or(field("cf-ray").map(|_| "Cloudflare"));
    thing.set("front", Value::word(front.unwrap_or("nothing shows")));
    const MADE_WITH: [&str; 4] = [
        "x-powered-by",
        "x-aspnet-version",
        "x-generator",
        "x-runtime",
    ];
    let made: Vec<&str> = MADE_WITH.iter().filter_map(|name| field(name)).collect();
    thing.set(
        "powered_by",
        Value::word(if made.is_empty() {
            "not told".into()
        } else {
            made.join(", ")
        }),
    );
    let leaks = page
        .fields
        .iter()
        .filter(|(name, _)| name == "server" || MADE_WITH.contains(&name.as_str()));
    let bytes: usize = leaks
        .map(|(name, value)| name.len() + value.len() + ": \r\n".len())
        .sum();
    thing.set("leak_bytes", Value::bytes(bytes as u64));
    thing.set("head_bytes", Value::bytes(page.head_bytes as u64));
}

fn security(url: &Url, page: &Answer, thing: &mut Thing) {
    let field = |name: &str| page.field(name);
    let policy = field("content-security-policy")
        .unwrap_or_default()
        .to_ascii_lowercase();
    thing.set("csp", Value::Flag(!policy.is_empty()));
    let nosniff =
        field("x-content-type-options").is_some_and(|v| v.trim().eq_ignore_ascii_case("nosniff"));
    thing.set("nosniff", Value::Flag(nosniff));
    thing.set(
        "framed",
        Value::Flag(field("x-frame-options").is_some() || policy.contains("frame-ancestors")),
    );
    thing.set("referrer", Value::Flag(field("referrer-policy").is_some()));
    if url.scheme() == "https" {
        let hsts = field("strict-transport-security")
            .unwrap_or_default()
            .to_ascii_lowercase();
        let age = hsts.split(';').find_map(|part| {
            part.trim()
                .strip_prefix("max-age=")?
                .trim_matches('"')
                .parse::<f64>()
                .ok()
        });
        thing.set("hsts", Value::ns(age.unwrap_or(0.0) * 1e9));
    }
}

fn connect(address: SocketAddr) -> Option<TcpStream> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    stream.set_write_timeout(Some(PATIENCE)).ok()?;
    Some(stream)
}

/// Whether this machine has a route to the IPv6 Internet; nothing is sent (RFC 3849's prefix is no host's).
fn has_ipv6() -> bool {
    let address: IpAddr = "2001:db8::1".parse().expect("an address");
    std::net::UdpSocket::bind("[::]:0").is_ok_and(|socket| socket.connect((address, 9)).is_ok())
}

/// CPing, which a server of AJP answers with CPong (AJPv13 reference).
fn answers_ajp(address: SocketAddr) -> bool {
    const PING: [u8; 5] = [0x12, 0x34, 0x00, 0x01, 0x0a];
    const PONG: [u8; 5] = [0x41, 0x42, 0x00, 0x01, 0x09];
    let Some(mut stream) = connect(address) else {
        return false;
    };
    let mut answer = [0; 5];
    stream.write_all(&PING).is_ok() && stream.read_exact(&mut answer).is_ok() && answer == PONG
}

fn certificate(seen: &Seen, thing: &mut Thing) {
    thing.set(
        "certificate",
        Value::word(seen.wrong.as_deref().unwrap_or("nothing is wrong with it")),
    );
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |now| now.as_secs_f64());
    let left = match seen.valid {
        Some((_, until)) => Value::ns((until - now) * 1e9),
        None => Value::Unknown("The certificate cannot be read.".into()),
    };
    thing.set("certificate_left", left);
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_list_of_paths_is_read() {
        let list: super::Exposed =
            toml::from_str(include_str!("../../data/exposed.toml")).expect("a list");
        assert!(
            list.path
                .iter()
                .all(|path| path.path.starts_with('/') && !path.has.is_empty())
        );
    }
}
