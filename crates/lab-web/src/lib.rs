// SPDX-License-Identifier: Apache-2.0
//! Serves local web pages for a directory of runs.
//!
//! The server renders every page, and pages load nothing from other sites. The script of the pages
//! loads some results later and updates the page of a run in progress, but the pages also work
//! without it.

mod address;
mod app;
mod guard;
mod library;
mod pages;
mod problem;

pub use address::PageAddress;

use app::App;
use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use guard::PageGuard;
use library::RunLibrary;
use problem::Problem;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{Semaphore, watch};

/// The directory to serve, and the address to listen on.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory of the run files. It does not have to exist yet.
    pub folder: PathBuf,
    /// The address to listen on. It should be a loopback address, unless others may see the runs.
    pub address: IpAddr,
    /// The port. 0 selects any free port.
    pub port: u16,
    /// True to use any free port if `port` is in use.
    pub or_any_port: bool,
    /// The host names that are accepted in addition to `localhost`.
    pub names: Vec<String>,
}

/// Serves the pages until SIGINT or SIGTERM, and passes the address to `on_start`.
///
/// # Errors
///
/// Returns an error if the address cannot be used, or if the system cannot generate random numbers
/// for a token.
pub fn serve(options: Options, on_start: impl FnOnce(&PageAddress)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let result = runtime.block_on(listen_and_serve(options, on_start));
    // Do not wait for running analyses.
    runtime.shutdown_background();
    result
}

async fn listen_and_serve(options: Options, on_start: impl FnOnce(&PageAddress)) -> io::Result<()> {
    let listener = listen(&options).await?;
    let (end, ending) = watch::channel(false);
    let guard = PageGuard::new(listener.local_addr()?, &options.names)?;
    let address = guard.address();
    let app = App {
        library: Arc::new(RunLibrary::new(options.folder)),
        guard: Arc::new(guard),
        analyses: Arc::new(Semaphore::new(2)),
        ending,
    };
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    on_start(&address);
    let server = axum::serve(listener, router(app)).with_graceful_shutdown(async move {
        tokio::select! { _ = interrupt.recv() => {} _ = terminate.recv() => {} }
        let _ = end.send(true);
    });
    server.await
}

async fn listen(options: &Options) -> io::Result<TcpListener> {
    let listener = TcpListener::bind(SocketAddr::new(options.address, options.port)).await;
    match listener {
        Err(e) if e.kind() == io::ErrorKind::AddrInUse && options.or_any_port => {
            TcpListener::bind(SocketAddr::new(options.address, 0)).await
        }
        other => other,
    }
}

fn router(app: App) -> Router {
    Router::new()
        .route("/", get(pages::runs::list))
        .route("/runs/{run}", get(pages::run::report))
        .route("/runs/{run}/summary", get(pages::runs::summary))
        .route("/runs/{run}/live", get(pages::live::events))
        .route("/runs/{run}/file", get(pages::export::file))
        .route("/runs/{run}/export/{format}", get(pages::export::export))
        .route("/diff", get(pages::pair::diff))
        .route("/bisections", get(pages::bisections::list))
        .route("/bisections/{name}", get(pages::bisections::show))
        .route("/history", get(pages::history::names))
        .route("/history/{name}", get(pages::history::history))
        .route(
            "/delete",
            get(pages::delete::ask).post(pages::delete::delete),
        )
        .route("/style.css", get(pages::assets::style))
        .route("/page.js", get(pages::assets::script))
        .route("/icon.svg", get(pages::assets::icon))
        .fallback(|| async { Problem::missing("there is no such page") })
        .layer(from_fn_with_state(app.guard.clone(), guard::check))
        .layer(axum::extract::DefaultBodyLimit::max(64 << 10))
        .with_state(app)
}
