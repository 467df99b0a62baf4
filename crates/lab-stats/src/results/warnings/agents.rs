// SPDX-License-Identifier: Apache-2.0
//! Warnings about the agents that generate a load.

use crate::load::agents::{AgentResult, AgentTrouble, agents, missing};
use crate::results::warning::{AgentDifference, LostAgent, UnfitHost, UnlikeAgent};
use crate::results::{Warning, WarningFact};
use lab_model::{Agent, Plan, Run};

/// Returns all warnings about agents, most serious first.
pub fn of_agents(run: &Run, plan: &Plan) -> Vec<Warning> {
    let results = agents(run, plan.measure.alpha);
    let facts = [
        lost(run, plan, &results),
        excluded_by_user(run),
        unfit(run.machines_elsewhere().into_iter()),
        unlike(run, &results),
    ];
    facts.into_iter().flatten().map(Warning::new).collect()
}

/// Returns a warning about lost agents.
///
/// In a closed loop, no requests are due, so the number of requests that were not sent is 0.
fn lost(run: &Run, plan: &Plan, results: &[AgentResult]) -> Option<WarningFact> {
    let lost = results
        .iter()
        .filter(|r| r.problems.contains(&AgentTrouble::Lost));
    let agents = lost.map(|r| LostAgent {
        name: run.agent_name(r.agent),
        reason: run.agents[r.agent].lost.clone().unwrap_or_default(),
        not_sent: r.not_sent,
    });
    let agents: Vec<LostAgent> = agents.collect();
    let end = missing(run, plan);
    (end.is_some() || !agents.is_empty()).then_some(WarningFact::AgentsLost { agents, end })
}

fn excluded_by_user(run: &Run) -> Option<WarningFact> {
    let agents: Vec<String> = run
        .excluded_agents()
        .into_iter()
        .map(String::from)
        .collect();
    (!agents.is_empty()).then_some(WarningFact::AgentsLeftOut { agents })
}

/// Returns a warning about machines with conditions that disturb measurements, listed by agent.
///
/// `of_agents` calls this function only with machines other than this one.
pub(super) fn unfit<'a>(agents: impl Iterator<Item = &'a Agent>) -> Option<WarningFact> {
    let hosts = agents.map(|agent| {
        let unfit = agent.host.findings.iter().filter(|finding| finding.unfit);
        UnfitHost {
            name: agent.name.clone(),
            findings: unfit.map(|finding| finding.what.clone()).collect(),
        }
    });
    let hosts: Vec<UnfitHost> = hosts.filter(|host| !host.findings.is_empty()).collect();
    (!hosts.is_empty()).then_some(WarningFact::UnfitHosts { hosts })
}

fn unlike(run: &Run, results: &[AgentResult]) -> Option<WarningFact> {
    let difference = |r: &AgentResult, problem: &AgentTrouble| match problem {
        AgentTrouble::Lost => None,
        AgentTrouble::BeganLate => Some(AgentDifference::BeganLate { late_ns: r.late_ns }),
        AgentTrouble::Behind => Some(AgentDifference::SentLate),
        AgentTrouble::Saturated => Some(AgentDifference::Saturated { busy: r.busy }),
        AgentTrouble::Path => r.path.map(|ratio| AgentDifference::SlowPath { ratio }),
        AgentTrouble::Errors => Some(AgentDifference::Errors {
            own: r.fail(),
            others: r.others_fail,
        }),
    };
    let agents = results.iter().map(|r| {
        let differences = r
            .problems
            .iter()
            .filter_map(|problem| difference(r, problem));
        UnlikeAgent {
            name: run.agent_name(r.agent),
            differences: differences.collect(),
        }
    });
    let agents: Vec<UnlikeAgent> = agents.filter(|a| !a.differences.is_empty()).collect();
    (!agents.is_empty()).then_some(WarningFact::AgentsDiffer { agents })
}
