// SPDX-License-Identifier: Apache-2.0
//! Tests that a server needs a certificate from a trusted authority, unless the user disables
//! verification.

use crate::authority::Authority;
use lab_load::{LoadUrl, Tls, Trust};
use lab_model::Protocol;
use rustls::{ClientConnection, HandshakeKind, ServerConfig, ServerConnection};
use std::sync::Arc;

const HTTP_2_AND_1: &[&[u8]] = &[b"h2", b"http/1.1"];

/// Performs a handshake in memory. Returns the negotiated protocol and the kind of handshake.
fn shake(tls: &Tls, server: Arc<ServerConfig>) -> Result<(Vec<u8>, HandshakeKind), rustls::Error> {
    let mut client = ClientConnection::new(tls.config.clone(), tls.name.clone())?;
    let mut server = ServerConnection::new(server)?;
    // More rounds than necessary, so that the tickets for session resumption have arrived.
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
    Tls::new(&LoadUrl::parse(url).unwrap().origin, protocol, trust).unwrap()
}

#[test]
fn only_the_given_authority_is_trusted() {
    let (own, other) = (Authority::new(), Authority::new());
    let trust = Trust::File(own.file());
    let client = tls("https://shop.test/", Protocol::Http2, &trust);
    assert_eq!(
        shake(&client, own.server("shop.test", HTTP_2_AND_1))
            .unwrap()
            .0,
        b"h2"
    );
    assert!(
        shake(&client, other.server("shop.test", HTTP_2_AND_1)).is_err(),
        "another authority"
    );
    assert!(
        shake(&client, own.server("shop2.test", HTTP_2_AND_1)).is_err(),
        "another name"
    );
    let client = tls("https://[::1]:8443/", Protocol::Http1, &trust);
    assert_eq!(
        shake(&client, own.server("::1", HTTP_2_AND_1)).unwrap().0,
        b"http/1.1"
    );
    assert_eq!(trust.words(), None);
}

#[test]
fn verification_is_skipped_only_on_request() {
    let other = Authority::new();
    let client = tls("https://127.0.0.1/", Protocol::Http2, &Trust::Anybody);
    assert_eq!(
        shake(&client, other.server("x.test", HTTP_2_AND_1))
            .unwrap()
            .0,
        b"h2"
    );
    assert!(Trust::Anybody.words().unwrap().contains("not verified"));
}

#[test]
fn files_without_authorities_are_refused() {
    let authority = Authority::new();
    let origin = LoadUrl::parse("https://127.0.0.1/").unwrap().origin;
    let file = authority.folder.path().join("x.pem");
    let refused = |words: &str| {
        let error = Tls::new(&origin, Protocol::Http1, &Trust::File(file.clone())).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    };
    refused("No such file");
    for (text, words) in [
        ("", "contains no certificate"),
        ("hello", "contains no certificate"),
        (
            "-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----\n",
            "in OpenSSL's own format",
        ),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "contains an invalid certificate",
        ),
        ("-----BEGIN CERTIFICATE-----\n", "not PEM"),
    ] {
        std::fs::write(&file, text).unwrap();
        refused(words);
    }
}

/// Every connection does a full handshake, as for a new client.
#[test]
fn no_handshake_is_resumed() {
    let authority = Authority::new();
    let client = tls(
        "https://shop.test/",
        Protocol::Http1,
        &Trust::File(authority.file()),
    );
    let server = authority.server("shop.test", HTTP_2_AND_1);
    for _ in 0..2 {
        let (_, kind) = shake(&client, server.clone()).unwrap();
        assert_eq!(kind, HandshakeKind::Full);
    }
}
