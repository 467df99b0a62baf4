// SPDX-License-Identifier: Apache-2.0
//! The generators of a load, in this process or in agents, and the watches that read the servers'
//! resource usage.

use super::check;
use super::session::LoadSession;
use crate::exit::Exit;
use crate::measuring;
use lab_bench::{Generators, LoadedServers, LocalGenerators, ServerWatch, Watch, Watches};
use lab_load::{Origin, Ports, allow_files, load_without_files};
use lab_many::agent::machine_id;
use lab_many::load::{LoadAgents, LoadStart};
use lab_many::usage::{RemoteWatch, UsageOrder};
use lab_model::{Arrivals, Host, IdVec, Plan, Run};
use lab_store::RunWriter;
use std::time::Duration;

/// The generators of a plan's load.
pub enum LoadGenerators<'a> {
    Local(LocalGenerators<'a>),
    Agents(Box<LoadAgents<'a>>),
}

impl<'a> LoadGenerators<'a> {
    /// Starts the generators, and sends one request to each server.
    ///
    /// # Errors
    /// Returns an error if an agent cannot be started, if loading a server is not allowed, if a
    /// generator may not open as many connections as the load has, or if a server does not respond.
    pub fn start(session: &'a LoadSession) -> Result<LoadGenerators<'a>, Exit> {
        let (plan, load) = (&session.plan, session.load());
        let Some(launcher) = session.agents()? else {
            let servers = LoadedServers::find(load, &session.requests, plan.seed)?;
            allow_files(plan.max_open_connections(1) as u64).map_err(Exit::failed)?;
            report_port_shortage(plan, servers.are_here());
            check::check(plan, &servers)?;
            return Ok(LoadGenerators::Local(LocalGenerators {
                plan,
                load,
                servers,
            }));
        };
        let agents = LoadAgents::start(LoadStart {
            plan,
            load: load_without_files(load)?,
            starting: session.agent_loss().starting(&launcher),
            requests: session.requests.clone(),
            earlier: session.earlier_agents(),
            strict: session.strict,
        });
        let agents = agents?;
        check::check_agents(plan, &agents)?;
        Ok(LoadGenerators::Agents(Box::new(agents)))
    }

    /// Returns the generators for the workload.
    pub fn all(&self) -> &dyn Generators {
        match self {
            LoadGenerators::Local(servers) => servers,
            LoadGenerators::Agents(agents) => &**agents,
        }
    }

    /// Writes the descriptions of the agents to the run file.
    pub fn describe(&self, writer: &RunWriter) -> Result<(), Exit> {
        if let LoadGenerators::Agents(agents) = self {
            for (id, agent) in agents.described() {
                writer.agent(id, agent)?;
            }
        }
        Ok(())
    }

    /// Reports each unfit machine of the load once. If `strict` is set, an unfit machine is an
    /// error.
    pub fn report_unfit(&self, plan: &Plan, host: &Host, strict: bool) -> Result<(), Exit> {
        let agents = match self {
            LoadGenerators::Local(_) => IdVec::new(),
            LoadGenerators::Agents(agents) => agents.described().map(|(_, a)| a.clone()).collect(),
        };
        let run = Run {
            host: host.clone(),
            content: plan.clone().into(),
            agents,
            ..Run::default()
        };
        if run.is_loaded_here() {
            measuring::report_unfit("the host", host, strict)?;
        }
        for agent in run.machines_elsewhere() {
            measuring::report_unfit(&agent.name, &agent.host, strict)?;
        }
        Ok(())
    }

    /// Returns the reason the load failed: all agents were lost or, if `strict` is set, at
    /// least one.
    pub fn failed(&self, strict: bool) -> Option<String> {
        let LoadGenerators::Agents(agents) = self else {
            return None;
        };
        match agents.lost() {
            (lost, all) if lost == all => Some("all agents were lost: the report says why".into()),
            (0, _) => None,
            (lost, all) => strict.then(|| {
                format!("{lost} of {all} agents lost, and --strict was given: the report says why")
            }),
        }
    }
}

/// Starts watches that read the servers' CPU time, memory and threads, and adds the servers'
/// machine to the facts about the host.
///
/// # Errors
/// Returns an error if the agent on that machine cannot be started or does not find a process.
pub fn watches<'a>(session: &LoadSession, host: &mut Host) -> Result<Watches<'a>, Exit> {
    let own_id = machine_id().map(|id| (Host::MACHINE_ID.to_owned(), id));
    host.facts.extend(own_id);
    let load = session.load();
    let processes = session
        .plan
        .subjects
        .ids()
        .map(|server| load.server_pid(server));
    let Some(launcher) = session.server_agent()? else {
        let watch = |pid: Option<i32>| -> Option<Box<dyn ServerWatch + 'a>> {
            Some(Box::new(Watch::new(pid?)))
        };
        return Ok(processes.map(watch).collect());
    };
    if launcher.locations().len() != 1 {
        return Err(Exit::invalid(
            "--server-host takes one machine, such as ssh:HOST or local:1",
        ));
    }
    let starting = session.agent_loss().starting(&launcher);
    let mut watches = Watches::new();
    for (requests, pid) in session.requests.iter().zip(processes) {
        let order = match pid {
            Some(pid) => UsageOrder::Process(pid),
            None => UsageOrder::Port(Origin::shared(requests.iter().map(|r| &r.link))?.port()),
        };
        let watch = RemoteWatch::start(&starting, order).map_err(|e| {
            let Exit { code, message } = e.into();
            Exit::new(code, format!("--server-host: {message}"))
        })?;
        if watches.is_empty() {
            let id = watch.machine_id().map(str::to_owned);
            host.facts
                .extend(id.map(|id| (Host::SERVER_MACHINE_ID.to_owned(), id)));
        }
        watches.push(Some(Box::new(watch)));
    }
    Ok(watches)
}

/// Warns if a load that opens a connection per request may run out of ports, and lists remedies.
fn report_port_shortage(plan: &Plan, loopback: bool) {
    let load = plan.load().expect("a plan with a load");
    if load.keep_alive {
        return;
    }
    let rate = match &load.arrivals {
        Arrivals::Closed => None,
        Arrivals::Open { stages, .. } => {
            let highest = stages.iter().map(|s| s.from.max(s.to));
            highest.max_by(f64::total_cmp)
        }
    };
    let visits = plan.points.len() * plan.subjects.len() * plan.measure.max_blocks as usize;
    let visits = if plan.points.len() * plan.subjects.len() == 1 {
        1
    } else {
        visits
    };
    let length = Duration::from_nanos(load.stretch_ns) * visits as u32;
    let outlook = Ports::read().forecast(rate, length, loopback);
    if outlook.short {
        outlook
            .words
            .iter()
            .for_each(|line| eprintln!("benchlab: {line}"));
    }
}
