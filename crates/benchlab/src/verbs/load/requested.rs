// SPDX-License-Identifier: Apache-2.0
//! Turns the options of a load into servers, requests and expected responses.

use crate::cli::Sending;
use crate::exit::Exit;
use lab_load::{
    Expect, Header, IpFamily, JobError, JsonValue, LoadUrl, Origin, Request, ServerRequests,
    Statuses, Trust, method, read_requests,
};
use lab_model::{Load, PlannedRequest, Protocol};
use std::time::Duration;

/// The default of `--timeout`.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A server that the command line names.
pub struct RequestedServer {
    /// Its scheme, host and port.
    pub origin: Origin,
    /// The requests, without secrets.
    pub planned: Vec<PlannedRequest>,
    /// The requests, with secrets.
    pub requests: ServerRequests,
}

impl Sending {
    /// The server of all these URLs and of the requests in a file, once for each address family of `--family`.
    /// Errors: a URL, header, file, expectation, name or certificate is wrong, or the server may not be loaded.
    pub fn servers(
        &self,
        urls: &[String],
        weights: &[u32],
        seed: u64,
    ) -> Result<Vec<RequestedServer>, Exit> {
        let links = urls.iter().map(|url| LoadUrl::parse(url));
        let links: Vec<LoadUrl> = links.collect::<Result<_, _>>()?;
        let list = self.request_list(&links, weights)?;
        // The URL of `--requests` names the server, and is not itself a request.
        let origin = Origin::shared(links.iter().chain(list.iter().map(|r| &r.link)))?;
        let families = self.families().iter().copied().map(Some);
        let families: Vec<Option<IpFamily>> = if self.families().is_empty() {
            vec![None]
        } else {
            families.collect()
        };
        let expect = self.expect()?;
        if expect.body_capacity() > 0 && list.iter().any(|r| r.method.as_str() == "HEAD") {
            return Err(Exit::wrong(
                "the answer to HEAD has no body that --expect-body or --expect-json could look at: ask with GET, \
                 or leave them out",
            ));
        }
        let server = |family| {
            let requests = ServerRequests {
                requests: list.clone(),
                keep_alive: !self.no_keep_alive,
                seed,
                protocol: self.protocol(),
                family,
                trust: self.trust(),
                expect: expect.clone(),
                i_may_load: self.i_may_load.clone(),
            };
            Ok(RequestedServer {
                origin: origin.clone(),
                planned: requests.rendered()?.planned().to_vec(),
                requests,
            })
        };
        families.into_iter().map(server).collect()
    }

    /// The protocol, threads, timeout and expected responses, for a plan.
    pub fn load(&self) -> Result<Load, Exit> {
        Ok(Load {
            protocol: self.protocol(),
            keep_alive: !self.no_keep_alive,
            pipeline: self.pipeline.unwrap_or(1),
            threads: self.threads.unwrap_or(1),
            timeout_ns: self.timeout.unwrap_or(TIMEOUT).as_nanos() as u64,
            expected: self.expect()?.words(),
            ..Load::default()
        })
    }

    /// The address families of `--family`; empty without it.
    pub fn families(&self) -> &[IpFamily] {
        self.family.as_ref().map_or(&[], |families| &families.0)
    }

    /// The certificates that are accepted from servers.
    pub fn trust(&self) -> Trust {
        match &self.ca {
            Some(file) => Trust::File(file.clone()),
            None if self.insecure => Trust::Anybody,
            None => Trust::System,
        }
    }

    fn protocol(&self) -> Protocol {
        if self.http2 {
            Protocol::Http2
        } else {
            Protocol::Http1
        }
    }

    fn request_list(&self, links: &[LoadUrl], weights: &[u32]) -> Result<Vec<Request>, Exit> {
        let headers = self.header.iter().map(|line| Header::parse(line));
        let headers: Vec<Header> = headers.collect::<Result<_, _>>()?;
        let mut list = match &self.requests {
            Some(_) if links.len() > 1 || !weights.is_empty() => {
                return Err(Exit::wrong(
                    "--requests takes one URL, of whose server its paths are, and no --weights: the file \
                     has them, as `# @weight 3`",
                ));
            }
            Some(file) => read_requests(file, links.first())?,
            None => self.requests_to(links, weights)?,
        };
        for request in &mut list {
            request.add_common(&headers);
        }
        Ok(list)
    }

    /// One request to each URL.
    fn requests_to(&self, links: &[LoadUrl], weights: &[u32]) -> Result<Vec<Request>, Exit> {
        let body = match (&self.body, &self.body_file) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(file)) => std::fs::read(file)
                .map_err(|e| Exit::wrong(format!("--body-file {}: {e}", file.display())))?,
            (None, None) => Vec::new(),
        };
        let with_body = self.body.is_some() || self.body_file.is_some();
        let usual = if with_body { "POST" } else { "GET" };
        let method = method(self.method.as_deref().unwrap_or(usual))?;
        let request = |(i, link): (usize, &LoadUrl)| Request {
            method: method.clone(),
            body: body.clone().into(),
            weight: weights.get(i).copied().unwrap_or(1),
            ..Request::new(link.clone())
        };
        Ok(links.iter().enumerate().map(request).collect())
    }

    fn expect(&self) -> Result<Expect, JobError> {
        let statuses = self.expect_status.as_deref().map(Statuses::parse);
        let body = self
            .expect_body
            .as_ref()
            .map(|text| text.clone().into_bytes());
        let json = self.expect_json.iter().map(|text| JsonValue::parse(text));
        Ok(Expect::new(
            statuses.transpose()?.unwrap_or_default(),
            body,
            json.collect::<Result<_, _>>()?,
        ))
    }
}
