// SPDX-License-Identifier: Apache-2.0
//! Starts the servers of a plan, or connects to them.

use crate::exit::Exit;
use lab_bench::{Scratch, Server, Servers, interrupt};
use lab_model::{Failure, Plan, Target, TargetId, TargetKind};
use lab_services::{DaemonOptions, Database, Service, ServiceError, Starting};

/// Starts a private server for each target that needs one, or connects to the user's server.
///
/// `external_urls` contains the URLs of the user's servers. No server is started for a target whose
/// subjects have all failed.
pub fn start(
    plan: &Plan,
    external_urls: &[(TargetKind, String)],
    scratch: &Scratch,
    failures: &[Failure],
) -> Result<Servers, Exit> {
    let needed = needed_services(plan, failures);
    if let Some((kind, _)) = external_urls
        .iter()
        .find(|(k, _)| !plan.targets.iter().any(|t| t.kind == *k))
    {
        let name = kind.name();
        return Err(Exit::invalid(format!(
            "--service {name}=…: this run has no target `{name}`"
        )));
    }
    for (_, target) in &needed {
        let name = target.kind.title();
        eprintln!(
            "benchlab: {} {name}",
            if target.external {
                "connecting to"
            } else {
                "starting"
            }
        );
    }
    // All servers are started before waiting for the first one.
    let started: Result<Vec<_>, Exit> = needed
        .into_iter()
        .map(|(id, target)| Ok((id, target, begin(target, external_urls, scratch)?)))
        .collect();
    let mut servers = Servers::default();
    for (id, target, service) in started? {
        let server = service.server(target, plan.seed).map_err(service_exit)?;
        servers.0.push((id, server));
    }
    Ok(servers)
}

/// Returns the targets that are servers and have a subject that can run.
fn needed_services<'p>(plan: &'p Plan, failures: &[Failure]) -> Vec<(TargetId, &'p Target)> {
    let has_failed = |subject| {
        failures
            .iter()
            .any(|f| f.subject == subject && f.point.is_none())
    };
    let subjects = || plan.subjects.enumerated();
    let targets = plan.targets.enumerated();
    targets
        .filter(|(_, target)| target.kind.is_service())
        .filter(|(id, _)| subjects().any(|(s, subject)| subject.target == *id && !has_failed(s)))
        .collect()
}

enum StartedService {
    Private(Box<Starting<dyn Database>>, DaemonOptions),
    External(Box<Service>),
}

impl StartedService {
    fn server(self, target: &Target, seed: u64) -> Result<Server, ServiceError> {
        let (service, request) = match self {
            StartedService::Private(starting, request) => {
                (Service::finish(*starting)?, Some(request))
            }
            StartedService::External(service) => (*service, None),
        };
        Server::new(service, request, target.clone(), seed)
    }
}

fn begin(
    target: &Target,
    external_urls: &[(TargetKind, String)],
    scratch: &Scratch,
) -> Result<StartedService, Exit> {
    let kind = target.kind;
    let url = external_urls
        .iter()
        .find(|(k, _)| *k == kind)
        .map(|(_, url)| url);
    let service =
        lab_services::database(kind.name()).expect("every kind of service has a known name");
    match (target.external, url) {
        (true, None) => Err(Exit::invalid(format!(
            "this run uses your own {} server: specify it again with --service {}=URL",
            kind.title(),
            kind.name()
        ))),
        (_, Some(url)) => {
            let service = Service::external(service, url).map_err(service_exit)?;
            Ok(StartedService::External(Box::new(service)))
        }
        (false, None) => {
            let request = DaemonOptions {
                settings: target.set.clone(),
                interrupted: interrupt::requested,
                ..DaemonOptions::new(scratch.folder())
            };
            let starting = Service::begin(service, &request).map_err(service_exit)?;
            Ok(StartedService::Private(Box::new(starting), request))
        }
    }
}

/// Converts an error to an exit.
///
/// Errors that the user must fix get the code for an invalid command, an interruption gets the code
/// for Ctrl-C, and all other errors get the code for a failed run.
fn service_exit(error: ServiceError) -> Exit {
    match error {
        ServiceError::Interrupted => Exit::interrupted("stopped before anything was measured"),
        error @ (ServiceError::Url { .. }
        | ServiceError::Unreachable { .. }
        | ServiceError::Login { .. }
        | ServiceError::Tls { .. }
        | ServiceError::Version { .. }
        | ServiceError::Rights { .. }
        | ServiceError::Workload { .. }
        | ServiceError::Setting { .. }) => Exit::invalid(error),
        error => Exit::failed(error),
    }
}
