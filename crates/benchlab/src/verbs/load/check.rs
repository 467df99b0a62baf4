// SPDX-License-Identifier: Apache-2.0
//! One request before the load: whether anybody answers, and as expected.

use crate::exit::{self, Exit};
use lab_bench::LoadedServers;
use lab_load::Record;
use lab_model::{ErrorKind, Plan};

/// Asks every server once. Another answer than expected is told, and the load goes on: each such answer
/// will be an error. Error: nobody answers.
pub fn check(plan: &Plan, servers: &LoadedServers) -> Result<(), Exit> {
    for (id, subject) in plan.subjects.iter().enumerate() {
        let who = &subject.name;
        let came = servers
            .ask(id, 0)
            .map_err(|why| Exit::new(exit::FAILED, format!("{who}: {why}")))?;
        judged(&came)
            .map_err(|silent| {
                let message = format!("{who} does not answer: {silent}; nothing was loaded");
                Exit::new(exit::FAILED, message)
            })?
            .into_iter()
            .for_each(|note| eprintln!("benchlab: {who}: {note}"));
    }
    Ok(())
}

/// What a reader must know of the answer, if there was one. Error: there was none, why, and what to do.
fn judged(came: &Record) -> Result<Option<String>, String> {
    let happened = |kind: &ErrorKind| came.errors[*kind as usize] > 0;
    let Some(kind) = ErrorKind::ALL.into_iter().find(happened) else {
        return Ok(None);
    };
    let words = came.words[kind as usize].as_deref();
    let words = words.map(|words| format!(": {words}")).unwrap_or_default();
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
