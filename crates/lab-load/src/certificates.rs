// SPDX-License-Identifier: Apache-2.0
//! Certificates of servers: the authorities of this system, and connections for which any certificate will do.

use rustls::RootCertStore;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, Error, SignatureScheme};
use std::fmt;
use std::sync::Arc;

/// The authorities of this system.
///
/// # Errors
/// There are none; in words.
pub fn system_roots() -> Result<RootCertStore, String> {
    let loaded = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    let (added, _) = roots.add_parsable_certificates(loaded.certs);
    if added > 0 {
        return Ok(roots);
    }
    let reason = loaded.errors.first().map(|error| format!(" ({error})"));
    Err(format!(
        "this system has no certificate authorities{}",
        reason.unwrap_or_default()
    ))
}

/// The certificates of a server in a handshake.
pub struct PresentedCertificate<'a> {
    /// The server's own certificate.
    pub certificate: &'a CertificateDer<'a>,
    others: &'a [CertificateDer<'a>],
    name: &'a ServerName<'a>,
    ocsp: &'a [u8],
    now: UnixTime,
}

impl PresentedCertificate<'_> {
    /// The verifier's error about the certificate; `None` if it is good.
    pub fn wrong(&self, verifier: &dyn ServerCertVerifier) -> Option<Error> {
        let verified = verifier.verify_server_cert(
            self.certificate,
            self.others,
            self.name,
            self.ocsp,
            self.now,
        );
        verified.err()
    }
}

/// Accepts any certificate, and shows it to a function. The signature of the handshake is verified all the same, so
/// that a handshake costs what it costs.
pub struct AnyCertificate<F> {
    provider: Arc<CryptoProvider>,
    on_certificate: F,
}

impl<F: Fn(&PresentedCertificate) + Send + Sync> AnyCertificate<F> {
    /// A verifier with the algorithms of `provider`, which calls `on_certificate` with each certificate.
    pub fn new(provider: Arc<CryptoProvider>, on_certificate: F) -> AnyCertificate<F> {
        AnyCertificate {
            provider,
            on_certificate,
        }
    }
}

impl<F> fmt::Debug for AnyCertificate<F> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("AnyCertificate")
    }
}

impl<F: Fn(&PresentedCertificate) + Send + Sync> ServerCertVerifier for AnyCertificate<F> {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        (self.on_certificate)(&PresentedCertificate {
            certificate,
            others,
            name,
            ocsp,
            now,
        });
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}
