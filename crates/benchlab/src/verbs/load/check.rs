// SPDX-License-Identifier: Apache-2.0
//! One request before the load: whether anybody answers, and as expected.

use crate::exit::{self, Exit};
use lab_bench::LoadedServers;
use lab_load::Record;
use lab_model::{ErrorKind, Plan, PointId};

/// Asks every server once, in every address family. Another answer than expected is told, and the load
/// goes on: each such answer will be an error. Error: nobody answers.
pub fn check(plan: &Plan, servers: &LoadedServers) -> Result<(), Exit> {
    for subject in 0..plan.subjects.len() {
        for point in firsts(plan) {
            let who = &plan.subjects[subject].name;
            let came = servers
                .ask(subject, point)
                .map_err(|why| Exit::new(exit::FAILED, format!("{who}: {why}")))?;
            judged(&came)
                .map_err(|silent| {
                    let message = format!("{who} does not answer: {silent}; nothing was loaded");
                    Exit::new(exit::FAILED, message)
                })?
                .into_iter()
                .for_each(|note| eprintln!("benchlab: {who}: {note}"));
        }
    }
    Ok(())
}

/// The first point of every address family.
fn firsts(plan: &Plan) -> impl Iterator<Item = PointId> {
    let family = |point: PointId| {
        let mut params = plan.points[point].params.iter();
        params
            .find(|(key, _)| key == "family")
            .map(|(_, value)| value)
    };
    let is_first = move |&point: &PointId| (0..point).all(|other| family(other) != family(point));
    (0..plan.points.len()).filter(is_first)
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
        ErrorKind::Connect => "is it running, and is this its address?",
        ErrorKind::Timeout | ErrorKind::Unfinished => "--timeout gives it more time",
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
