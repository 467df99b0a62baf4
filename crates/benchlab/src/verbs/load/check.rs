// SPDX-License-Identifier: Apache-2.0
//! One request before the load: whether anybody answers, and as expected.

use crate::exit::{self, Exit};
use lab_bench::LoadedServers;
use lab_many::load::LoadAgents;
use lab_model::{ErrorKind, Plan};

/// Asks every server once. Another answer than expected is told, and the load goes on: each such answer
/// will be an error. Error: nobody answers.
pub fn check(plan: &Plan, servers: &LoadedServers) -> Result<(), Exit> {
    for (id, subject) in plan.subjects.iter().enumerate() {
        let who = &subject.name;
        let came = servers
            .ask(id, 0)
            .map_err(|why| Exit::new(exit::FAILED, format!("{who}: {why}")))?;
        let kinds = ErrorKind::ALL.into_iter();
        let happened = kinds.filter(|kind| came.errors[*kind as usize] > 0);
        let first = happened.map(|kind| (kind, came.words[kind as usize].clone()));
        answered(who, &first.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// The same of what agents were answered.
pub fn check_agents(plan: &Plan, agents: &LoadAgents) -> Result<(), Exit> {
    for (agent, first) in agents.first_answers() {
        for (subject, errors) in plan.subjects.iter().zip(first) {
            answered(&format!("{agent}: {}", subject.name), errors)?;
        }
    }
    Ok(())
}

fn answered(who: &str, errors: &[(ErrorKind, Option<String>)]) -> Result<(), Exit> {
    let judged = judged(errors).map_err(|silent| {
        let message = format!("{who} does not answer: {silent}; nothing was loaded");
        Exit::new(exit::FAILED, message)
    });
    if let Some(note) = judged? {
        eprintln!("benchlab: {who}: {note}");
    }
    Ok(())
}

/// What a reader must know of the answer, if there was one. Error: there was none, why, and what to do.
fn judged(errors: &[(ErrorKind, Option<String>)]) -> Result<Option<String>, String> {
    let Some((kind, words)) = errors.first() else {
        return Ok(None);
    };
    let words = words
        .as_ref()
        .map(|words| format!(": {words}"))
        .unwrap_or_default();
    let advice = match kind {
        ErrorKind::Timeout | ErrorKind::Unfinished => {
            return Err("timeout: no answer in time; --timeout gives it more".into());
        }
        ErrorKind::Connect => "is it running, and is this its address?",
        ErrorKind::Reset => "does it speak this protocol on this port?",
        ErrorKind::Malformed => {
            return Ok(Some(format!(
                "its first answer is not HTTP{words}; the load goes on"
            )));
        }
        ErrorKind::Status => "--expect-status names those that are right",
        ErrorKind::Body => "--expect-body and --expect-json say what is right",
    };
    let said = format!("{}{words}; {advice}", kind.name());
    match kind {
        ErrorKind::Status | ErrorKind::Body => Ok(Some(format!(
            "its first answer is not as expected, and such answers count as errors: {said}"
        ))),
        _ => Err(said),
    }
}
