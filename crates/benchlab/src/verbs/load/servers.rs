// SPDX-License-Identifier: Apache-2.0
//! The servers that the URLs of the command line name, and their labels.

use super::requested::RequestedServer;
use crate::cli::LoadArgs;
use crate::exit::Exit;
use lab_load::LoadUrl;
use lab_plan::PlannedServer;
use std::collections::HashSet;

/// The URLs of one server, with their weights, if any were given.
#[derive(Default)]
struct ServerUrls {
    urls: Vec<String>,
    weights: Vec<u32>,
}

/// The servers that the command line names, the baseline first. Errors: a URL, weight, header, file or expectation is
/// wrong, or `--family 4,6` is given for more than one server.
pub fn servers(args: &LoadArgs, seed: u64) -> Result<Vec<RequestedServer>, Exit> {
    let groups = server_urls(args)?;
    if groups.len() > 1 && args.sending.families().len() > 1 {
        return Err(Exit::wrong(
            "--family 4,6 compares two ways to one server: give the URLs of one",
        ));
    }
    let mut servers = Vec::new();
    for group in &groups {
        servers.extend(args.sending.servers(&group.urls, &group.weights, seed)?);
    }
    Ok(servers)
}

/// A server for each scheme, host and port; with `--in-turns` and with a file of requests one for each URL.
fn server_urls(args: &LoadArgs) -> Result<Vec<ServerUrls>, Exit> {
    let (urls, weights) = (&args.urls, &args.weights);
    let each_is_a_server = args.in_turns || args.sending.requests.is_some();
    if each_is_a_server && urls.len() > 1 && !weights.is_empty() {
        return Err(Exit::wrong(
            "--weights is for URLs that are requested of one server in a mix: leave out --in-turns and --requests",
        ));
    }
    if !weights.is_empty() && weights.len() != urls.len() {
        return Err(Exit::wrong(format!(
            "--weights has {} numbers for {} URLs: give one for each, in their order",
            weights.len(),
            urls.len()
        )));
    }
    if urls.is_empty() {
        // The file of requests has whole URLs.
        return Ok(vec![ServerUrls::default()]);
    }
    let mut origins = Vec::new();
    let mut groups: Vec<ServerUrls> = Vec::new();
    for (i, url) in urls.iter().enumerate() {
        let origin = LoadUrl::parse(url)?.origin;
        let known = origins.iter().position(|known| *known == origin);
        let position = known.filter(|_| !each_is_a_server).unwrap_or(groups.len());
        if position == groups.len() {
            origins.push(origin);
            groups.push(ServerUrls::default());
        }
        groups[position].urls.push(url.clone());
        groups[position].weights.extend(weights.get(i));
    }
    Ok(groups)
}

/// The servers as a plan has them: named by `--name`, by their address family, by scheme, host and port, or by the
/// first URL where that is the same for two. Error: there are more names than servers.
pub fn planned(args: &LoadArgs, servers: &[RequestedServer]) -> Result<Vec<PlannedServer>, Exit> {
    if args.name.len() > servers.len() {
        return Err(Exit::wrong(format!(
            "--name is given {} times for {} server{}",
            args.name.len(),
            servers.len(),
            if servers.len() == 1 { "" } else { "s" }
        )));
    }
    let families = args.sending.families();
    let is_by_family = families.len() > 1;
    let origins: HashSet<String> = servers.iter().map(|s| s.origin.to_string()).collect();
    let default_name = |i: usize, server: &RequestedServer| match &args.urls.get(i) {
        _ if is_by_family => families[i].name().to_owned(),
        Some(url) if origins.len() < servers.len() => (*url).clone(),
        _ => server.origin.to_string(),
    };
    let server = |(i, server): (usize, &RequestedServer)| PlannedServer {
        name: args
            .name
            .get(i)
            .cloned()
            .unwrap_or_else(|| default_name(i, server)),
        origin: server.origin.to_string(),
        asked: server.planned.clone(),
    };
    Ok(servers.iter().enumerate().map(server).collect())
}

/// The process of each server, where it is known. Errors: the number of processes is neither that of the
/// servers nor one for a single origin, or `--server-host` was given for servers on different hosts.
pub fn processes(args: &LoadArgs, servers: &[RequestedServer]) -> Result<Vec<Option<i32>>, Exit> {
    let differ = |pair: &[RequestedServer]| pair[0].origin != pair[1].origin;
    let have_origins = servers.windows(2).any(differ);
    let on_hosts = |pair: &[RequestedServer]| pair[0].origin.host() != pair[1].origin.host();
    if args.server_host.is_some() && args.server_pid.is_empty() && servers.windows(2).any(on_hosts)
    {
        return Err(Exit::wrong(
            "--server-host names one machine, and the servers have different hosts: load each in a run of its own, or, if all \
             of them run on that machine, name the process of each with --server-pid",
        ));
    }
    let servers = servers.len();
    match &args.server_pid[..] {
        [] => Ok(vec![None; servers]),
        [one] if have_origins => Err(Exit::wrong(format!(
            "--server-pid has 1 process for {servers} servers: give one for each, in their order, as in --server-pid {one},PID"
        ))),
        [one] => Ok(vec![Some(*one); servers]),
        all if all.len() == servers => Ok(all.iter().copied().map(Some).collect()),
        all => Err(Exit::wrong(format!(
            "--server-pid has {} processes for {servers} server{}: give one for each, in their order",
            all.len(),
            if servers == 1 { "" } else { "s" }
        ))),
    }
}
