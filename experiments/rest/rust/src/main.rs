// SPDX-License-Identifier: Apache-2.0
//! REST with axum on tokio.

mod order;
mod routes;

use axum::serve::ListenerExt;
use lab_kit::{Closed, Failure, Opening, Subject};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::env;
use std::io;
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::time::timeout;

/// The maximum number of connections that wait to be accepted.
const WAITING: u32 = 4096;

fn main() -> io::Result<()> {
    Subject::new("rust", env!("AXUM"))
        .case("serve", serve)
        .serve()
}

fn serve(mut opening: Opening) -> Result<Closed, Failure> {
    let files = PathBuf::from(opening.text("files")?);
    if !files.is_dir() {
        return Err(Failure::failed(format!("{files:?} is not a directory")));
    }
    allow_many_connections()?;
    // One worker for each core that the process may use.
    let runtime = Builder::new_multi_thread().enable_all().build()?;
    let listener = runtime.block_on(async { listen() })?;
    opening.setting("url", format!("http://{}", listener.local_addr()?));
    opening.setting("workers", 0); // the loops run the handlers
    opening.setting("loops", runtime.metrics().num_workers());

    let listener = listener.tap_io(|connection| {
        let _ = connection.set_nodelay(true); // an error means that the connection was closed
    });
    let (close, closed) = oneshot::channel::<()>();
    let serving = axum::serve(listener, routes::routes(&files)).with_graceful_shutdown(async {
        let _ = closed.await;
    });
    let server = runtime.spawn(serving.into_future());
    let closing = opening.wait();
    drop(close);
    if let Ok(ended) = runtime.block_on(async { timeout(close_timeout(), server).await }) {
        ended??;
    }
    runtime.shutdown_background();
    Ok(closing)
}

/// Returns the time for requests in progress to finish when benchlab closes the case. In tests, an environment
/// variable sets it.
fn close_timeout() -> Duration {
    let seconds = env::var("CLOSE_TIMEOUT_S")
        .ok()
        .and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(4))
}

/// Opens the listener. `TcpListener::bind` would let only 128 connections wait to be accepted.
fn listen() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::LOCALHOST, 0).into())?;
    socket.listen(WAITING)
}

/// Raises the limit of open files, which is 1,024 by default.
fn allow_many_connections() -> nix::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)
}
