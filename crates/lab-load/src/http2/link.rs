// SPDX-License-Identifier: Apache-2.0
//! HTTP/2 connections (RFC 9113), and the results of requests.

use crate::content_coding::ContentCoding;
use crate::job::LoadJob;
use crate::record::CompleteResponse;
use crate::requests::RenderedRequest;
use crate::tls::{TLS_FAILURE, handshake_error};
use crate::worker::ErrorText;
use bytes::Bytes;
use h2::client::{Builder, SendRequest};
use lab_model::ErrorKind;
use std::cell::Cell;
use std::io;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// The initial flow-control window of the connection and of each stream, in bytes. It is so large
/// that a server never waits for the generator.
const WINDOW_BYTES: u32 = 16 << 20;

/// The maximum number of attempts to send a request that the server has provably not processed (RFC
/// 9113, 8.7).
const MAX_TRIES: usize = 3;

/// An error that made a request fail.
pub struct HttpFault {
    pub kind: ErrorKind,
    pub words: String,
}

/// Counters for all connections of a thread.
#[derive(Default)]
pub struct Meter {
    pub connects: Cell<u64>,
    pub received_bytes: Cell<u64>,
}

/// A slot for a connection that is opened on demand.
#[derive(Default)]
pub struct ConnectionSlot {
    link: tokio::sync::Mutex<Option<OpenConnection>>,
}

#[derive(Clone)]
struct OpenConnection {
    requests: SendRequest<Bytes>,
    /// False if either side has closed the connection.
    open: Rc<Cell<bool>>,
}

impl ConnectionSlot {
    /// Opens the connection unless it is already open.
    pub async fn open(&self, job: &LoadJob, meter: &Rc<Meter>) -> Result<(), HttpFault> {
        self.link(job, meter).await.map(drop)
    }

    /// Sends a request and waits for the end of its response.
    ///
    /// Uses the connection in this slot. If the job does not reuse connections, uses a new one.
    pub async fn exchange(
        &self,
        job: &LoadJob,
        meter: &Rc<Meter>,
        request: &RenderedRequest,
    ) -> Result<CompleteResponse, HttpFault> {
        let mut refused = HttpFault {
            kind: ErrorKind::Reset,
            words: String::new(),
        };
        for _ in 0..MAX_TRIES {
            let link = if job.keep_alive {
                self.link(job, meter).await?
            } else {
                OpenConnection::open(job, meter).await?
            };
            let error = match link.exchange(job, request).await {
                Ok(response) => return Ok(response),
                Err(error) => error,
            };
            if error.is_go_away() || error.is_io() {
                link.open.set(false);
            }
            let again = is_goodbye(&error);
            refused = fault(error);
            if !again {
                break;
            }
        }
        Err(refused)
    }

    /// Returns the open connection. If it is closed, one task opens it while the other tasks wait.
    async fn link(&self, job: &LoadJob, meter: &Rc<Meter>) -> Result<OpenConnection, HttpFault> {
        let mut slot = self.link.lock().await;
        if let Some(link) = slot.as_ref().filter(|link| link.open.get()) {
            return Ok(link.clone());
        }
        *slot = None;
        let link = OpenConnection::open(job, meter).await?;
        *slot = Some(link.clone());
        Ok(link)
    }
}

impl OpenConnection {
    async fn open(job: &LoadJob, meter: &Rc<Meter>) -> Result<OpenConnection, HttpFault> {
        let tcp = TcpStream::connect(job.address).await.map_err(unconnected)?;
        tcp.set_nodelay(true).map_err(unconnected)?;
        let link = match &job.tls {
            None => OpenConnection::shake_hands(tcp, meter).await?,
            Some(tls) => {
                let connector = TlsConnector::from(tls.config.clone());
                let stream = connector.connect(tls.name.clone(), tcp).await;
                let stream = stream.map_err(|error| unconnected(handshake_error(error)))?;
                if stream.get_ref().1.alpn_protocol() != Some(b"h2") {
                    let reason = format!("{TLS_FAILURE}the server does not support HTTP/2 (ALPN)");
                    return Err(unconnected(io::Error::other(reason)));
                }
                OpenConnection::shake_hands(stream, meter).await?
            }
        };
        meter.connects.set(meter.connects.get() + 1);
        Ok(link)
    }

    async fn shake_hands<S>(stream: S, meter: &Rc<Meter>) -> Result<OpenConnection, HttpFault>
    where
        S: AsyncRead + AsyncWrite + Unpin + 'static,
    {
        let metered = Metered {
            stream,
            meter: meter.clone(),
        };
        let mut builder = Builder::new();
        builder.enable_push(false);
        builder.initial_window_size(WINDOW_BYTES);
        builder.initial_connection_window_size(WINDOW_BYTES);
        let shaken = builder.handshake(metered).await;
        let (requests, connection) = shaken.map_err(|e| unconnected(io::Error::other(e)))?;
        let open = Rc::new(Cell::new(true));
        let ends = open.clone();
        tokio::task::spawn_local(async move {
            // The request that fails because of a connection error reports the error.
            let _ = connection.await;
            ends.set(false);
        });
        Ok(OpenConnection { requests, open })
    }

    async fn exchange(
        &self,
        job: &LoadJob,
        request: &RenderedRequest,
    ) -> Result<CompleteResponse, h2::Error> {
        let mut requests = self.requests.clone().ready().await?;
        let without_body = request.body.is_empty();
        let (response, mut stream) = requests.send_request(request.parts.clone(), without_body)?;
        if !without_body {
            stream.send_data(request.body.clone(), true)?;
        }
        let (head, mut stream) = response.await?.into_parts();
        let mut body = Vec::new();
        while let Some(bytes) = stream.data().await {
            let bytes = bytes?;
            stream.flow_control().release_capacity(bytes.len())?;
            let room = job.expect.body_capacity() - body.len();
            body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        let mut codings = head.headers.get_all(http::header::CONTENT_ENCODING).iter();
        let coding = match (codings.next(), codings.next()) {
            (None, _) => ContentCoding::Identity,
            (Some(only), None) => ContentCoding::parse(only.as_bytes()),
            _ => ContentCoding::Unknown,
        };
        Ok(CompleteResponse {
            status: head.status.as_u16(),
            coding,
            body,
        })
    }
}

/// Returns true if the server closed the connection without processing the request.
fn is_goodbye(error: &h2::Error) -> bool {
    error.is_remote() && error.is_go_away() && error.reason() == Some(h2::Reason::NO_ERROR)
}

fn fault(error: h2::Error) -> HttpFault {
    // Errors detected by the library on this side mean that the server violated HTTP/2.
    let malformed = error.is_library() && error.reason().is_some();
    HttpFault {
        kind: if malformed {
            ErrorKind::Malformed
        } else {
            ErrorKind::Reset
        },
        words: if error.is_io() {
            error
                .into_io()
                .map(ErrorText)
                .map(|words| words.to_string())
                .unwrap_or_default()
        } else {
            error.to_string()
        },
    }
}

fn unconnected(error: io::Error) -> HttpFault {
    HttpFault {
        kind: ErrorKind::Connect,
        words: ErrorText(error).to_string(),
    }
}

/// A stream that counts the received bytes.
struct Metered<S> {
    stream: S,
    meter: Rc<Meter>,
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        room: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = room.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(context, room);
        let received = &self.meter.received_bytes;
        received.set(received.get() + (room.filled().len() - before) as u64);
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
