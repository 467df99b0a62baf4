// SPDX-License-Identifier: Apache-2.0
//! Visits a site and builds its audit.

use super::address::redact;
use super::client::{Client, Method, PageResponse};
use super::page::references;
use super::resource::Resource;
use super::server::Redirects;
use super::{address, resource, server};
use crate::cookies::input::{Collector, CookieObservation};
use crate::cookies::{self as jar, cookie::RequestKind};
use crate::judge::judge;
use crate::rule::{self, Rule, RuleError};
use crate::value::{AuditObject, Class, Value, counted};
use crate::wording;
use lab_model::Unit;
use lab_model::audit::{Audit, AuditKind, EvidenceBars, EvidenceTable, EvidenceValue};
use url::Url;

/// The classes of objects in a site audit, including the classes of its cookies.
pub const CLASSES: [Class; 6] = [
    resource::RESOURCE,
    server::SERVER,
    jar::COOKIE,
    jar::HOST,
    jar::SITE,
    jar::INPUT,
];

/// The maximum number of redirects that are followed.
const REDIRECTS: u64 = 10;

/// The limits of a site audit.
#[derive(Clone, Debug)]
pub struct SiteOptions {
    /// The maximum number of requests per second.
    pub rate: f64,
    /// The maximum number of the page's resources that are requested.
    pub resources: usize,
    /// The port to probe for AJP.
    pub ajp_port: u16,
}

/// A page, its resources and its server, as observed during a visit or recorded in a HAR.
#[derive(Default)]
pub struct Site {
    pub(super) resources: Vec<Resource>,
    pub(super) objects: Vec<AuditObject>,
    /// The `Set-Cookie` fields of the redirects on the way to the page.
    pub(super) set_before: Vec<(Url, Vec<String>)>,
    pub(super) others: Vec<String>,
    pub(super) notes: Vec<String>,
    /// Sentences that explain why some cookies could not be observed.
    pub(super) gaps: Vec<String>,
    pub(super) cookies: CookieObservation,
    pub(super) requests: usize,
}

/// Returns the built-in rules, or an error if a rule is invalid. A test checks that all rules are
/// valid.
pub fn rules() -> Result<Vec<Rule>, RuleError> {
    let mut rules = rule::built_in("site", &CLASSES)?;
    rules.extend(jar::rules()?);
    Ok(rules)
}

/// Examines a page, its resources and its server. Calls `step` with the URL of each request.
///
/// # Errors
///
/// Returns an error if there is no response for the page.
pub fn inspect(
    url: &Url,
    options: &SiteOptions,
    step: &mut dyn FnMut(&str),
) -> Result<Site, String> {
    let mut visit = SiteVisit::new(url, options, step)?;
    let (url, page, redirects) = visit.load(url)?;
    visit.revalidate_all();
    (visit.step)("the server");
    let server = server::ServerContext {
        url: &url,
        page: &page,
        redirects,
        ajp_port: options.ajp_port,
    };
    visit.site.objects.push(server.object(&mut visit.client));
    visit.done()
}

/// Loads a page and each of its files once, for an audit of its cookies.
///
/// # Errors
///
/// Returns an error if there is no response for the page.
pub fn load(url: &Url, options: &SiteOptions, step: &mut dyn FnMut(&str)) -> Result<Site, String> {
    let mut visit = SiteVisit::new(url, options, step)?;
    let (url, page, redirects) = visit.load(url)?;
    let endless = "The redirects form a loop, or do not end, so there is no page.";
    let on_other_host = |to| {
        let command = format!("benchlab audit cookies {}", address::shell_word(to));
        format!(
            "The page is on another host, which was not contacted. To audit it, run `{command}`."
        )
    };
    let unreadable = |reason| {
        format!(
            "The response for {} cannot be read: {reason}.",
            redact(&url)
        )
    };
    let gaps = [
        redirects.is_loop.then(|| endless.to_owned()),
        redirects.elsewhere.as_ref().map(on_other_host),
        page.malformed.as_ref().map(unreadable),
    ];
    visit.site.gaps.extend(gaps.into_iter().flatten());
    let files = visit.site.resources.iter().skip(1);
    let unreadable = files.filter(|file| file.malformed.is_some()).count();
    let unanswered = visit.site.objects.len() + unreadable;
    if unanswered > 0 {
        let files = counted(unanswered as u64, "file");
        visit
            .site
            .gaps
            .push(format!("{files} returned no response that can be read."));
    }
    visit.done()
}

/// The state of a visit while the site is being loaded.
struct SiteVisit<'a> {
    client: Client,
    options: &'a SiteOptions,
    step: &'a mut dyn FnMut(&str),
    site: Site,
}

impl<'a> SiteVisit<'a> {
    fn new(
        url: &Url,
        options: &'a SiteOptions,
        step: &'a mut dyn FnMut(&str),
    ) -> Result<SiteVisit<'a>, String> {
        let host = url.host_str().ok_or(wording::NO_HOST)?.to_owned();
        Ok(SiteVisit {
            client: Client::new(vec![host], options.rate)?,
            options,
            step,
            site: Site::default(),
        })
    }

    /// Requests the page and the files that it loads.
    fn load(&mut self, url: &Url) -> Result<(Url, PageResponse, Redirects), String> {
        (self.step)(url.as_str());
        let (url, page, redirects) = self.follow(url)?;
        if page.redirect_target(&url).is_none() {
            let mut resource = Resource::new(&url, &page);
            // The end of the page is a finding about the server.
            resource.completeness = None;
            self.site.resources.push(resource);
            self.load_files(&url, &page);
        }
        Ok((url, page, redirects))
    }

    /// Requests the page, following redirects.
    fn follow(&mut self, url: &Url) -> Result<(Url, PageResponse, Redirects), String> {
        let (mut url, mut redirects) = (url.clone(), Redirects::default());
        let mut visited = vec![url.clone()];
        loop {
            let response = self.client.request_any(Method::Get, &url, "");
            let response = response.map_err(|reason| format!("{}: {reason}", redact(&url)))?;
            let Some(to) = response.redirect_target(&url) else {
                return Ok((url, response, redirects));
            };
            let set_cookies = response.all("set-cookie").map(str::to_owned);
            self.site
                .set_before
                .push((url.clone(), set_cookies.collect()));
            redirects.count += 1;
            redirects.path.push(redact(&to));
            redirects.is_loop = visited.contains(&to) || redirects.count > REDIRECTS;
            redirects.to_https |= url.scheme() == "http" && to.scheme() == "https";
            let is_elsewhere = !self.client.may_ask(&to);
            if redirects.is_loop || is_elsewhere {
                redirects.elsewhere = is_elsewhere.then_some(to);
                return Ok((url, response, redirects));
            }
            visited.push(to.clone());
            url = to;
        }
    }

    fn load_files(&mut self, page_url: &Url, page: &PageResponse) {
        if !resource::is_html(page) {
            return;
        }
        let html = match resource::text(page) {
            Ok(html) => html,
            Err(reason) => {
                let note = format!("The files that the page loads are unknown: {reason}.");
                return self.site.notes.push(note);
            }
        };
        let urls = references(&html, page_url).into_iter();
        let (own_urls, other_urls): (Vec<Url>, Vec<Url>) =
            urls.partition(|url| self.client.may_ask(url));
        self.site.others = other_urls.iter().map(redact).collect();
        let left_out = own_urls.len().saturating_sub(self.options.resources);
        if left_out > 0 {
            let files = counted(left_out as u64, "resource");
            let note = format!("{files} beyond the limit of --resources: not requested.");
            self.site.notes.push(note);
        }
        for url in own_urls.iter().take(self.options.resources) {
            (self.step)(url.as_str());
            match self.client.request_any(Method::Get, url, "") {
                Ok(response) => self.site.resources.push(Resource::new(url, &response)),
                Err(reason) => self
                    .site
                    .objects
                    .push(resource::no_response_object(url, &reason)),
            }
        }
    }

    /// Sends a conditional request for each resource, like a browser with a cached copy.
    fn revalidate_all(&mut self) {
        for resource in &mut self.site.resources {
            (self.step)(resource.url.as_str());
            if let Some(again) = revalidate(&mut self.client, resource) {
                resource.revalidated = again;
            }
        }
    }

    fn done(mut self) -> Result<Site, String> {
        self.site.requests = self.client.requests;
        if self.client.is_too_slow() {
            let note = "Responses were slow, so the audit stopped making requests.";
            self.site.notes.push(note.into());
        }
        let mut collector =
            Collector::new().map_err(|e| format!("cannot get random numbers: {e}"))?;
        add_cookies(&self.site, &mut collector);
        self.site.cookies = collector.done();
        Ok(self.site)
    }
}

/// Returns the status of a conditional request, or an error if it failed.
///
/// Returns `None` if the resource has no validator, or if its original status was not 200.
fn revalidate(client: &mut Client, resource: &Resource) -> Option<Result<u16, String>> {
    let validator = match (resource.etag.as_str(), resource.last_modified.as_str()) {
        ("", "") => return None,
        ("", date) => format!("If-Modified-Since: {date}\r\n"),
        (etag, _) => format!("If-None-Match: {etag}\r\n"),
    };
    if resource.status != 200 {
        return None;
    }
    // A value from the server is sent back only if it is a single line, so that it cannot inject header fields.
    if validator.trim_end().contains(char::is_control) {
        let reason = "The ETag or date for the conditional request contains a control character";
        return Some(Err(reason.into()));
    }
    let response = client.request(Method::Get, &resource.url, &validator);
    Some(
        response
            .map(|response| response.status)
            .map_err(|reason| format!("Conditional request: {reason}")),
    )
}

/// Builds the audit of a site.
pub fn audit(target: &Url, site: &Site, rules: &[Rule]) -> Audit {
    let mut objects: Vec<AuditObject> = site.resources.iter().map(Resource::object).collect();
    objects.extend(site.objects.iter().cloned());
    let mut tables = vec![
        resource_table(site),
        caching_table(site),
        server_table(site),
        others_table(site),
    ];
    let of_cookies = jar::results(&site.cookies, 1.0);
    objects.extend(of_cookies.objects);
    if !site.cookies.cookies.is_empty() {
        // The last table needs a request rate for the cost per day, which only `audit cookies` has.
        tables.extend(of_cookies.tables.into_iter().take(3));
    }
    Audit {
        waivers: Vec::new(),
        expired_waivers: Vec::new(),
        kind: AuditKind::Site,
        targets: vec![redact(target)],
        facts: facts(site),
        findings: judge(rules, &objects, &CLASSES),
        tables,
        chart: chart(site),
    }
}

/// Adds the cookies that the site's responses set, the site's notes, and explanations of why some
/// cookies could not be observed.
pub fn cookies(site: &Site, collector: &mut Collector) {
    add_cookies(site, collector);
    site.notes.iter().for_each(|note| collector.add_note(note));
    site.gaps
        .iter()
        .for_each(|reason| collector.add_gap(reason));
}

fn add_cookies(site: &Site, collector: &mut Collector) {
    let redirects = site
        .set_before
        .iter()
        .map(|(url, set_cookies)| (url, set_cookies));
    let resources = site.resources.iter().map(|r| (&r.url, &r.set_cookies));
    for (url, set_cookies) in redirects.chain(resources) {
        let host = url.host_str().unwrap_or_default();
        collector.set_site(host);
        collector.add_response(
            host,
            url.path(),
            crate::date::now(),
            set_cookies.iter().cloned(),
        );
    }
    for resource in &site.resources {
        let host = resource.url.host_str().unwrap_or_default();
        let kind = RequestKind::classify("", &resource.media, resource.url.path());
        let is_tls = resource.url.scheme() == "https";
        collector.add_expected_request(is_tls, host, resource.url.path(), kind);
    }
}

fn resource_table(site: &Site) -> EvidenceTable {
    let row = |resource: &Resource| {
        let word = |text: &str| EvidenceValue::Word(text.to_owned());
        let bytes = |n: Option<&usize>| {
            n.map_or(EvidenceValue::Nothing, |n| {
                EvidenceValue::Number(*n as f64, Unit::Bytes)
            })
        };
        vec![
            word(&resource.name()),
            word(&resource.served_by),
            word(&resource.status.to_string()),
            word_or_nothing(&resource.version),
            word_or_nothing(&resource.media),
            word_or_nothing(&resource.encoding),
            bytes(resource.bytes.as_ref().ok()),
            bytes(resource.saved.iter().flatten().next()),
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
        caption: "Served by: the origin, as far as the response's fields show.".into(),
        columns: columns.map(String::from).into(),
        rows: site.resources.iter().map(row).collect(),
    }
}

/// Converts the value of a header field to evidence. An empty text means that the server did not
/// send the field.
fn word_or_nothing(text: &str) -> EvidenceValue {
    if text.is_empty() {
        EvidenceValue::Nothing
    } else {
        EvidenceValue::Word(text.to_owned())
    }
}

/// Builds a table of the caching fields of each response.
fn caching_table(site: &Site) -> EvidenceTable {
    let row = |resource: &Resource| {
        let lifetime_ns = resource.lifetime_s.map(|seconds| seconds * 1e9);
        let status = resource.revalidated.as_ref().map(u16::to_string);
        vec![
            EvidenceValue::Word(resource.name()),
            word_or_nothing(&resource.cache),
            word_or_nothing(&resource.expires),
            lifetime_ns.map_or(EvidenceValue::Nothing, |ns| {
                EvidenceValue::Number(ns, Unit::Nanoseconds)
            }),
            word_or_nothing(&resource.etag),
            word_or_nothing(&resource.vary),
            word_or_nothing(&status.unwrap_or_default()),
        ]
    };
    let columns = [
        "resource",
        "Cache-Control",
        "Expires",
        "lifetime",
        "ETag",
        "Vary",
        "conditional",
    ];
    EvidenceTable {
        title: "Caching".into(),
        caption: "Conditional: the status of a conditional request (expected: 304).".into(),
        columns: columns.map(String::from).into(),
        rows: site.resources.iter().map(row).collect(),
    }
}

/// Builds a table of the values that were observed about the server.
fn server_table(site: &Site) -> EvidenceTable {
    const SHOWN: [(&str, &str); 19] = [
        ("served_by", "the page was served by"),
        ("software", "Server"),
        ("powered_by", "application software"),
        (
            "leak_bytes",
            "bytes of the fields that reveal software in each response",
        ),
        ("head_bytes", "bytes of the page's response head"),
        ("version", "HTTP version of the request"),
        ("http2", "HTTP/2"),
        ("tls13", "TLS 1.3"),
        ("tls12", "TLS 1.2"),
        ("old_tls", "TLS before 1.2"),
        ("certificate", "certificate"),
        ("certificate_from", "valid from"),
        ("certificate_until", "valid until"),
        ("redirect_path", "redirects"),
        ("csp", "Content-Security-Policy"),
        ("exposed", "exposed paths"),
        ("ajp", "AJP responds"),
        ("ipv4", "reachable over IPv4"),
        ("ipv6", "reachable over IPv6"),
    ];
    let rows = site.objects.iter().flat_map(|object| {
        SHOWN.iter().filter_map(|(name, label)| {
            let shown = match object.values.get(name)? {
                Value::Unknown(reason) => EvidenceValue::Word(reason.clone()),
                value => EvidenceValue::Word(value.text()),
            };
            Some(vec![EvidenceValue::Word((*label).into()), shown])
        })
    });
    EvidenceTable {
        title: "The server".into(),
        caption: String::new(),
        columns: ["", "observed"].map(String::from).into(),
        rows: rows.collect(),
    }
}

/// Builds a table of the resources that the page loads from hosts that the user did not name.
fn others_table(site: &Site) -> EvidenceTable {
    EvidenceTable {
        title: "On other hosts, not contacted".into(),
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
    let known = site.resources.iter().flat_map(|resource| &resource.bytes);
    let bytes: usize = known.clone().sum();
    let unknown = site.resources.len() - known.count();
    let mut facts = vec![
        ("requests made".to_owned(), site.requests.to_string()),
        ("resources".into(), site.resources.len().to_string()),
        ("body bytes".into(), bytes.to_string()),
    ];
    if unknown > 0 {
        let responses = counted(unknown as u64, "response");
        facts.push(("body bytes unknown".into(), responses));
    }
    facts.extend(
        site.notes
            .iter()
            .chain(&site.cookies.notes)
            .map(|note| ("note".to_owned(), note.clone())),
    );
    facts
}

fn chart(site: &Site) -> Option<EvidenceBars> {
    let saved = |resource: &Resource| {
        let bytes = resource.saved.iter().flatten().next()?;
        (*bytes > 0).then(|| (resource.name(), *bytes as f64))
    };
    let mut rows: Vec<(String, f64)> = site.resources.iter().filter_map(saved).collect();
    rows.sort_by(|a, b| b.1.total_cmp(&a.1));
    let total: f64 = rows.iter().map(|(_, bytes)| bytes).sum();
    rows.truncate(8);
    (!rows.is_empty()).then(|| EvidenceBars {
        title: "Bytes saved if compressed".into(),
        caption: format!("With gzip, as measured here; {total} bytes in total."),
        axis: "bytes".into(),
        unit: Unit::Bytes,
        rows,
    })
}
