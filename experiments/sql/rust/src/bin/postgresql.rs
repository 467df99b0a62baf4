// SPDX-License-Identifier: Apache-2.0
//! The SQL experiment on PostgreSQL, with tokio-postgres.

use bytes::BytesMut;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use lab_kit::{Closed, Failure, Inputs, Opening, Subject, Work};
use rust_decimal::Decimal;
use sql_subject::postgresql::{Connection, LIBRARY, config, connect, read_settings, sqlstate};
use sql_subject::{
    NULL, OwnType, OwnValue, OwnWork, SELECT_1, Share, at_once, byte_sum, code_points, fold, ids,
    is_prepared, this_thread, transfers, updates, values,
};
use std::io;
use std::sync::Arc;
use tokio::runtime::Runtime;
use tokio_postgres::types::{Format, IsNull, ToSql, Type, to_sql_checked};
use tokio_postgres::{Client, Error, GenericClient, Row, Statement};

const POINT: &str = "SELECT value FROM test_simple WHERE id = $1";
const INSERT: &str = "INSERT INTO test_simple (value) VALUES ($1)";
const TAKE: &str = "UPDATE test_simple SET value = value - $1 WHERE id = $2";
const GIVE: &str = "UPDATE test_simple SET value = value + $1 WHERE id = $2";

fn main() -> io::Result<()> {
    Subject::new("rust", LIBRARY)
        .sqlstate(sqlstate)
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
    let session = Session::open(&opening)?;
    let statement = session.prepare_if_asked(&opening, SELECT_1)?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            let row = match &statement {
                Some(statement) => client.query_one(statement, &[]).await?,
                None => client.query_typed_one(SELECT_1, &[]).await?,
            };
            work.add(1, row.get::<_, i32>(0));
        }
        Ok(work)
    })
}

fn select(opening: Opening) -> Result<Closed, Failure> {
    let limit = opening.integer("limit", 1..=i32::MAX)?;
    let text = format!("SELECT id, value FROM test_simple ORDER BY id LIMIT {limit}");
    let session = Session::open(&opening)?;
    let statement = session.prepare_if_asked(&opening, &text)?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            let rows = match &statement {
                Some(statement) => client.query(statement, &[]).await?,
                None => client.query_typed(&text, &[]).await?,
            };
            for row in rows {
                let (id, value): (i32, i32) = (row.get(0), row.get(1));
                work.add(1, i64::from(id) + i64::from(value));
            }
        }
        Ok(work)
    })
}

fn point(opening: Opening) -> Result<Closed, Failure> {
    let ids = ids(&opening)?;
    let session = Session::open(&opening)?;
    let statement = session.prepare_if_asked(&opening, POINT)?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for id in ids.first(operations) {
            let row = match &statement {
                Some(statement) => client.query_one(statement, &[&id]).await?,
                None => client.query_typed_one(POINT, &[(&id, Type::INT4)]).await?,
            };
            work.add(1, row.get::<_, i32>(0));
        }
        Ok(work)
    })
}

fn mixed(opening: Opening) -> Result<Closed, Failure> {
    let ids = ids(&opening)?;
    let session = Session::open(&opening)?;
    let statement = session.prepare(
        "SELECT id, small, big, amount, name, nothing, moment FROM test_mixed WHERE id = $1",
    )?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for id in ids.first(operations) {
            let row = client.query_one(&statement, &[&id]).await?;
            work.add(
                1,
                fold::<Decimal>((
                    row.get(0),
                    row.get(1),
                    row.get(2),
                    row.get(3),
                    row.get(4),
                    row.get(5),
                    row.get(6),
                )),
            );
        }
        Ok(work)
    })
}

fn insert(opening: Opening) -> Result<Closed, Failure> {
    let values = values(&opening);
    let session = Session::open(&opening)?;
    let statement = session.prepare_if_asked(&opening, INSERT)?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for value in values.first(operations) {
            match &statement {
                Some(statement) => client.execute(statement, &[&value]).await?,
                None => {
                    client
                        .execute_typed(INSERT, &[(&value, Type::INT4)])
                        .await?
                }
            };
            work.add(1, value);
        }
        Ok(work)
    })
}

fn insert_tx(opening: Opening) -> Result<Closed, Failure> {
    let rows_tx = opening.integer("rows_tx", 1..=i32::MAX as usize)?;
    let values = values(&opening);
    let session = Session::open(&opening)?;
    let statement = session.prepare(INSERT)?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        let mut values = values.endless();
        for _ in 0..operations {
            let transaction = client.transaction().await?;
            for value in values.by_ref().take(rows_tx) {
                transaction.execute(&statement, &[&value]).await?;
                work.add(1, value);
            }
            transaction.commit().await?;
        }
        Ok(work)
    })
}

fn update_point(opening: Opening) -> Result<Closed, Failure> {
    let updates = updates(&opening)?;
    let session = Session::open(&opening)?;
    let statement = session.prepare(GIVE)?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for update in updates.first(operations) {
            client
                .execute(&statement, &[&update.amount, &update.id])
                .await?;
            work.add(1, update.amount);
        }
        Ok(work)
    })
}

fn transfer(opening: Opening) -> Result<Closed, Failure> {
    let transfers = transfers(&opening)?;
    let session = Session::open(&opening)?;
    let take = session.prepare(TAKE)?;
    let give = session.prepare(GIVE)?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for it in transfers.first(operations) {
            let transaction = client.transaction().await?;
            transaction.execute(&take, &[&it.amount, &it.from]).await?;
            transaction.execute(&give, &[&it.amount, &it.to]).await?;
            transaction.commit().await?;
            work.add(2, it.amount);
        }
        Ok(work)
    })
}

fn drop_create(opening: Opening) -> Result<Closed, Failure> {
    let table = opening.text("table")?.to_owned();
    Session::open(&opening)?.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            client.batch_execute("DROP TABLE test_simple").await?;
            client.batch_execute(&table).await?;
            work.add(1, 1);
        }
        Ok(work)
    })
}

fn connections(mut opening: Opening) -> Result<Closed, Failure> {
    let count = opening.integer("connections", 1..=1000)?;
    let ids = Arc::new(ids(&opening)?);
    let config = config(&opening)?;
    let runtime = Runtime::new()?;
    let connections = runtime.block_on(async {
        let mut connections = Vec::new();
        for _ in 0..count {
            let connection = Connection::open(&config).await?;
            let statement = connection.client.prepare(POINT).await?;
            connections.push(Arc::new((connection, statement)));
        }
        Ok::<_, Error>(connections)
    })?;
    let (first, _) = &*connections[0];
    runtime.block_on(read_settings(&mut opening, &first.client))?;
    let closed = opening.serve(|operations| {
        let task = |share, own| points(share, own, ids.clone());
        runtime.block_on(at_once(&connections, operations, task))
    });
    for (connection, _) in connections.into_iter().filter_map(Arc::into_inner) {
        runtime.block_on(connection.close())?;
    }
    Ok(closed)
}

async fn points(
    mut share: Share,
    own: Arc<(Connection, Statement)>,
    ids: Arc<Inputs<i32>>,
) -> Result<Work, Failure> {
    let (Connection { client, .. }, statement) = &*own;
    for k in share.begin().await {
        let row = client.query_one(statement, &[&ids.at(k)]).await?;
        share.done(row.get(0));
    }
    Ok(share.end())
}

fn own(opening: Opening) -> Result<Closed, Failure> {
    let own = OwnWork::read(&opening)?;
    let session = Session::open(&opening)?;
    let statements = own.statements.iter();
    let prepared: Vec<Statement> = statements
        .map(|s| session.prepare(&s.text))
        .collect::<Result<_, _>>()?;
    session.serve(opening, async |client, operations| {
        let mut work = Work::default();
        for k in 0..operations {
            let values = own.values(k);
            if own.transaction {
                let transaction = client.transaction().await?;
                run_all(&transaction, &own, &prepared, values, &mut work).await?;
                transaction.commit().await?;
            } else {
                run_all(client, &own, &prepared, values, &mut work).await?;
            }
        }
        Ok(work)
    })
}

async fn run_all(
    client: &impl GenericClient,
    own: &OwnWork,
    prepared: &[Statement],
    values: &[Vec<OwnValue>],
    work: &mut Work,
) -> Result<(), Failure> {
    for ((statement, prepared), values) in own.statements.iter().zip(prepared).zip(values) {
        let values: Vec<AsText> = values.iter().map(AsText).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|v| v as _).collect();
        if statement.columns.is_empty() {
            client.execute(prepared, &values).await?;
            work.add(1, 1);
            continue;
        }
        for row in client.query(prepared, &values).await? {
            for (index, kind) in statement.columns.iter().enumerate() {
                let fold = fold_own(&row, index, *kind)?;
                work.check = work.check.wrapping_add(fold.unwrap_or(NULL));
            }
            work.units += 1;
        }
    }
    Ok(())
}

/// A value that is sent as text. The server converts it to the parameter's type.
#[derive(Debug)]
struct AsText<'v>(&'v OwnValue);

impl ToSql for AsText<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        match self.0 {
            OwnValue::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
            OwnValue::Float(number) => out.extend_from_slice(number.to_string().as_bytes()),
            OwnValue::Text(text) => out.extend_from_slice(text.as_bytes()),
        }
        Ok(IsNull::No)
    }

    fn accepts(_: &Type) -> bool {
        true
    }

    fn encode_format(&self, _: &Type) -> Format {
        Format::Text
    }

    to_sql_checked!();
}

/// Returns the fold of a value, or `None` for NULL.
fn fold_own(row: &Row, index: usize, kind: OwnType) -> Result<Option<u64>, Failure> {
    let column = row.columns()[index].type_();
    Ok(match kind {
        OwnType::Integer if *column == Type::INT2 => row
            .try_get::<_, Option<i16>>(index)?
            .map(|number| i64::from(number) as u64),
        OwnType::Integer if *column == Type::INT4 => row
            .try_get::<_, Option<i32>>(index)?
            .map(|number| i64::from(number) as u64),
        OwnType::Integer => row
            .try_get::<_, Option<i64>>(index)?
            .map(|number| number as u64),
        OwnType::Boolean => row.try_get::<_, Option<bool>>(index)?.map(u64::from),
        OwnType::Float => row.try_get::<_, Option<f64>>(index)?.map(f64::to_bits),
        OwnType::Text => row.try_get::<_, Option<&str>>(index)?.map(code_points),
        OwnType::Decimal => {
            let decimal: Option<Decimal> = row.try_get(index)?;
            decimal.map(|decimal| code_points(&decimal.to_string()))
        }
        OwnType::Bytes => row.try_get::<_, Option<&[u8]>>(index)?.map(byte_sum),
        OwnType::Date => {
            let day: Option<NaiveDate> = row.try_get(index)?;
            day.map(|day| day.and_time(NaiveTime::MIN).and_utc().timestamp_millis() as u64)
        }
        OwnType::Timestamp if *column == Type::TIMESTAMPTZ => {
            let moment: Option<DateTime<Utc>> = row.try_get(index)?;
            moment.map(|moment| moment.timestamp_millis() as u64)
        }
        OwnType::Timestamp => {
            let moment: Option<NaiveDateTime> = row.try_get(index)?;
            moment.map(|moment| moment.and_utc().timestamp_millis() as u64)
        }
    })
}

/// A connection, and the runtime that drives it on this thread.
struct Session {
    runtime: Runtime,
    connection: Connection,
}

impl Session {
    fn open(opening: &Opening) -> Result<Self, Failure> {
        let config = config(opening)?;
        let runtime = this_thread()?;
        let connection = runtime.block_on(Connection::open(&config))?;
        Ok(Self {
            runtime,
            connection,
        })
    }

    fn prepare(&self, text: &str) -> Result<Statement, Failure> {
        let preparing = self.connection.client.prepare(text);
        Ok(self.runtime.block_on(preparing)?)
    }

    /// Prepares the statement, unless its text must be sent in each operation.
    fn prepare_if_asked(
        &self,
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
        mut perform: impl AsyncFnMut(&mut Client, u64) -> Result<Work, Failure>,
    ) -> Result<Closed, Failure> {
        let Self {
            runtime,
            mut connection,
        } = self;
        runtime.block_on(read_settings(&mut opening, &connection.client))?;
        let closed = opening.serve(|operations| {
            runtime.block_on(async {
                let done = perform(&mut connection.client, operations).await;
                if done.is_err() {
                    // A transaction that was dropped is rolled back before the next message.
                    let _ = connection.client.check_connection().await;
                }
                done
            })
        });
        runtime.block_on(connection.close())?;
        Ok(closed)
    }
}
