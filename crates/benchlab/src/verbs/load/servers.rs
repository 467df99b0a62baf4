// SPDX-License-Identifier: Apache-2.0
//! The servers of the URLs on the command line, with their names and processes.

use crate::cli::LoadArgs;
use crate::exit::Exit;
use lab_load::{IpFamily, LoadUrl, Origin};
use std::collections::HashSet;

/// The URLs of one server, with their weights if any were specified.
#[derive(Default)]
pub struct ServerUrls {
    pub urls: Vec<String>,
    pub weights: Vec<u32>,
}

/// Returns the address families of `--family`, or an empty slice without the option.
pub fn families(args: &LoadArgs) -> &[IpFamily] {
    args.family.as_ref().map_or(&[], |families| &families.0)
}

/// Groups URLs by scheme, host, and port. With `--in-turns` or a request file, each URL counts as its own server.
pub fn server_urls(args: &LoadArgs) -> Result<Vec<ServerUrls>, Exit> {
    let (urls, weights) = (&args.urls, &args.weights);
    let each_is_a_server = args.in_turns || args.requests.is_some();
    if args.in_turns && urls.len() > 1 && !weights.is_empty() {
        return Err(Exit::invalid(
            "--weights applies only to a mix of URLs on one server, so it cannot be combined with --in-turns: omit one of \
             them",
        ));
    }
    if !weights.is_empty() && weights.len() != urls.len() {
        return Err(Exit::invalid(format!(
            "--weights has {} for {}: specify one for each, in order",
            lab_document::say::count(weights.len(), "number"),
            lab_document::say::count(urls.len(), "URL")
        )));
    }
    if urls.is_empty() {
        // The request file contains full URLs.
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

/// Returns the names of the servers.
///
/// The names come from `--name`, the address families of `--family 4,6`, or the origins. If an origin occurs
/// twice, the URLs are used.
///
/// # Errors
/// Returns an error if there are more names than servers.
pub fn names(args: &LoadArgs, origins: &[Origin]) -> Result<Vec<String>, Exit> {
    let servers = origins.len();
    // `-n` is the number of requests in other tools.
    if let ([number], 1) = (&args.name[..], servers)
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        return Err(Exit::invalid(format!(
            "--name {number}: expected a name. In benchlab, -n is short for --name and does not set the number of \
             requests; use --for to set the duration, such as --for 10s"
        )));
    }
    if args.name.len() > servers {
        return Err(Exit::invalid(format!(
            "--name is given {} times for {servers} server{}: specify at most one name per server",
            args.name.len(),
            if servers == 1 { "" } else { "s" }
        )));
    }
    let families = families(args);
    let is_ambiguous = distinct(origins.iter().map(Origin::to_string)) < servers;
    let default_name = |server: usize| match args.urls.get(server) {
        _ if families.len() > 1 => families[server].name().to_owned(),
        Some(url) if is_ambiguous => url.clone(),
        _ => origins[server].to_string(),
    };
    let name = |server: usize| {
        let given = args.name.get(server).cloned();
        given.unwrap_or_else(|| default_name(server))
    };
    Ok((0..servers).map(name).collect())
}

/// Checks `--server-pid` and `--server-host`.
///
/// # Errors
/// Returns an error if
/// - `--server-pid` contains one process, but the servers have different origins,
/// - `--server-pid` contains multiple processes, but not one for each server, or
/// - `--server-host` is given without `--server-pid`, but the servers have different hosts.
pub fn check_processes(args: &LoadArgs, origins: &[Origin]) -> Result<(), Exit> {
    let servers = origins.len();
    let hosts = distinct(origins.iter().map(Origin::host));
    if args.server_host.is_some() && args.server_pid.is_empty() && hosts > 1 {
        return Err(Exit::invalid(
            "--server-host specifies one machine, but the servers have different hosts: load them in separate runs, or, if all \
             of them run on that machine, specify the process of each with --server-pid",
        ));
    }
    match &args.server_pid[..] {
        [one] if distinct(origins.iter().map(Origin::to_string)) > 1 => {
            Err(Exit::invalid(format!(
                "--server-pid has 1 process for {servers} servers: specify one for each, in order, as in --server-pid {one},PID"
            )))
        }
        [] | [_] => Ok(()),
        all if all.len() == servers => Ok(()),
        all => Err(Exit::invalid(format!(
            "--server-pid has {} processes for {servers} server{}: specify one for each, in order",
            all.len(),
            if servers == 1 { "" } else { "s" }
        ))),
    }
}

fn distinct(names: impl Iterator<Item = String>) -> usize {
    names.collect::<HashSet<_>>().len()
}
