// SPDX-License-Identifier: Apache-2.0
//! TLS as an audit needs it: every certificate is taken, and what is wrong with it is kept.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme,
    StreamOwned,
};
use rustls::{SupportedProtocolVersion, version};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use x509_parser::prelude::{FromDer, X509Certificate};

/// What was seen of a connection.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// `TLSv1.3` or `TLSv1.2`.
    pub version: String,
    /// The protocol that both agreed on, such as `h2`; empty: none.
    pub alpn: String,
    /// What is wrong with the certificate; `None`: nothing.
    pub wrong: Option<String>,
    /// Seconds since 1970 from which and until which the certificate holds; `None`: it cannot be read.
    pub valid: Option<(f64, f64)>,
}

/// Begins connections.
pub struct TlsClient {
    provider: Arc<CryptoProvider>,
    verifier: Arc<Recorder>,
}

/// A connection.
pub struct TlsStream {
    stream: StreamOwned<ClientConnection, TcpStream>,
    verifier: Arc<Recorder>,
}

/// What is wrong with a certificate, and from when until when it holds.
type Verdict = (Option<String>, Option<(f64, f64)>);

/// Takes every certificate, as a server's configuration is what is looked at, and keeps the verdict.
#[derive(Debug)]
struct Recorder {
    inner: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
    last: Mutex<Verdict>,
}

impl TlsClient {
    /// With the system's authorities.
    ///
    /// # Errors
    /// rustls cannot be set up.
    pub fn new() -> Result<TlsClient, String> {
        let provider = Arc::new(ring::default_provider());
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
            .build()
            .ok();
        let verifier = Arc::new(Recorder {
            inner,
            provider: provider.clone(),
            last: Mutex::default(),
        });
        Ok(TlsClient { provider, verifier })
    }

    /// A connection that offers HTTP/1.1.
    ///
    /// # Errors
    /// There is no handshake, in words.
    pub fn begin(&self, host: &str, tcp: TcpStream) -> Result<TlsStream, String> {
        self.connection(
            host,
            tcp,
            &[&version::TLS13, &version::TLS12],
            &[b"http/1.1"],
        )
    }

    /// Whether a handshake with these versions and protocols succeeds, and what both agreed on.
    ///
    /// # Errors
    /// There is none, in words.
    pub fn offers(
        &self,
        host: &str,
        tcp: TcpStream,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&[u8]],
    ) -> Result<Seen, String> {
        let mut stream = self.connection(host, tcp, versions, protocols)?;
        stream
            .handshake()
            .map_err(|e| format!("no TLS handshake: {e}"))?;
        stream.seen().ok_or_else(|| "no TLS handshake".into())
    }

    fn connection(
        &self,
        host: &str,
        tcp: TcpStream,
        versions: &[&'static SupportedProtocolVersion],
        protocols: &[&[u8]],
    ) -> Result<TlsStream, String> {
        let builder = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(versions);
        let builder = builder.map_err(|e| format!("TLS cannot be set up: {e}"))?;
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(self.verifier.clone())
            .with_no_client_auth();
        config.alpn_protocols = protocols.iter().map(|p| p.to_vec()).collect();
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("{host} is no name for TLS"))?;
        let connection = ClientConnection::new(Arc::new(config), name);
        let connection = connection.map_err(|e| format!("TLS cannot be set up: {e}"))?;
        Ok(TlsStream {
            stream: StreamOwned::new(connection, tcp),
            verifier: self.verifier.clone(),
        })
    }
}

impl TlsStream {
    /// Goes on until both have agreed.
    ///
    /// # Errors
    /// They have not.
    pub fn handshake(&mut self) -> io::Result<()> {
        self.stream
            .conn
            .complete_io(&mut self.stream.sock)
            .map(drop)
    }

    /// What was seen, once there was a handshake.
    pub fn seen(&self) -> Option<Seen> {
        let connection = &self.stream.conn;
        let version = connection.protocol_version()?;
        let (wrong, valid) = self
            .verifier
            .last
            .lock()
            .map(|last| last.clone())
            .unwrap_or_default();
        Some(Seen {
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
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        self.stream.read(room)
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

/// From when until when a certificate holds.
fn validity(certificate: &CertificateDer) -> Option<(f64, f64)> {
    let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
    let validity = parsed.validity();
    Some((
        validity.not_before.timestamp() as f64,
        validity.not_after.timestamp() as f64,
    ))
}

impl ServerCertVerifier for Recorder {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let verdict = match &self.inner {
            Some(inner) => inner
                .verify_server_cert(certificate, others, name, ocsp, now)
                .map(drop)
                .map_err(|e| e.to_string()),
            None => Err("this system has no certificate authorities".into()),
        };
        if let Ok(mut last) = self.last.lock() {
            *last = (verdict.err(), validity(certificate));
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(
            message,
            certificate,
            signed,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
