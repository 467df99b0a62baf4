// SPDX-License-Identifier: Apache-2.0
//! A subject that has opened a point on its own target: runs batches and verifies the work.

use crate::batches::surroundings::Surroundings;
use crate::batches::thread_spread::ThreadSpread;
use crate::fixture::visit::{Surrounded, Visit};
use crate::subject::dialog::connection_lost;
use crate::subject::fault::SubjectResult;
use crate::subject::process::{BatchResult, SubjectProcess, Verified};
use crate::targets::VisitTarget;
use crate::targets::database::Server;
use crate::targets::effects::{CallBatch, Effects, Failed};
use crate::targets::reported::Reported;
use lab_model::{Check, Cores, Plan, PointId, SubjectId};
use std::time::Duration;

/// The divisor for the length of the lead-in. A subject first runs 1 / `LEAD_IN` of a turn's
/// operations after it wakes, and these operations are not recorded.
pub const LEAD_IN: u64 = 10;

/// A point that a subject has opened, with its target and the state of the checks of its work.
pub struct OpenCase {
    point: PointId,
    /// The visit of the subject's process to the point, for the fixtures. This field comes first,
    /// so that the visit ends before the target is removed.
    fixtures: Visit,
    database: Option<VisitTarget>,
    reported: Reported,
    spread: Option<ThreadSpread>,
    /// The number of batches so far.
    batches: u64,
    /// The batches since the last check, if calls may fail.
    calls: Vec<CallBatch>,
    effects: Option<Effects>,
    /// The wall time per operation of the fastest batch, in ns.
    operation_ns: Option<f64>,
    /// The metrics that fixtures reported for the last batch.
    observed: Vec<f64>,
}

impl OpenCase {
    /// Prepares the fixtures, and opens the point in a subject on a fresh target. Returns the open
    /// case and the settings that the subject reports.
    pub fn begin(
        process: &mut SubjectProcess,
        plan: &Plan,
        (subject, point): (SubjectId, PointId),
        surroundings: &Surroundings,
    ) -> SubjectResult<(OpenCase, Vec<(String, String)>)> {
        let case = plan.case(point);
        let target = plan.points[point].target;
        let database = surroundings
            .targets
            .get(target)
            .map(|t| t.fresh(plan, subject, point));
        let database = database.transpose()?;
        let seed = plan.seed.to_string();
        let params = &plan.points[point].params;
        let plan_args = plan.open_args(subject, point);
        let inputs = surroundings
            .inputs
            .get(&point)
            .map(|path| path.display().to_string());
        let url = database.as_ref().map(VisitTarget::url);
        let Surrounded {
            visit: fixtures,
            values: provided,
            target: url,
        } = Visit::enter(&surroundings.fixtures, plan, (subject, point), url)?;
        let mut args = vec![("case", plan.opened_case(point))];
        args.extend(params.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        args.extend(plan_args.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        args.extend(inputs.as_deref().map(|path| ("inputs", path)));
        args.extend(provided.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        args.extend(url.as_deref().map(|url| ("target", url)));
        let rate = case.rate.map(|rate| rate.to_string());
        args.extend(rate.as_deref().map(|rate| ("rate", rate)));
        args.push(("seed", &seed));
        if case.cores == Cores::All {
            process.free()?;
        }
        // Threads are not spread if there is a server, because its processes need cores, too.
        let has_own_cores =
            case.cores == Cores::All && database.as_ref().is_none_or(|d| d.server().is_none());
        let spread = has_own_cores.then(|| ThreadSpread::new(process.pid()));
        let settings = process.open(args)?.args().to_vec();
        let mut visit = OpenCase {
            point,
            database,
            reported: Reported::default(),
            spread,
            batches: 0,
            calls: Vec::new(),
            effects: None,
            operation_ns: None,
            fixtures,
            observed: Vec::new(),
        };
        visit.count_opens(plan)?;
        Ok((visit, settings))
    }

    /// Runs operations without timing them. Returns the check value and units.
    pub fn verify(
        &mut self,
        process: &mut SubjectProcess,
        plan: &Plan,
        operations: u64,
    ) -> SubjectResult<(u64, u64)> {
        self.exclude_past_work()?;
        let case = plan.case(self.point);
        self.fixtures.begin(None)?;
        let verified = process.verify(case, operations)?;
        self.fixtures.end(case, operations)?;
        let Verified {
            check,
            units,
            failed,
        } = verified;
        self.count(operations, check, units, failed);
        Ok((check, units))
    }

    /// Runs a batch without measuring the server's CPU time.
    pub fn run(
        &mut self,
        process: &mut SubjectProcess,
        plan: &Plan,
        operations: u64,
    ) -> SubjectResult<BatchResult> {
        self.run_expected(process, plan, operations, None)
    }

    /// Runs a measured batch, with an outage if a fixture requests one.
    pub fn measure(
        &mut self,
        process: &mut SubjectProcess,
        plan: &Plan,
        operations: u64,
    ) -> SubjectResult<BatchResult> {
        let planned_ns = plan.turn_ns(self.point);
        // A batch must not finish before its outage. A compiler may have made it faster since the pilot, and an
        // outage makes a batch longer.
        let expected_ns = self.operation_ns.map(|ns| (ns * operations as f64) as u64);
        let turn_ns = expected_ns.map_or(planned_ns, |ns| ns.min(planned_ns));
        let turn = Duration::from_nanos(turn_ns);
        self.exclude_past_work()?;
        let server_before = self.server().and_then(Server::cpu_ns);
        let result = self.run_expected(process, plan, operations, Some(turn));
        let server_after = self.server().and_then(Server::cpu_ns);
        let mut result = result?;
        let server_ns = server_after.zip(server_before);
        result.server_cpu_ns = server_ns.map(|(after, before)| after.saturating_sub(before));
        Ok(result)
    }

    /// Runs a batch. `expected` is the approximate duration of a measured batch, or `None` if the
    /// batch is not measured.
    fn run_expected(
        &mut self,
        process: &mut SubjectProcess,
        plan: &Plan,
        operations: u64,
        expected: Option<Duration>,
    ) -> SubjectResult<BatchResult> {
        self.exclude_past_work()?;
        let (database, case) = (self.database.as_ref(), plan.case(self.point));
        let outage = self.fixtures.begin(expected)?;
        let result = process.run_while(case, operations, |process| {
            outage.map_or(Ok(()), |outage| {
                self.fixtures.interrupt(&outage, database, process)
            })
        })?;
        let observed = self.fixtures.end(case, operations)?;
        if let Some(server) = database.and_then(VisitTarget::server) {
            server.wait_until_idle();
        }
        if let Some(spread) = &mut self.spread {
            spread.after_run(
                process.pid(),
                &lab_host::allowed_cores().map_err(connection_lost)?,
            );
        }
        self.observed = observed;
        let operation_ns = result.wall_ns as f64 / operations as f64;
        self.operation_ns = self
            .operation_ns
            .into_iter()
            .chain([operation_ns])
            .reduce(f64::min);
        self.count(
            operations,
            result.check,
            result.units,
            result.failed.clone(),
        );
        Ok(result)
    }

    /// Verifies the work done since the last check.
    pub fn check_work(&mut self, plan: &Plan) -> SubjectResult<()> {
        let reported = std::mem::take(&mut self.reported);
        let calls = std::mem::take(&mut self.calls);
        let Some(database) = &mut self.database else {
            return Ok(());
        };
        if plan.case(self.point).check == Check::Effects && !calls.is_empty() {
            self.effects = Some(database.effects(&calls)?);
        }
        database.check_work(plan, self.point, reported)
    }

    /// Returns the number of round trips to the server so far, if they are counted.
    pub fn round_trips(&self) -> u64 {
        self.database.as_ref().map_or(0, VisitTarget::round_trips)
    }

    /// Returns the metrics of the last measured batch that benchlab determines itself: the effects
    /// of calls that may fail, and the values that fixtures reported.
    pub fn lab_metrics(&self) -> Vec<f64> {
        let effects = self.effects.iter().flat_map(|effects| effects.counts());
        effects.chain(self.observed.iter().copied()).collect()
    }

    /// Returns a checksum of the target's content, for points that write.
    pub fn content(&mut self, plan: &Plan) -> SubjectResult<Option<String>> {
        let database = self.database.as_mut();
        database.map_or(Ok(None), |d| d.content(plan, self.point))
    }

    /// Starts counting file opens if the case checks them.
    pub fn count_opens(&mut self, plan: &Plan) -> SubjectResult<()> {
        let database = self.database.as_mut();
        database.map_or(Ok(()), |d| d.count_opens(plan, self.point))
    }

    /// Stops counting file opens, because monitoring slows down each open.
    pub fn stop_counting_opens(&mut self) {
        self.database
            .iter_mut()
            .for_each(VisitTarget::stop_counting_opens);
    }

    /// Returns the server that contains the target.
    pub fn server(&self) -> Option<&Server> {
        Some(self.database.as_ref()?.server()?)
    }

    /// Excludes all work so far from the next check.
    fn exclude_past_work(&mut self) -> SubjectResult<()> {
        match (&mut self.database, self.reported.operations) {
            (Some(database), 0) => database.exclude_past_work(),
            _ => Ok(()),
        }
    }

    fn count(&mut self, operations: u64, check: u64, units: u64, failed: Failed) {
        self.batches += 1;
        self.calls.push(CallBatch {
            batch: self.batches,
            calls: operations,
            failed,
        });
        self.reported.operations += operations;
        self.reported.units = self.reported.units.wrapping_add(units);
        self.reported.sum = self.reported.sum.wrapping_add(check);
    }
}
