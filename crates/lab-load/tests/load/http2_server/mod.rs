// SPDX-License-Identifier: Apache-2.0
//! An HTTP/2 test server with configurable reactions, with or without TLS.
#![allow(dead_code)]

use bytes::Bytes;
use h2::server::SendResponse;
use h2::{Reason, RecvStream};
use rustls::ServerConfig;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// The server's reaction to a request.
#[derive(Clone, Copy, PartialEq)]
pub enum Act {
    /// Responds with the given status and body.
    Respond(u16, &'static [u8]),
    /// Responds with the body of the request.
    Echo,
    /// Responds with a body in two parts, and with trailers.
    Trailers,
    /// Responds after a millisecond.
    Later,
    /// Resets the stream.
    Reset,
    /// Never responds.
    Silence,
    /// Responds, and announces that the connection will close (GOAWAY).
    Goodbye,
    /// Closes the connection.
    Close,
    /// Responds, and closes the connection after some idle time.
    Idle,
}

pub const OK: Act = Act::Respond(200, b"hello");

/// A server that listens on a free port until it is dropped.
pub struct Server {
    pub address: SocketAddr,
    pub counts: Arc<Counts>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
pub struct Counts {
    pub connections: AtomicU64,
    /// The number of connections that the server has closed.
    pub ended: AtomicU64,
    pub requests: AtomicU64,
    pub at_once: AtomicU64,
    pub max_concurrent: AtomicU64,
}

impl Server {
    /// Starts a server. `act` returns the reaction to each request of a connection, numbered from 0.
    pub fn new(act: impl Fn(u64) -> Act + Send + Sync + 'static) -> Server {
        Server::with_tls(None, act)
    }

    pub fn with_tls(
        tls: Option<Arc<ServerConfig>>,
        act: impl Fn(u64) -> Act + Send + Sync + 'static,
    ) -> Server {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let counts = Arc::new(Counts::default());
        let (end, ended) = oneshot::channel();
        let (counted, act) = (counts.clone(), Arc::new(act));
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                listener.set_nonblocking(true).unwrap();
                let listener = TcpListener::from_std(listener).unwrap();
                tokio::spawn(accept(listener, tls, counted, act));
                let _ = ended.await;
            });
        });
        Server {
            address,
            counts,
            end: Some(end),
            thread: Some(thread),
        }
    }

    pub fn requests(&self) -> u64 {
        self.counts.requests.load(SeqCst)
    }

    pub fn connections(&self) -> u64 {
        self.counts.connections.load(SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.end.take());
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

type Acts = Arc<dyn Fn(u64) -> Act + Send + Sync>;

async fn accept(
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    counts: Arc<Counts>,
    acts: Acts,
) {
    while let Ok((stream, _)) = listener.accept().await {
        counts.connections.fetch_add(1, SeqCst);
        let (tls, counts, acts) = (tls.clone(), counts.clone(), acts.clone());
        tokio::spawn(async move {
            match tls {
                None => serve(stream, counts.clone(), acts).await,
                Some(tls) => {
                    if let Ok(stream) = TlsAcceptor::from(tls).accept(stream).await {
                        serve(stream, counts.clone(), acts).await;
                    }
                }
            }
            counts.ended.fetch_add(1, SeqCst);
        });
    }
}

async fn serve<S: AsyncRead + AsyncWrite + Unpin>(stream: S, counts: Arc<Counts>, acts: Acts) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    let (mut number, mut limit) = (0, Duration::from_secs(600));
    while let Ok(Some(Ok((request, respond)))) = timeout(limit, connection.accept()).await {
        counts.requests.fetch_add(1, SeqCst);
        let act = acts(number);
        number += 1;
        match act {
            Act::Close => return,
            Act::Goodbye => connection.graceful_shutdown(),
            Act::Idle => limit = Duration::from_secs(5),
            _ => {}
        }
        let counts = counts.clone();
        tokio::spawn(async move {
            let at_once = counts.at_once.fetch_add(1, SeqCst) + 1;
            counts.max_concurrent.fetch_max(at_once, SeqCst);
            let _ = perform(act, request, respond).await;
            counts.at_once.fetch_sub(1, SeqCst);
        });
    }
}

async fn perform(
    act: Act,
    request: http::Request<RecvStream>,
    mut respond: SendResponse<Bytes>,
) -> Result<(), h2::Error> {
    let head = |status: u16| http::Response::builder().status(status).body(()).unwrap();
    match act {
        Act::Respond(status, body) => {
            let none = body.is_empty() || request.method() == "HEAD";
            let mut head = head(status);
            head.headers_mut()
                .insert("content-length", body.len().into());
            let mut stream = respond.send_response(head, none)?;
            if !none {
                stream.send_data(Bytes::from_static(body), true)?;
            }
        }
        Act::Goodbye | Act::Idle => {
            respond.send_response(head(200), true)?;
        }
        Act::Later => {
            tokio::time::sleep(Duration::from_millis(1)).await;
            respond.send_response(head(200), true)?;
        }
        Act::Echo => {
            let mut body = request.into_body();
            let mut stream = respond.send_response(head(200), false)?;
            while let Some(bytes) = body.data().await {
                let bytes = bytes?;
                body.flow_control().release_capacity(bytes.len())?;
                stream.send_data(bytes, false)?;
            }
            stream.send_data(Bytes::new(), true)?;
        }
        Act::Trailers => {
            let mut stream = respond.send_response(head(200), false)?;
            stream.send_data(Bytes::from_static(b"hel"), false)?;
            tokio::time::sleep(Duration::from_millis(1)).await;
            stream.send_data(Bytes::from_static(b"lo"), false)?;
            stream.send_trailers(http::HeaderMap::new())?;
        }
        Act::Reset => respond.send_reset(Reason::INTERNAL_ERROR),
        Act::Silence => tokio::time::sleep(Duration::from_secs(600)).await,
        Act::Close => {}
    }
    Ok(())
}
