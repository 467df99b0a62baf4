// SPDX-License-Identifier: Apache-2.0
//! What puts the load on: this process, or agents; and what watches the servers.

use super::check;
use super::command::LoadCommand;
use crate::exit::Exit;
use crate::measuring;
use crate::starting::exit_of;
use lab_bench::{Generators, LoadedServer, LoadedServers, ServerWatch, Watch, Watches};
use lab_load::{Ports, ServerRequests};
use lab_many::agent::machine_id;
use lab_many::load::{LoadAgents, LoadStart};
use lab_many::usage::{Order, RemoteWatch};
use lab_model::{Arrivals, Host, Plan, Run};
use lab_store::RunWriter;
use std::time::Duration;

/// What puts a plan's load on.
pub enum LoadGenerators<'a> {
    Own(LoadedServers<'a>),
    Agents(Box<LoadAgents<'a>>),
}

impl<'a> LoadGenerators<'a> {
    /// Asks every server once. Errors: an agent cannot be had, a server is not to be loaded, or nobody answers.
    pub fn start(command: &LoadCommand, plan: &'a Plan) -> Result<LoadGenerators<'a>, Exit> {
        let asked = command.servers.iter().map(|server| &server.asked);
        let on = &command.sending.on;
        let Some(launcher) = &on.on else {
            let servers = asked.map(LoadedServer::find);
            let servers: Vec<LoadedServer> = servers.collect::<Result<_, _>>()?;
            ports(plan, servers.iter().all(LoadedServer::is_here));
            let servers = LoadedServers::new(plan, servers);
            check::check(plan, &servers)?;
            return Ok(LoadGenerators::Own(servers));
        };
        let servers = asked.cloned().map(ServerRequests::without_files);
        let earlier = command
            .resumed
            .as_ref()
            .map_or(0, |resumed| resumed.agents());
        let agents = LoadAgents::start(LoadStart {
            plan,
            starting: on.starting(launcher),
            servers: servers.collect::<Result<_, _>>()?,
            earlier,
            strict: command.strict,
        });
        let agents = agents.map_err(exit_of)?;
        check::check_agents(plan, &agents)?;
        Ok(LoadGenerators::Agents(Box::new(agents)))
    }

    /// As the workload wants them.
    pub fn all(&self) -> &dyn Generators {
        match self {
            LoadGenerators::Own(servers) => servers,
            LoadGenerators::Agents(agents) => &**agents,
        }
    }

    /// Keeps who they are.
    pub fn describe(&self, writer: &RunWriter) -> Result<(), Exit> {
        if let LoadGenerators::Agents(agents) = self {
            for (id, agent) in agents.described() {
                writer.agent(id, agent)?;
            }
        }
        Ok(())
    }

    /// Tells what makes the load's machines unfit, once of each machine. Error: one is unfit, and `strict`.
    pub fn report_unfit(&self, plan: &Plan, host: &Host, strict: bool) -> Result<(), Exit> {
        let agents = match self {
            LoadGenerators::Own(_) => Vec::new(),
            LoadGenerators::Agents(agents) => agents.described().map(|(_, a)| a.clone()).collect(),
        };
        let run = Run {
            host: host.clone(),
            plan: Some(plan.clone()),
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

    /// Why the load has failed by now: all agents were lost, or with `strict` one.
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

/// What tells what the servers use, and on which machine they are, among the facts of the host. Errors: the agent beside
/// them cannot be had, or finds no process.
pub fn watches<'a>(command: &LoadCommand, host: &mut Host) -> Result<Watches<'a>, Exit> {
    let own_id = machine_id().map(|id| (Host::MACHINE_ID.to_owned(), id));
    host.facts.extend(own_id);
    let Some(launcher) = &command.server_host else {
        let own = |pid: &Option<i32>| -> Option<Box<dyn ServerWatch + 'a>> {
            Some(Box::new(Watch::new((*pid)?)))
        };
        return Ok(command.processes.iter().map(own).collect());
    };
    if launcher.places().len() != 1 {
        return Err(Exit::wrong(
            "--server-host names one machine, such as ssh:HOST or local:1",
        ));
    }
    let starting = command.sending.on.starting(launcher);
    let mut watches: Watches = Vec::new();
    for (server, pid) in command.servers.iter().zip(&command.processes) {
        let which = match pid {
            Some(pid) => Order::Process(*pid),
            None => Order::Port(server.origin.port()),
        };
        let watch = RemoteWatch::start(&starting, which).map_err(|e| {
            let Exit { code, message } = exit_of(e);
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

/// A connection per request uses up ports: says beforehand what would happen, and what helps.
fn ports(plan: &Plan, loopback: bool) {
    let how = plan.load().expect("a plan with a load");
    if how.keep_alive {
        return;
    }
    let rate = match &how.arrivals {
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
    let length = Duration::from_nanos(how.stretch_ns) * visits as u32;
    let outlook = Ports::read().forecast(rate, length, loopback);
    if outlook.short {
        outlook
            .words
            .iter()
            .for_each(|line| eprintln!("benchlab: {line}"));
    }
}
