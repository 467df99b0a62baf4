// SPDX-License-Identifier: Apache-2.0
//! Connects a subject to PostgreSQL with tokio-postgres.

use crate::{SELECT_1, this_thread};
use lab_kit::{Closed, Failure, Opening, Work};
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Error, NoTls, SimpleQueryMessage};

/// The driver with its version.
pub const LIBRARY: &str = env!("TOKIO_POSTGRES");

/// Returns the SQLSTATE of an error of the driver.
pub fn sqlstate(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    Some(error.downcast_ref::<Error>()?.code()?.code().to_owned())
}

/// Opens the case `connect`.
pub fn connect(mut opening: Opening) -> Result<Closed, Failure> {
    let config = config(&opening)?;
    let runtime = this_thread()?;
    runtime.block_on(async {
        let connection = Connection::open(&config).await?;
        read_settings(&mut opening, &connection.client).await?;
        connection.close().await
    })?;
    Ok(opening.serve(|operations| runtime.block_on(connect_each(&config, operations))))
}

async fn connect_each(config: &Config, operations: u64) -> Result<Work, Failure> {
    let mut work = Work::default();
    for _ in 0..operations {
        let connection = Connection::open(config).await?;
        let row = connection.client.query_typed_one(SELECT_1, &[]).await?;
        work.add(1, row.get::<_, i32>(0));
        connection.close().await?;
    }
    Ok(work)
}

/// Returns the configuration in the argument `target`.
pub fn config(opening: &Opening) -> Result<Config, Failure> {
    let target = opening.text("target")?;
    if !target.starts_with("postgresql:") {
        return Err(Failure::unsupported("the target must be postgresql://…"));
    }
    Ok(target.parse()?)
}

/// A client, and the task that transfers its messages.
pub struct Connection {
    /// The client, to which statements are sent.
    pub client: Client,
    task: JoinHandle<Result<(), Error>>,
}

impl Connection {
    /// Connects, without encryption.
    pub async fn open(config: &Config) -> Result<Self, Error> {
        let (client, connection) = config.connect(NoTls).await?;
        let task = tokio::spawn(connection);
        Ok(Self { client, task })
    }

    /// Closes the connection; the task ends after it has notified the server.
    pub async fn close(self) -> Result<(), Failure> {
        drop(self.client);
        Ok(self.task.await??)
    }
}

/// Adds the connection's settings to the reply.
pub async fn read_settings(opening: &mut Opening<'_>, client: &Client) -> Result<(), Failure> {
    for message in client.simple_query(opening.text("settings")?).await? {
        if let SimpleQueryMessage::Row(row) = message {
            for (i, column) in row.columns().iter().enumerate() {
                opening.setting(column.name(), row.get(i).unwrap_or_default());
            }
        }
    }
    opening.setting("statement_cache", 0); // the driver has none
    Ok(())
}
