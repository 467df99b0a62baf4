// SPDX-License-Identifier: Apache-2.0
//! One subject at one point: opened on a target of its own, run, and looked after.

use crate::process::{Answer, Fault, Process, Ran};
use crate::target::{Database, Opens, Targets};
use lab_model::{Check, Plan, PointId};

/// A subject that has a case open.
pub struct Visit {
    point: PointId,
    database: Option<Database>,
    opens: Option<Opens>,
    operations: u64,
    sum: u64,
}

impl Visit {
    /// Opens the point on a fresh target: the visit and the settings that the subject read back.
    pub fn begin(
        process: &mut Process,
        plan: &Plan,
        point: PointId,
        targets: Option<&Targets>,
    ) -> Answer<(Visit, Vec<(String, String)>)> {
        let case = plan.case(point);
        let database = targets.map(|t| t.fresh(case.empty)).transpose()?;
        let seed = plan.seed.to_string();
        let target = database
            .as_ref()
            .map(|d| format!("sqlite:{}", d.path().display()));
        let mut args = vec![("case", case.name.as_str())];
        args.extend(
            plan.points[point]
                .params
                .iter()
                .map(|(k, v)| (k.as_str(), v.as_str())),
        );
        args.extend(plan.open.iter().map(|(k, v)| (k.as_str(), v.as_str())));
        args.extend(target.as_ref().map(|t| ("target", t.as_str())));
        args.push(("seed", &seed));
        let settings = process.open(args)?.args().to_vec();
        let mut visit = Visit {
            point,
            database,
            opens: None,
            operations: 0,
            sum: 0,
        };
        visit.count_opens(plan)?;
        Ok((visit, settings))
    }

    /// Does operations untimed: check and units.
    pub fn verify(&mut self, process: &mut Process, operations: u64) -> Answer<(u64, u64)> {
        let (check, units) = process.verify(operations)?;
        self.count(operations, check);
        Ok((check, units))
    }

    /// Does a batch.
    pub fn run(&mut self, process: &mut Process, operations: u64) -> Answer<Ran> {
        let ran = process.run(operations)?;
        self.count(operations, ran.check);
        Ok(ran)
    }

    /// The lab's own look at what was done since the last one.
    pub fn look(&mut self, plan: &Plan) -> Answer<()> {
        let (operations, sum) = (
            std::mem::take(&mut self.operations),
            std::mem::take(&mut self.sum),
        );
        if let Some(opens) = &self.opens {
            let found = opens.count();
            if found != operations {
                return Err(Fault::Failed(
                    "opens",
                    format!(
                        "{operations} operations must open the file {operations} times; it was opened \
                         {found} times"
                    ),
                ));
            }
        }
        match &mut self.database {
            Some(database) => database.look(plan.points[self.point].writes, operations, sum),
            None => Ok(()),
        }
    }

    /// From now on openings are counted, where the case is about them.
    pub fn count_opens(&mut self, plan: &Plan) -> Answer<()> {
        if let (Check::Opens, Some(database)) = (&plan.case(self.point).check, &self.database) {
            self.opens = Some(Opens::of(database.path())?);
        }
        Ok(())
    }

    /// From now on openings are no longer counted: watching them costs each a little.
    pub fn stop_counting_opens(&mut self) {
        self.opens = None;
    }

    fn count(&mut self, operations: u64, check: u64) {
        self.operations += operations;
        self.sum = self.sum.wrapping_add(check);
    }
}
