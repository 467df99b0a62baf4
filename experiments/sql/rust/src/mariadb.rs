// SPDX-License-Identifier: Apache-2.0
//! Connects a subject to MariaDB with mysql_async.

use crate::{SELECT_1, this_thread};
use lab_kit::{Closed, Failure, Opening, Work};
use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Opts, OptsBuilder, Row};

/// The driver with its version.
pub const LIBRARY: &str = env!("MYSQL_ASYNC");

/// Opens the case `connect`.
pub fn connect(mut opening: Opening) -> Result<Closed, Failure> {
    let options = options(&opening)?;
    let runtime = this_thread()?;
    runtime.block_on(async {
        let mut connection = Conn::new(options.clone()).await?;
        read_settings(&mut opening, &mut connection).await?;
        Ok::<_, Failure>(connection.disconnect().await?)
    })?;
    Ok(opening.serve(|operations| runtime.block_on(connect_each(&options, operations))))
}

async fn connect_each(options: &Opts, operations: u64) -> Result<Work, Failure> {
    let mut work = Work::default();
    for _ in 0..operations {
        let mut connection = Conn::new(options.clone()).await?;
        work.add(1, found::<i32>(connection.query_first(SELECT_1).await?)?);
        connection.disconnect().await?;
    }
    Ok(work)
}

/// Returns the row, or an error if there is none.
pub fn found<T>(row: Option<T>) -> Result<T, Failure> {
    row.ok_or_else(|| Failure::failed("the query returned no row"))
}

/// Returns the address in the argument `target`.
pub fn options(opening: &Opening) -> Result<Opts, Failure> {
    let Some(rest) = opening.text("target")?.strip_prefix("mariadb:") else {
        return Err(Failure::unsupported("the target must be mariadb://…"));
    };
    let options = Opts::from_url(&format!("mysql:{rest}"))?;
    // Otherwise a connection to this machine would switch from TCP to the Unix socket.
    Ok(OptsBuilder::from_opts(options).prefer_socket(false).into())
}

/// Adds the connection's settings to the reply.
pub async fn read_settings(
    opening: &mut Opening<'_>,
    connection: &mut Conn,
) -> Result<(), Failure> {
    let query = opening.text("settings")?;
    let row: Row = found(connection.query_first(query).await?)?;
    for (i, column) in row.columns_ref().iter().enumerate() {
        let value: Option<String> = row.get(i).unwrap_or_default();
        opening.setting(&column.name_str(), value.unwrap_or_default());
    }
    opening.setting("statement_cache", connection.opts().stmt_cache_size());
    Ok(())
}
