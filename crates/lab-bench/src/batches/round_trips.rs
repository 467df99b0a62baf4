// SPDX-License-Identifier: Apache-2.0
//! Counts how often an operation waits for its server, using a proxy. Counting happens before any
//! measurement.

use crate::batches::open_case::OpenCase;
use crate::batches::surroundings::Surroundings;
use crate::subject::fault::{Fault, SubjectResult};
use crate::subject::process::SubjectProcess;
use crate::targets::TargetMaker;
use lab_model::{Plan, PointId, Setting, SubjectId};

/// The number of operations before counting starts. Drivers prepare a statement at its fifth
/// execution.
const WARM_UP: u64 = 6;

/// The number of operations in the smaller of two batches. The larger batch has twice as many, and
/// the difference between the two counts is used.
const OPERATIONS: u64 = 4;

/// Counts the round trips per operation, and returns them as the setting [`Setting::ROUND_TRIPS`].
///
/// The process must have no open case. Returns `None` if the experiment does not request round trips, if the server
/// is not reached over TCP, or if counting fails.
pub fn round_trips(
    process: &mut SubjectProcess,
    plan: &Plan,
    (subject, point): (SubjectId, PointId),
    surroundings: &Surroundings,
) -> SubjectResult<Option<Setting>> {
    let server = surroundings.targets.get(plan.points[point].target);
    let Some(server) = server
        .and_then(TargetMaker::server)
        .filter(|_| is_counted(plan, point))
    else {
        return Ok(None);
    };
    server.count_round_trips(true);
    let opened = OpenCase::begin(process, plan, (subject, point), surroundings);
    server.count_round_trips(false);
    let counted = opened.and_then(|(mut visit, _)| {
        let per_operation = round_trips_per_operation(&mut visit, process, plan)?;
        process.close()?;
        Ok(per_operation)
    });
    match counted {
        Ok(per_operation) => Ok(Some(Setting {
            subject,
            point: Some(point),
            key: Setting::ROUND_TRIPS.into(),
            value: per_operation.to_string(),
        })),
        Err(Fault::Failed(..)) => Ok(None),
        Err(fault) => Err(fault),
    }
}

/// Returns true if the experiment requests round trips and they can be counted.
///
/// Round trips are not counted at points with faults, which cause additional round trips, or over a
/// Unix socket, which the proxy does not support.
fn is_counted(plan: &Plan, point: PointId) -> bool {
    let target = plan.targets.get(plan.points[point].target);
    let proofs = target
        .iter()
        .map(|target| &target.proof)
        .chain([&plan.proof]);
    let mut requested = proofs.flat_map(|proof| proof.equal.iter().chain(&proof.conditions));
    let mut params = plan.points[point].params.iter();
    let is_unix = params.any(|(key, value)| key == "transport" && value == "unix");
    !is_unix && !plan.has_fault(point) && requested.any(|key| key == Setting::ROUND_TRIPS)
}

/// Counts the round trips of one operation.
fn round_trips_per_operation(
    visit: &mut OpenCase,
    process: &mut SubjectProcess,
    plan: &Plan,
) -> SubjectResult<f64> {
    let mut count = |operations: u64| -> SubjectResult<u64> {
        let before = visit.round_trips();
        visit.verify(process, plan, operations)?;
        visit.check_work(plan)?;
        Ok(visit.round_trips() - before)
    };
    count(WARM_UP)?;
    let (once, twice) = (count(OPERATIONS)?, count(2 * OPERATIONS)?);
    Ok((twice as f64 - once as f64) / OPERATIONS as f64)
}
