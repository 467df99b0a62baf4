// SPDX-License-Identifier: Apache-2.0
//! Settings of an experiment whose subjects are servers, and the load that results from them.

use crate::PlanError;
use crate::case::Case;
use crate::error::ErrorAt;
use crate::file::{self, File};
use lab_model::point_load::{CLOSED, CONNECTIONS, KEEP_ALIVE, LOAD, read_keep_alive};
use lab_model::{
    Cores, Example, LoadSpec, Metric, Plan, PointId, RequiredBody, ServedFile, Servers, Serving,
    Traffic,
};
use std::io;
use toml::Spanned;

/// The minimum length of a visit, in ns.
///
/// Servers take turns often, so that changes of the machine's speed affect all of them equally.
/// Turns must not be too short, however. In turns of 50 ms, Go's `net/http` took a tenth more CPU
/// time per request than in turns of 250 ms or under continuous load.
const MIN_VISIT_NS: u64 = 50_000_000;
/// The maximum length of a visit, in ns.
const MAX_VISIT_NS: u64 = 250_000_000;

/// The target duration of all visits in a block, in ns. Blocks exceed it if even visits of the
/// minimum length take longer.
const BLOCK_VISITS_NS: u64 = 8_000_000_000;

/// The timeout of a request, in ns.
const TIMEOUT_NS: u64 = 10_000_000_000;

/// The maximum size of a file that servers serve, in bytes.
const MAX_BYTES: u64 = 1 << 30;

/// The maximum value of `workers`, `warm_up_s` and `budget_s`.
const MAX_NUMBER: u32 = 1024;

/// A function that reads a file in the experiment's directory.
type Read<'a> = &'a dyn Fn(&str) -> io::Result<String>;

/// Validates the settings and requests of servers.
///
/// # Errors
/// Returns an error if the file has keys for servers but no `[server]`, or if a key is missing or
/// invalid.
pub fn validate(
    file: &File,
    cases: &[Case],
    metrics: Vec<Metric>,
    read: Read,
    at: ErrorAt,
) -> Result<Option<Serving>, PlanError> {
    let Some(server) = &file.server else {
        return match file.case.iter().flat_map(|c| &c.request).next() {
            None => Ok(None),
            Some(request) => Err(at(
                request.span(),
                "a request needs `[server]`, which declares that the subjects are servers".into(),
            )),
        };
    };
    check_server(server, at)?;
    let asking = RequestContext {
        server: server.get_ref(),
        read,
        at,
    };
    let mut examples = Vec::new();
    for (written, case) in file.case.iter().zip(cases) {
        parameters(case, written, at)?;
        let requests = written.request.iter().map(|r| asking.example(r));
        let requests: Vec<Example> = requests.collect::<Result<_, _>>()?;
        if requests.is_empty() {
            let reason =
                "a case for servers needs a `[[case.request]]` for each request of the load";
            return Err(at(written.name.span(), reason.into()));
        }
        examples.push(requests);
    }
    let files = server.get_ref().files.iter();
    Ok(Some(Serving {
        workers: server.get_ref().workers,
        missing: server.get_ref().missing.clone(),
        files: files
            .map(|(name, &bytes)| ServedFile {
                name: name.clone(),
                bytes,
            })
            .collect(),
        warm_up_s: server.get_ref().warm_up_s,
        budget_s: server.get_ref().budget_s,
        metrics,
        examples,
    }))
}

/// Converts the validated settings to the plan's servers and the load on them.
pub fn servers(serving: Serving) -> Servers {
    Servers {
        load: LoadSpec {
            keep_alive: true,
            pipeline: 1,
            threads: 1,
            timeout_ns: TIMEOUT_NS,
            stretch_ns: MAX_VISIT_NS,
            ..LoadSpec::default()
        },
        serving,
    }
}

/// Returns the length of a visit, in ns, if a block visits every server `visits_each` times at
/// every point.
///
/// Visits in quick runs have the minimum length.
#[must_use]
pub fn visit_ns(plan: &Plan, visits_each: u32, is_quick: bool) -> u64 {
    if is_quick {
        return MIN_VISIT_NS;
    }
    let points = plan.points.ids();
    let servers = points.map(|point| {
        let subjects = plan.subjects.ids();
        subjects.filter(|&s| plan.takes_part(s, point)).count() as u64
    });
    let visits = u64::from(visits_each) * servers.sum::<u64>();
    (BLOCK_VISITS_NS / visits.max(1)).clamp(MIN_VISIT_NS, MAX_VISIT_NS)
}

/// Returns an error if a fraction of a peak is requested without the load that finds the peak.
pub fn check(plan: &Plan) -> Result<(), PlanError> {
    let has_no_peak = |&point: &PointId| {
        plan.fraction_of_peak(point).is_some() && plan.peak_points(point).next().is_none()
    };
    match plan.points.ids().find(has_no_peak) {
        None => Ok(()),
        Some(point) => Err(PlanError::of_request(format!(
            "{}: a fraction of a server's peak requires the load that measures the peak: also request \
             `{LOAD}={CLOSED}` with the same number of connections",
            plan.label(point)
        ))),
    }
}

fn check_server(server: &Spanned<file::Server>, at: ErrorAt) -> Result<(), PlanError> {
    let file::Server {
        workers,
        missing,
        files,
        warm_up_s,
        budget_s,
        metrics: _,
    } = server.get_ref();
    let wrong = |reason: String| Err(at(server.span(), reason));
    let numbers = [
        ("workers", *workers),
        ("warm_up_s", warm_up_s.unwrap_or(1)),
        ("budget_s", budget_s.unwrap_or(1)),
    ];
    for (name, number) in numbers {
        if !(1..=MAX_NUMBER).contains(&number) {
            return wrong(format!("`{name}` must be from 1 to {MAX_NUMBER}"));
        }
    }
    if !is_path(missing) {
        return wrong("`missing` must be a path, such as /nothing".into());
    }
    let plain = |name: &str| {
        let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b"-_.".contains(&b);
        name.bytes().all(is_allowed) && !name.starts_with('.') && !name.is_empty()
    };
    match files
        .iter()
        .find(|(name, bytes)| !plain(name) || **bytes > MAX_BYTES)
    {
        None => Ok(()),
        Some((name, _)) => wrong(format!(
            "`files.{name}`: expected a name without a directory, of letters, digits, `-`, `_` and `.`, and at most \
             {MAX_BYTES} bytes"
        )),
    }
}

/// Checks the parameters of a case whose subjects are servers.
///
/// The swept parameter must be the number of connections. The factors for keep-alive and for the
/// load have a fixed meaning. Any other factor must occur in the path of the first request.
fn parameters(case: &Case, written: &file::Case, at: ErrorAt) -> Result<(), PlanError> {
    let wrong = |reason: String| Err(at(written.name.span(), reason));
    if case
        .sweep
        .as_ref()
        .is_none_or(|(name, _)| name != CONNECTIONS)
    {
        return wrong(format!("a case for servers needs `sweep.{CONNECTIONS}`"));
    }
    if case.cores != Cores::One || !case.metrics.is_empty() {
        return wrong("cases for servers do not support `cores` and `metrics`".into());
    }
    let loaded = written.request.first();
    let in_path = |name: &str| {
        let word = format!("{{{name}}}");
        loaded.is_some_and(|request| request.get_ref().request.get_ref().contains(&word))
    };
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_.~".contains(&b);
    for factor in &case.factors {
        let is_valid = |value: &String| match factor.name.as_str() {
            KEEP_ALIVE => read_keep_alive(value).is_some(),
            LOAD => Traffic::read(value).is_some(),
            name => in_path(name) && value.bytes().all(plain),
        };
        if let Some(value) = factor.values.iter().find(|v| !is_valid(v)) {
            return wrong(format!(
                "`factor.{}`: `{value}` is not valid for servers: use {KEEP_ALIVE} = [\"yes\", \"no\"], \
                 {LOAD} = [\"{CLOSED}\", \"25%\", \"500/s\", …], or a factor that the first request's path contains as \
                 `{{{}}}`, with values of letters, digits, `-`, `_`, `.` and `~`",
                factor.name, factor.name
            ));
        }
    }
    for request in &written.request {
        let line = &request.get_ref().request;
        let is_factor = |word: &str| case.factors.iter().any(|factor| factor.name == word);
        let mut braced = line.get_ref().split('{').skip(1);
        if let Some(word) =
            braced.find(|word| !word.split_once('}').is_some_and(|(w, _)| is_factor(w)))
        {
            let reason = format!("`{{{word}`: expected a factor of this case in braces");
            return Err(at(line.span(), reason));
        }
    }
    Ok(())
}

fn is_path(path: &str) -> bool {
    path.starts_with('/') && path.bytes().all(|b| b.is_ascii_graphic())
}

/// The context in which requests are parsed: the server's settings, and a function that reads
/// files.
struct RequestContext<'a> {
    server: &'a file::Server,
    read: Read<'a>,
    at: ErrorAt<'a>,
}

impl RequestContext<'_> {
    fn example(&self, written: &Spanned<file::Request>) -> Result<Example, PlanError> {
        let request = written.get_ref();
        let (method, path) = self.line(&request.request)?;
        let body = request
            .body
            .as_ref()
            .map(|name| self.file(name))
            .transpose()?;
        if !(200..=599).contains(&request.status) {
            return Err((self.at)(
                written.span(),
                "`status` must be from 200 to 599".into(),
            ));
        }
        Ok(Example {
            method,
            path,
            status: request.status,
            answer: self.parse_required_body(written, &body)?,
            headers: request
                .headers
                .iter()
                .map(|header| self.header(header))
                .collect::<Result<_, _>>()?,
            body,
        })
    }

    /// Validates a header such as `Name: value`. Rejects headers that benchlab sets itself.
    fn header(&self, header: &Spanned<String>) -> Result<String, PlanError> {
        let is_valid = header
            .get_ref()
            .split_once(": ")
            .is_some_and(|(name, value)| {
                let reserved = [
                    "host",
                    "connection",
                    "content-length",
                    "content-type",
                    "transfer-encoding",
                ];
                let token = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
                !name.is_empty()
                    && name.bytes().all(token)
                    && !reserved.contains(&name.to_ascii_lowercase().as_str())
                    && value.bytes().all(|b| (b' '..=b'~').contains(&b))
            });
        let reason = "a header must be a name and a value, such as \"Accept-Encoding: gzip\"; Host, Connection, \
            Content-Length, Content-Type and Transfer-Encoding are set by benchlab";
        if is_valid {
            Ok(header.get_ref().clone())
        } else {
            Err((self.at)(header.span(), reason.into()))
        }
    }

    fn line(&self, line: &Spanned<String>) -> Result<(String, String), PlanError> {
        let parts = line.get_ref().split_once(' ');
        let valid = parts.filter(|(method, path)| {
            is_path(path) && !method.is_empty() && method.bytes().all(|b| b.is_ascii_uppercase())
        });
        let (method, path) = valid.ok_or_else(|| {
            let reason = "`request` must be a method and a path, such as \"GET /api\"";
            (self.at)(line.span(), reason.into())
        })?;
        Ok((method.to_owned(), path.to_owned()))
    }

    fn file(&self, name: &Spanned<String>) -> Result<String, PlanError> {
        (self.read)(name.get_ref())
            .map_err(|e| (self.at)(name.span(), format!("`{}`: {e}", name.get_ref())))
    }

    fn parse_required_body(
        &self,
        written: &Spanned<file::Request>,
        body: &Option<String>,
    ) -> Result<RequiredBody, PlanError> {
        let request = written.get_ref();
        let text = request.text.clone().map(RequiredBody::Text);
        let json = request
            .json
            .as_ref()
            .map(|json| self.json(json))
            .transpose()?;
        let file = request
            .file
            .as_ref()
            .map(|name| self.served(name))
            .transpose()?;
        let echo = body
            .clone()
            .filter(|_| request.echo)
            .map(RequiredBody::Json);
        let mut contents = [text, json, file, echo].into_iter().flatten();
        match (contents.next(), contents.next()) {
            (Some(_), Some(_)) => Err((self.at)(
                written.span(),
                "specify the response with only one of `text`, `json`, `file` and `echo`".into(),
            )),
            (None, _) if request.echo => Err((self.at)(
                written.span(),
                "`echo` needs `body`, a file in the experiment's directory".into(),
            )),
            (contents, _) => Ok(contents.unwrap_or_default()),
        }
    }

    fn json(&self, json: &Spanned<String>) -> Result<RequiredBody, PlanError> {
        match serde_json::from_str::<serde_json::Value>(json.get_ref()) {
            Ok(_) => Ok(RequiredBody::Json(json.get_ref().clone())),
            Err(e) => Err((self.at)(json.span(), format!("not JSON: {e}"))),
        }
    }

    fn served(&self, name: &Spanned<String>) -> Result<RequiredBody, PlanError> {
        if self.server.files.contains_key(name.get_ref()) {
            Ok(RequiredBody::File(name.get_ref().clone()))
        } else {
            Err((self.at)(
                name.span(),
                format!("`{}` is not among `server.files`", name.get_ref()),
            ))
        }
    }
}
