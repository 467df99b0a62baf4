// SPDX-License-Identifier: Apache-2.0
//! Converts the options of a load to its stored specification and to the requests for each server.

use super::servers::{ServerUrls, families, server_urls};
use crate::cli::LoadArgs;
use crate::exit::Exit;
use lab_load::{
    Expect, Header, LoadUrl, Origin, Request, Requests, Trust, content_bytes, method, read_requests,
};
use lab_model::{ExpectedResponse, LoadSpec, PlannedBody, PlannedRequest, Protocol, RequestsFile};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The default of `--timeout`.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A load that the command line requests.
pub struct RequestedLoad {
    /// The specification, without secrets.
    pub spec: LoadSpec,
    /// The scheme, host and port of each server.
    pub origins: Vec<Origin>,
    /// The requests to each server, with secrets.
    pub requests: Vec<Vec<Request>>,
}

/// Reads the options of a load.
///
/// # Errors
/// Returns an error if a URL, weight, header, file or expected response is invalid, or if `--family 4,6` is given
/// for more than one server.
pub fn requested_load(args: &LoadArgs, seed: u64) -> Result<RequestedLoad, Exit> {
    let families = families(args);
    let groups = server_urls(args)?;
    if groups.len() > 1 && families.len() > 1 {
        return Err(Exit::invalid(
            "--family 4,6 compares IPv4 and IPv6 to one server: specify URLs of only one server",
        ));
    }
    no_variables(args)?;
    let headers = args.header.iter().map(|line| Header::parse(line));
    let headers: Vec<Header> = headers.collect::<Result<_, _>>()?;
    let body = body(args)?;
    let (mut origins, mut requests) = (Vec::new(), Vec::new());
    let mut requests_file = None;
    // Each address family counts as a separate server.
    let copies = families.len().max(1);
    for group in &groups {
        let (origin, mut list) = request_list(args, group, body.as_deref())?;
        if let Some(file) = &args.requests {
            requests_file = Some(RequestsFile {
                path: stored_path(file)?,
                content_bytes: content_bytes(&list),
            });
        }
        list.iter_mut().for_each(|r| r.add_common(&headers));
        origins.extend(std::iter::repeat_n(origin, copies));
        requests.extend(std::iter::repeat_n(list, copies));
    }
    let expect = ExpectedResponse {
        statuses: args.expect_status.clone(),
        body: args.expect_body.clone(),
        json: args.expect_json.clone(),
    };
    let expected = Expect::parse(&expect)?;
    let mut methods = requests.iter().flatten().map(|r| r.method.as_str());
    if expected.body_capacity() > 0 && methods.any(|method| method == "HEAD") {
        return Err(Exit::invalid(
            "the response to HEAD has no body that --expect-body or --expect-json could check: send GET, or leave them \
             out",
        ));
    }
    let planned = |list: &Vec<Request>| -> Result<Vec<PlannedRequest>, Exit> {
        Ok(Requests::new(list, !args.no_keep_alive, seed)?
            .planned()
            .to_vec())
    };
    let stored_body = match (&body, &args.body_file) {
        (None, _) => None,
        (Some(body), file) => Some(PlannedBody {
            bytes: body.len() as u64,
            file: file.as_deref().map(stored_path).transpose()?,
        }),
    };
    let server_host = args.server_host.as_ref();
    let server_place = server_host.and_then(|on| on.launcher.locations().first());
    let spec = LoadSpec {
        requests: requests.iter().map(planned).collect::<Result<_, _>>()?,
        headers: headers.iter().map(Header::planned).collect(),
        body: stored_body,
        requests_file,
        protocol: if args.http2 {
            Protocol::Http2
        } else {
            Protocol::Http1
        },
        keep_alive: !args.no_keep_alive,
        pipeline: args.pipeline.unwrap_or(1),
        threads: args.threads.unwrap_or(1),
        timeout_ns: args.timeout.unwrap_or(TIMEOUT).as_nanos() as u64,
        families: families.to_vec(),
        trust: Some(match &args.ca {
            Some(file) => Trust::File(stored_path(file)?),
            None if args.insecure => Trust::Anybody,
            None => Trust::System,
        }),
        allowed_host: args.i_may_load.clone(),
        expect,
        expected: expected.words(),
        agents: args.agents.on.as_ref().map(|on| on.words.clone()),
        lost_after_ns: args.agents.lost.lost_after.map(|d| d.as_nanos() as u64),
        server_pids: merge_equal_pids(&args.server_pid),
        server_host: server_place.cloned(),
        server_agent: server_host.map(|on| on.words.clone()),
        ..LoadSpec::default()
    };
    Ok(RequestedLoad {
        spec,
        origins,
        requests,
    })
}

/// Returns a server and the requests to it. With `--requests`, the URL only identifies the server.
fn request_list(
    args: &LoadArgs,
    group: &ServerUrls,
    body: Option<&[u8]>,
) -> Result<(Origin, Vec<Request>), Exit> {
    let links = group.urls.iter().map(|url| LoadUrl::parse(url));
    let links: Vec<LoadUrl> = links.collect::<Result<_, _>>()?;
    let list = match &args.requests {
        Some(file) => read_requests(file, links.first())?,
        None => requests_to(args, &links, &group.weights, body)?,
    };
    let origin = Origin::shared(links.iter().chain(list.iter().map(|r| &r.link)))?;
    Ok((origin, list))
}

/// Returns one request to each URL.
fn requests_to(
    args: &LoadArgs,
    links: &[LoadUrl],
    weights: &[u32],
    body: Option<&[u8]>,
) -> Result<Vec<Request>, Exit> {
    let default_method = if body.is_some() { "POST" } else { "GET" };
    let method = method(args.method.as_deref().unwrap_or(default_method))?;
    let request = |(i, link): (usize, &LoadUrl)| Request {
        method: method.clone(),
        body: body.unwrap_or_default().to_vec().into(),
        weight: weights.get(i).copied().unwrap_or(1),
        ..Request::new(link.clone())
    };
    Ok(links.iter().enumerate().map(request).collect())
}

/// Rejects variables such as `{{name}}`, which other tools replace with values. Request files must
/// not contain variables either.
fn no_variables(args: &LoadArgs) -> Result<(), Exit> {
    let urls = args.urls.iter().map(|url| ("the URL", url));
    let headers = args.header.iter().map(|header| ("--header", header));
    let body = args.body.iter().map(|body| ("--body", body));
    let mut texts = urls.chain(headers).chain(body);
    match texts.find(|(_, text)| text.contains("{{")) {
        Some((option, _)) => Err(Exit::invalid(format!(
            "{option} contains `{{{{`: variables are not supported; write the text to send, or use --body-file for \
             a body that contains it"
        ))),
        None => Ok(()),
    }
}

/// Returns the body of `--body` or `--body-file`.
fn body(args: &LoadArgs) -> Result<Option<Vec<u8>>, Exit> {
    match (&args.body, &args.body_file) {
        (Some(text), _) => Ok(Some(text.clone().into_bytes())),
        (None, Some(file)) => read_body(file).map(Some),
        (None, None) => Ok(None),
    }
}

/// Reads the file of `--body-file`.
pub fn read_body(file: &Path) -> Result<Vec<u8>, Exit> {
    std::fs::read(file).map_err(|e| Exit::invalid(format!("--body-file {}: {e}", file.display())))
}

/// Returns the absolute path of a file, so that `resume` finds it from any directory.
///
/// # Errors
/// Returns an error if the path is not UTF-8, which JSON in the run file requires.
fn stored_path(file: &Path) -> Result<PathBuf, Exit> {
    let path = std::path::absolute(file).map_err(Exit::invalid)?;
    match path.to_str() {
        Some(_) => Ok(path),
        None => Err(Exit::invalid(format!(
            "cannot store the name of {}, which is not UTF-8: rename the file",
            file.display()
        ))),
    }
}

/// Reduces a list of equal process IDs to a single ID, which then applies to all servers.
fn merge_equal_pids(pids: &[i32]) -> Vec<i32> {
    match pids {
        [first, others @ ..] if others.iter().all(|pid| pid == first) => vec![*first],
        all => all.to_vec(),
    }
}
