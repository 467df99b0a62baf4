// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit net`: compares IPv4 with IPv6.

use super::args::NetArgs;
use super::{finish, rules};
use crate::cli::Cli;
use crate::exit::Exit;
use crate::progress::progress;
use lab_audit::net::{self, NetTarget};
use lab_audit::wording;
use lab_bench::unix_seconds;
use lab_document::Document;
use std::net::IpAddr;

/// Audits the network paths to servers.
pub fn net(cli: &Cli, args: &NetArgs) -> Result<Document, Exit> {
    let began = unix_seconds();
    let rules = rules(net::rules(), &net::CLASSES, &args.auditing)?;
    if let Some(name) = args.hosts.iter().find(|name| !is_host_name(name)) {
        let name = format!("`{}`", lab_document::clean(name));
        return Err(Exit::invalid(wording::unusable(&name, wording::HOST_NAME)));
    }
    let bar = progress();
    let mut observations = Vec::new();
    for name in &args.hosts {
        let target = NetTarget {
            name: name.clone(),
            port: args.port,
            tls: !args.plain,
        };
        let label = lab_document::clean(name);
        observations.push(net::observe(&target, args.rounds, &mut |done| {
            bar.set_message(wording::rounds(&label, done, args.rounds));
            bar.tick();
        }));
    }
    if args.local {
        observations.push(net::local(args.rounds, &mut |_| bar.tick()));
        match net::linked(args.rounds, &mut |_| bar.tick()) {
            Ok(linked) => observations.push(linked),
            Err(reason) => eprintln!("benchlab: {}", wording::no_namespaces(&reason)),
        }
    }
    bar.finish_and_clear();
    finish(
        cli,
        &args.auditing,
        &net::audit(&observations, &rules),
        began,
    )
}

fn is_host_name(name: &str) -> bool {
    let is_invalid = |c: char| "/:[]@?#".contains(c) || c.is_whitespace() || c.is_control();
    let without_zone = name.split('%').next().unwrap_or(name);
    without_zone.parse::<IpAddr>().is_ok() || !name.is_empty() && !name.contains(is_invalid)
}
