// SPDX-License-Identifier: Apache-2.0
//! Certificates for tests.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::PathBuf;
use std::sync::Arc;

/// A certificate authority in a temporary directory, which is removed when the authority is dropped.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    pub folder: tempfile::TempDir,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Authority { issuer, folder }
    }

    /// Returns the path of the authority's certificate.
    pub fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    /// Returns the configuration of a server named `name` that offers `protocols`.
    pub fn server(&self, name: &str, protocols: &[&[u8]]) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        serve(certificate.into(), &key, protocols)
    }
}

/// Returns the configuration of a server with the given certificate that offers `protocols`.
pub fn serve(
    certificate: CertificateDer<'static>,
    key: &KeyPair,
    protocols: &[&[u8]],
) -> Arc<ServerConfig> {
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let ring = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions();
    let builder = builder.unwrap().with_no_client_auth();
    let mut config = builder.with_single_cert(vec![certificate], key).unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Arc::new(config)
}
