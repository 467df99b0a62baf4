// SPDX-License-Identifier: Apache-2.0
//! The same work, proven on the server: what it counted is what the case says.

use crate::fault::{Fault, SubjectResult};
use crate::reported::Reported;
use lab_model::{Check, Plan, PointId};
use lab_services::Counters;

/// Over so many operations it must show that a prepared statement is not planned for each: PostgreSQL
/// plans its first five executions (PostgreSQL documentation, PREPARE, Notes), and some drivers send as
/// many as text before they prepare it.
const ENOUGH: u64 = 24;

/// What a server must have counted for a subject's operations.
pub struct ExpectedStatements<'a> {
    statements: &'a [(String, u64)],
    reported: Reported,
    opens: bool,
    /// Rows of its tables that an operation reads.
    reads: u64,
    /// Whether the case's unit are the rows that its statements yield or change.
    yields_rows: bool,
    /// Whether a statement must be prepared; `None`: as the driver does it.
    prepared: Option<bool>,
}

impl<'a> ExpectedStatements<'a> {
    /// For what a subject says that it did at a point.
    pub fn of(plan: &'a Plan, point: PointId, reported: Reported) -> ExpectedStatements<'a> {
        let case = plan.case(point);
        let params = &plan.points[point].params;
        let statement = params.iter().find(|(key, _)| key == "statement");
        ExpectedStatements {
            statements: &plan.points[point].statements,
            reported,
            opens: case.check == Check::Opens,
            reads: plan.points[point].reads,
            yields_rows: case.unit == "row",
            prepared: statement.map(|(_, value)| value == "prepared"),
        }
    }

    fn count(&self, word: &str) -> u64 {
        let per_operation = self.statements.iter().find(|(w, _)| w == word);
        per_operation.map_or(0, |(_, n)| n * self.reported.operations)
    }

    /// Statements that are prepared where statements are: not those that begin and end transactions.
    fn preparable(&self) -> u64 {
        let words = self.statements.iter().map(|(word, _)| word.as_str());
        let work = words.filter(|word| !["begin", "commit", "rollback"].contains(word));
        work.map(|word| self.count(word)).sum()
    }
}

/// Compares what was counted with what must have been. Fault: what differs.
pub fn compare(wanted: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    if wanted.reported.operations == 0 {
        return Ok(());
    }
    connections(wanted, counted)?;
    // A connection's own statements belong to what opening it costs.
    if wanted.statements.is_empty() || wanted.opens {
        return Ok(());
    }
    kinds(wanted, counted)?;
    prepared(wanted, counted)?;
    rows(wanted, counted)
}

fn connections(wanted: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    let operations = wanted.reported.operations;
    let must = if wanted.opens { operations } else { 0 };
    match counted.connects {
        Some(found) if found != must => Err(Fault::Failed(
            "opens",
            format!(
                "{operations} operations must open {must} connections; the server counted {found}"
            ),
        )),
        _ => Ok(()),
    }
}

fn kinds(wanted: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    let wanted_words = wanted.statements.iter().map(|(word, _)| word.as_str());
    let found = counted.statements.keys().map(String::as_str);
    let begins = counted.statements.get("begin").copied().unwrap_or(0);
    for word in wanted_words.chain(found) {
        let (must, found) = (wanted.count(word), counted.statements.get(word).copied());
        let found = found.unwrap_or(0);
        // A transaction begins with a statement, or with the first one in it. Of a COMMIT that was
        // prepared PostgreSQL counts the first execution only: its BEGINs tell then.
        let fits = match word {
            "begin" => found <= wanted.count("commit"),
            "commit" if counted.plans.is_some() && found < must => begins == must,
            _ => (must..=must + prepared_anew(wanted, word, counted)).contains(&found),
        };
        if !fits {
            return Err(differs(format!(
                "{} operations must execute {must} × {}; the server counted {found}",
                wanted.reported.operations,
                word.to_uppercase()
            )));
        }
    }
    Ok(())
}

/// Executions that MariaDB began, found the table's definition reloaded, and began again after it had
/// prepared the statement anew: it counts them twice.
fn prepared_anew(wanted: &ExpectedStatements, word: &str, counted: &Counters) -> u64 {
    let some = counted.prepared_executions.is_some_and(|n| n > 0) && wanted.count(word) > 0;
    counted.prepares.filter(|_| some).unwrap_or(0)
}

/// As many statements with less in them, of which the subject knows the answers, are other work.
fn rows(wanted: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    let Reported {
        operations, units, ..
    } = wanted.reported;
    let found = counted.rows;
    if wanted.yields_rows && found != units {
        return Err(differs(format!(
            "{operations} operations must yield or change {units} rows; the server counted {found}"
        )));
    }
    let reads = wanted.reads * operations;
    match (counted.rows_read, counted.blocks) {
        (Some(found), _) if found != reads => Err(differs(format!(
            "{operations} operations must read {reads} rows of tables; the server counted {found}"
        ))),
        // How many rows it read of a block PostgreSQL tells too late.
        (_, Some(blocks)) if reads > 0 && blocks < wanted.preparable() => Err(differs(format!(
            "{operations} operations must read {reads} rows of tables; the server looked at \
                 {blocks} blocks of tables and indexes"
        ))),
        _ => Ok(()),
    }
}

fn prepared(wanted: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    let must = wanted.preparable();
    let operations = wanted.reported.operations;
    let anew = counted.prepares.unwrap_or(0);
    match (wanted.prepared, counted.prepared_executions, counted.plans) {
        (Some(true), Some(found), _) if !(must..=must + anew).contains(&found) => {
            Err(differs(format!(
                "{operations} operations must execute {must} prepared statements; the server counted {found}"
            )))
        }
        (Some(false), Some(found), _) if found > 0 => Err(differs(format!(
            "its statements must be sent as text; the server executed {found} that were prepared"
        ))),
        (Some(false), _, Some(plans)) if plans < must => Err(differs(format!(
            "its statements must be sent as text; the server planned {plans} for {must} executions, \
             so that some were prepared"
        ))),
        _ => Ok(()),
    }
}

/// How often statements were planned by PostgreSQL or prepared by MariaDB, gathered over as many batches
/// as it takes to tell whether they are prepared: a batch may be a single operation.
#[derive(Default)]
pub struct Planned {
    operations: u64,
    executions: u64,
    times: u64,
}

impl Planned {
    /// Adds what was counted for a batch. Fault: its prepared statements are made anew again and again.
    pub fn add(&mut self, wanted: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
        let (times, done) = match (counted.plans, counted.prepares) {
            (Some(times), _) => (times, "planned"),
            (None, Some(times)) => (times, "prepared"),
            (None, None) => return Ok(()),
        };
        if wanted.prepared != Some(true) {
            return Ok(());
        }
        self.operations += wanted.reported.operations;
        self.executions += wanted.preparable();
        self.times += times;
        if self.operations < ENOUGH {
            return Ok(());
        }
        let Planned {
            executions, times, ..
        } = std::mem::take(self);
        if times * 2 > executions {
            Err(differs(format!(
                "a prepared statement must be {done} once; the server {done} {times} for {executions} \
                 executions"
            )))
        } else {
            Ok(())
        }
    }
}

fn differs(what: String) -> Fault {
    Fault::Failed("statements", what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted(
        statements: &[(String, u64)],
        operations: u64,
        prepared: Option<bool>,
    ) -> ExpectedStatements<'_> {
        let reported = Reported {
            operations,
            ..Reported::default()
        };
        ExpectedStatements {
            statements,
            reported,
            opens: false,
            reads: 0,
            yields_rows: false,
            prepared,
        }
    }

    fn counted(statements: &[(&str, u64)]) -> Counters {
        let statements = statements.iter().map(|(w, n)| ((*w).to_owned(), *n));
        Counters {
            statements: statements.collect(),
            ..Counters::default()
        }
    }

    fn each(words: &[(&str, u64)]) -> Vec<(String, u64)> {
        words.iter().map(|(w, n)| ((*w).to_owned(), *n)).collect()
    }

    #[test]
    fn statements_are_counted_by_their_first_word() {
        let transfer = each(&[("update", 2), ("commit", 1)]);
        let compare =
            |found: &[(&str, u64)]| compare(&wanted(&transfer, 10, None), &counted(found));
        assert_eq!(
            compare(&[("update", 20), ("commit", 10), ("begin", 10)]),
            Ok(())
        );
        assert_eq!(compare(&[("update", 20), ("commit", 10)]), Ok(()));
        for cheat in [
            &[("update", 20), ("commit", 1)][..],
            &[("update", 10), ("commit", 10)],
            &[("update", 20), ("commit", 10), ("begin", 11)],
            &[("update", 20), ("commit", 10), ("set", 1)],
            &[],
        ] {
            assert!(compare(cheat).is_err(), "{cheat:?}");
        }
    }

    #[test]
    fn postgresql_counts_a_prepared_commit_once() {
        let transfer = each(&[("update", 2), ("commit", 1)]);
        let compare = |found: &[(&str, u64)], plans| {
            compare(
                &wanted(&transfer, 10, None),
                &Counters {
                    plans,
                    ..counted(found)
                },
            )
        };
        let found = [("update", 20), ("begin", 10)];
        assert_eq!(compare(&found, Some(0)), Ok(()));
        assert!(compare(&found, None).is_err());
        assert!(compare(&[("update", 20), ("begin", 9)], Some(0)).is_err());
    }

    #[test]
    fn as_many_statements_that_read_less_are_other_work() {
        let select = each(&[("select", 1)]);
        let reads = ExpectedStatements {
            reads: 10,
            yields_rows: true,
            ..wanted(&select, 20, None)
        };
        let reads = ExpectedStatements {
            reported: Reported {
                units: 200,
                ..reads.reported
            },
            ..reads
        };
        let found = |rows, rows_read, blocks| Counters {
            rows,
            rows_read,
            blocks,
            ..counted(&[("select", 20)])
        };
        let compare = |found| compare(&reads, &found);
        assert_eq!(compare(found(200, Some(200), None)), Ok(()));
        assert_eq!(compare(found(200, None, Some(20))), Ok(()));
        assert!(compare(found(20, Some(200), None)).is_err());
        assert!(compare(found(200, Some(20), None)).is_err());
        assert!(compare(found(200, None, Some(0))).is_err());
    }

    #[test]
    fn prepared_is_told_from_text() {
        let select = each(&[("select", 1)]);
        let found = |prepared, plans| Counters {
            prepared_executions: prepared,
            plans,
            ..counted(&[("select", 20)])
        };
        let compare = |must, found| compare(&wanted(&select, 20, Some(must)), &found);
        assert_eq!(compare(true, found(Some(20), None)), Ok(()));
        assert_eq!(compare(false, found(Some(0), None)), Ok(()));
        assert_eq!(compare(true, found(None, Some(5))), Ok(()));
        assert_eq!(compare(false, found(None, Some(20))), Ok(()));
        let anew = |prepares| Counters {
            prepares: Some(prepares),
            prepared_executions: Some(21),
            ..counted(&[("select", 21)])
        };
        assert_eq!(compare(true, anew(1)), Ok(()));
        assert!(compare(true, anew(0)).is_err());
        let mut planned = Planned::default();
        let added =
            (0..ENOUGH).try_for_each(|_| planned.add(&wanted(&select, 20, Some(true)), &anew(20)));
        assert!(added.is_err());
        assert!(compare(true, found(Some(0), None)).is_err());
        assert!(compare(false, found(Some(20), None)).is_err());
        assert!(compare(false, found(None, Some(1))).is_err());
    }

    /// However few operations a batch has.
    #[test]
    fn a_statement_that_is_planned_each_time_is_not_prepared() {
        let select = each(&[("select", 1)]);
        let add = |planned: &mut Planned, operations, plans| {
            let found = Counters {
                plans: Some(plans),
                ..counted(&[("select", operations)])
            };
            planned.add(&wanted(&select, operations, Some(true)), &found)
        };
        for batch in [1, 5, 24, 1000] {
            let mut planned = Planned::default();
            let added = (0..ENOUGH).try_for_each(|_| add(&mut planned, batch, batch));
            assert!(added.is_err(), "{batch}");
        }
        // Ten at first: five sent as text, and the first five executions.
        let mut planned = Planned::default();
        assert_eq!(add(&mut planned, 10, 10), Ok(()));
        let later = (0..100).try_for_each(|_| add(&mut planned, 7, 0));
        assert_eq!(later, Ok(()));
    }
}
