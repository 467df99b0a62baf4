// SPDX-License-Identifier: Apache-2.0
//! Pooled connections to MariaDB: mysql_async in deadpool.

use deadpool::managed::{Manager, Metrics, RecycleResult};
use lab_kit::{Failure, Opening, Subject};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Opts};
use pool_sql_subject::{Target, pooled, shared};
use sql_subject::SELECT_1;
use sql_subject::mariadb::{LIBRARY, connect, found, options, read_settings};
use std::io;

fn main() -> io::Result<()> {
    Subject::new("rust", format!("{LIBRARY}, deadpool 0.13"))
        .case("opened", connect)
        .case("pooled", pooled::<MariaDb>)
        .case("shared", shared::<MariaDb>)
        .serve()
}

struct MariaDb(Opts);

impl Manager for MariaDb {
    type Type = Conn;
    type Error = Error;

    async fn create(&self) -> Result<Conn, Error> {
        Conn::new(self.0.clone()).await
    }

    async fn recycle(&self, _: &mut Conn, _: &Metrics) -> RecycleResult<Error> {
        Ok(())
    }
}

impl Target for MariaDb {
    fn find(opening: &Opening) -> Result<Self, Failure> {
        options(opening).map(Self)
    }

    async fn request(connection: &mut Conn) -> Result<i32, Failure> {
        found(connection.query_first(SELECT_1).await?)
    }

    async fn read_settings(
        opening: &mut Opening<'_>,
        connection: &mut Conn,
    ) -> Result<(), Failure> {
        read_settings(opening, connection).await
    }

    async fn close(connection: Conn) -> Result<(), Failure> {
        Ok(connection.disconnect().await?)
    }
}
