// SPDX-License-Identifier: Apache-2.0
//! `audit site`: a page, what it loads, and the server behind it. GET and HEAD only, to the hosts that were named.

pub mod client;
mod har;
mod old_tls;
mod page;
mod resource;
mod served;
mod server;
pub mod tls;

pub use har::of_har;
pub use page::references;
pub use url::Url;

use crate::cookies::input::{Collector, Seen};
use crate::cookies::{self as jar, cookie::RequestKind};
use crate::judge::judge;
use crate::rule::{self, Rule, RuleError};
use crate::value::{Class, Thing, Value};
use client::{Client, Method, Response};
use lab_model::Unit;
use lab_model::audit::{Audit, AuditKind, EvidenceBars, EvidenceTable, EvidenceValue};
use resource::Resource;

/// The classes of things that a site has, its cookies among them.
pub const CLASSES: [Class; 6] = [
    resource::RESOURCE,
    server::SERVER,
    jar::COOKIE,
    jar::HOST,
    jar::SITE,
    jar::INPUT,
];

/// Redirects that are followed.
const REDIRECTS: u64 = 10;

/// What an audit of a site may do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Requests per second at most.
    pub rate: f64,
    /// Resources of the page that are asked for.
    pub resources: usize,
    /// The port of AJP.
    pub ajp_port: u16,
}

/// A site as it was seen.
#[derive(Default)]
pub struct Site {
    resources: Vec<Resource>,
    things: Vec<Thing>,
    /// What redirects on the way to the page set.
    set_before: Vec<(Url, Vec<String>)>,
    others: Vec<String>,
    notes: Vec<String>,
    cookies: Seen,
    asked: usize,
}

/// The rules that are built in. Error: one is wrong, which a test rules out.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    let mut rules = rule::built_in("site", &CLASSES)?;
    rules.extend(jar::rules()?);
    Ok(rules)
}

/// Looks at a page, its resources and its server. `step` is told what is asked for.
///
/// # Errors
/// The page cannot be had at all.
pub fn look(url: &Url, options: &Options, step: &mut dyn FnMut(&str)) -> Result<Site, String> {
    let host = url.host_str().ok_or("the URL names no host")?.to_owned();
    let mut client = Client::new(vec![host], options.rate)?;
    let mut site = Site::default();
    step(url.as_str());
    let (page_url, page, redirects) = followed(&mut client, url, &mut site)?;
    let mut page_resource = Resource::new(&page_url, &page);
    revalidated(&mut client, &mut page_resource, &page);
    site.resources.push(page_resource);
    let html = resource::text(&page);
    let is_html = page
        .field("content-type")
        .is_some_and(|t| t.contains("html"));
    let references = if is_html {
        references(&html, &page_url)
    } else {
        Vec::new()
    };
    let (own, others): (Vec<Url>, Vec<Url>) =
        references.into_iter().partition(|url| client.may_ask(url));
    site.others = others.iter().map(Url::to_string).collect();
    let left_out = own.len().saturating_sub(options.resources);
    if left_out > 0 {
        site.notes.push(format!(
            "{left_out} resources beyond --resources were not asked for."
        ));
    }
    for url in own.iter().take(options.resources) {
        step(url.as_str());
        match client.ask(Method::Get, url, "") {
            Ok(answer) => {
                let mut resource = Resource::new(url, &answer);
                revalidated(&mut client, &mut resource, &answer);
                site.resources.push(resource);
            }
            Err(why) => site.things.push(resource::unanswered(url, &why)),
        }
    }
    step("the server");
    let server = server::Looked {
        url: &page_url,
        page: &page,
        redirects,
        options,
    };
    site.things.push(server.thing(&mut client));
    site.asked = client.asked;
    let mut collector = Collector::new().map_err(|e| format!("no random numbers: {e}"))?;
    cookies(&site, &mut collector);
    site.cookies = collector.done();
    Ok(site)
}

/// The page behind redirects, and how many there were.
fn followed(
    client: &mut Client,
    url: &Url,
    site: &mut Site,
) -> Result<(Url, Response, server::Redirects), String> {
    let (mut url, mut redirects) = (url.clone(), server::Redirects::default());
    let mut seen = vec![url.clone()];
    loop {
        let answer = client
            .ask(Method::Get, &url, "")
            .map_err(|why| format!("{url}: {why}"))?;
        let to = answer.field("location").and_then(|to| url.join(to).ok());
        let Some(to) = to.filter(|_| matches!(answer.status, 301 | 302 | 303 | 307 | 308)) else {
            return Ok((url, answer, redirects));
        };
        let set = answer.all("set-cookie").map(str::to_owned);
        site.set_before.push((url.clone(), set.collect()));
        redirects.count += 1;
        redirects.path.push(without_user(&to));
        redirects.looped = seen.contains(&to) || redirects.count > REDIRECTS;
        redirects.to_https |= url.scheme() == "http" && to.scheme() == "https";
        if redirects.looped || !client.may_ask(&to) {
            if !client.may_ask(&to) {
                site.notes.push(format!(
                    "{url} leads to {to}, on a host that was not named: audit that one by itself."
                ));
            }
            return Ok((url, answer, redirects));
        }
        seen.push(to.clone());
        url = to;
    }
}

/// Asks again with what a browser that has it would say.
fn revalidated(client: &mut Client, resource: &mut Resource, answer: &Response) {
    let validator = match (answer.field("etag"), answer.field("last-modified")) {
        (Some(etag), _) => format!("If-None-Match: {etag}\r\n"),
        (None, Some(date)) => format!("If-Modified-Since: {date}\r\n"),
        (None, None) => return,
    };
    resource.revalidated = match answer.status {
        // What a server sent goes back to it only as one line.
        200 if validator.trim_end().contains(char::is_control) => {
            Err("There is a control character in what it says to ask again with".into())
        }
        200 => client
            .ask(Method::Get, &resource.url, &validator)
            .map(|again| again.status)
            .map_err(|why| format!("It was asked again: {why}")),
        _ => return,
    };
}

/// The audit of a site.
pub fn audit(target: &Url, site: &Site, rules: &[Rule]) -> Audit {
    let mut things: Vec<Thing> = site.resources.iter().map(Resource::thing).collect();
    things.extend(site.things.iter().cloned());
    let mut tables = vec![table(site), caching(site), server_table(site), others(site)];
    if !site.cookies.cookies.is_empty() {
        let of_cookies = jar::figures(&site.cookies, 1.0);
        things.extend(of_cookies.things);
        // What a day costs takes a rate: `audit cookies` has one.
        tables.extend(of_cookies.tables.into_iter().take(3));
    }
    Audit {
        kind: AuditKind::Site,
        targets: vec![without_user(target)],
        facts: facts(site),
        findings: judge(rules, &things, &CLASSES),
        tables,
        chart: chart(site),
    }
}

/// A URL without the password that it may have.
pub fn without_user(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.to_string()
}

/// The site's cookies, as its answers set them.
pub fn cookies(site: &Site, collector: &mut Collector) {
    let before = site.set_before.iter().map(|(url, set)| (url, set));
    let answers = site.resources.iter().map(|r| (&r.url, &r.set_cookies));
    for (url, set) in before.chain(answers) {
        let host = url.host_str().unwrap_or_default();
        collector.site(host);
        collector.answer(host, url.path(), set.iter().cloned());
    }
    for resource in &site.resources {
        let host = resource.url.host_str().unwrap_or_default();
        let kind = RequestKind::of("", &resource.media, resource.url.path());
        collector.would_send(host, resource.url.path(), kind, None);
    }
}

fn table(site: &Site) -> EvidenceTable {
    let row = |resource: &Resource| {
        let word = |text: &str| EvidenceValue::Word(text.to_owned());
        let bytes = |n: usize| EvidenceValue::Number(n as f64, Unit::Bytes);
        vec![
            word(&resource.name()),
            word(&resource.served_by),
            word(&resource.status.to_string()),
            said(&resource.version),
            said(&resource.media),
            said(&resource.encoding),
            bytes(resource.bytes),
            resource.saved.map_or(EvidenceValue::Nothing, bytes),
        ]
    };
    let columns = [
        "resource",
        "served by",
        "status",
        "HTTP",
        "type",
        "encoding",
        "bytes",
        "gzip saves",
    ];
    EvidenceTable {
        title: "Resources".into(),
        caption: "Served by: as far as the answer's fields show it.".into(),
        columns: columns.map(String::from).into(),
        rows: site.resources.iter().map(row).collect(),
    }
}

/// A word that a server may have left out.
fn said(text: &str) -> EvidenceValue {
    if text.is_empty() {
        EvidenceValue::Nothing
    } else {
        EvidenceValue::Word(text.to_owned())
    }
}

/// What each answer says to caches.
fn caching(site: &Site) -> EvidenceTable {
    let row = |resource: &Resource| {
        let kept = resource.lifetime_s.map(|seconds| seconds * 1e9);
        let status = resource.revalidated.as_ref().map(u16::to_string);
        vec![
            EvidenceValue::Word(resource.name()),
            said(&resource.cache),
            said(&resource.expires),
            kept.map_or(EvidenceValue::Nothing, |ns| {
                EvidenceValue::Number(ns, Unit::Nanoseconds)
            }),
            said(&resource.etag),
            said(&resource.vary),
            said(&status.unwrap_or_default()),
        ]
    };
    let columns = [
        "resource",
        "Cache-Control",
        "Expires",
        "kept for",
        "ETag",
        "Vary",
        "again",
    ];
    EvidenceTable {
        title: "Caching".into(),
        caption: "Again: the status of a request that says what the browser has; 304 is wanted."
            .into(),
        columns: columns.map(String::from).into(),
        rows: site.resources.iter().map(row).collect(),
    }
}

/// What was seen of the server.
fn server_table(site: &Site) -> EvidenceTable {
    const SHOWN: [(&str, &str); 18] = [
        ("served_by", "the page was served by"),
        ("software", "Server"),
        ("powered_by", "made with"),
        ("leak_bytes", "bytes of these fields in each answer"),
        ("head_bytes", "bytes of the head of the page's answer"),
        ("version", "HTTP, as it was asked"),
        ("http2", "HTTP/2"),
        ("tls13", "TLS 1.3"),
        ("tls12", "TLS 1.2"),
        ("old_tls", "TLS before 1.2"),
        ("certificate", "certificate"),
        ("certificate_from", "it holds from"),
        ("certificate_until", "until"),
        ("redirect_path", "redirects"),
        ("csp", "Content-Security-Policy"),
        ("exposed", "exposed paths"),
        ("ajp", "AJP answers"),
        ("ipv6", "reached over IPv6"),
    ];
    let rows = site.things.iter().flat_map(|thing| {
        SHOWN.iter().filter_map(|(name, label)| {
            let seen = match thing.values.get(name)? {
                Value::Unknown(why) => EvidenceValue::Word(why.clone()),
                value => EvidenceValue::Word(value.text()),
            };
            Some(vec![EvidenceValue::Word((*label).into()), seen])
        })
    });
    EvidenceTable {
        title: "The server".into(),
        caption: String::new(),
        columns: ["", "seen"].map(String::from).into(),
        rows: rows.collect(),
    }
}

/// What the page loads from hosts that were not named.
fn others(site: &Site) -> EvidenceTable {
    EvidenceTable {
        title: "On other hosts, not asked".into(),
        caption: String::new(),
        columns: vec!["URL".into()],
        rows: site
            .others
            .iter()
            .take(100)
            .map(|url| vec![EvidenceValue::Word(url.clone())])
            .collect(),
    }
}

fn facts(site: &Site) -> Vec<(String, String)> {
    let bytes: usize = site.resources.iter().map(|resource| resource.bytes).sum();
    let mut facts = vec![
        ("requests made".to_owned(), site.asked.to_string()),
        ("resources".into(), site.resources.len().to_string()),
        ("bytes of their bodies".into(), bytes.to_string()),
    ];
    facts.extend(
        site.notes
            .iter()
            .chain(&site.cookies.notes)
            .map(|note| ("note".to_owned(), note.clone())),
    );
    facts
}

fn chart(site: &Site) -> Option<EvidenceBars> {
    let saved =
        |resource: &Resource| Some((resource.name(), resource.saved.filter(|n| *n > 0)? as f64));
    let mut rows: Vec<(String, f64)> = site.resources.iter().filter_map(saved).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total: f64 = rows.iter().map(|(_, bytes)| bytes).sum();
    rows.truncate(8);
    (!rows.is_empty()).then(|| EvidenceBars {
        title: "Bytes saved if compressed".into(),
        caption: format!("By gzip, as measured here; {total} bytes in all."),
        axis: "bytes".into(),
        unit: Unit::Bytes,
        rows,
    })
}
