// SPDX-License-Identifier: Apache-2.0
//! TLS connections to the server, with verification of certificates and negotiation of the
//! protocol.

use crate::certificates::{self, AnyCertificate, Authorities, CertificateFault};
use crate::error::{JobError, quoted};
use crate::target::Origin;
use lab_model::{Protocol, Trust};
use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{AlertDescription, CertificateError, ClientConfig, OtherError, RootCertStore};
use std::io;
use std::sync::Arc;

/// Replaces a file of certificate authorities with its content. Returns an error if the file cannot
/// be read.
pub(crate) fn without_file(trust: Trust) -> Result<Trust, JobError> {
    let Trust::File(file) = trust else {
        return Ok(trust);
    };
    let name = file.display();
    let bytes = std::fs::read(&file);
    let bytes = bytes.map_err(|error| JobError::new(format!("cannot read {name}: {error}")))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|error| {
        let found = not_a_certificate(error.as_bytes());
        JobError::new(format!("{name}: {found}"))
    })?;
    Ok(Trust::Authorities(text))
}

/// The TLS configuration of a connection. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Tls {
    /// The configuration. Sessions are not resumed: each connection does a full handshake, as for a
    /// new client.
    pub config: Arc<ClientConfig>,
    /// The name that the server's certificate must contain.
    pub name: ServerName<'static>,
}

impl Tls {
    /// Creates the configuration for an origin and a protocol. The protocol is negotiated with ALPN
    /// (RFC 7301).
    ///
    /// # Errors
    /// Returns an error if the authorities cannot be read or are missing, or if a certificate
    /// cannot contain the host name.
    pub fn new(origin: &Origin, protocol: Protocol, trust: &Trust) -> Result<Tls, JobError> {
        let host = origin.host();
        let name = ServerName::try_from(host.clone()).map_err(|_| {
            let words = "is not a valid name in a certificate; use another name or the address";
            JobError::new(format!("{} {words}", quoted(&host)))
        })?;
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| JobError::new(format!("cannot set up TLS: {error}")))?;
        let verifier: Arc<dyn ServerCertVerifier> = match trust {
            Trust::System => Arc::new(authorities(system_roots()?, Vec::new(), provider)?),
            Trust::File(file) => {
                let name = file.display().to_string();
                let pem = std::fs::read(file);
                let pem = pem.map_err(|error| JobError::new(format!("{name}: {error}")))?;
                Arc::new(authorities_in(&pem, &name, provider)?)
            }
            Trust::Authorities(pem) => {
                Arc::new(authorities_in(pem.as_bytes(), "the authorities", provider)?)
            }
            Trust::Anybody => Arc::new(AnyCertificate::new(provider, |_| ())),
        };
        let mut config = builder
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        config.alpn_protocols = vec![match protocol {
            Protocol::Http1 => b"http/1.1".to_vec(),
            Protocol::Http2 => b"h2".to_vec(),
        }];
        config.resumption = Resumption::disabled();
        Ok(Tls {
            config: Arc::new(config),
            name,
        })
    }
}

/// The start of the error message for a failed TLS handshake.
pub const TLS_FAILURE: &str = "the TLS connection failed: ";

/// A description of the certificate keys that the crypto provider supports.
const SUPPORTED_KEYS: &str = "benchlab supports RSA keys of 2,048 to 8,192 bits, ECDSA keys on P-256 and P-384, and Ed25519 keys";

/// Adds a description to a TLS error in a handshake. Returns other errors unchanged.
pub(crate) fn handshake_error(error: io::Error) -> io::Error {
    let inner = error.get_ref();
    let Some(reason) = inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) else {
        return error;
    };
    io::Error::new(
        error.kind(),
        format!("{TLS_FAILURE}{}", handshake_words(reason)),
    )
}

fn handshake_words(error: &rustls::Error) -> String {
    use rustls::Error as E;
    match error {
        E::InvalidCertificate(CertificateError::Other(OtherError(fault))) => {
            let advice = match fault.downcast_ref() {
                Some(CertificateFault::SelfSigned | CertificateFault::UnknownIssuer(_)) => {
                    "pass --ca FILE, which contains the server's certificate or that of its authority, or pass --insecure to skip verification"
                }
                Some(CertificateFault::UnsupportedKey(_)) => {
                    return format!(
                        "the server's certificate cannot be used: {fault}; {SUPPORTED_KEYS}"
                    );
                }
                Some(CertificateFault::OtherName { .. }) => {
                    "use a name for which the certificate is valid, or --insecure"
                }
                _ => "--insecure skips verification",
            };
            format!("the server's certificate cannot be verified: {fault}; {advice}")
        }
        E::InvalidMessage(_) => {
            "the server's response is not TLS; is this the port for https?".into()
        }
        E::PeerIncompatible(_) => {
            format!("the server supports no TLS version or cipher that benchlab accepts ({error})")
        }
        E::AlertReceived(AlertDescription::NoApplicationProtocol) => {
            "the server does not support this version of HTTP over TLS (ALPN)".into()
        }
        E::AlertReceived(AlertDescription::HandshakeFailure) => format!(
            "the server rejected the handshake ({error}): it has no cipher, or no certificate with a kind of key, \
             that benchlab supports; {SUPPORTED_KEYS}"
        ),
        E::AlertReceived(_) => format!("the server rejected the handshake ({error})"),
        other => other.to_string(),
    }
}

fn authorities(
    roots: RootCertStore,
    certificates: Vec<CertificateDer<'static>>,
    provider: Arc<CryptoProvider>,
) -> Result<Authorities, JobError> {
    Authorities::new(roots, certificates, provider).map_err(JobError::new)
}

fn system_roots() -> Result<RootCertStore, JobError> {
    certificates::system_roots().map_err(|reason| {
        JobError::new(format!(
            "{reason}; install `ca-certificates`, or pass `--ca FILE`"
        ))
    })
}

fn authorities_in(
    pem: &[u8],
    name: &str,
    provider: Arc<CryptoProvider>,
) -> Result<Authorities, JobError> {
    let wrong = |fault: String| JobError::new(format!("{name}: {fault}"));
    let mut roots = RootCertStore::empty();
    let mut certificates = Vec::new();
    for certificate in CertificateDer::pem_slice_iter(pem) {
        let certificate = certificate.map_err(|error| wrong(format!("not PEM: {error}")))?;
        let added = roots.add(certificate.clone());
        certificates.push(certificate);
        added.map_err(|error| wrong(format!("contains an invalid certificate: {error}")))?;
    }
    if roots.is_empty() {
        return Err(wrong(not_a_certificate(pem)));
    }
    authorities(roots, certificates, provider)
}

/// Describes the content of a file without a PEM certificate.
fn not_a_certificate(bytes: &[u8]) -> String {
    const DER_SEQUENCE: u8 = 0x30;
    if bytes.first() == Some(&DER_SEQUENCE) && std::str::from_utf8(bytes).is_err() {
        return "is in DER format instead of PEM; `openssl x509 -inform der -in FILE` converts it"
            .into();
    }
    let text = String::from_utf8_lossy(bytes);
    let label = text.split_once("-----BEGIN ");
    let label = label.and_then(|(_, rest)| rest.split_once("-----"));
    match label {
        Some(("TRUSTED CERTIFICATE", _)) => {
            "contains a certificate in OpenSSL's own format (`BEGIN TRUSTED CERTIFICATE`) instead of \
             `BEGIN CERTIFICATE`; `openssl x509 -in FILE` converts it"
                .into()
        }
        Some((label, _)) => format!("contains no certificate, but {}", quoted(label)),
        None => "contains no certificate; expected PEM".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_certificate_is_described() {
        let der = not_a_certificate(b"\x30\x82\x03\x38\x30\x82\x02\x20\xa0");
        assert!(der.starts_with("is in DER format"), "{der}");
        let trusted = not_a_certificate(b"-----BEGIN TRUSTED CERTIFICATE-----\nMIID\n");
        assert!(trusted.contains("`BEGIN TRUSTED CERTIFICATE`"), "{trusted}");
        let key = not_a_certificate(b"-----BEGIN PRIVATE KEY-----\nMIID\n");
        assert_eq!(key, "contains no certificate, but `PRIVATE KEY`");
        let text = not_a_certificate(b"0 is not DER");
        assert_eq!(text, "contains no certificate; expected PEM");
    }

    /// A server whose only key is on P-521 ends the handshake with a `handshake_failure` alert.
    #[test]
    fn the_supported_keys_are_listed_if_there_is_no_common_one() {
        let alert = rustls::Error::AlertReceived(AlertDescription::HandshakeFailure);
        let words = handshake_words(&alert);
        assert!(words.contains("ECDSA keys on P-256 and P-384"), "{words}");
    }
}
