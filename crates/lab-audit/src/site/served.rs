// SPDX-License-Identifier: Apache-2.0
//! The origin of a response, as suggested by its header fields: a cache, a server that reads files,
//! or an application behind a server.

use super::client::PageResponse;
use crate::cookies::cookie::{Hasher, set_cookie};
use crate::date::now;

/// Header fields that reveal the software of an application.
pub const MADE_WITH: [&str; 4] = [
    "x-powered-by",
    "x-aspnet-version",
    "x-generator",
    "x-runtime",
];

/// Web servers and proxies that run in front of applications, by their names in `Server`.
const REVERSE_PROXIES: [&str; 12] = [
    "nginx",
    "openresty",
    "Apache",
    "lighttpd",
    "Caddy",
    "LiteSpeed",
    "Microsoft-IIS",
    "HAProxy",
    "envoy",
    "Traefik",
    "cloudflare",
    "Varnish",
];

/// Application servers, by their names in `Server`.
const APPLICATIONS: [&str; 11] = [
    "Tomcat", "Coyote", "Jetty", "gunicorn", "uvicorn", "Werkzeug", "waitress", "Kestrel", "Puma",
    "WEBrick", "Express",
];

/// Describes the origin of a response in a few words.
pub fn served_by(response: &PageResponse) -> String {
    let server = response.field("server").unwrap_or_default();
    let first_named = |names: &[&'static str]| {
        let lower = server.to_ascii_lowercase();
        let mut names = names.iter().copied();
        names.find(|name| lower.contains(&name.to_ascii_lowercase()))
    };
    let application = first_named(&APPLICATIONS);
    // `Apache-Coyote` is an application server (Tomcat), although its name contains `Apache`.
    let proxy = first_named(&REVERSE_PROXIES).filter(|_| application.is_none());
    let has_framework_field = MADE_WITH.iter().any(|name| response.field(name).is_some());
    let is_application = application.is_some() || has_framework_field || sets_session(response);
    let is_file = response.field("etag").is_some() && response.field("last-modified").is_some();
    match (is_cached(response), is_application, proxy) {
        (true, ..) => "a cache".into(),
        (_, true, Some(proxy)) => format!("an application behind {proxy}"),
        (_, true, None) if response.field("via").is_some() => {
            "an application behind a proxy".into()
        }
        (_, true, None) => "an application".into(),
        (_, false, Some(proxy)) if is_file => format!("{proxy}, from a file"),
        (_, false, Some(proxy)) => format!("{proxy}, or a server behind it"),
        (_, false, None) if is_file => "a server, from a file".into(),
        (_, false, None) if response.field("via").is_some() => "a server behind a proxy".into(),
        _ => "unknown".into(),
    }
}

/// Returns true if a cache served the response, according to `Cache-Status` (RFC 9211) or older fields.
fn is_cached(response: &PageResponse) -> bool {
    let is_hit = |name: &str| {
        let mut fields = response.all(name);
        fields.any(|value| value.to_ascii_lowercase().contains("hit"))
    };
    let age_s = response
        .field("age")
        .and_then(|age| age.trim().parse::<u64>().ok());
    ["cache-status", "x-cache", "cf-cache-status"]
        .into_iter()
        .any(is_hit)
        || age_s.is_some_and(|seconds| seconds > 0)
}

fn sets_session(response: &PageResponse) -> bool {
    let Ok(hasher) = Hasher::new() else {
        return false;
    };
    let mut fields = response.all("set-cookie");
    fields.any(|field| {
        let set = set_cookie(field, "", "/", now().into(), &hasher);
        set.is_some_and(|(cookie, _)| cookie.is_login())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_show_which_server_sent_a_response() {
        let server_of = |fields: &[(&str, &str)]| {
            let owned = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
            served_by(&PageResponse {
                fields: fields.iter().map(owned).collect(),
                ..PageResponse::default()
            })
        };
        let nginx = ("server", "nginx/1.22.1");
        let (etag, date) = (("etag", "\"1\""), ("last-modified", "now"));
        let session = ("set-cookie", "JSESSIONID=1; Path=/");
        assert_eq!(server_of(&[nginx, etag, date]), "nginx, from a file");
        assert_eq!(server_of(&[nginx]), "nginx, or a server behind it");
        assert_eq!(server_of(&[nginx, session]), "an application behind nginx");
        let apache = ("server", "Apache-Coyote/1.1");
        assert_eq!(server_of(&[apache]), "an application");
        assert_eq!(server_of(&[("x-powered-by", "Express")]), "an application");
        assert_eq!(server_of(&[nginx, ("x-cache", "HIT from a")]), "a cache");
        assert_eq!(server_of(&[("age", "17")]), "a cache");
        assert_eq!(server_of(&[("age", "0"), ("server", "x")]), "unknown");
        assert_eq!(server_of(&[etag, date]), "a server, from a file");
        assert_eq!(
            server_of(&[("via", "1.1 varnish")]),
            "a server behind a proxy"
        );
    }
}
