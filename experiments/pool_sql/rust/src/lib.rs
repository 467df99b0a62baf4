// SPDX-License-Identifier: Apache-2.0
//! The cases `pooled` and `shared` with a pool of asynchronous connections.

use deadpool::managed::{Manager, Object, Pool, QueueMode};
use lab_kit::{Closed, Failure, Opening, Work};
use sql_subject::{Share, at_once, this_thread};
use std::error::Error;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// The number of connections in the pool.
pub const CONNECTIONS: usize = 4;

/// The maximum number of threads in `shared`.
pub const THREADS_MAX: usize = 256;

/// A database, with the operations on its connections.
pub trait Target:
    Manager<Type: Send, Error: Error + Send + Sync + 'static> + Send + Sync + Sized + 'static
{
    /// Returns the target that `target=` specifies.
    fn find(opening: &Opening) -> Result<Self, Failure>;

    /// Sends `SELECT 1` as text, and returns the value in its row.
    fn request(connection: &mut Self::Type) -> impl Future<Output = Result<i32, Failure>> + Send;

    /// Adds the settings, as read from the connection, to the reply.
    fn read_settings(
        opening: &mut Opening<'_>,
        connection: &mut Self::Type,
    ) -> impl Future<Output = Result<(), Failure>>;

    /// Closes the connection as the server expects.
    fn close(connection: Self::Type) -> impl Future<Output = Result<(), Failure>>;
}

/// Opens and serves the case `pooled`, on the thread that `hello` reports.
pub fn pooled<T: Target>(opening: Opening) -> Result<Closed, Failure> {
    serve::<T>(opening, this_thread()?, async |pool, operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            work.add(1, request(pool).await?);
        }
        Ok(work)
    })
}

/// Opens and serves the case `shared`, with a task for each of the n clients, on one thread per core.
pub fn shared<T: Target>(opening: Opening) -> Result<Closed, Failure> {
    let tasks = opening.integer("threads", 1..=THREADS_MAX)?;
    serve::<T>(opening, Runtime::new()?, async |pool, operations| {
        let pool = Arc::new(pool.clone());
        at_once(&vec![pool; tasks], operations, requests).await
    })
}

async fn requests<T: Target>(mut share: Share, pool: Arc<Pool<T>>) -> Result<Work, Failure> {
    for _ in share.begin().await {
        share.done(request(&pool).await?);
    }
    Ok(share.end())
}

async fn request<T: Target>(pool: &Pool<T>) -> Result<i32, Failure> {
    T::request(&mut *pool.get().await?).await
}

/// Opens the pool, serves the case and closes the pool. The runtime is entered once per batch.
fn serve<T: Target>(
    mut opening: Opening,
    runtime: Runtime,
    mut perform: impl AsyncFnMut(&Pool<T>, u64) -> Result<Work, Failure>,
) -> Result<Closed, Failure> {
    let pool = Pool::builder(T::find(&opening)?)
        .max_size(CONNECTIONS)
        .queue_mode(QueueMode::Lifo)
        .build()?;
    runtime.block_on(async {
        let mut all = lease_all(&pool).await?;
        T::read_settings(&mut opening, &mut all[0]).await
    })?;
    let closed = opening.serve(|operations| runtime.block_on(perform(&pool, operations)));
    runtime.block_on(async {
        for connection in lease_all(&pool).await? {
            T::close(Object::take(connection)).await?;
        }
        Ok::<_, Failure>(closed)
    })
}

async fn lease_all<T: Target>(pool: &Pool<T>) -> Result<Vec<Object<T>>, Failure> {
    let mut all = Vec::new();
    for _ in 0..CONNECTIONS {
        all.push(pool.get().await?);
    }
    Ok(all)
}
