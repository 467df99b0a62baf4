// SPDX-License-Identifier: Apache-2.0
//! The generators of a load, in this process or in agents, and the watches of the servers' resource usage.

use super::check;
use super::command::LoadCommand;
use crate::exit::Exit;
use crate::measuring;
use lab_bench::{Generators, LoadedServer, LoadedServers, ServerWatch, Watch, Watches};
use lab_load::{Ports, ServerRequests};
use lab_many::agent::machine_id;
use lab_many::load::{LoadAgents, LoadStart};
use lab_many::usage::{RemoteWatch, UsageOrder};
use lab_model::{Arrivals, Host, Plan, Run};
use lab_store::RunWriter;
use std::time::Duration;

/// The generators of a plan's load.
pub enum LoadGenerators<'a> {
    Local(LoadedServers<'a>),
    Agents(Box<LoadAgents<'a>>),
}

impl<'a> LoadGenerators<'a> {
    /// Starts them, and sends one request to each server. Errors: an agent cannot be started, a server may not be
    /// loaded or does not answer.
    pub fn start(command: &LoadCommand, plan: &'a Plan) -> Result<LoadGenerators<'a>, Exit> {
        let requests = command.servers.iter().map(|server| &server.requests);
        let agents = &command.sending.agents;
        let Some(launcher) = &agents.on else {
            let servers = requests.map(LoadedServer::find);
            let servers: Vec<LoadedServer> = servers.collect::<Result<_, _>>()?;
            report_port_shortage(plan, servers.iter().all(LoadedServer::is_here));
            let servers = LoadedServers::new(plan, servers);
            check::check(plan, &servers)?;
            return Ok(LoadGenerators::Local(servers));
        };
        let servers = requests.cloned().map(ServerRequests::without_files);
        let earlier = command
            .resumed
            .as_ref()
            .map_or(0, |resumed| resumed.agents());
        let agents = LoadAgents::start(LoadStart {
            plan,
            starting: agents.lost.starting(launcher),
            servers: servers.collect::<Result<_, _>>()?,
            earlier,
            strict: command.strict,
        });
        let agents = agents?;
        check::check_agents(plan, &agents)?;
        Ok(LoadGenerators::Agents(Box::new(agents)))
    }

    /// For the workload.
    pub fn all(&self) -> &dyn Generators {
        match self {
            LoadGenerators::Local(servers) => servers,
            LoadGenerators::Agents(agents) => &**agents,
        }
    }

    /// Writes the agents into the run file.
    pub fn describe(&self, writer: &RunWriter) -> Result<(), Exit> {
        if let LoadGenerators::Agents(agents) = self {
            for (id, agent) in agents.described() {
                writer.agent(id, agent)?;
            }
        }
        Ok(())
    }

    /// Reports what makes the load's machines unfit, once for each machine. Error: one is unfit, and `strict`.
    pub fn report_unfit(&self, plan: &Plan, host: &Host, strict: bool) -> Result<(), Exit> {
        let agents = match self {
            LoadGenerators::Local(_) => Vec::new(),
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

    /// The reason why the load has failed: all agents were lost, or with `strict` at least one. `None`: it
    /// has not.
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

/// Watches that read CPU time, memory and threads of the servers. Adds their machine to the facts of the
/// host. Errors: the agent on that machine cannot be started, or does not find a process.
pub fn watches<'a>(command: &LoadCommand, host: &mut Host) -> Result<Watches<'a>, Exit> {
    let own_id = machine_id().map(|id| (Host::MACHINE_ID.to_owned(), id));
    host.facts.extend(own_id);
    let Some(launcher) = &command.server_host else {
        let watch = |pid: &Option<i32>| -> Option<Box<dyn ServerWatch + 'a>> {
            Some(Box::new(Watch::new((*pid)?)))
        };
        return Ok(command.processes.iter().map(watch).collect());
    };
    if launcher.places().len() != 1 {
        return Err(Exit::wrong(
            "--server-host names one machine, such as ssh:HOST or local:1",
        ));
    }
    let starting = command.sending.agents.lost.starting(launcher);
    let mut watches: Watches = Vec::new();
    for (server, pid) in command.servers.iter().zip(&command.processes) {
        let order = match pid {
            Some(pid) => UsageOrder::Process(*pid),
            None => UsageOrder::Port(server.origin.port()),
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

/// With a connection per request ports may run short: says so before the load, and what helps.
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
