// SPDX-License-Identifier: Apache-2.0
//! `audit cookies`: the cost of cookies on the wire, their owners, and their attributes.

pub mod cookie;
pub mod input;
pub(crate) mod listed;
pub mod owner;
pub mod wire;

use crate::judge::judge;
use crate::rule::{self, Rule, RuleError};
use crate::value::{AuditObject, Class, Value, counted};
use crate::wording;
use cookie::{Attributes, Cookie, CookieRequest, RequestKind, SentCookie, default_path};
use input::CookieObservation;
use lab_model::Unit;
use lab_model::audit::{Audit, AuditKind, EvidenceBars, EvidenceTable, EvidenceValue};
use owner::{Owner, is_within, owner};
use std::collections::HashMap;

/// The maximum size in bytes of a request that fits in one packet.
///
/// This is the Ethernet MTU of 1,500 bytes minus the headers of IPv6 (40) and of TCP with timestamps (32).
pub const PACKET: usize = 1428;

/// The maximum time for which browsers keep a cookie, in seconds.
const MAX_LIFETIME_S: f64 = 400.0 * 86_400.0;

/// The name that reports use for a host without a name in the input.
const UNNAMED: &str = "an unnamed host";

/// The classes of objects in a cookie audit.
pub const CLASSES: [Class; 4] = [COOKIE, HOST, SITE, INPUT];

/// The class of cookies.
pub const COOKIE: Class = Class {
    name: "cookie",
    none: "No cookie was found.",
    values: &[
        ("cookie", "the cookie's name"),
        ("owner", "the owner of the cookie"),
        ("tracker", "whether the owner is a tracker in the list"),
        ("bytes", "bytes of name, equals sign and value"),
        ("domain", "the domain that the cookie is sent to"),
        ("path", "the path below which the cookie is sent"),
        ("wide", "whether the cookie is sent to subdomains, too"),
        ("secure", "whether the cookie is sent over TLS only"),
        ("http_only", "whether the cookie is hidden from scripts"),
        ("same_site", "Strict, Lax, None, or not specified"),
        ("lifetime", "the cookie's lifetime"),
        (
            "ignored",
            "the attribute (Max-Age or Expires) that browsers ignore because its value is invalid",
        ),
        ("login", "whether the name indicates a session or a token"),
        (
            "passing",
            "whether the name indicates a cookie needed only during a login",
        ),
        (
            "prefix_kept",
            "whether the cookie meets the requirements of its name prefix",
        ),
        (
            "static_requests",
            "requests for static files that carried the cookie",
        ),
        (
            "static_bytes",
            "bytes of the cookie in requests for static files",
        ),
        (
            "copies",
            "cookies with the same name in one request, including this one",
        ),
        ("requests", "requests that carried the cookie"),
        (
            "folder",
            "the path that contains all pages and API calls with the cookie",
        ),
        (
            "outside",
            "requests for static files outside of `folder` that carried the cookie",
        ),
        ("set_line", "a Set-Cookie line that meets the rules"),
        (
            "folder_line",
            "a Set-Cookie line that meets the rules, for the path in `folder`",
        ),
    ],
};

/// The class of hosts that receive requests with cookies.
pub const HOST: Class = Class {
    name: "cookie-host",
    none: "No request with a cookie was observed.",
    values: &[
        ("cookies", "number of cookies in the largest request"),
        (
            "cookie_bytes",
            "bytes of the Cookie field of the largest request, in HTTP/1.1",
        ),
        (
            "head_bytes",
            "bytes of the head of the largest request, in HTTP/1.1",
        ),
        (
            "share",
            "cookies as a fraction of the head of the largest request",
        ),
        ("packet", "bytes that fit in one packet"),
        (
            "packets",
            "minimum number of packets of the largest request",
        ),
    ],
};

/// The class of all cookies of a site together.
pub const SITE: Class = Class {
    name: "site",
    none: "No cookie was found.",
    values: &[
        ("total", "bytes of the cookies in the largest request"),
        ("tracker_share", "tracker_bytes as a fraction of total"),
        (
            "tracker_bytes",
            "bytes of the trackers' cookies in the largest request",
        ),
        ("page_bytes", "bytes of cookies in all requests"),
    ],
};

/// The class of the files and pages that were read.
pub const INPUT: Class = Class {
    name: "input",
    none: "No cookie was found.",
    values: &[
        ("unreadable", "whether some of the input could not be read"),
        ("lacks", "the input that could not be read"),
    ],
};

/// Returns the built-in rules, or an error if a rule is invalid. A test checks that all rules are
/// valid.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    rule::built_in("cookies", &CLASSES)
}

/// Builds the audit from the observation. `rate` is the number of requests per second, which
/// determines the cost per day.
pub fn audit(
    targets: Vec<String>,
    observation: &CookieObservation,
    rules: &[Rule],
    rate: f64,
) -> Audit {
    let results = results(observation, rate);
    Audit {
        waivers: Vec::new(),
        expired_waivers: Vec::new(),
        kind: AuditKind::Cookies,
        targets,
        facts: facts(observation, rate),
        findings: judge(rules, &results.objects, &CLASSES),
        tables: results.tables,
        chart: results.chart,
    }
}

/// The results: values for rules, and tables and a chart for reports.
pub struct CookieResults {
    /// The objects that rules judge.
    pub objects: Vec<AuditObject>,
    /// Tables of owners, cookies, domains, and kinds of requests.
    pub tables: Vec<EvidenceTable>,
    /// A chart of the bytes in a request, by owner.
    pub chart: Option<EvidenceBars>,
}

/// Computes the results from the observation. `rate` is the number of requests per second, which
/// determines the cost per day.
pub fn results(observation: &CookieObservation, rate: f64) -> CookieResults {
    let largest = largest_request(observation);
    let owners: Vec<Owner> = observation
        .cookies
        .iter()
        .map(|c| owner(&c.name, &c.domain, observation.site.as_deref()))
        .collect();
    let uses = cookie_uses(observation);
    let mut name_counts: HashMap<&str, usize> = HashMap::new();
    for cookie in &observation.cookies {
        *name_counts.entry(&cookie.name).or_default() += 1;
    }
    let object = |index: usize| {
        let cookie = &observation.cookies[index];
        let mut object = cookie_object(cookie, &owners[index], &uses[index]);
        if name_counts[cookie.name.as_str()] > 1 && !cookie.domain.is_empty() {
            object.name += &format!(" ({}{})", cookie.domain, cookie.path);
        }
        object
    };
    let mut objects: Vec<AuditObject> = (0..observation.cookies.len()).map(object).collect();
    objects.extend(host_objects(observation));
    objects.extend(input_object(observation));
    objects.extend(site_object(observation, &owners, largest));
    let owner_bytes = largest
        .map(|request| bytes_by_owner(&owners, request))
        .unwrap_or_default();
    CookieResults {
        objects,
        tables: vec![
            owner_table(observation, &owner_bytes, largest),
            cookie_table(observation, &owners, &uses),
            domain_table(observation),
            wire_table(observation, rate),
        ],
        chart: (!owner_bytes.is_empty())
            .then(|| chart(&owner_bytes, &page_cost(observation, rate))),
    }
}

/// Returns the page request with the longest `Cookie` field. If no page was requested, returns the
/// request with the longest `Cookie` field.
fn largest_request(observation: &CookieObservation) -> Option<&CookieRequest> {
    let bytes = |r: &&CookieRequest| (r.kind == RequestKind::Page, r.field_bytes());
    let with_cookies = observation
        .requests
        .iter()
        .filter(|r| !r.cookies.is_empty());
    with_cookies.max_by_key(bytes)
}

/// The requests that carry a cookie.
#[derive(Clone, Default)]
struct CookieUse {
    /// The number of requests of each kind that carry the cookie.
    requests: [usize; RequestKind::ALL.len()],
    /// The maximum number of cookies with this name in one request, including this cookie.
    copies: usize,
    /// The deepest common directory of all pages and API calls that carry the cookie.
    folder: Option<String>,
    /// The number of requests for static files outside `folder` that carry the cookie.
    outside: usize,
    /// The total bytes of the cookie in requests for static files.
    static_bytes: usize,
}

impl CookieUse {
    fn total(&self) -> usize {
        self.requests.iter().sum()
    }

    fn dynamic_requests(&self) -> usize {
        self.requests[RequestKind::Page as usize] + self.requests[RequestKind::Api as usize]
    }
}

/// Returns the deepest common ancestor of two directories.
fn common_folder(one: &str, other: &str) -> String {
    let segments = one.split('/').zip(other.split('/'));
    let shared: Vec<&str> = segments
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a)
        .collect();
    let folder = shared.join("/");
    if folder.is_empty() {
        "/".into()
    } else {
        folder
    }
}

/// Returns the use of each cookie, in the order of the cookies.
fn cookie_uses(observation: &CookieObservation) -> Vec<CookieUse> {
    let mut uses = vec![CookieUse::default(); observation.cookies.len()];
    for request in &observation.requests {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut sent: Vec<usize> = request.indexes().collect();
        sent.iter()
            .for_each(|&index| *names.entry(&observation.cookies[index].name).or_default() += 1);
        sent.sort_unstable();
        sent.dedup();
        for index in sent {
            let copies = names[observation.cookies[index].name.as_str()];
            uses[index].requests[request.kind as usize] += 1;
            uses[index].copies = uses[index].copies.max(copies);
            if matches!(request.kind, RequestKind::Page | RequestKind::Api) {
                let folder = default_path(&request.path);
                let common = uses[index].folder.take();
                uses[index].folder =
                    Some(common.map_or(folder.clone(), |k| common_folder(&k, &folder)));
            }
        }
    }
    for request in observation
        .requests
        .iter()
        .filter(|r| r.kind == RequestKind::Static)
    {
        for SentCookie { index, bytes } in request.cookies.iter().copied() {
            uses[index].static_bytes += bytes + wire::SEPARATOR;
            let below = |folder: &String| {
                let rest = request.path.strip_prefix(folder.trim_end_matches('/'));
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let beyond = uses[index].folder.as_ref().is_some_and(|f| !below(f));
            uses[index].outside += usize::from(beyond);
        }
    }
    uses
}

fn cookie_object(cookie: &Cookie, owner: &Owner, uses: &CookieUse) -> AuditObject {
    let mut object = AuditObject::new("cookie", cookie.display_name());
    object.set("cookie", Value::word(cookie.display_name()));
    object.set("owner", Value::word(owner.name()));
    object.set("tracker", Value::Flag(matches!(owner, Owner::Tracker(_))));
    object.set("bytes", Value::bytes(cookie.bytes() as u64));
    object.set("domain", Value::word(&cookie.domain));
    object.set("path", Value::word(&cookie.path));
    let login = !matches!(owner, Owner::Tracker(_)) && cookie.is_login();
    object.set("login", Value::Flag(login));
    object.set("passing", Value::Flag(cookie.is_temporary_login()));
    object.set("requests", Value::count(uses.total() as u64, "requests"));
    // A single page says little about which paths need the cookie. __Host- requires the path /.
    let may_move = uses.dynamic_requests() > 1 && !cookie.has_prefix("__Host-");
    if let Some(folder) = uses.folder.as_ref().filter(|_| may_move) {
        object.set("folder", Value::word(folder));
        let line = set_line(cookie, folder, is_http_only(cookie, login));
        object.set("folder_line", Value::Word(line));
        object.set("outside", Value::count(uses.outside as u64, "requests"));
    }
    set_attributes(cookie, &mut object);
    let stat = uses.requests[RequestKind::Static as usize];
    object.set("static_requests", Value::count(stat as u64, "requests"));
    object.set("static_bytes", Value::bytes(uses.static_bytes as u64));
    object.set("copies", Value::count(uses.copies as u64, "cookies"));
    let line = set_line(cookie, &cookie.path, is_http_only(cookie, login));
    object.set("set_line", Value::Word(line));
    object
}

fn set_attributes(cookie: &Cookie, object: &mut AuditObject) {
    let Some(attributes) = &cookie.attributes else {
        const NAMES: [&str; 6] = [
            "wide",
            "secure",
            "http_only",
            "same_site",
            "lifetime",
            "prefix_kept",
        ];
        let reason = "The cookie was observed only in requests, so its attributes are unknown.";
        return object.set_unknown(&NAMES, reason);
    };
    object.set("wide", Value::Flag(!attributes.host_only));
    object.set("secure", Value::Flag(attributes.secure));
    object.set("http_only", Value::Flag(attributes.http_only));
    let same_site = attributes.same_site().unwrap_or("not specified");
    let same_site = match attributes.is_same_site_unknown {
        true => Value::Unknown(wording::NO_SAME_SITE.into()),
        false => Value::word(same_site),
    };
    object.set("same_site", same_site);
    object.set_some("lifetime", lifetime(attributes));
    object.set_some("ignored", attributes.ignored.map(Value::word));
    let is_kept = cookie.keeps_prefix(attributes);
    object.set("prefix_kept", Value::Flag(is_kept));
}

/// Returns the lifetime of a cookie, or `None` for a cookie of the browser session.
///
/// An uncertain lifetime is a number only if it certainly exceeds what browsers allow.
fn lifetime(attributes: &Attributes) -> Option<Value> {
    let value = attributes.lifetime_s.map(|s| Value::ns(s * 1e9));
    let Some(doubt) = attributes.lifetime_doubt else {
        return value;
    };
    let is_long = |seconds: f64| doubt.min_lifetime_s(seconds) > MAX_LIFETIME_S;
    let unknown = || Value::Unknown(wording::doubtful_lifetime(doubt).into());
    let certain = value.filter(|_| attributes.lifetime_s.is_some_and(is_long));
    Some(certain.unwrap_or_else(unknown))
}

/// Formats a line such as `Set-Cookie: sid=…; Path=/; Secure; HttpOnly; SameSite=Lax`.
///
/// The line keeps the cookie's own `SameSite`, and the path that its prefix requires.
fn set_line(cookie: &Cookie, path: &str, http_only: bool) -> String {
    let name = &cookie.name;
    let path = Some(path).filter(|_| !cookie.has_prefix("__Host-"));
    let path = path.unwrap_or("/");
    let http_only = if http_only { "; HttpOnly" } else { "" };
    let same_site = cookie.attributes.as_ref().and_then(Attributes::same_site);
    let is_unknown = cookie
        .attributes
        .as_ref()
        .is_some_and(|a| a.is_same_site_unknown);
    let same_site = same_site.unwrap_or(if is_unknown { "…" } else { "Lax" });
    format!("Set-Cookie: {name}=…; Path={path}; Secure{http_only}; SameSite={same_site}")
}

/// Returns true if the cookie should be set with `HttpOnly`, judging by its name and its attributes.
fn is_http_only(cookie: &Cookie, login: bool) -> bool {
    login || cookie.attributes.as_ref().is_none_or(|a| a.http_only)
}

/// Describes the largest request to each host.
fn host_objects(observation: &CookieObservation) -> Vec<AuditObject> {
    let with_cookies = observation
        .requests
        .iter()
        .filter(|r| !r.cookies.is_empty());
    let mut hosts: Vec<&str> = with_cookies.map(|r| r.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let object = |host: &str| {
        let requests = observation.requests.iter().filter(|r| r.host == host);
        let request = requests.max_by_key(|r| r.field_bytes())?;
        let bytes = request.field_bytes();
        let mut object =
            AuditObject::new("cookie-host", if host.is_empty() { UNNAMED } else { host });
        object.set(
            "cookies",
            Value::count(request.cookies.len() as u64, "cookies"),
        );
        object.set("cookie_bytes", Value::bytes(bytes as u64));
        object.set("packet", Value::bytes(PACKET as u64));
        let packets = request.head_bytes.unwrap_or(bytes).div_ceil(PACKET);
        object.set("packets", Value::count(packets as u64, "packets"));
        match request.head_bytes {
            Some(head) => {
                object.set("head_bytes", Value::bytes(head as u64));
                object.set("share", Value::fraction(bytes as f64 / head.max(1) as f64));
            }
            // The size of the cookies alone is a lower bound.
            None if bytes > PACKET => object.set("head_bytes", Value::bytes(bytes as u64)),
            None => {
                let reason = Value::Unknown("The rest of the request is unknown.".into());
                object.set("head_bytes", reason.clone());
                object.set("share", reason);
            }
        }
        Some(object)
    };
    hosts.into_iter().filter_map(object).collect()
}

/// Describes the files and pages that could not be read.
///
/// Returns `None` if all files and pages were read and there are no cookies.
fn input_object(observation: &CookieObservation) -> Option<AuditObject> {
    let mut gaps = observation.gaps.clone();
    if observation.skipped > 0 {
        let entries = counted(observation.skipped as u64, "entry");
        gaps.push(format!(
            "{entries} could not be read, or would be rejected by a browser."
        ));
    }
    if gaps.is_empty() && observation.cookies.is_empty() {
        return None;
    }
    let mut object = AuditObject::new("input", "the input");
    object.set("unreadable", Value::Flag(!gaps.is_empty()));
    object.set("lacks", Value::Word(gaps.join(" ")));
    Some(object)
}

fn site_object(
    observation: &CookieObservation,
    owners: &[Owner],
    largest: Option<&CookieRequest>,
) -> Option<AuditObject> {
    let request = largest?;
    let mut object = AuditObject::new(
        "site",
        observation.site.clone().unwrap_or_else(|| UNNAMED.into()),
    );
    let bytes = |is_counted: &dyn Fn(usize) -> bool| {
        let sent = request.cookies.iter().filter(|sent| is_counted(sent.index));
        sent.map(|sent| sent.bytes).sum::<usize>()
    };
    let total = bytes(&|_| true);
    let of_trackers = bytes(&|index| matches!(owners[index], Owner::Tracker(_)));
    let all_bytes: usize = observation.requests.iter().map(|r| r.field_bytes()).sum();
    object.set("total", Value::bytes(total as u64));
    object.set("tracker_bytes", Value::bytes(of_trackers as u64));
    object.set(
        "tracker_share",
        Value::fraction(of_trackers as f64 / total.max(1) as f64),
    );
    object.set("page_bytes", Value::bytes(all_bytes as u64));
    Some(object)
}

/// The number of bytes that one owner's cookies take in a `Cookie` field.
struct OwnerBytes {
    owner: String,
    cookies: usize,
    bytes: usize,
}

/// Returns the number of bytes of each owner, the largest first, followed by the separators and by
/// the field's name and line end.
fn bytes_by_owner(owners: &[Owner], request: &CookieRequest) -> Vec<OwnerBytes> {
    let mut owner_bytes: Vec<OwnerBytes> = Vec::new();
    for SentCookie { index, bytes } in request.cookies.iter().copied() {
        let owner = owners[index].name();
        match owner_bytes
            .iter_mut()
            .find(|bytes_of| bytes_of.owner == owner)
        {
            Some(owner) => {
                owner.cookies += 1;
                owner.bytes += bytes;
            }
            None => owner_bytes.push(OwnerBytes {
                owner: owner.to_owned(),
                cookies: 1,
                bytes,
            }),
        }
    }
    owner_bytes.sort_by_key(|owner| std::cmp::Reverse(owner.bytes));
    let separators = wire::SEPARATOR * (request.cookies.len() - 1);
    owner_bytes.push(OwnerBytes {
        owner: "separators".into(),
        cookies: 0,
        bytes: separators,
    });
    owner_bytes.push(OwnerBytes {
        owner: "name and line end".into(),
        cookies: 0,
        bytes: wire::FIELD,
    });
    owner_bytes
}

fn word(text: impl Into<String>) -> EvidenceValue {
    EvidenceValue::Word(text.into())
}

fn bytes(n: usize) -> EvidenceValue {
    EvidenceValue::Number(n as f64, Unit::Count("bytes".into()))
}

fn count(n: usize, noun: &'static str) -> EvidenceValue {
    EvidenceValue::Number(n as f64, Unit::Count(noun.into()))
}

fn owner_table(
    observation: &CookieObservation,
    owner_bytes: &[OwnerBytes],
    largest: Option<&CookieRequest>,
) -> EvidenceTable {
    let total: usize = owner_bytes.iter().map(|owner| owner.bytes).sum();
    let head = largest.and_then(|r| r.head_bytes);
    let of_head = |bytes: usize| {
        let fraction = head.map(|head| bytes as f64 / head.max(1) as f64);
        fraction.map_or(EvidenceValue::Nothing, |fraction| {
            EvidenceValue::Number(fraction, Unit::Share)
        })
    };
    let row = |owner: &OwnerBytes| {
        let fraction = owner.bytes as f64 / total.max(1) as f64;
        let cookies = match owner.cookies {
            0 => EvidenceValue::Nothing,
            n => count(n, "cookies"),
        };
        vec![
            word(&owner.owner),
            cookies,
            bytes(owner.bytes),
            EvidenceValue::Number(fraction, Unit::Share),
            of_head(owner.bytes),
        ]
    };
    let mut rows: Vec<Vec<EvidenceValue>> = owner_bytes.iter().map(row).collect();
    if let Some(request) = largest {
        let whole = EvidenceValue::Number(1.0, Unit::Share);
        rows.push(vec![
            word("all"),
            count(request.cookies.len(), "cookies"),
            bytes(total),
            whole,
            of_head(total),
        ]);
    }
    let named = largest.filter(|r| !r.host.is_empty());
    let request_name = named.map_or(String::new(), |r| format!("({}{}) ", r.host, r.path));
    let head = head.map_or(String::new(), |head| {
        format!(" The whole head is {head} bytes long.")
    });
    EvidenceTable {
        title: "Cookie bytes in a request, by owner".into(),
        caption: format!(
            "The Cookie field of the largest {} {request_name}in HTTP/1.1. Separators belong to no owner.{head}",
            largest.map_or("request", |r| r.kind.name())
        ),
        columns: ["owner", "cookies", "bytes", "fraction", "of the head"]
            .map(String::from)
            .into(),
        rows: if observation.cookies.is_empty() {
            Vec::new()
        } else {
            rows
        },
    }
}

fn cookie_table(
    observation: &CookieObservation,
    owners: &[Owner],
    uses: &[CookieUse],
) -> EvidenceTable {
    const MAX_ROWS: usize = 200;
    let row = |(index, cookie): (usize, &Cookie)| {
        let requests_of =
            |kind: RequestKind| count(uses[index].requests[kind as usize], "requests");
        let domain = match &cookie.attributes {
            Some(a) if !a.host_only => format!(".{}", cookie.domain),
            _ => cookie.domain.clone(),
        };
        vec![
            word(cookie.display_name()),
            word(owners[index].name()),
            word(domain + &cookie.path),
            bytes(cookie.bytes()),
            word(attribute_text(cookie)),
            requests_of(RequestKind::Page),
            requests_of(RequestKind::Api),
            requests_of(RequestKind::Static),
        ]
    };
    let mut by_size: Vec<(usize, &Cookie)> = observation.cookies.iter().enumerate().collect();
    by_size.sort_by_key(|(_, cookie)| std::cmp::Reverse(cookie.bytes()));
    let more = by_size.len().saturating_sub(MAX_ROWS);
    let more = if more > 0 {
        format!(" Left out: {}.", counted(more as u64, "smaller cookie"))
    } else {
        String::new()
    };
    EvidenceTable {
        title: "Cookies".into(),
        caption: format!("Bytes include name, equals sign and value; values are not stored.{more}"),
        columns: [
            "name",
            "owner",
            "sent to",
            "bytes",
            "attributes",
            "pages",
            "API calls",
            "static files",
        ]
        .map(String::from)
        .into(),
        rows: by_size.into_iter().take(MAX_ROWS).map(row).collect(),
    }
}

/// Builds a table of the cookies by domain, with the number of duplicate cookies.
fn domain_table(observation: &CookieObservation) -> EvidenceTable {
    const MAX_ROWS: usize = 100;
    let (mut names, mut values) = (HashMap::new(), HashMap::new());
    let mut domains: Vec<(&str, Vec<&Cookie>)> = Vec::new();
    let mut indexes: HashMap<&str, usize> = HashMap::new();
    for cookie in &observation.cookies {
        let namesakes: &mut Vec<&Cookie> = names.entry(&cookie.name).or_default();
        namesakes.push(cookie);
        if cookie.value_bytes > 0 {
            *values.entry(&cookie.hash).or_insert(0) += 1;
        }
        let index = *indexes.entry(&cookie.domain).or_insert_with(|| {
            domains.push((cookie.domain.as_str(), Vec::new()));
            domains.len() - 1
        });
        domains[index].1.push(cookie);
    }
    let same_name = |cookie: &Cookie| {
        let others = names[&cookie.name].iter().take(MAX_ROWS);
        let mut others = others.filter(|other| !std::ptr::eq(**other, cookie));
        others.any(|other| is_within(&cookie.domain, &other.domain))
    };
    let row = |(domain, cookies): &(&str, Vec<&Cookie>)| {
        let count_of =
            |is_counted: &dyn Fn(&Cookie) -> bool| cookies.iter().filter(|c| is_counted(c)).count();
        vec![
            word(*domain),
            count(cookies.len(), "cookies"),
            bytes(cookies.iter().map(|c| c.bytes()).sum()),
            count(count_of(&same_name), "cookies"),
            count(
                count_of(&|c| values.get(&c.hash).is_some_and(|n| *n > 1)),
                "cookies",
            ),
        ]
    };
    EvidenceTable {
        title: "Domains".into(),
        caption: "Same name: cookies whose name is also sent to that domain for another path or from a parent domain. \
                  Same value: cookies with equal hashes of their values."
            .into(),
        columns: ["domain", "cookies", "bytes", "same name", "same value"]
            .map(String::from)
            .into(),
        rows: domains.iter().take(MAX_ROWS).map(row).collect(),
    }
}

/// Formats a cookie's attributes: `Secure HttpOnly SameSite=Lax, 30 days`.
fn attribute_text(cookie: &Cookie) -> String {
    let Some(attributes) = &cookie.attributes else {
        return "not observed".into();
    };
    let flags = [
        (attributes.secure, "Secure"),
        (attributes.http_only, "HttpOnly"),
    ];
    let mut words: Vec<String> = flags
        .iter()
        .filter(|(is_set, _)| *is_set)
        .map(|(_, word)| word.to_string())
        .collect();
    if !attributes.same_site.is_empty() {
        words.push(attributes.same_site.clone());
    }
    words.push(match attributes.lifetime_s {
        _ if matches!(lifetime(attributes), Some(Value::Unknown(_))) => "lifetime unknown".into(),
        Some(s) if s <= 0.0 => "expired".into(),
        Some(s) => Value::ns(s * 1e9).text(),
        None => "session".into(),
    });
    words.extend(
        attributes
            .ignored
            .map(|name| format!("({name} is invalid)")),
    );
    words.join(" ")
}

/// Builds a table of the cookie bytes in each kind of request.
fn wire_table(observation: &CookieObservation, rate: f64) -> EvidenceTable {
    let mut rows = Vec::new();
    for kind in RequestKind::ALL {
        let requests: Vec<&CookieRequest> = observation
            .requests
            .iter()
            .filter(|r| r.kind == kind)
            .collect();
        if requests.is_empty() {
            continue;
        }
        let request_count = requests.len() as f64;
        let mean = |each: &dyn Fn(&CookieRequest) -> usize| {
            requests.iter().map(|r| each(r)).sum::<usize>() as f64 / request_count
        };
        let mean_bytes = |each: &dyn Fn(&CookieRequest) -> usize| {
            EvidenceValue::Number(mean(each), Unit::Count("bytes".into()))
        };
        let http1 = |r: &CookieRequest| r.field_bytes();
        rows.push(vec![
            word(kind.name()),
            count(requests.len(), "requests"),
            count(
                requests.iter().filter(|r| !r.cookies.is_empty()).count(),
                "requests",
            ),
            mean_bytes(&http1),
            mean_bytes(&|r| r.hpack[0]),
            mean_bytes(&|r| r.hpack[1]),
            EvidenceValue::Number(mean(&http1) * rate * 86_400.0, Unit::Bytes),
        ]);
    }
    EvidenceTable {
        title: "Requests that carry cookies".into(),
        caption: format!(
            "Bytes are means per request. HTTP/2: the first request of a connection, and the same \
            request repeated on that connection. Bytes per day assume {rate} requests/s of \
            this kind, in HTTP/1.1."
        ),
        columns: [
            "request",
            "seen",
            "with cookies",
            "HTTP/1.1",
            "HTTP/2 first",
            "HTTP/2 again",
            "a day",
        ]
        .map(String::from)
        .into(),
        rows,
    }
}

fn facts(observation: &CookieObservation, rate: f64) -> Vec<(String, String)> {
    let mut facts = vec![
        ("cookies".to_owned(), observation.cookies.len().to_string()),
        ("requests".into(), observation.requests.len().to_string()),
        ("rate for a day".into(), format!("{rate} requests/s")),
        (
            "list of trackers".into(),
            format!("{}, of {}", owner::LIST, owner::LIST_DATE),
        ),
        (
            "values".into(),
            "not stored, only their length and a hash whose salt is discarded".into(),
        ),
    ];
    let page = "cookies of a page with its files";
    facts.push((page.into(), page_cost(observation, rate)));
    if observation.skipped > 0 {
        let entries = counted(observation.skipped as u64, "entry");
        facts.push(("could not be read".into(), entries));
    }
    facts.extend(
        observation
            .notes
            .iter()
            .map(|note| ("note".to_owned(), note.clone())),
    );
    facts
}

/// Describes the cost of the cookies of a page and its files, in bytes per page and per day.
fn page_cost(observation: &CookieObservation, rate: f64) -> String {
    let bytes = |r: &CookieRequest| r.field_bytes();
    let total: usize = observation.requests.iter().map(bytes).sum();
    let pages = observation
        .requests
        .iter()
        .filter(|r| r.kind == RequestKind::Page);
    let page = total as f64 / pages.count().max(1) as f64;
    let bytes = |n: f64| Value::bytes(n as u64).text();
    let day = bytes(page * rate * 86_400.0);
    format!(
        "{} in HTTP/1.1; {day} a day at {rate} such pages/s",
        bytes(page)
    )
}

/// Builds a chart of the bytes by owner. `page_cost` describes the cost of the cookies of a page
/// and its files.
fn chart(owner_bytes: &[OwnerBytes], page_cost: &str) -> EvidenceBars {
    const MAX_ROWS: usize = 10;
    let rest: usize = owner_bytes
        .iter()
        .skip(MAX_ROWS)
        .map(|owner| owner.bytes)
        .sum();
    let mut rows: Vec<(String, f64)> = owner_bytes
        .iter()
        .take(MAX_ROWS)
        .map(|s| (s.owner.clone(), s.bytes as f64))
        .collect();
    if rest > 0 {
        rows.push(("others".into(), rest as f64));
    }
    let total: usize = owner_bytes.iter().map(|owner| owner.bytes).sum();
    EvidenceBars {
        title: "Cookie bytes in one request, by owner".into(),
        caption: format!("{total} bytes. A page with its files: {page_cost}."),
        axis: "bytes".into(),
        unit: Unit::Count("bytes".into()),
        rows,
    }
}
