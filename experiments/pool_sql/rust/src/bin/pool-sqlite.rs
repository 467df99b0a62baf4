// SPDX-License-Identifier: Apache-2.0
//! Pooled connections to SQLite: rusqlite in r2d2.

use lab_kit::{Closed, Failure, Opening, Subject, Work, Workers};
use pool_sql_subject::{CONNECTIONS, THREADS_MAX};
use r2d2::{ManageConnection, Pool};
use rusqlite::Connection;
use sql_subject::SELECT_1;
use sql_subject::sqlite::{LIBRARY, connect, open, path, read_settings};
use std::io;

fn main() -> io::Result<()> {
    Subject::new("rust", format!("{LIBRARY}, r2d2 0.8"))
        .case("opened", connect)
        .case("pooled", pooled)
        .case("shared", shared)
        .serve()
}

struct Sqlite(String);

impl ManageConnection for Sqlite {
    type Connection = Connection;
    type Error = rusqlite::Error;

    fn connect(&self) -> rusqlite::Result<Connection> {
        open(&self.0)
    }

    fn is_valid(&self, _: &mut Connection) -> rusqlite::Result<()> {
        Ok(())
    }

    fn has_broken(&self, _: &mut Connection) -> bool {
        false
    }
}

fn pooled(mut opening: Opening) -> Result<Closed, Failure> {
    let pool = pool(&mut opening)?;
    Ok(opening.serve(|operations| {
        let mut work = Work::default();
        for _ in 0..operations {
            work.add(1, request(&pool)?);
        }
        Ok(work)
    }))
}

/// Opens and serves the case `shared`. SQLite's functions block, so each of the n clients has a thread.
fn shared(mut opening: Opening) -> Result<Closed, Failure> {
    let threads = opening.integer("threads", 1..=THREADS_MAX)?;
    let pool = pool(&mut opening)?;
    let workers = Workers::start(threads, move |share, laps| {
        let mut work = Work::default();
        for _ in share.operations() {
            work.add(1, request(&pool)?);
            laps.lap();
        }
        Ok(work)
    })?;
    Ok(opening.serve(|operations| workers.perform(operations)))
}

fn request(pool: &Pool<Sqlite>) -> Result<i64, Failure> {
    Ok(pool.get()?.query_row(SELECT_1, [], |row| row.get(0))?)
}

/// Returns a pool whose connections are all open. It does not test them, and does not replace any.
fn pool(opening: &mut Opening) -> Result<Pool<Sqlite>, Failure> {
    let path = path(opening)?;
    open(&path)?; // r2d2 would retry for half a minute, without reporting the error
    let pool = Pool::builder()
        .max_size(CONNECTIONS as u32)
        .test_on_check_out(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .build(Sqlite(path))?;
    read_settings(opening, &*pool.get()?)?;
    Ok(pool)
}
