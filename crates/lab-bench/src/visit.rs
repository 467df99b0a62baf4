// SPDX-License-Identifier: Apache-2.0
//! One subject at one point: opened on a target of its own, run, and looked after.

use crate::effects::{Calls, Effects, Failed};
use crate::fault::SubjectResult;
use crate::injection::Recovery;
use crate::process::{BatchResult, SubjectProcess, Verified, connection_lost};
use crate::reported::Reported;
use crate::server::Server;
use crate::spread::Spread;
use crate::sys;
use crate::target::{Database, Target};
use lab_model::{Check, Cores, Plan, PointId, SubjectId};
use std::time::Duration;

/// A subject that has a case open.
pub struct Visit {
    point: PointId,
    database: Option<Database>,
    reported: Reported,
    spread: Option<Spread>,
    /// Batches that were asked for.
    batches: u64,
    /// Those since the last look, where their calls may fail.
    calls: Vec<Calls>,
    effects: Option<Effects>,
    recovery: Recovery,
    /// What an operation took in the fastest batch, ns.
    operation_ns: Option<f64>,
    /// Bytes that an operation of the last batch sent over its link.
    link_bytes: Option<f64>,
}

impl Visit {
    /// Has a subject open the point on a fresh target: the visit and the settings that it read back.
    pub fn begin(
        process: &mut SubjectProcess,
        plan: &Plan,
        (subject, point): (SubjectId, PointId),
        targets: &[Target],
    ) -> SubjectResult<(Visit, Vec<(String, String)>)> {
        let case = plan.case(point);
        let target = plan.points[point].target;
        let database = targets.get(target).map(|t| t.fresh(plan, subject, point));
        let database = database.transpose()?;
        let (url, seed) = (database.as_ref().map(Database::url), plan.seed.to_string());
        let params = &plan.points[point].params;
        let given = plan.open_args(point);
        let mut args = vec![("case", case.name.as_str())];
        args.extend(params.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        args.extend(given.iter().map(|(k, v)| (*k, v.as_str())));
        args.extend(url.as_deref().map(|url| ("target", url)));
        let rate = case.rate.map(|rate| rate.to_string());
        args.extend(rate.as_deref().map(|rate| ("rate", rate)));
        args.push(("seed", &seed));
        if case.cores == Cores::All {
            process.free()?;
        }
        // A server's work is on all cores too, where its clients do not know.
        let alone =
            case.cores == Cores::All && database.as_ref().is_none_or(|d| d.server().is_none());
        let spread = alone.then(|| Spread::new(process.pid()));
        let settings = process.open(args)?.args().to_vec();
        let mut visit = Visit {
            point,
            database,
            reported: Reported::default(),
            spread,
            batches: 0,
            calls: Vec::new(),
            effects: None,
            recovery: Recovery::default(),
            operation_ns: None,
            link_bytes: None,
        };
        visit.count_opens(plan)?;
        Ok((visit, settings))
    }

    /// Does operations untimed: check and units.
    pub fn verify(
        &mut self,
        process: &mut SubjectProcess,
        plan: &Plan,
        operations: u64,
    ) -> SubjectResult<(u64, u64)> {
        self.begin_anew()?;
        let verified = self.at_work(|| process.verify(plan.case(self.point), operations))?;
        let Verified {
            check,
            units,
            failed,
        } = verified;
        self.count(operations, check, units, failed);
        Ok((check, units))
    }

    /// Does a batch.
    pub fn run(
        &mut self,
        process: &mut SubjectProcess,
        plan: &Plan,
        operations: u64,
    ) -> SubjectResult<BatchResult> {
        self.run_while(process, plan, operations, |_, _| Ok(()))
    }

    /// Does a batch that is measured: in it the server is killed, where the point wants that.
    pub fn measure(
        &mut self,
        process: &mut SubjectProcess,
        plan: &Plan,
        operations: u64,
    ) -> SubjectResult<BatchResult> {
        let planned_ns = plan.turn_ns(self.point);
        // A compiler may have made it faster since the pilot, and an outage makes a batch longer: it must not be over
        // before its outage.
        let expected_ns = self.operation_ns.map(|ns| (ns * operations as f64) as u64);
        let turn_ns = expected_ns.map_or(planned_ns, |ns| ns.min(planned_ns));
        let turn = Duration::from_nanos(turn_ns);
        let mut recovery = Recovery::default();
        let ran = self.run_while(process, plan, operations, |database, process| {
            let database = database.filter(|d| d.has_outages());
            let interrupted = database.map(|d| d.interrupt(process, turn));
            recovery = interrupted.transpose()?.unwrap_or_default();
            Ok(())
        });
        self.recovery = recovery;
        ran
    }

    fn run_while(
        &mut self,
        process: &mut SubjectProcess,
        plan: &Plan,
        operations: u64,
        meanwhile: impl FnOnce(Option<&Database>, &mut SubjectProcess) -> SubjectResult<()>,
    ) -> SubjectResult<BatchResult> {
        self.begin_anew()?;
        let server = self.database.as_ref().and_then(Database::server);
        let before = server.and_then(|s| s.cpu_ns());
        let database = self.database.as_ref();
        let sent = database.and_then(Database::sent);
        let mut ran = self.at_work(|| {
            let case = plan.case(self.point);
            process.run_while(case, operations, |process| meanwhile(database, process))
        })?;
        let since = |before| Some((database?.sent()? - before) as f64);
        let sent = sent.and_then(since);
        let link_bytes = sent.map(|bytes| bytes / operations as f64);
        if let Some(server) = server {
            server.settle();
            let after = server.cpu_ns();
            ran.server_cpu_ns = after
                .zip(before)
                .map(|(after, before)| after.saturating_sub(before));
        }
        if let Some(spread) = &mut self.spread {
            spread.after_run(
                process.pid(),
                &sys::allowed_cores().map_err(connection_lost)?,
            );
        }
        self.link_bytes = link_bytes;
        let operation_ns = ran.wall_ns as f64 / operations as f64;
        self.operation_ns = self
            .operation_ns
            .into_iter()
            .chain([operation_ns])
            .reduce(f64::min);
        self.count(operations, ran.check, ran.units, ran.failed.clone());
        Ok(ran)
    }

    /// The lab's own look at what was done since the last one.
    pub fn check_work(&mut self, plan: &Plan) -> SubjectResult<()> {
        let reported = std::mem::take(&mut self.reported);
        let calls = std::mem::take(&mut self.calls);
        let Some(database) = &mut self.database else {
            return Ok(());
        };
        self.effects = match plan.case(self.point).check {
            Check::Effects => Some(database.effects(&calls)?),
            _ => None,
        };
        database.check_work(plan, self.point, reported)
    }

    /// Round trips to its server until now, where they are counted.
    pub fn round_trips(&self) -> u64 {
        self.database.as_ref().map_or(0, Database::round_trips)
    }

    /// What the lab found of the last measured batch, where its calls may fail or it is over a link.
    pub fn found(&self) -> Vec<f64> {
        if let Some(bytes) = self.link_bytes {
            return vec![bytes];
        }
        let effects = self.effects.iter().flat_map(|effects| effects.counts());
        effects.chain(self.recovery.values()).collect()
    }

    /// A sum over what is in the target now, for points that write.
    pub fn content(&mut self, plan: &Plan) -> SubjectResult<Option<String>> {
        let database = self.database.as_mut();
        database.map_or(Ok(None), |d| d.content(plan, self.point))
    }

    /// From now on openings are counted, where the case is about them.
    pub fn count_opens(&mut self, plan: &Plan) -> SubjectResult<()> {
        let database = self.database.as_mut();
        database.map_or(Ok(()), |d| d.count_opens(plan, self.point))
    }

    /// From now on openings are no longer counted: watching them costs each a little.
    pub fn stop_counting_opens(&mut self) {
        self.database
            .iter_mut()
            .for_each(Database::stop_counting_opens);
    }

    /// The server that it is on.
    pub fn server(&self) -> Option<&Server> {
        Some(self.database.as_ref()?.server()?)
    }

    /// What happened on a server between two looks is no work of this subject.
    fn begin_anew(&mut self) -> SubjectResult<()> {
        match (&mut self.database, self.reported.operations) {
            (Some(database), 0) => database.begin_anew(),
            _ => Ok(()),
        }
    }

    /// Does what a subject does while faults are made.
    fn at_work<T>(&self, work: impl FnOnce() -> SubjectResult<T>) -> SubjectResult<T> {
        let database = self.database.as_ref();
        let set = |is_at_work| database.map_or((), |d| d.set_at_work(is_at_work));
        set(true);
        let done = work();
        set(false);
        done
    }

    fn count(&mut self, operations: u64, check: u64, units: u64, failed: Failed) {
        self.batches += 1;
        self.calls.push(Calls {
            batch: self.batches,
            calls: operations,
            failed,
        });
        self.reported.operations += operations;
        self.reported.units = self.reported.units.wrapping_add(units);
        self.reported.sum = self.reported.sum.wrapping_add(check);
    }
}
