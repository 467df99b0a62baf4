// SPDX-License-Identifier: Apache-2.0
//! The SQL experiment on SQLite, with rusqlite.

use lab_kit::{Closed, Failure, Inputs, Laps, Opening, Subject, Work};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, Statement, params_from_iter};
use sql_subject::sqlite::{LIBRARY, connect, open, path, read_settings};
use sql_subject::{
    NULL, OwnType, OwnValue, OwnWork, SELECT_1, byte_sum, code_points, fold, ids, is_prepared,
    transfers, updates, values,
};
use std::iter::StepBy;
use std::ops::Range;
use std::sync::Barrier;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::{io, thread};

const POINT: &str = "SELECT value FROM test_simple WHERE id = ?";
const INSERT: &str = "INSERT INTO test_simple (value) VALUES (?)";
const TAKE: &str = "UPDATE test_simple SET value = value - ? WHERE id = ?";
const GIVE: &str = "UPDATE test_simple SET value = value + ? WHERE id = ?";

fn main() -> io::Result<()> {
    Subject::new("rust", LIBRARY)
        .case("connect", connect)
        .case("select_1", select_1)
        .case("select", select)
        .case("point", point)
        .case("mixed", mixed)
        .case("insert", insert)
        .case("insert_tx", insert_tx)
        .case("update_point", update_point)
        .case("transfer", transfer)
        .case("drop_create", drop_create)
        .case("connections", connections)
        .case("own", own)
        .serve()
}

fn select_1(opening: Opening) -> Result<Closed, Failure> {
    let connection = open(&path(&opening)?)?;
    let mut statement = prepare(&opening, &connection, SELECT_1)?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            let value: i64 = match &mut statement {
                Some(statement) => statement.query_row([], |row| row.get(0))?,
                None => connection.query_row(SELECT_1, [], |row| row.get(0))?,
            };
            work.add(1, value);
        }
        Ok(work)
    })
}

fn select(opening: Opening) -> Result<Closed, Failure> {
    let limit = opening.integer("limit", 1..=i32::MAX)?;
    let text = format!("SELECT id, value FROM test_simple ORDER BY id LIMIT {limit}");
    let connection = open(&path(&opening)?)?;
    let mut statement = prepare(&opening, &connection, &text)?;
    let fetch = |statement: &mut Statement, work: &mut Work| {
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            work.add(1, row.get::<_, i64>(0)? + row.get::<_, i64>(1)?);
        }
        Ok::<_, rusqlite::Error>(())
    };
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            match &mut statement {
                Some(statement) => fetch(statement, &mut work)?,
                None => fetch(&mut connection.prepare(&text)?, &mut work)?,
            }
        }
        Ok(work)
    })
}

fn point(opening: Opening) -> Result<Closed, Failure> {
    let ids = ids(&opening)?;
    let connection = open(&path(&opening)?)?;
    let mut statement = prepare(&opening, &connection, POINT)?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for id in ids.first(operations) {
            let value: i64 = match &mut statement {
                Some(statement) => statement.query_row([id], |row| row.get(0))?,
                None => connection.query_row(POINT, [id], |row| row.get(0))?,
            };
            work.add(1, value);
        }
        Ok(work)
    })
}

fn mixed(opening: Opening) -> Result<Closed, Failure> {
    let ids = ids(&opening)?;
    let connection = open(&path(&opening)?)?;
    let mut statement = connection.prepare(
        // NOTHING is a keyword of SQLite.
        r#"SELECT id, small, big, amount, name, "nothing", moment FROM test_mixed WHERE id = ?"#,
    )?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for id in ids.first(operations) {
            work.add(
                1,
                fold::<f64>(statement.query_row([id], |row| row.try_into())?),
            );
        }
        Ok(work)
    })
}

fn insert(opening: Opening) -> Result<Closed, Failure> {
    let values = values(&opening);
    let connection = open(&path(&opening)?)?;
    let mut statement = prepare(&opening, &connection, INSERT)?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for value in values.first(operations) {
            match &mut statement {
                Some(statement) => statement.execute([value])?,
                None => connection.execute(INSERT, [value])?,
            };
            work.add(1, value);
        }
        Ok(work)
    })
}

fn insert_tx(opening: Opening) -> Result<Closed, Failure> {
    let rows_tx = opening.integer("rows_tx", 1..=i32::MAX as usize)?;
    let values = values(&opening);
    let connection = open(&path(&opening)?)?;
    let mut statement = connection.prepare(INSERT)?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        let mut values = values.endless();
        for _ in 0..operations {
            let transaction = connection.unchecked_transaction()?;
            for value in values.by_ref().take(rows_tx) {
                statement.execute([value])?;
                work.add(1, value);
            }
            transaction.commit()?;
        }
        Ok(work)
    })
}

fn update_point(opening: Opening) -> Result<Closed, Failure> {
    let updates = updates(&opening)?;
    let connection = open(&path(&opening)?)?;
    let mut statement = connection.prepare(GIVE)?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for update in updates.first(operations) {
            statement.execute([update.amount, update.id])?;
            work.add(1, update.amount);
        }
        Ok(work)
    })
}

fn transfer(opening: Opening) -> Result<Closed, Failure> {
    let transfers = transfers(&opening)?;
    let connection = open(&path(&opening)?)?;
    let mut take = connection.prepare(TAKE)?;
    let mut give = connection.prepare(GIVE)?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for transfer in transfers.first(operations) {
            let transaction = connection.unchecked_transaction()?;
            take.execute([transfer.amount, transfer.from])?;
            give.execute([transfer.amount, transfer.to])?;
            transaction.commit()?;
            work.add(2, transfer.amount);
        }
        Ok(work)
    })
}

fn drop_create(opening: Opening) -> Result<Closed, Failure> {
    let table = opening.text("table")?.to_owned();
    let connection = open(&path(&opening)?)?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            connection.execute("DROP TABLE test_simple", [])?;
            connection.execute(&table, [])?;
            work.add(1, 1);
        }
        Ok(work)
    })
}

/// Opens and serves the case `connections`. SQLite's functions block, so each connection has a thread.
fn connections(mut opening: Opening) -> Result<Closed, Failure> {
    let count = opening.integer("connections", 1..=1000_usize)?;
    let ids = &ids(&opening)?;
    let path = path(&opening)?;
    let connections: Vec<_> = (0..count).map(|_| open(&path)).collect::<Result<_, _>>()?;
    read_settings(&mut opening, &connections[0])?;
    let barrier = &Barrier::new(count);
    thread::scope(|scope| {
        let (result, results) = channel();
        let mut workers: Vec<Sender<Share>> = Vec::new();
        for connection in connections {
            let (worker, shares) = channel();
            let result = result.clone();
            scope.spawn(move || work_until_closed(connection, ids, barrier, shares, result));
            workers.push(worker);
        }
        let all_work = || {
            let done: Vec<_> = results.iter().take(count).collect();
            done.into_iter()
                .try_fold(Work::default(), |all, work| Ok(all.join(work?)))
        };
        all_work()?; // Prepares every statement.
        Ok(opening.serve(|operations| {
            for (c, worker) in workers.iter().enumerate() {
                worker.send((c as u64..operations).step_by(count))?;
            }
            all_work()
        }))
    })
}

/// One connection's share of a batch: the numbers of its operations.
type Share = StepBy<Range<u64>>;

/// Runs a thread of `connections`. Its first result signals that it is ready.
fn work_until_closed(
    connection: Connection,
    ids: &Inputs<i32>,
    barrier: &Barrier,
    shares: Receiver<Share>,
    results: Sender<rusqlite::Result<Work>>,
) {
    let work = || {
        let mut statement = connection.prepare(POINT)?;
        let _ = results.send(Ok(Work::default()));
        for share in shares {
            barrier.wait();
            let _ = results.send(points(&mut statement, ids, share));
        }
        Ok(())
    };
    if let Err(error) = work() {
        let _ = results.send(Err(error));
    }
}

fn points(statement: &mut Statement, ids: &Inputs<i32>, share: Share) -> rusqlite::Result<Work> {
    let mut work = Work::default();
    let mut laps = Laps::default();
    laps.start();
    for k in share {
        work.add(
            1,
            statement.query_row([ids.at(k)], |row| row.get::<_, i64>(0))?,
        );
        laps.lap();
    }
    work.laps = Some(laps);
    Ok(work)
}

fn own(opening: Opening) -> Result<Closed, Failure> {
    let own = OwnWork::read(&opening)?;
    let connection = open(&path(&opening)?)?;
    let prepare = |text: &str| connection.prepare(text);
    let statements = own.statements.iter();
    let mut prepared: Vec<Statement> = statements
        .map(|s| prepare(&s.text))
        .collect::<Result<_, _>>()?;
    serve(opening, &connection, |operations| {
        let mut work = Work::default();
        for k in 0..operations {
            let values = own.values(k);
            if own.transaction {
                let transaction = connection.unchecked_transaction()?;
                run_all(&own, &mut prepared, values, &mut work)?;
                transaction.commit()?;
            } else {
                run_all(&own, &mut prepared, values, &mut work)?;
            }
        }
        Ok(work)
    })
}

fn run_all(
    own: &OwnWork,
    prepared: &mut [Statement],
    values: &[Vec<OwnValue>],
    work: &mut Work,
) -> Result<(), Failure> {
    for ((statement, prepared), values) in own.statements.iter().zip(prepared).zip(values) {
        let values = params_from_iter(values.iter().map(bound));
        if statement.columns.is_empty() {
            prepared.execute(values)?;
            work.add(1, 1);
            continue;
        }
        let mut rows = prepared.query(values)?;
        while let Some(row) = rows.next()? {
            for (index, kind) in statement.columns.iter().enumerate() {
                let fold = fold_own(row.get_ref(index)?, *kind)?;
                work.check = work.check.wrapping_add(fold);
            }
            work.units += 1;
        }
    }
    Ok(())
}

fn bound(value: &OwnValue) -> ToSqlOutput<'_> {
    match value {
        OwnValue::Integer(number) => ToSqlOutput::Owned(Value::Integer(*number)),
        OwnValue::Float(number) => ToSqlOutput::Owned(Value::Real(*number)),
        OwnValue::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
    }
}

fn fold_own(value: ValueRef, kind: OwnType) -> Result<u64, Failure> {
    Ok(match value {
        ValueRef::Null => NULL,
        ValueRef::Integer(number) if kind == OwnType::Float => (number as f64).to_bits(),
        ValueRef::Integer(number) => number as u64,
        ValueRef::Real(number) => number.to_bits(),
        ValueRef::Text(text) => code_points(std::str::from_utf8(text)?),
        ValueRef::Blob(bytes) => byte_sum(bytes),
    })
}

/// Prepares the statement, unless its text must be prepared in each operation.
fn prepare<'c>(
    opening: &Opening,
    connection: &'c Connection,
    text: &str,
) -> Result<Option<Statement<'c>>, Failure> {
    let prepared = is_prepared(opening)?;
    Ok(prepared.then(|| connection.prepare(text)).transpose()?)
}

/// Reports the settings and serves the case.
fn serve(
    mut opening: Opening,
    connection: &Connection,
    perform: impl FnMut(u64) -> Result<Work, Failure>,
) -> Result<Closed, Failure> {
    read_settings(&mut opening, connection)?;
    Ok(opening.serve(perform))
}
