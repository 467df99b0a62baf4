// SPDX-License-Identifier: Apache-2.0
//! `audit cookies`: what cookies cost on the wire, who set them, and how they are set.

pub mod cookie;
mod field;
pub mod input;
pub mod owner;
pub mod wire;

use crate::judge::judge;
use crate::rule::{self, Rule, RuleError};
use crate::value::{Class, Thing, Value, counted};
use cookie::{Cookie, Request, RequestKind, default_path};
use field::field_bytes;
use input::CookieObservation;
use lab_model::Unit;
use lab_model::audit::{Audit, AuditKind, EvidenceBars, EvidenceTable, EvidenceValue};
use owner::{Owner, owner, within};
use std::collections::HashMap;

/// What a request may have so that it fits one packet: 1,500 bytes of Ethernet less the headers of IPv6 and TCP
/// with timestamps (40 + 32).
pub const PACKET: usize = 1428;

/// A host that a file does not name.
const UNNAMED: &str = "an unnamed host";

/// The classes of things that cookies have.
pub const CLASSES: [Class; 4] = [COOKIE, HOST, SITE, INPUT];

/// A cookie.
pub const COOKIE: Class = Class {
    name: "cookie",
    none: "There is no cookie.",
    values: &[
        ("cookie", "its name"),
        ("owner", "who sets it"),
        ("tracker", "whether that is a tracker of the list"),
        ("bytes", "bytes of name, equals sign and value"),
        ("domain", "the domain that it is sent to"),
        ("path", "the path that it is sent below"),
        ("wide", "whether it is sent to hosts below its domain too"),
        ("secure", "whether it is sent over TLS only"),
        ("http_only", "whether scripts do not see it"),
        ("same_site", "Strict, Lax, None, or not said"),
        ("lifetime", "how long it lives"),
        (
            "login",
            "whether its name says that it is a session or a token",
        ),
        (
            "passing",
            "whether its name says that it is wanted during a login only",
        ),
        (
            "prefix_kept",
            "whether it keeps what the prefix of its name promises",
        ),
        (
            "static_requests",
            "static files that were asked for with it",
        ),
        ("static_bytes", "its bytes in those requests"),
        (
            "copies",
            "cookies of the same name in one request, itself included",
        ),
        ("requests", "requests that carried it"),
        (
            "folder",
            "the path that all pages and API calls that carried it are below",
        ),
        (
            "outside",
            "static files beyond that path that were asked for with it",
        ),
        ("set_line", "the line that sets it as the rules want it"),
        ("folder_line", "the same, for that path"),
    ],
};

/// A host that requests with cookies go to.
pub const HOST: Class = Class {
    name: "cookie-host",
    none: "No request with a cookie is known.",
    values: &[
        ("cookies", "cookies of the largest request"),
        (
            "cookie_bytes",
            "bytes of the Cookie field of the largest request, in HTTP/1.1",
        ),
        (
            "head_bytes",
            "bytes of the head of the largest request, in HTTP/1.1",
        ),
        ("share", "part of that head that is cookies"),
        ("packet", "bytes that fit one packet"),
        ("packets", "packets that the largest request takes at least"),
    ],
};

/// All of it.
pub const SITE: Class = Class {
    name: "site",
    none: "There is no cookie.",
    values: &[
        ("total", "bytes of all cookies"),
        (
            "tracker_share",
            "part of the largest page's cookies that belongs to trackers",
        ),
        ("tracker_bytes", "the same in bytes"),
        ("page_bytes", "bytes of cookies in all requests"),
    ],
};

/// What was read.
pub const INPUT: Class = Class {
    name: "input",
    none: "There is no cookie.",
    values: &[
        ("unreadable", "whether something of it could not be read"),
        ("lacks", "what that is"),
    ],
};

/// The rules that are built in. Error: one is wrong, which a test rules out.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    rule::built_in("cookies", &CLASSES)
}

/// The audit of what was seen. `rate`: requests per second, for what a day costs.
pub fn audit(targets: Vec<String>, seen: &CookieObservation, rules: &[Rule], rate: f64) -> Audit {
    let figures = figures(seen, rate);
    Audit {
        kind: AuditKind::Cookies,
        targets,
        facts: facts(seen, rate),
        findings: judge(rules, &figures.things, &CLASSES),
        tables: figures.tables,
        chart: figures.chart,
    }
}

/// What was seen, for rules and for readers.
pub struct Figures {
    /// For rules.
    pub things: Vec<Thing>,
    /// Owners, cookies, domains, and the kinds of requests.
    pub tables: Vec<EvidenceTable>,
    /// Whose bytes a request carries.
    pub chart: Option<EvidenceBars>,
}

/// The figures of what was seen. `rate`: requests per second, for what a day costs.
pub fn figures(seen: &CookieObservation, rate: f64) -> Figures {
    let largest = largest(seen);
    let owners: Vec<Owner> = seen
        .cookies
        .iter()
        .map(|c| owner(&c.name, &c.domain, seen.site.as_deref()))
        .collect();
    let carried = carried(seen);
    let mut of_name: HashMap<&str, usize> = HashMap::new();
    for cookie in &seen.cookies {
        *of_name.entry(&cookie.name).or_default() += 1;
    }
    let thing = |at: usize| {
        let cookie = &seen.cookies[at];
        let mut thing = cookie_thing(cookie, &owners[at], &carried[at]);
        if of_name[cookie.name.as_str()] > 1 && !cookie.domain.is_empty() {
            thing.name += &format!(" ({}{})", cookie.domain, cookie.path);
        }
        thing
    };
    let mut things: Vec<Thing> = (0..seen.cookies.len()).map(thing).collect();
    things.extend(hosts(seen));
    things.extend(input(seen));
    things.extend(site(seen, &owners, largest));
    let split = largest
        .map(|request| split(seen, &owners, request))
        .unwrap_or_default();
    Figures {
        things,
        tables: vec![
            owner_table(seen, &split, largest),
            cookie_table(seen, &owners, &carried),
            domain_table(seen),
            wire_table(seen, rate),
        ],
        chart: (!split.is_empty()).then(|| chart(&split, &of_a_page(seen, rate))),
    }
}

/// The page whose `Cookie` field is longest, or else the request.
fn largest(seen: &CookieObservation) -> Option<&Request> {
    let bytes = |r: &&Request| {
        (
            r.kind == RequestKind::Page,
            field_bytes(&seen.cookies, &r.cookies),
        )
    };
    let with = seen.requests.iter().filter(|r| !r.cookies.is_empty());
    with.max_by_key(bytes)
}

/// How requests carry a cookie.
#[derive(Clone, Default)]
struct CookieUse {
    /// How many of each kind do.
    requests: [usize; RequestKind::ALL.len()],
    /// The most cookies of its name in one of them, itself included.
    copies: usize,
    /// What the paths of pages and API calls that carry it have in common.
    folder: Option<String>,
    /// Static files beyond that path which carry it.
    outside: usize,
}

impl CookieUse {
    fn all(&self) -> usize {
        self.requests.iter().sum()
    }

    fn needed(&self) -> usize {
        self.requests[RequestKind::Page as usize] + self.requests[RequestKind::Api as usize]
    }
}

/// What two folders are both below.
fn common(one: &str, other: &str) -> String {
    let both = one.split('/').zip(other.split('/'));
    let same: Vec<&str> = both.take_while(|(a, b)| a == b).map(|(a, _)| a).collect();
    let folder = same.join("/");
    if folder.is_empty() {
        "/".into()
    } else {
        folder
    }
}

/// Of each cookie.
fn carried(seen: &CookieObservation) -> Vec<CookieUse> {
    let mut carried = vec![CookieUse::default(); seen.cookies.len()];
    for request in &seen.requests {
        let mut names: HashMap<&str, usize> = HashMap::new();
        let mut sent = request.cookies.clone();
        sent.iter()
            .for_each(|&at| *names.entry(&seen.cookies[at].name).or_default() += 1);
        sent.sort_unstable();
        sent.dedup();
        for at in sent {
            let copies = names[seen.cookies[at].name.as_str()];
            carried[at].requests[request.kind as usize] += 1;
            carried[at].copies = carried[at].copies.max(copies);
            if matches!(request.kind, RequestKind::Page | RequestKind::Api) {
                let folder = default_path(&request.path);
                let known = carried[at].folder.take();
                carried[at].folder = Some(known.map_or(folder.clone(), |k| common(&k, &folder)));
            }
        }
    }
    for request in seen
        .requests
        .iter()
        .filter(|r| r.kind == RequestKind::Static)
    {
        for &at in &request.cookies {
            let below = |folder: &String| {
                let rest = request.path.strip_prefix(folder.trim_end_matches('/'));
                rest.is_some_and(|rest| rest.starts_with('/'))
            };
            let beyond = carried[at].folder.as_ref().is_some_and(|f| !below(f));
            carried[at].outside += usize::from(beyond);
        }
    }
    carried
}

fn cookie_thing(cookie: &Cookie, owner: &Owner, carried: &CookieUse) -> Thing {
    let mut thing = Thing::new("cookie", cookie.display_name());
    thing.set("cookie", Value::word(cookie.display_name()));
    thing.set("owner", Value::word(owner.name()));
    thing.set("tracker", Value::Flag(matches!(owner, Owner::Tracker(_))));
    thing.set("bytes", Value::bytes(cookie.bytes() as u64));
    thing.set("domain", Value::word(&cookie.domain));
    thing.set("path", Value::word(&cookie.path));
    let login = !matches!(owner, Owner::Tracker(_)) && cookie.is_login();
    thing.set("login", Value::Flag(login));
    thing.set("passing", Value::Flag(cookie.is_passing()));
    thing.set("requests", Value::count(carried.all() as u64, "requests"));
    // One page says little about the path of all.
    if let Some(folder) = carried.folder.as_ref().filter(|_| carried.needed() > 1) {
        thing.set("folder", Value::word(folder));
        let line = set_line(&cookie.name, folder, is_http_only(cookie, login));
        thing.set("folder_line", Value::Word(line));
        thing.set("outside", Value::count(carried.outside as u64, "requests"));
    }
    attributes(cookie, &mut thing);
    let stat = carried.requests[RequestKind::Static as usize];
    thing.set("static_requests", Value::count(stat as u64, "requests"));
    thing.set(
        "static_bytes",
        Value::bytes((stat * (cookie.bytes() + wire::SEPARATOR)) as u64),
    );
    thing.set(
        "copies",
        Value::count(carried.copies.max(1) as u64, "cookies"),
    );
    let line = set_line(&cookie.name, &cookie.path, is_http_only(cookie, login));
    thing.set("set_line", Value::Word(line));
    thing
}

fn attributes(cookie: &Cookie, thing: &mut Thing) {
    let Some(said) = &cookie.attributes else {
        let why = "It was seen in a request only: how it was set is not known.";
        for name in [
            "wide",
            "secure",
            "http_only",
            "same_site",
            "lifetime",
            "prefix_kept",
        ] {
            thing.set(name, Value::Unknown(why.into()));
        }
        return;
    };
    thing.set("wide", Value::Flag(!said.host_only));
    thing.set("secure", Value::Flag(said.secure));
    thing.set("http_only", Value::Flag(said.http_only));
    let same_site = match said.same_site.to_ascii_lowercase().as_str() {
        "strict" => "Strict",
        "lax" => "Lax",
        "none" => "None",
        _ => "not said",
    };
    thing.set("same_site", Value::word(same_site));
    thing.set_some("lifetime", said.lifetime_s.map(|s| Value::ns(s * 1e9)));
    let host = !cookie.name.starts_with("__Host-")
        || (said.secure && said.host_only && cookie.path == "/");
    let secure = !cookie.name.starts_with("__Secure-") || said.secure;
    thing.set("prefix_kept", Value::Flag(host && secure));
}

/// `Set-Cookie: sid=…; Path=/; Secure; HttpOnly; SameSite=Lax`
fn set_line(name: &str, path: &str, http_only: bool) -> String {
    let http_only = if http_only { "; HttpOnly" } else { "" };
    format!("Set-Cookie: {name}=…; Path={path}; Secure{http_only}; SameSite=Lax")
}

/// Whether scripts should not see it, as far as its name and what was said of it tell.
fn is_http_only(cookie: &Cookie, login: bool) -> bool {
    login || cookie.attributes.as_ref().is_none_or(|a| a.http_only)
}

/// The largest request of each host.
fn hosts(seen: &CookieObservation) -> Vec<Thing> {
    let with = seen.requests.iter().filter(|r| !r.cookies.is_empty());
    let mut hosts: Vec<&str> = with.map(|r| r.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    let thing = |host: &str| {
        let of = seen.requests.iter().filter(|r| r.host == host);
        let request = of.max_by_key(|r| field_bytes(&seen.cookies, &r.cookies))?;
        let bytes = field_bytes(&seen.cookies, &request.cookies);
        let mut thing = Thing::new("cookie-host", if host.is_empty() { UNNAMED } else { host });
        thing.set(
            "cookies",
            Value::count(request.cookies.len() as u64, "cookies"),
        );
        thing.set("cookie_bytes", Value::bytes(bytes as u64));
        thing.set("packet", Value::bytes(PACKET as u64));
        let least = request.head_bytes.unwrap_or(bytes).div_ceil(PACKET);
        thing.set("packets", Value::count(least as u64, "packets"));
        match request.head_bytes {
            Some(head) => {
                thing.set("head_bytes", Value::bytes(head as u64));
                thing.set("share", Value::share(bytes as f64 / head.max(1) as f64));
            }
            // The cookies alone are a bound from below.
            None if bytes > PACKET => thing.set("head_bytes", Value::bytes(bytes as u64)),
            None => {
                let why = Value::Unknown("The rest of the request is not known.".into());
                thing.set("head_bytes", why.clone());
                thing.set("share", why);
            }
        }
        Some(thing)
    };
    hosts.into_iter().filter_map(thing).collect()
}

/// What of the files and pages could not be read; `None`: nothing, and there is no cookie.
fn input(seen: &CookieObservation) -> Option<Thing> {
    let mut lacking = seen.lacking.clone();
    if seen.skipped > 0 {
        let entries = counted(seen.skipped as u64, "entry");
        lacking.push(format!(
            "{entries} could not be read, or would be refused by a browser."
        ));
    }
    if lacking.is_empty() && seen.cookies.is_empty() {
        return None;
    }
    let mut thing = Thing::new("input", "what was read");
    thing.set("unreadable", Value::Flag(!lacking.is_empty()));
    thing.set("lacks", Value::Word(lacking.join(" ")));
    Some(thing)
}

fn site(seen: &CookieObservation, owners: &[Owner], largest: Option<&Request>) -> Option<Thing> {
    let request = largest?;
    let mut thing = Thing::new("site", seen.site.clone().unwrap_or_else(|| UNNAMED.into()));
    let bytes = |cookies: &mut dyn Iterator<Item = usize>| {
        cookies.map(|at| seen.cookies[at].bytes()).sum::<usize>()
    };
    let total = bytes(&mut request.cookies.iter().copied());
    let tracker = |at: &usize| matches!(owners[*at], Owner::Tracker(_));
    let of_trackers = bytes(&mut request.cookies.iter().copied().filter(tracker));
    let all: usize = seen
        .requests
        .iter()
        .map(|r| field_bytes(&seen.cookies, &r.cookies))
        .sum();
    thing.set("total", Value::bytes(total as u64));
    thing.set("tracker_bytes", Value::bytes(of_trackers as u64));
    thing.set(
        "tracker_share",
        Value::share(of_trackers as f64 / total.max(1) as f64),
    );
    thing.set("page_bytes", Value::bytes(all as u64));
    Some(thing)
}

/// A part of a `Cookie` field: whose it is, cookies, bytes.
struct Share {
    of: String,
    cookies: usize,
    bytes: usize,
}

/// The owners' bytes, those with most first, and the rest of the field.
fn split(seen: &CookieObservation, owners: &[Owner], request: &Request) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    for &at in &request.cookies {
        let (of, bytes) = (owners[at].name(), seen.cookies[at].bytes());
        match shares.iter_mut().find(|share| share.of == of) {
            Some(share) => {
                share.cookies += 1;
                share.bytes += bytes;
            }
            None => shares.push(Share {
                of: of.to_owned(),
                cookies: 1,
                bytes,
            }),
        }
    }
    shares.sort_by_key(|share| std::cmp::Reverse(share.bytes));
    let separators = wire::SEPARATOR * (request.cookies.len() - 1);
    shares.push(Share {
        of: "separators".into(),
        cookies: 0,
        bytes: separators,
    });
    shares.push(Share {
        of: "name and line end".into(),
        cookies: 0,
        bytes: wire::FIELD,
    });
    shares
}

fn word(text: impl Into<String>) -> EvidenceValue {
    EvidenceValue::Word(text.into())
}

fn bytes(n: usize) -> EvidenceValue {
    EvidenceValue::Number(n as f64, Unit::Count("bytes".into()))
}

fn count(n: usize, of: &'static str) -> EvidenceValue {
    EvidenceValue::Number(n as f64, Unit::Count(of.into()))
}

fn owner_table(
    seen: &CookieObservation,
    split: &[Share],
    largest: Option<&Request>,
) -> EvidenceTable {
    let total: usize = split.iter().map(|share| share.bytes).sum();
    let head = largest.and_then(|r| r.head_bytes);
    let of_head = |bytes: usize| {
        let part = head.map(|head| bytes as f64 / head.max(1) as f64);
        part.map_or(EvidenceValue::Nothing, |part| {
            EvidenceValue::Number(part, Unit::Share)
        })
    };
    let row = |share: &Share| {
        let part = share.bytes as f64 / total.max(1) as f64;
        let cookies = match share.cookies {
            0 => EvidenceValue::Nothing,
            n => count(n, "cookies"),
        };
        vec![
            word(&share.of),
            cookies,
            bytes(share.bytes),
            EvidenceValue::Number(part, Unit::Share),
            of_head(share.bytes),
        ]
    };
    let mut rows: Vec<Vec<EvidenceValue>> = split.iter().map(row).collect();
    if let Some(request) = largest {
        let all = EvidenceValue::Number(1.0, Unit::Share);
        rows.push(vec![
            word("all"),
            count(request.cookies.len(), "cookies"),
            bytes(total),
            all,
            of_head(total),
        ]);
    }
    let named = largest.filter(|r| !r.host.is_empty());
    let of = named.map_or(String::new(), |r| format!("({}{}) ", r.host, r.path));
    let head = head.map_or(String::new(), |head| {
        format!(" The whole head has {head} bytes.")
    });
    EvidenceTable {
        title: "Whose bytes a request carries".into(),
        caption: format!(
            "The Cookie field of the largest {} {of}in HTTP/1.1; what lies between two cookies belongs to nobody.{head}",
            largest.map_or("request", |r| r.kind.name())
        ),
        columns: ["owner", "cookies", "bytes", "share", "of the head"]
            .map(String::from)
            .into(),
        rows: if seen.cookies.is_empty() {
            Vec::new()
        } else {
            rows
        },
    }
}

fn cookie_table(
    seen: &CookieObservation,
    owners: &[Owner],
    carried: &[CookieUse],
) -> EvidenceTable {
    const SHOWN: usize = 200;
    let row = |(at, cookie): (usize, &Cookie)| {
        let on = |kind: RequestKind| count(carried[at].requests[kind as usize], "requests");
        let domain = match &cookie.attributes {
            Some(a) if !a.host_only => format!(".{}", cookie.domain),
            _ => cookie.domain.clone(),
        };
        vec![
            word(cookie.display_name()),
            word(owners[at].name()),
            word(domain + &cookie.path),
            bytes(cookie.bytes()),
            word(said(cookie)),
            on(RequestKind::Page),
            on(RequestKind::Api),
            on(RequestKind::Static),
        ]
    };
    let mut by_size: Vec<(usize, &Cookie)> = seen.cookies.iter().enumerate().collect();
    by_size.sort_by_key(|(_, cookie)| std::cmp::Reverse(cookie.bytes()));
    let more = by_size.len().saturating_sub(SHOWN);
    let more = if more > 0 {
        format!(" {more} smaller ones are left out.")
    } else {
        String::new()
    };
    EvidenceTable {
        title: "Cookies".into(),
        caption: format!(
            "Bytes are those of name, equals sign and value; values are not kept.{more}"
        ),
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
        rows: by_size.into_iter().take(SHOWN).map(row).collect(),
    }
}

/// What each domain has, with what is there twice.
fn domain_table(seen: &CookieObservation) -> EvidenceTable {
    const SHOWN: usize = 100;
    let (mut names, mut values) = (HashMap::new(), HashMap::new());
    let mut domains: Vec<(&str, Vec<&Cookie>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for cookie in &seen.cookies {
        let of_name: &mut Vec<&Cookie> = names.entry(&cookie.name).or_default();
        of_name.push(cookie);
        if cookie.value_bytes > 0 {
            *values.entry(&cookie.hash).or_insert(0) += 1;
        }
        let place = *places.entry(&cookie.domain).or_insert_with(|| {
            domains.push((cookie.domain.as_str(), Vec::new()));
            domains.len() - 1
        });
        domains[place].1.push(cookie);
    }
    let same_name = |cookie: &Cookie| {
        let others = names[&cookie.name].iter().take(SHOWN);
        let mut others = others.filter(|other| !std::ptr::eq(**other, cookie));
        others.any(|other| within(&cookie.domain, &other.domain))
    };
    let row = |(domain, cookies): &(&str, Vec<&Cookie>)| {
        let how_many = |of: &dyn Fn(&Cookie) -> bool| cookies.iter().filter(|c| of(c)).count();
        vec![
            word(*domain),
            count(cookies.len(), "cookies"),
            bytes(cookies.iter().map(|c| c.bytes()).sum()),
            count(how_many(&same_name), "cookies"),
            count(
                how_many(&|c| values.get(&c.hash).is_some_and(|n| *n > 1)),
                "cookies",
            ),
        ]
    };
    EvidenceTable {
        title: "Domains".into(),
        caption: "A name that is there twice: a cookie of the same name goes to that domain too, for another path or from a \
                  domain above it. A value that is there twice is known by its hash."
            .into(),
        columns: ["domain", "cookies", "bytes", "same name", "same value"]
            .map(String::from)
            .into(),
        rows: domains.iter().take(SHOWN).map(row).collect(),
    }
}

/// `Secure HttpOnly SameSite=Lax, 30 days`
fn said(cookie: &Cookie) -> String {
    let Some(said) = &cookie.attributes else {
        return "not seen".into();
    };
    let flags = [(said.secure, "Secure"), (said.http_only, "HttpOnly")];
    let mut words: Vec<String> = flags
        .iter()
        .filter(|(on, _)| *on)
        .map(|(_, word)| word.to_string())
        .collect();
    if !said.same_site.is_empty() {
        words.push(said.same_site.clone());
    }
    words.push(match said.lifetime_s {
        Some(s) if s <= 0.0 => "ended".into(),
        Some(s) => Value::ns(s * 1e9).text(),
        None => "session".into(),
    });
    words.join(" ")
}

/// What each kind of request carries.
fn wire_table(seen: &CookieObservation, rate: f64) -> EvidenceTable {
    let mut rows = Vec::new();
    for kind in RequestKind::ALL {
        let of: Vec<&Request> = seen.requests.iter().filter(|r| r.kind == kind).collect();
        if of.is_empty() {
            continue;
        }
        let n = of.len() as f64;
        let mean =
            |each: &dyn Fn(&Request) -> usize| of.iter().map(|r| each(r)).sum::<usize>() as f64 / n;
        let mean_bytes = |each: &dyn Fn(&Request) -> usize| {
            EvidenceValue::Number(mean(each), Unit::Count("bytes".into()))
        };
        let http1 = |r: &Request| field_bytes(&seen.cookies, &r.cookies);
        rows.push(vec![
            word(kind.name()),
            count(of.len(), "requests"),
            count(
                of.iter().filter(|r| !r.cookies.is_empty()).count(),
                "requests",
            ),
            mean_bytes(&http1),
            mean_bytes(&|r| r.hpack[0]),
            mean_bytes(&|r| r.hpack[1]),
            EvidenceValue::Number(mean(&http1) * rate * 86_400.0, Unit::Bytes),
        ]);
    }
    EvidenceTable {
        title: "Which requests carry them".into(),
        caption: format!(
            "Bytes are means of a request. HTTP/2: as the first request of its connection, and \
             the same again on it. A day has {rate} requests per \
             second of this kind, in HTTP/1.1."
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

fn facts(seen: &CookieObservation, rate: f64) -> Vec<(String, String)> {
    let mut facts = vec![
        ("cookies".to_owned(), seen.cookies.len().to_string()),
        ("requests".into(), seen.requests.len().to_string()),
        ("rate for a day".into(), format!("{rate} requests/s")),
        (
            "list of trackers".into(),
            format!("{}, of {}", owner::LIST, owner::LIST_DATE),
        ),
        (
            "values".into(),
            "not kept: their length, and a hash whose salt is thrown away".into(),
        ),
    ];
    let page = "cookies of a page with its files";
    facts.push((page.into(), of_a_page(seen, rate)));
    if seen.skipped > 0 {
        let entries = counted(seen.skipped as u64, "entry");
        facts.push(("could not be read".into(), entries));
    }
    facts.extend(
        seen.notes
            .iter()
            .map(|note| ("note".to_owned(), note.clone())),
    );
    facts
}

/// What the cookies of a page and of its files cost.
fn of_a_page(seen: &CookieObservation, rate: f64) -> String {
    let bytes = |r: &Request| field_bytes(&seen.cookies, &r.cookies);
    let all: usize = seen.requests.iter().map(bytes).sum();
    let pages = seen.requests.iter().filter(|r| r.kind == RequestKind::Page);
    let page = all as f64 / pages.count().max(1) as f64;
    let bytes = |n: f64| Value::bytes(n as u64).text();
    let day = bytes(page * rate * 86_400.0);
    format!(
        "{} in HTTP/1.1; at {rate} such pages/s {day} a day",
        bytes(page)
    )
}

/// `of_page`: what they cost for a page with its files.
fn chart(split: &[Share], of_page: &str) -> EvidenceBars {
    const SHOWN: usize = 10;
    let rest: usize = split.iter().skip(SHOWN).map(|share| share.bytes).sum();
    let mut rows: Vec<(String, f64)> = split
        .iter()
        .take(SHOWN)
        .map(|s| (s.of.clone(), s.bytes as f64))
        .collect();
    if rest > 0 {
        rows.push(("others".into(), rest as f64));
    }
    let total: usize = split.iter().map(|share| share.bytes).sum();
    EvidenceBars {
        title: "Bytes of cookies in one request, by owner".into(),
        caption: format!("{total} bytes. A page with its files: {of_page}."),
        axis: "bytes".into(),
        unit: Unit::Count("bytes".into()),
        rows,
    }
}
