// SPDX-License-Identifier: Apache-2.0
//! Verifies the work on a server. The server's counts must equal the counts that the case requires.

use crate::subject::fault::{Fault, SubjectResult};
use crate::targets::reported::Reported;
use lab_model::{Check, Plan, PointId, plural};
use lab_services::Counters;

/// The minimum number of operations that reveals whether a prepared statement is planned for each
/// execution.
///
/// PostgreSQL plans the first five executions of a prepared statement (PostgreSQL documentation,
/// PREPARE, Notes), and some drivers send the first five executions as text.
const MIN_OPERATIONS: u64 = 24;

/// The statements that a server must have counted for a subject's operations.
pub struct ExpectedStatements<'a> {
    statements: &'a [(String, u64)],
    reported: Reported,
    opens: bool,
    /// The number of table rows that an operation reads, or `None` for the user's own statements.
    reads: Option<u64>,
    /// True if the case's units are the rows that its statements return or change.
    yields_rows: bool,
    /// True if statements must be prepared. `None` leaves the choice to the driver.
    prepared: Option<bool>,
}

impl<'a> ExpectedStatements<'a> {
    /// Returns the expected counts for a subject's report at a point.
    pub fn new(plan: &'a Plan, point: PointId, reported: Reported) -> ExpectedStatements<'a> {
        let case = plan.case(point);
        let params = &plan.points[point].params;
        let statement = params.iter().find(|(key, _)| key == "statement");
        ExpectedStatements {
            statements: &plan.points[point].statements,
            reported,
            opens: case.check == Check::Opens,
            reads: plan.points[point]
                .sql
                .is_none()
                .then_some(plan.points[point].reads),
            yields_rows: case.unit == "row" && plan.points[point].sql.is_none(),
            prepared: statement.map(|(_, value)| value == "prepared"),
        }
    }

    fn count(&self, word: &str) -> u64 {
        let per_operation = self.statements.iter().find(|(w, _)| w == word);
        per_operation.map_or(0, |(_, n)| n * self.reported.operations)
    }

    /// Returns the number of statements that can be prepared: all except the statements that begin
    /// or end a transaction.
    fn preparable(&self) -> u64 {
        let words = self.statements.iter().map(|(word, _)| word.as_str());
        let work = words.filter(|word| !["begin", "commit", "rollback"].contains(word));
        work.map(|word| self.count(word)).sum()
    }
}

/// Compares the server's counts with the expected counts. Returns a fault if they differ.
pub fn compare(expected: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    if expected.reported.operations == 0 {
        return Ok(());
    }
    connections(expected, counted)?;
    // The statements that a driver sends when it connects belong to the cost of opening the connection.
    if expected.statements.is_empty() || expected.opens {
        return Ok(());
    }
    kinds(expected, counted)?;
    prepared(expected, counted)?;
    rows(expected, counted)
}

fn connections(expected: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    let operations = expected.reported.operations;
    let must = if expected.opens { operations } else { 0 };
    match counted.connects {
        Some(found) if found != must => Err(Fault::Failed(
            "opens",
            format!(
                "{} must open {}; the server counted {found}",
                plural(operations, "operation"),
                plural(must, "connection")
            ),
        )),
        _ => Ok(()),
    }
}

fn kinds(expected: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    let expected_words = expected.statements.iter().map(|(word, _)| word.as_str());
    let found = counted.statements.keys().map(String::as_str);
    let begins = counted.statements.get("begin").copied().unwrap_or(0);
    for word in expected_words.chain(found) {
        let (must, found) = (expected.count(word), counted.statements.get(word).copied());
        let found = found.unwrap_or(0);
        // A transaction begins with BEGIN or with its first statement. PostgreSQL counts only the first execution of a
        // prepared COMMIT; in that case, the number of BEGINs is compared.
        let fits = match word {
            "begin" => found <= expected.count("commit"),
            "commit" if counted.plans.is_some() && found < must => begins == must,
            _ => (must..=must + repeated_preparations(expected, word, counted)).contains(&found),
        };
        if !fits {
            return Err(wrong_statements(format!(
                "{} must execute {must} × {}; the server counted {found}",
                plural(expected.reported.operations, "operation"),
                word.to_uppercase()
            )));
        }
    }
    Ok(())
}

/// Returns how often MariaDB prepared a statement again because the table's definition was reloaded.
///
/// MariaDB counts these executions twice.
fn repeated_preparations(expected: &ExpectedStatements, word: &str, counted: &Counters) -> u64 {
    let is_prepared =
        counted.prepared_executions.is_some_and(|n| n > 0) && expected.count(word) > 0;
    counted.prepares.filter(|_| is_prepared).unwrap_or(0)
}

/// Compares the number of rows. Without this check, a subject could do less work with the same
/// number of statements.
fn rows(expected: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    let Reported {
        operations, units, ..
    } = expected.reported;
    let found = counted.rows;
    if expected.yields_rows && found != units {
        return Err(wrong_statements(format!(
            "{} must return or change {}; the server counted {found}",
            plural(operations, "operation"),
            plural(units, "row")
        )));
    }
    let Some(reads) = expected.reads.map(|reads| reads * operations) else {
        return Ok(());
    };
    match (counted.rows_read, counted.blocks) {
        (Some(found), _) if found != reads => Err(wrong_statements(format!(
            "{} must read {} of tables; the server counted {found}",
            plural(operations, "operation"),
            plural(reads, "row")
        ))),
        // PostgreSQL reports the number of rows read too late, so only blocks are compared.
        (_, Some(blocks)) if reads > 0 && blocks < expected.preparable() => {
            Err(wrong_statements(format!(
                "{} must read {} of tables; the server accessed {} of tables and indexes",
                plural(operations, "operation"),
                plural(reads, "row"),
                plural(blocks, "block")
            )))
        }
        _ => Ok(()),
    }
}

fn prepared(expected: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
    let must = expected.preparable();
    let operations = expected.reported.operations;
    let repeated = counted.prepares.unwrap_or(0);
    match (
        expected.prepared,
        counted.prepared_executions,
        counted.plans,
    ) {
        (Some(true), Some(found), _) if !(must..=must + repeated).contains(&found) => {
            Err(wrong_statements(format!(
                "{} must execute prepared statements {}; the server counted {found}",
                plural(operations, "operation"),
                plural(must, "time")
            )))
        }
        (Some(false), Some(found), _) if found > 0 => Err(wrong_statements(format!(
            "the subject must send its statements as text; the server executed {}",
            plural(found, "prepared statement")
        ))),
        (Some(false), _, Some(plans)) if plans < must => Err(wrong_statements(format!(
            "the subject must send its statements as text; the server made {} for {}, so some were \
             prepared",
            plural(plans, "plan"),
            plural(must, "execution")
        ))),
        _ => Ok(()),
    }
}

/// Counts how often PostgreSQL planned statements, or how often MariaDB prepared them.
///
/// The counts of multiple batches are added up until they reveal whether statements are
/// prepared, because a batch may contain a single operation.
#[derive(Default)]
pub struct PlannedStatements {
    operations: u64,
    executions: u64,
    times: u64,
}

impl PlannedStatements {
    /// Adds the counts of a batch. Returns a fault if a statement that must be prepared once is
    /// prepared repeatedly.
    pub fn add(&mut self, expected: &ExpectedStatements, counted: &Counters) -> SubjectResult<()> {
        let (times, action) = match (counted.plans, counted.prepares) {
            (Some(times), _) => (times, "planned"),
            (None, Some(times)) => (times, "prepared"),
            (None, None) => return Ok(()),
        };
        if expected.prepared != Some(true) {
            return Ok(());
        }
        self.operations += expected.reported.operations;
        self.executions += expected.preparable();
        self.times += times;
        if self.operations < MIN_OPERATIONS {
            return Ok(());
        }
        let PlannedStatements {
            executions, times, ..
        } = std::mem::take(self);
        if times * 2 > executions {
            Err(wrong_statements(format!(
                "a prepared statement must be {action} once, but the server {action} it {times} times in \
                 {executions} executions"
            )))
        } else {
            Ok(())
        }
    }
}

fn wrong_statements(message: String) -> Fault {
    Fault::Failed("statements", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(
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
            reads: Some(0),
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

    fn owned(words: &[(&str, u64)]) -> Vec<(String, u64)> {
        words.iter().map(|(w, n)| ((*w).to_owned(), *n)).collect()
    }

    #[test]
    fn statements_are_counted_by_their_first_word() {
        let transfer = owned(&[("update", 2), ("commit", 1)]);
        let compare =
            |counts: &[(&str, u64)]| compare(&expected(&transfer, 10, None), &counted(counts));
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
        let transfer = owned(&[("update", 2), ("commit", 1)]);
        let compare = |counts: &[(&str, u64)], plans| {
            compare(
                &expected(&transfer, 10, None),
                &Counters {
                    plans,
                    ..counted(counts)
                },
            )
        };
        let counts = [("update", 20), ("begin", 10)];
        assert_eq!(compare(&counts, Some(0)), Ok(()));
        assert!(compare(&counts, None).is_err());
        assert!(compare(&[("update", 20), ("begin", 9)], Some(0)).is_err());
    }

    #[test]
    fn reading_fewer_rows_is_different_work() {
        let select = owned(&[("select", 1)]);
        let reads = ExpectedStatements {
            reads: Some(10),
            yields_rows: true,
            ..expected(&select, 20, None)
        };
        let reads = ExpectedStatements {
            reported: Reported {
                units: 200,
                ..reads.reported
            },
            ..reads
        };
        let counters = |rows, rows_read, blocks| Counters {
            rows,
            rows_read,
            blocks,
            ..counted(&[("select", 20)])
        };
        let compare = |counters| compare(&reads, &counters);
        assert_eq!(compare(counters(200, Some(200), None)), Ok(()));
        assert_eq!(compare(counters(200, None, Some(20))), Ok(()));
        assert!(compare(counters(20, Some(200), None)).is_err());
        assert!(compare(counters(200, Some(20), None)).is_err());
        assert!(compare(counters(200, None, Some(0))).is_err());
    }

    #[test]
    fn prepared_statements_are_distinguished_from_text() {
        let select = owned(&[("select", 1)]);
        let counters = |prepared, plans| Counters {
            prepared_executions: prepared,
            plans,
            ..counted(&[("select", 20)])
        };
        let compare = |must, counters| compare(&expected(&select, 20, Some(must)), &counters);
        assert_eq!(compare(true, counters(Some(20), None)), Ok(()));
        assert_eq!(compare(false, counters(Some(0), None)), Ok(()));
        assert_eq!(compare(true, counters(None, Some(5))), Ok(()));
        assert_eq!(compare(false, counters(None, Some(20))), Ok(()));
        let repeated = |prepares| Counters {
            prepares: Some(prepares),
            prepared_executions: Some(21),
            ..counted(&[("select", 21)])
        };
        assert_eq!(compare(true, repeated(1)), Ok(()));
        assert!(compare(true, repeated(0)).is_err());
        let mut planned = PlannedStatements::default();
        let added = (0..MIN_OPERATIONS)
            .try_for_each(|_| planned.add(&expected(&select, 20, Some(true)), &repeated(20)));
        assert!(added.is_err());
        assert!(compare(true, counters(Some(0), None)).is_err());
        assert!(compare(false, counters(Some(20), None)).is_err());
        assert!(compare(false, counters(None, Some(1))).is_err());
    }

    /// Repeated planning is detected for any number of operations per batch.
    #[test]
    fn a_statement_that_is_planned_each_time_is_not_prepared() {
        let select = owned(&[("select", 1)]);
        let add = |planned: &mut PlannedStatements, operations, plans| {
            let counters = Counters {
                plans: Some(plans),
                ..counted(&[("select", operations)])
            };
            planned.add(&expected(&select, operations, Some(true)), &counters)
        };
        for batch in [1, 5, 24, 1000] {
            let mut planned = PlannedStatements::default();
            let added = (0..MIN_OPERATIONS).try_for_each(|_| add(&mut planned, batch, batch));
            assert!(added.is_err(), "{batch}");
        }
        // Ten plans at the start: five statements sent as text, and the first five executions of the prepared
        // statement.
        let mut planned = PlannedStatements::default();
        assert_eq!(add(&mut planned, 10, 10), Ok(()));
        let later = (0..100).try_for_each(|_| add(&mut planned, 7, 0));
        assert_eq!(later, Ok(()));
    }
}
