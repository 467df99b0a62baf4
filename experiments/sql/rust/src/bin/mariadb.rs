// SPDX-License-Identifier: Apache-2.0
//! The SQL experiment on MariaDB, with mysql_async.

use chrono::NaiveDateTime;
use lab_kit::{Closed, Failure, Inputs, Opening, Subject, Work};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row, Statement, TxOpts, Value};
use rust_decimal::Decimal;
use sql_subject::mariadb::{LIBRARY, connect, found, options, read_settings};
use sql_subject::{
    Mixed, NULL, OwnType, OwnValue, OwnWork, SELECT_1, Share, at_once, byte_sum, code_points, fold,
    ids, is_prepared, this_thread, transfers, updates, values,
};
use std::io;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;

const POINT: &str = "SELECT value FROM test_simple WHERE id = ?";
const INSERT: &str = "INSERT INTO test_simple (value) VALUES (?)";
const TAKE: &str = "UPDATE test_simple SET value = value - ? WHERE id = ?";
const GIVE: &str = "UPDATE test_simple SET value = value + ? WHERE id = ?";

fn main() -> io::Result<()> {
    Subject::new("rust", LIBRARY)
        .case("connect", connect)
        .case("select_1", select_1)
        .case("do_1", do_1)
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
    let mut session = Session::open(&opening)?;
    let statement = session.prepare_if_asked(&opening, SELECT_1)?;
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            let value: Option<i32> = match &statement {
                Some(statement) => connection.exec_first(statement, ()).await?,
                None => connection.query_first(SELECT_1).await?,
            };
            work.add(1, found(value)?);
        }
        Ok(work)
    })
}

fn do_1(opening: Opening) -> Result<Closed, Failure> {
    Session::open(&opening)?.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            connection.query_drop("DO 1").await?;
            work.add(1, 1);
        }
        Ok(work)
    })
}

fn select(opening: Opening) -> Result<Closed, Failure> {
    let limit = opening.integer("limit", 1..=i32::MAX)?;
    let text = format!("SELECT id, value FROM test_simple ORDER BY id LIMIT {limit}");
    let mut session = Session::open(&opening)?;
    let statement = session.prepare_if_asked(&opening, &text)?;
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            let rows: Vec<(i32, i32)> = match &statement {
                Some(statement) => connection.exec(statement, ()).await?,
                None => connection.query(&text).await?,
            };
            for (id, value) in rows {
                work.add(1, i64::from(id) + i64::from(value));
            }
        }
        Ok(work)
    })
}

fn point(opening: Opening) -> Result<Closed, Failure> {
    let ids = ids(&opening)?;
    let mut session = Session::open(&opening)?;
    let statement = session.prepare_if_asked(&opening, POINT)?;
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for id in ids.first(operations) {
            let value: Option<i32> = match &statement {
                Some(statement) => connection.exec_first(statement, (id,)).await?,
                None => connection.query_first(with(POINT, id)).await?,
            };
            work.add(1, found(value)?);
        }
        Ok(work)
    })
}

fn mixed(opening: Opening) -> Result<Closed, Failure> {
    let ids = ids(&opening)?;
    let mut session = Session::open(&opening)?;
    let statement = session.prepare(
        "SELECT id, small, big, amount, name, nothing, moment FROM test_mixed WHERE id = ?",
    )?;
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for id in ids.first(operations) {
            let row: Option<Mixed<Decimal>> = connection.exec_first(&statement, (id,)).await?;
            work.add(1, fold(found(row)?));
        }
        Ok(work)
    })
}

fn insert(opening: Opening) -> Result<Closed, Failure> {
    let values = values(&opening);
    let mut session = Session::open(&opening)?;
    let statement = session.prepare_if_asked(&opening, INSERT)?;
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for value in values.first(operations) {
            match &statement {
                Some(statement) => connection.exec_drop(statement, (value,)).await?,
                None => connection.query_drop(with(INSERT, value)).await?,
            }
            work.add(1, value);
        }
        Ok(work)
    })
}

fn insert_tx(opening: Opening) -> Result<Closed, Failure> {
    let rows_tx = opening.integer("rows_tx", 1..=i32::MAX as usize)?;
    let values = values(&opening);
    let mut session = Session::open(&opening)?;
    let statement = session.prepare(INSERT)?;
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        let mut values = values.endless();
        for _ in 0..operations {
            let mut transaction = connection.start_transaction(TxOpts::default()).await?;
            for value in values.by_ref().take(rows_tx) {
                transaction.exec_drop(&statement, (value,)).await?;
                work.add(1, value);
            }
            transaction.commit().await?;
        }
        Ok(work)
    })
}

fn update_point(opening: Opening) -> Result<Closed, Failure> {
    let updates = updates(&opening)?;
    let mut session = Session::open(&opening)?;
    let statement = session.prepare(GIVE)?;
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for update in updates.first(operations) {
            connection
                .exec_drop(&statement, (update.amount, update.id))
                .await?;
            work.add(1, update.amount);
        }
        Ok(work)
    })
}

fn transfer(opening: Opening) -> Result<Closed, Failure> {
    let transfers = transfers(&opening)?;
    let mut session = Session::open(&opening)?;
    let take = session.prepare(TAKE)?;
    let give = session.prepare(GIVE)?;
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for it in transfers.first(operations) {
            let mut transaction = connection.start_transaction(TxOpts::default()).await?;
            transaction.exec_drop(&take, (it.amount, it.from)).await?;
            transaction.exec_drop(&give, (it.amount, it.to)).await?;
            transaction.commit().await?;
            work.add(2, it.amount);
        }
        Ok(work)
    })
}

fn drop_create(opening: Opening) -> Result<Closed, Failure> {
    let table = opening.text("table")?.to_owned();
    Session::open(&opening)?.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            connection.query_drop("DROP TABLE test_simple").await?;
            connection.query_drop(&table).await?;
            work.add(1, 1);
        }
        Ok(work)
    })
}

fn connections(mut opening: Opening) -> Result<Closed, Failure> {
    let count = opening.integer("connections", 1..=1000)?;
    let ids = Arc::new(ids(&opening)?);
    let options = options(&opening)?;
    let runtime = Runtime::new()?;
    let connections = runtime.block_on(async {
        let mut connections = Vec::new();
        for _ in 0..count {
            let mut connection = Conn::new(options.clone()).await?;
            let statement = connection.prep(POINT).await?;
            connections.push(Arc::new(Mutex::new((connection, statement))));
        }
        read_settings(&mut opening, &mut connections[0].lock().await.0).await?;
        Ok::<_, Failure>(connections)
    })?;
    let closed = opening.serve(|operations| {
        let task = |share, own| points(share, own, ids.clone());
        runtime.block_on(at_once(&connections, operations, task))
    });
    for own in connections.into_iter().filter_map(Arc::into_inner) {
        let (connection, _) = own.into_inner();
        runtime.block_on(connection.disconnect())?;
    }
    Ok(closed)
}

async fn points(
    mut share: Share,
    own: Arc<Mutex<(Conn, Statement)>>,
    ids: Arc<Inputs<i32>>,
) -> Result<Work, Failure> {
    let (connection, statement) = &mut *own.lock().await;
    for k in share.begin().await {
        share.done(found(
            connection.exec_first(&*statement, (ids.at(k),)).await?,
        )?);
    }
    Ok(share.end())
}

fn own(opening: Opening) -> Result<Closed, Failure> {
    let own = OwnWork::read(&opening)?;
    let mut session = Session::open(&opening)?;
    let mut prepared = Vec::new();
    for statement in &own.statements {
        prepared.push(session.prepare(&statement.text)?);
    }
    session.serve(opening, async |connection, operations| {
        let mut work = Work::default();
        for k in 0..operations {
            let values = own.values(k);
            if own.transaction {
                let mut transaction = connection.start_transaction(TxOpts::default()).await?;
                run_all(&mut transaction, &own, &prepared, values, &mut work).await?;
                transaction.commit().await?;
            } else {
                run_all(connection, &own, &prepared, values, &mut work).await?;
            }
        }
        Ok(work)
    })
}

async fn run_all(
    connection: &mut impl Queryable,
    own: &OwnWork,
    prepared: &[Statement],
    values: &[Vec<OwnValue>],
    work: &mut Work,
) -> Result<(), Failure> {
    for ((statement, prepared), values) in own.statements.iter().zip(prepared).zip(values) {
        let values = match &values[..] {
            [] => Params::Empty,
            values => Params::Positional(values.iter().map(bound).collect()),
        };
        if statement.columns.is_empty() {
            connection.exec_drop(prepared, values).await?;
            work.add(1, 1);
            continue;
        }
        let rows: Vec<Row> = connection.exec(prepared, values).await?;
        for row in rows {
            for (value, kind) in row.unwrap().into_iter().zip(&statement.columns) {
                work.check = work.check.wrapping_add(fold_own(value, *kind)?);
            }
            work.units += 1;
        }
    }
    Ok(())
}

fn bound(value: &OwnValue) -> Value {
    match value {
        OwnValue::Integer(number) => Value::from(*number),
        OwnValue::Float(number) => Value::from(*number),
        OwnValue::Text(text) => Value::from(text.as_str()),
    }
}

fn fold_own(value: Value, kind: OwnType) -> Result<u64, Failure> {
    Ok(match value {
        Value::NULL => NULL,
        Value::Bytes(bytes) if kind == OwnType::Bytes => byte_sum(&bytes),
        Value::Bytes(bytes) => code_points(&String::from_utf8(bytes)?),
        Value::Int(number) => number as u64,
        Value::UInt(number) => number,
        Value::Float(number) => f64::from(number).to_bits(),
        Value::Double(number) => number.to_bits(),
        value @ Value::Date(..) => {
            let moment: NaiveDateTime = mysql_async::from_value_opt(value)?;
            moment.and_utc().timestamp_millis() as u64
        }
        Value::Time(..) => return Err(Failure::failed("cannot fold a time of day")),
    })
}

/// Returns the text with its parameter replaced by the value, as the driver formats it.
fn with(text: &str, value: i32) -> String {
    text.replace('?', &Value::from(value).as_sql(false))
}

/// A connection, and the runtime that drives it on this thread.
struct Session {
    runtime: Runtime,
    connection: Conn,
}

impl Session {
    fn open(opening: &Opening) -> Result<Self, Failure> {
        let options = options(opening)?;
        let runtime = this_thread()?;
        let connection = runtime.block_on(Conn::new(options))?;
        Ok(Self {
            runtime,
            connection,
        })
    }

    fn prepare(&mut self, text: &str) -> Result<Statement, Failure> {
        let preparing = self.connection.prep(text);
        Ok(self.runtime.block_on(preparing)?)
    }

    /// Prepares the statement, unless its text must be sent in each operation.
    fn prepare_if_asked(
        &mut self,
        opening: &Opening,
        text: &str,
    ) -> Result<Option<Statement>, Failure> {
        is_prepared(opening)?
            .then(|| self.prepare(text))
            .transpose()
    }

    /// Reports the settings, serves the case and closes the connection. The runtime is entered once per batch.
    fn serve(
        self,
        mut opening: Opening,
        mut perform: impl AsyncFnMut(&mut Conn, u64) -> Result<Work, Failure>,
    ) -> Result<Closed, Failure> {
        let Self {
            runtime,
            mut connection,
        } = self;
        runtime.block_on(read_settings(&mut opening, &mut connection))?;
        let closed = opening.serve(|operations| {
            runtime.block_on(async {
                let done = perform(&mut connection, operations).await;
                if done.is_err() {
                    // A transaction that was dropped is rolled back before the next message.
                    let _ = connection.ping().await;
                }
                done
            })
        });
        runtime.block_on(connection.disconnect())?;
        Ok(closed)
    }
}
