// SPDX-License-Identifier: Apache-2.0
//! Server certificates: trusted authorities, descriptions of certificate errors, and a verifier
//! that accepts any certificate.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use x509_parser::prelude::{ASN1Time, FromDer, GeneralName, X509Certificate};
use x509_parser::public_key::PublicKey;

/// Loads the certificate authorities that this system trusts.
///
/// # Errors
/// Returns an error if the system has no certificate authorities.
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

/// The maximum number of names in a description of a certificate.
const MAX_SHOWN_NAMES: usize = 5;

/// An error that makes benchlab reject a certificate. Its message completes a sentence that begins
/// with "the certificate:".
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CertificateFault {
    /// The certificate has expired.
    #[error("it expired on {0}")]
    Expired(String),
    /// The certificate is not valid yet.
    #[error("it is not valid before {0}")]
    NotValidYet(String),
    /// The certificate is for other hosts.
    #[error("it is for {presented}, not for {expected}")]
    OtherName {
        /// The host of the requested URL.
        expected: String,
        /// The names in the certificate.
        presented: String,
    },
    /// The certificate contains no host name other than a common name, which clients no longer use
    /// (RFC 9110, section 4.3.4).
    #[error(
        "it contains no host name: it has no subjectAltName, and clients ignore a common name (CN)"
    )]
    NoName,
    /// The certificate is self-signed and not trusted.
    #[error("it is self-signed and not trusted")]
    SelfSigned,
    /// The certificate was signed by an unknown issuer.
    #[error("it is not signed by a trusted authority (issuer: {0})")]
    UnknownIssuer(String),
    /// The certificate belongs to an authority, not to a server.
    #[error("it belongs to an authority (CA:TRUE), not to a server")]
    Authority,
    /// The certificate cannot be parsed.
    #[error("it is not a valid certificate")]
    Unreadable,
    /// The signature of the handshake cannot be verified with this kind of key.
    #[error("it has {0}")]
    UnsupportedKey(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl CertificateFault {
    /// Converts a verifier's error about a certificate.
    pub fn new(
        error: &CertificateError,
        certificate: &CertificateDer,
        name: &ServerName,
    ) -> CertificateFault {
        use CertificateError as E;
        let Ok((_, parsed)) = X509Certificate::from_der(certificate) else {
            return CertificateFault::Unreadable;
        };
        match error {
            E::Expired | E::ExpiredContext { .. } => {
                CertificateFault::Expired(day(parsed.validity().not_after))
            }
            E::NotValidYet | E::NotValidYetContext { .. } => {
                CertificateFault::NotValidYet(day(parsed.validity().not_before))
            }
            E::NotValidForName | E::NotValidForNameContext { .. } => match names(&parsed) {
                presented if presented.is_empty() => CertificateFault::NoName,
                presented => CertificateFault::OtherName {
                    expected: name.to_str().into_owned(),
                    presented,
                },
            },
            E::UnknownIssuer | E::BadSignature if is_self_signed(&parsed) => {
                CertificateFault::SelfSigned
            }
            E::UnknownIssuer => CertificateFault::UnknownIssuer(issuer(&parsed)),
            E::BadSignature => CertificateFault::UnknownIssuer(format!(
                "{}, whose key differs from the key of the trusted authority with this name",
                issuer(&parsed)
            )),
            E::BadEncoding => CertificateFault::Unreadable,
            E::Revoked => CertificateFault::Other("it was revoked".into()),
            E::InvalidPurpose | E::InvalidPurposeContext { .. } => {
                CertificateFault::Other("it is not valid for servers".into())
            }
            // webpki has no error variant for this.
            E::Other(other) if other.to_string().contains("CaUsedAsEndEntity") => {
                if is_self_signed(&parsed) {
                    CertificateFault::SelfSigned
                } else {
                    CertificateFault::Authority
                }
            }
            other => CertificateFault::Other(format!("the verifier rejected it ({other})")),
        }
    }
}

fn day(time: ASN1Time) -> String {
    time.to_datetime().date().to_string()
}

/// Returns the host names in a certificate.
fn names(certificate: &X509Certificate) -> String {
    let extension = certificate.subject_alternative_name().ok().flatten();
    let general = extension.map_or(&[][..], |extension| &extension.value.general_names);
    let hosts: Vec<String> = general
        .iter()
        .filter_map(|name| match name {
            GeneralName::DNSName(name) => Some(printable(name)),
            GeneralName::IPAddress(bytes) => address(bytes),
            _ => None,
        })
        .collect();
    let shown = hosts
        .iter()
        .take(MAX_SHOWN_NAMES)
        .cloned()
        .collect::<Vec<_>>();
    match hosts.len().saturating_sub(MAX_SHOWN_NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn address(bytes: &[u8]) -> Option<String> {
    let v4 = <[u8; 4]>::try_from(bytes).map(std::net::IpAddr::from);
    let v6 = <[u8; 16]>::try_from(bytes).map(std::net::IpAddr::from);
    v4.or(v6).ok().map(|address| address.to_string())
}

/// Removes control characters from text that a server sent, because they could control the
/// terminal.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

fn issuer(certificate: &X509Certificate) -> String {
    printable(&certificate.issuer().to_string())
}

fn is_self_signed(certificate: &X509Certificate) -> bool {
    certificate.issuer().as_raw() == certificate.subject().as_raw()
        && certificate.verify_signature(None).is_ok()
}

/// The sizes of RSA keys in bits that the crypto provider accepts.
const RSA_BITS: RangeInclusive<usize> = 2048..=8192;

/// Replaces the error for the signature of a handshake if the certificate's key is the cause.
///
/// The crypto provider reports an RSA key of any size outside [`RSA_BITS`] as an invalid signature.
fn signature_error(error: Error, certificate: &CertificateDer) -> Error {
    let Ok((_, parsed)) = X509Certificate::from_der(certificate) else {
        return error;
    };
    let bits = match parsed.public_key().parsed() {
        Ok(PublicKey::RSA(key)) => key.key_size(),
        _ => return error,
    };
    // 0 means that the size is not known.
    if bits == 0 || RSA_BITS.contains(&bits) {
        return error;
    }
    let fault = CertificateFault::UnsupportedKey(format!("an RSA key of {bits} bits"));
    CertificateError::Other(OtherError(Arc::new(fault))).into()
}

/// Verifies server certificates against trusted authorities.
///
/// If a server's own certificate is itself trusted, only its names and its validity period are
/// checked, as in curl and OpenSSL. `openssl req -x509` creates such certificates.
pub struct Authorities {
    verifier: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl Authorities {
    /// Creates a verifier that trusts only the authorities in `roots` and the server certificates
    /// in `certificates`.
    ///
    /// # Errors
    /// Returns an error if `roots` is empty.
    pub fn new(
        roots: RootCertStore,
        certificates: Vec<CertificateDer<'static>>,
        provider: Arc<CryptoProvider>,
    ) -> Result<Authorities, String> {
        let builder = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider);
        let verifier = builder.build();
        Ok(Authorities {
            verifier: verifier.map_err(|error| format!("cannot set up TLS: {error}"))?,
            certificates,
        })
    }
}

/// Verifies the names and the validity period of a server certificate that is itself trusted.
fn verify_trusted(
    certificate: &CertificateDer<'_>,
    name: &ServerName<'_>,
    now: UnixTime,
) -> Result<ServerCertVerified, Error> {
    let parsed = X509Certificate::from_der(certificate);
    let (_, parsed) = parsed.map_err(|_| Error::from(CertificateError::BadEncoding))?;
    let seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX);
    if seconds < parsed.validity().not_before.timestamp() {
        return Err(CertificateError::NotValidYet.into());
    }
    if seconds > parsed.validity().not_after.timestamp() {
        return Err(CertificateError::Expired.into());
    }
    verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
    Ok(ServerCertVerified::assertion())
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Authorities")
    }
}

impl ServerCertVerifier for Authorities {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        others: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = if self.certificates.contains(certificate) {
            verify_trusted(certificate, name, now)
        } else {
            let verifier = &self.verifier;
            verifier.verify_server_cert(certificate, others, name, ocsp, now)
        };
        verified.map_err(|error| match error {
            Error::InvalidCertificate(reason) => {
                let fault = CertificateFault::new(&reason, certificate, name);
                CertificateError::Other(OtherError(Arc::new(fault))).into()
            }
            other => other,
        })
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self
            .verifier
            .verify_tls12_signature(message, certificate, signed);
        verified.map_err(|error| signature_error(error, certificate))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let verified = self
            .verifier
            .verify_tls13_signature(message, certificate, signed);
        verified.map_err(|error| signature_error(error, certificate))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}

/// The certificates that a server presents in a TLS handshake.
pub struct PresentedCertificate<'a> {
    /// The server's own certificate.
    pub certificate: &'a CertificateDer<'a>,
    others: &'a [CertificateDer<'a>],
    name: &'a ServerName<'a>,
    ocsp: &'a [u8],
    now: UnixTime,
}

impl PresentedCertificate<'_> {
    /// Explains why the verifier rejects the certificate. Returns `None` if the certificate is
    /// valid.
    pub fn rejection(&self, verifier: &dyn ServerCertVerifier) -> Option<String> {
        let verified = verifier.verify_server_cert(
            self.certificate,
            self.others,
            self.name,
            self.ocsp,
            self.now,
        );
        verified.err().map(|error| match error {
            Error::InvalidCertificate(reason) => {
                CertificateFault::new(&reason, self.certificate, self.name).to_string()
            }
            other => other.to_string(),
        })
    }
}

/// Accepts any certificate, and passes it to a function.
///
/// The signature of the handshake is still verified, so that the handshake takes as long as with a trusted certificate.
pub struct AnyCertificate<F> {
    provider: Arc<CryptoProvider>,
    on_certificate: F,
}

impl<F: Fn(&PresentedCertificate) + Send + Sync> AnyCertificate<F> {
    /// Creates a verifier with the algorithms of `provider` that calls `on_certificate` with each certificate.
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
        let verified = verify_tls12_signature(message, certificate, signed, algorithms);
        verified.map_err(|error| signature_error(error, certificate))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        let verified = verify_tls13_signature(message, certificate, signed, algorithms);
        verified.map_err(|error| signature_error(error, certificate))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustls::pki_types::pem::PemObject;

    /// Created with `openssl req -x509 -newkey rsa:1024`.
    const RSA_1024: &str = "\
-----BEGIN CERTIFICATE-----\n\
MIICBDCCAW2gAwIBAgIUO/7Tk8GQ9LZenBocwMslAw0LW10wDQYJKoZIhvcNAQEL\n\
BQAwFDESMBAGA1UEAwwJbG9jYWxob3N0MB4XDTI2MTEyOTIzMDMyMVoXDTI2MTEz\n\
MDIzMDMyMVowFDESMBAGA1UEAwwJbG9jYWxob3N0MIGfMA0GCSqGSIb3DQEBAQUA\n\
A4GNADCBiQKBgQDkT/xTbsE9MrYDGWgDu4MPY9r0P/OUIgQ/u3VwMuT6W9SIj3QE\n\
/243YTXKBQA3wu8nx9Hb67Sxs3sYp5LekdGHOP82kYs6OwCUz/XAK75JAWC3L7rg\n\
EFFPB09M43Dw0RfViXIOxYSboCPRzVdRyu0VGtpw9yriVZQjyJIpoaKqCQIDAQAB\n\
o1MwUTAdBgNVHQ4EFgQUev+mmqqn+pEStj/1P8NeZgKW7HEwHwYDVR0jBBgwFoAU\n\
ev+mmqqn+pEStj/1P8NeZgKW7HEwDwYDVR0TAQH/BAUwAwEB/zANBgkqhkiG9w0B\n\
AQsFAAOBgQAK4Fp94D6XJmR7JxLVili2POWaeEb3QUL19AB+X5iNPs92wGV+pB3u\n\
in8ocIXIqynqEkboyV8m3SrFS2uqo2j5g88+fC5elrQ0WWwpvS7BjxJwKYYUfKQ8\n\
5Dwy78awNg06YRb6fW9wj7UGLy+SZWArYSAAd8bA7inQMLWYh+3/sg==\n\
-----END CERTIFICATE-----\n\
";

    #[test]
    fn a_key_that_is_too_short_is_named() {
        let certificate = CertificateDer::from_pem_slice(RSA_1024.as_bytes()).expect("PEM");
        let error = Error::InvalidCertificate(CertificateError::BadSignature);
        let Error::InvalidCertificate(CertificateError::Other(fault)) =
            signature_error(error, &certificate)
        else {
            panic!("another error");
        };
        assert_eq!(fault.to_string(), "it has an RSA key of 1024 bits");
    }
}
