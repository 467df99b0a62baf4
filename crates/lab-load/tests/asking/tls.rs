// SPDX-License-Identifier: Apache-2.0
//! Servers are believed only with a certificate of a known authority, unless the user wants otherwise.

use lab_load::{Link, Tls, Trust};
use lab_model::Protocol;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConnection, HandshakeKind, ServerConfig, ServerConnection};
use std::path::PathBuf;
use std::sync::Arc;

struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    fn new() -> Authority {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Authority { issuer, folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    fn server(&self, name: &str) -> Arc<ServerConfig> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let chain = vec![CertificateDer::from(certificate)];
        let ring = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(ring).with_safe_default_protocol_versions();
        let builder = builder.unwrap().with_no_client_auth();
        let mut config = builder.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Arc::new(config)
    }
}

/// Shakes hands in memory; yields the protocol that both agreed on and how they did.
fn shake(tls: &Tls, server: Arc<ServerConfig>) -> Result<(Vec<u8>, HandshakeKind), rustls::Error> {
    let mut client = ClientConnection::new(tls.config.clone(), tls.name.clone())?;
    let mut server = ServerConnection::new(server)?;
    // Some rounds more than needed, so that tickets for another time have arrived.
    for _ in 0..5 {
        let mut wire = Vec::new();
        while client.write_tls(&mut wire).unwrap() > 0 {}
        server.read_tls(&mut wire.as_slice()).unwrap();
        server.process_new_packets()?;
        let mut wire = Vec::new();
        while server.write_tls(&mut wire).unwrap() > 0 {}
        client.read_tls(&mut wire.as_slice()).unwrap();
        client.process_new_packets()?;
    }
    let agreed = client.alpn_protocol().unwrap().to_vec();
    Ok((agreed, client.handshake_kind().unwrap()))
}

fn tls(url: &str, protocol: Protocol, trust: &Trust) -> Tls {
    Tls::new(&Link::parse(url).unwrap().origin, protocol, trust).unwrap()
}

#[test]
fn an_authority_of_the_users_is_believed_and_no_other() {
    let (mine, other) = (Authority::new(), Authority::new());
    let trust = Trust::File(mine.file());
    let client = tls("https://shop.test/", Protocol::Http2, &trust);
    assert_eq!(shake(&client, mine.server("shop.test")).unwrap().0, b"h2");
    assert!(
        shake(&client, other.server("shop.test")).is_err(),
        "another authority"
    );
    assert!(
        shake(&client, mine.server("shop2.test")).is_err(),
        "another name"
    );
    let client = tls("https://[::1]:8443/", Protocol::Http1, &trust);
    assert_eq!(shake(&client, mine.server("::1")).unwrap().0, b"http/1.1");
    assert_eq!(trust.words(), None);
}

#[test]
fn anybody_is_believed_only_if_asked_for_and_it_is_said() {
    let other = Authority::new();
    let client = tls("https://127.0.0.1/", Protocol::Http2, &Trust::Anybody);
    assert_eq!(shake(&client, other.server("x.test")).unwrap().0, b"h2");
    assert!(Trust::Anybody.words().unwrap().contains("not verified"));
}

#[test]
fn files_without_authorities_are_refused() {
    let authority = Authority::new();
    let origin = Link::parse("https://127.0.0.1/").unwrap().origin;
    let file = authority.folder.path().join("x.pem");
    let refused = |words: &str| {
        let error = Tls::new(&origin, Protocol::Http1, &Trust::File(file.clone())).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    refused("No such file");
    for (text, words) in [
        ("", "no certificate is in it"),
        ("hello", "no certificate is in it"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "cannot be used",
        ),
        ("-----BEGIN CERTIFICATE-----\n", "is not PEM"),
    ] {
        std::fs::write(&file, text).unwrap();
        refused(words);
    }
}

/// Every connection is one of a new user.
#[test]
fn no_handshake_is_resumed() {
    let mine = Authority::new();
    let client = tls(
        "https://shop.test/",
        Protocol::Http1,
        &Trust::File(mine.file()),
    );
    let server = mine.server("shop.test");
    for _ in 0..2 {
        let (_, kind) = shake(&client, server.clone()).unwrap();
        assert_eq!(kind, HandshakeKind::Full);
    }
}
