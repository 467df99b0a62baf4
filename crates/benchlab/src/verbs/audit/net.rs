// SPDX-License-Identifier: Apache-2.0
//! `benchlab audit net`: IPv4 against IPv6.

use super::args::NetArgs;
use super::site::progress;
use super::{finished, now, rules};
use crate::cli::Cli;
use crate::exit::Exit;
use lab_audit::net::{self, NetTarget};
use std::net::IpAddr;
use std::process::ExitCode;

/// Audits the ways to servers.
pub fn net(cli: &Cli, args: &NetArgs) -> Result<ExitCode, Exit> {
    let began = now();
    let rules = rules(net::rules(), &net::CLASSES, &args.auditing)?;
    if let Some(name) = args.hosts.iter().find(|name| !could_be_a_host(name)) {
        let why = "a host's name or address is wanted, without scheme, port and path";
        return Err(Exit::wrong(format!("`{}`: {why}", lab_report::clean(name))));
    }
    let bar = progress();
    let mut looked = Vec::new();
    for name in &args.hosts {
        let asked = NetTarget {
            name: name.clone(),
            port: args.port,
            tls: !args.plain,
        };
        let shown = lab_report::clean(name);
        looked.push(net::observe(&asked, args.rounds, &mut |done| {
            bar.set_message(format!("{shown}: {done} of {} rounds", args.rounds));
            bar.tick();
        }));
    }
    if args.local {
        looked.push(net::local(args.rounds, &mut |_| bar.tick()));
        match net::linked(args.rounds, &mut |_| bar.tick()) {
            Ok(linked) => looked.push(linked),
            Err(why) => eprintln!("benchlab: two namespaces are left out: {why}"),
        }
    }
    bar.finish_and_clear();
    finished(cli, &args.auditing, &net::audit(&looked, &rules), began)
}

fn could_be_a_host(name: &str) -> bool {
    let odd = |c: char| "/:[]@?#".contains(c) || c.is_whitespace() || c.is_control();
    let without_zone = name.split('%').next().unwrap_or(name);
    without_zone.parse::<IpAddr>().is_ok() || !name.is_empty() && !name.contains(odd)
}
