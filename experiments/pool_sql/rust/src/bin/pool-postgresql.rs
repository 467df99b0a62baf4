// SPDX-License-Identifier: Apache-2.0
//! Pooled connections to PostgreSQL: tokio-postgres in deadpool.

use deadpool::managed::{Manager, Metrics, RecycleResult};
use lab_kit::{Failure, Opening, Subject};
use pool_sql_subject::{Target, pooled, shared};
use sql_subject::SELECT_1;
use sql_subject::postgresql::{Connection, LIBRARY, config, connect, read_settings, sqlstate};
use std::io;
use tokio_postgres::{Config, Error};

fn main() -> io::Result<()> {
    Subject::new("rust", format!("{LIBRARY}, deadpool 0.13"))
        .sqlstate(sqlstate)
        .case("opened", connect)
        .case("pooled", pooled::<PostgreSql>)
        .case("shared", shared::<PostgreSql>)
        .serve()
}

struct PostgreSql(Config);

impl Manager for PostgreSql {
    type Type = Connection;
    type Error = Error;

    async fn create(&self) -> Result<Connection, Error> {
        Connection::open(&self.0).await
    }

    async fn recycle(&self, _: &mut Connection, _: &Metrics) -> RecycleResult<Error> {
        Ok(())
    }
}

impl Target for PostgreSql {
    fn find(opening: &Opening) -> Result<Self, Failure> {
        config(opening).map(Self)
    }

    async fn request(connection: &mut Connection) -> Result<i32, Failure> {
        let row = connection.client.query_typed_one(SELECT_1, &[]).await?;
        Ok(row.get(0))
    }

    async fn read_settings(
        opening: &mut Opening<'_>,
        connection: &mut Connection,
    ) -> Result<(), Failure> {
        read_settings(opening, &connection.client).await
    }

    async fn close(connection: Connection) -> Result<(), Failure> {
        connection.close().await
    }
}
