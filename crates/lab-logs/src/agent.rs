// SPDX-License-Identifier: Apache-2.0
//! Classifies clients as people, crawlers or health checks by their user agent.

use lab_model::PageKind;

/// Words, in lower case, that occur only in the names of crawlers and tools.
const BOTS: [&str; 22] = [
    "bot",
    "crawl",
    "spider",
    "slurp",
    "archiver",
    "facebookexternalhit",
    "mediapartners",
    "feedfetcher",
    "bingpreview",
    "ia_archiver",
    "scrapy",
    "wget/",
    "python-requests",
    "python-urllib",
    "go-http-client",
    "libwww-perl",
    "nutch",
    "yandex",
    "baiduspider",
    "semrush",
    "ahrefs",
    "headlesschrome",
];

/// Words that occur only in the names of health checks.
const CHECKS: [&str; 11] = [
    "kube-probe",
    "elb-healthchecker",
    "googlehc",
    "haproxy",
    "check_http",
    "uptimerobot",
    "pingdom",
    "nagios",
    "consul health",
    "statuscake",
    "site24x7",
];

/// Paths that only health checks request.
const PATHS: [&[u8]; 10] = [
    b"/health",
    b"/healthz",
    b"/livez",
    b"/readyz",
    b"/ready",
    b"/live",
    b"/ping",
    b"/health/live",
    b"/health/ready",
    b"/actuator/health",
];

/// Returns the kind and the name of a crawler or a health check by its `User-Agent`.
///
/// `None` means that the client is a person.
pub fn classify(agent: &[u8]) -> Option<(PageKind, String)> {
    let text = String::from_utf8_lossy(&agent[..agent.len().min(400)]).to_ascii_lowercase();
    let has = |words: &[&'static str]| words.iter().find(|word| text.contains(**word)).copied();
    if let Some(word) = has(&CHECKS) {
        return Some((PageKind::Health, word.trim_end_matches('/').into()));
    }
    let word = has(&BOTS)?;
    let name = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')))
        .find(|name| name.contains(word.trim_end_matches('/')))
        .unwrap_or(word);
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'));
    Some((PageKind::Bot, crate::route::cut(name.into())))
}

/// Returns true if only health checks request the path.
pub fn is_check(path: &[u8]) -> bool {
    PATHS.contains(&path.strip_suffix(b"/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crawlers_and_checks_are_known() {
        let name = |agent: &str| classify(agent.as_bytes());
        let google = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
        assert_eq!(name(google), Some((PageKind::Bot, "googlebot".into())));
        assert_eq!(
            name("kube-probe/1.29"),
            Some((PageKind::Health, "kube-probe".into()))
        );
        assert_eq!(
            name("python-requests/2.31"),
            Some((PageKind::Bot, "python-requests".into()))
        );
        assert_eq!(name("Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0"), None);
        assert_eq!(name("-"), None);
        assert!(is_check(b"/healthz") && !is_check(b"/health-insurance"));
    }
}
