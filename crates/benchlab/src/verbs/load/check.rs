// SPDX-License-Identifier: Apache-2.0
//! Sends one request before the load to check that the servers respond as expected.

use crate::exit::Exit;
use lab_bench::LoadedServers;
use lab_many::load::LoadAgents;
use lab_model::{ErrorKind, Plan};

/// Sends one request to each server.
///
/// An unexpected response is reported, but the load starts anyway, and counts each such response as an error.
///
/// # Errors
/// Returns an error if a server does not respond.
pub fn check(plan: &Plan, servers: &LoadedServers) -> Result<(), Exit> {
    for (id, subject) in plan.subjects.enumerated() {
        let name = &subject.name;
        let record = servers
            .ask(id)
            .map_err(|reason| Exit::failed(format!("{name}: {reason}")))?;
        let kinds = ErrorKind::ALL.into_iter();
        let kinds = kinds.filter(|kind| record.errors[*kind as usize] > 0);
        let errors = kinds.map(|kind| (kind, record.words[kind as usize].clone()));
        check_response(name, &errors.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Reports the responses to the agents' first requests in the same way as [`check`].
pub fn check_agents(plan: &Plan, agents: &LoadAgents) -> Result<(), Exit> {
    for (agent, answers) in agents.first_responses() {
        for (subject, errors) in plan.subjects.iter().zip(answers) {
            check_response(&format!("{agent}: {}", subject.name), errors)?;
        }
    }
    Ok(())
}

fn check_response(server: &str, errors: &[(ErrorKind, Option<String>)]) -> Result<(), Exit> {
    let note = judge_response(errors).map_err(|reason| {
        Exit::failed(format!(
            "no load was sent, because {server} does not respond: {reason}"
        ))
    });
    if let Some(note) = note? {
        eprintln!("benchlab: {server}: {note}");
    }
    Ok(())
}

/// Returns a note for the user if the response is unexpected.
///
/// # Errors
/// Returns the reason, with advice, if there was no response.
fn judge_response(errors: &[(ErrorKind, Option<String>)]) -> Result<Option<String>, String> {
    let Some((kind, words)) = errors.first() else {
        return Ok(None);
    };
    let words = words
        .as_ref()
        .map(|words| format!(": {words}"))
        .unwrap_or_default();
    let advice = match kind {
        ErrorKind::Timeout | ErrorKind::Unfinished => {
            return Err("timeout: no response in time; --timeout sets the limit".into());
        }
        // The message already contains advice.
        ErrorKind::Connect if words.contains(lab_load::TLS_FAILURE) => {
            return Err(words.trim_start_matches([':', ' ']).to_owned());
        }
        ErrorKind::Connect => "is the server running, and is this address correct?",
        ErrorKind::Reset => "does the server support this protocol on this port?",
        ErrorKind::Malformed => {
            return Ok(Some(format!(
                "the server's first response is not HTTP{words}; the load continues"
            )));
        }
        ErrorKind::Status => "--expect-status sets the expected statuses",
        ErrorKind::Body => "--expect-body and --expect-json specify the expected body",
    };
    let description = format!("{}{words}; {advice}", kind.name());
    match kind {
        ErrorKind::Status | ErrorKind::Body => Ok(Some(format!(
            "the server's first response is unexpected, and such responses count as errors: {description}"
        ))),
        _ => Err(description),
    }
}
