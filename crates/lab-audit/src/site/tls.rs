// SPDX-License-Identifier: Apache-2.0
//! A TLS client for audits. It accepts every certificate and records the certificate's problems.

use crate::timed::Timed;
use lab_load::certificates::{AnyCertificate, PresentedCertificate, system_roots};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, StreamOwned, SupportedProtocolVersion, version};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The values that a client observes in a TLS handshake.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TlsObservation {
    /// The version: `TLSv1.3` or `TLSv1.2`.
    pub version: String,
    /// The protocol negotiated by ALPN, such as `h2`. Empty if no protocol was negotiated.
    pub alpn: String,
    /// The problem with the certificate, or `None` if it is valid.
    pub wrong: Option<String>,
    /// The validity period of the certificate, in seconds since 1970, or `None` if the certificate
    /// cannot be parsed.
    pub valid: Option<(f64, f64)>,
}

/// A client that opens TLS connections.
pub struct TlsClient {
    provider: Arc<CryptoProvider>,
    verifier: Arc<dyn ServerCertVerifier>,
    last: Arc<Mutex<Verdict>>,
}

/// A TLS connection with a deadline for reads and writes.
pub struct TlsStream {
    stream: StreamOwned<ClientConnection, Timed>,
    last: Arc<Mutex<Verdict>>,
}

/// The problem with the most recent certificate, and the certificate's validity period.
type Verdict = (Option<String>, Option<(f64, f64)>);

impl TlsClient {
    /// Creates a client that uses the system's certificate authorities.
    ///
    /// Every certificate is accepted, because the audit examines the server's configuration.
    ///
    /// # Errors
    ///
    /// Returns an error if rustls cannot be set up.
    pub fn new() -> Result<TlsClient, String> {
        let provider = Arc::new(ring::default_provider());
        let last_verdict = Arc::new(Mutex::new(Verdict::default()));
        let (authorities, verdict, verifier_provider) =
            (judge(&provider)?, last_verdict.clone(), provider.clone());
        let keep_verdict = move |presented: &PresentedCertificate| {
            let wrong = match &authorities {
                Ok(authorities) => presented.rejection(&**authorities),
                Err(reason) => Some(reason.clone()),
            };
            if let Ok(mut last_verdict) = verdict.lock() {
                *last_verdict = (wrong, validity(presented.certificate));
            }
        };
        Ok(TlsClient {
            provider,
            verifier: Arc::new(AnyCertificate::new(verifier_provider, keep_verdict)),
            last: last_verdict,
        })
    }

    /// Starts a TLS connection that offers HTTP/1.1, with a deadline for reads and writes.
    ///
    /// # Errors
    ///
    /// Returns a message if the handshake cannot be prepared.
    pub fn begin(
        &self,
        host: &str,
        tcp: TcpStream,
        deadline: Instant,
    ) -> Result<TlsStream, String> {
        self.connection(
            host,
            Timed::new(tcp, deadline),
            &[&version::TLS13, &version::TLS12],
            &[b"http/1.1"],
        )
    }

    /// Attempts a handshake that offers the given TLS versions and protocols.
    ///
    /// Returns `None` if the server rejects the offer.
    ///
    /// # Errors
    ///
    /// Returns a message if the server does not respond.
    pub fn offers(
        &self,
        host: &str,
        tcp: Timed,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&[u8]],
    ) -> Result<Option<TlsObservation>, String> {
        let mut stream = self.connection(host, tcp, versions, protocols)?;
        match stream.handshake() {
            Ok(()) => Ok(stream.observation()),
            Err(e) if is_refusal(&e) => Ok(None),
            Err(e) => Err(format!("the TLS handshake failed: {e}")),
        }
    }

    fn connection(
        &self,
        host: &str,
        tcp: Timed,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&[u8]],
    ) -> Result<TlsStream, String> {
        let builder = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(versions);
        let builder = builder.map_err(|e| format!("cannot set up TLS: {e}"))?;
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(self.verifier.clone())
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|p| p.to_vec()).collect();
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("{host} is not a valid name for TLS"))?;
        let connection = ClientConnection::new(Arc::new(config), name);
        let connection = connection.map_err(|e| format!("cannot set up TLS: {e}"))?;
        Ok(TlsStream {
            stream: StreamOwned::new(connection, tcp),
            last: self.last.clone(),
        })
    }
}

/// Returns true if the server rejected the handshake, with an alert or by closing the connection.
fn is_refusal(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::InvalidData
            | io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
    )
}

impl TlsStream {
    /// Sets the time after which reads and writes fail.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.stream.sock.set_deadline(deadline);
    }

    /// Performs the handshake.
    ///
    /// # Errors
    ///
    /// Returns an error if the handshake fails or the deadline passes.
    pub fn handshake(&mut self) -> io::Result<()> {
        let TlsStream { stream, .. } = self;
        stream.conn.complete_io(&mut stream.sock)?;
        // complete_io returns Ok if a timeout follows a partial message.
        if stream.conn.is_handshaking() {
            return Err(io::Error::from(io::ErrorKind::TimedOut));
        }
        Ok(())
    }

    /// Returns the observations, if the handshake has finished.
    pub fn observation(&self) -> Option<TlsObservation> {
        let connection = &self.stream.conn;
        let version = connection.protocol_version()?;
        let (wrong, valid) = self.last.lock().map(|v| v.clone()).unwrap_or_default();
        Some(TlsObservation {
            version: version.as_str().unwrap_or("unknown").replace('_', "."),
            alpn: connection
                .alpn_protocol()
                .map_or(String::new(), |p| String::from_utf8_lossy(p).into_owned()),
            wrong,
            valid,
        })
    }
}

impl Read for TlsStream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.read(buffer)
    }
}

impl Write for TlsStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// A verifier that uses the system's certificate authorities, or an error if the system has none.
type Judge = Result<Arc<WebPkiServerVerifier>, String>;

fn judge(provider: &Arc<CryptoProvider>) -> Result<Judge, String> {
    let roots = match system_roots() {
        Ok(roots) => Arc::new(roots),
        Err(reason) => return Ok(Err(reason)),
    };
    let built = WebPkiServerVerifier::builder_with_provider(roots, provider.clone()).build();
    built.map(Ok).map_err(|e| format!("cannot set up TLS: {e}"))
}

/// Returns the validity period of a certificate.
fn validity(certificate: &CertificateDer) -> Option<(f64, f64)> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let validity = parsed.validity();
    Some((
        validity.not_before.timestamp() as f64,
        validity.not_after.timestamp() as f64,
    ))
}

/// Returns true if an error is a socket timeout or an interrupted system call.
pub fn is_timeout(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}
