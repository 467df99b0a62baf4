// SPDX-License-Identifier: Apache-2.0
//! Tests the guard. benchlab loads only this host and private networks, unless the user specifies
//! the exact host. These tests open no connections.

use lab_load::{LoadGuard, LoadUrl};
use std::net::IpAddr;

fn checked(guard: &LoadGuard, url: &str, addresses: &[&str]) -> Result<(), String> {
    let origin = LoadUrl::parse(url).unwrap().origin;
    let addresses = addresses.iter().map(|a| a.parse::<IpAddr>().unwrap());
    guard
        .check(&origin.host(), addresses)
        .map_err(|error| error.to_string())
}

#[test]
fn this_host_and_private_networks_are_allowed() {
    let guard = LoadGuard::new(None).unwrap();
    for near in [
        "127.0.0.1",
        "127.255.0.3",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.7.7",
        "169.254.9.9",
        "100.64.0.1",
        "100.127.255.255",
        "::1",
        "::",
        "fc00::1",
        "fdff::1",
        "fe80::1",
        "::ffff:10.0.0.1",
    ] {
        assert_eq!(checked(&guard, "http://x.test", &[near]), Ok(()), "{near}");
    }
    let own_addresses = nix::ifaddrs::getifaddrs()
        .unwrap()
        .filter_map(|i| i.address);
    for address in own_addresses.filter_map(|a| Some(a.as_sockaddr_in()?.ip().to_string())) {
        assert_eq!(checked(&guard, "http://x.test", &[&address]), Ok(()));
    }
}

#[test]
fn all_other_hosts_are_rejected() {
    let guard = LoadGuard::new(None).unwrap();
    for far in [
        "192.0.2.1",
        "11.0.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.169.0.1",
        "100.63.0.1",
        "100.128.0.1",
        "2001:db8::1",
        "fec0::1",
        "::ffff:192.0.2.1",
        "64:ff9b::a00:1",
    ] {
        let error = checked(&guard, "http://x.test", &[far]).unwrap_err();
        assert!(error.contains("--i-may-load x.test"), "{error}");
        // One foreign address is enough for an error.
        assert!(
            checked(&guard, "http://x.test", &["127.0.0.1", far]).is_err(),
            "{far}"
        );
    }
}

#[test]
fn exactly_the_named_host_may_be_loaded() {
    let guard = LoadGuard::new(Some("Shop.example")).unwrap();
    assert_eq!(
        checked(&guard, "http://shop.example:81/x", &["192.0.2.1"]),
        Ok(())
    );
    for other in [
        "http://example",
        "http://www.shop.example",
        "http://shop.example.test",
        "http://192.0.2.1",
    ] {
        assert!(checked(&guard, other, &["192.0.2.1"]).is_err(), "{other}");
    }
    for (allowed, url) in [
        ("192.0.2.1", "http://192.0.2.1"),
        ("[2001:db8::1]", "http://[2001:db8::1]"),
        ("2001:db8::1", "http://[2001:db8:0::1]:8080"),
    ] {
        let guard = LoadGuard::new(Some(allowed)).unwrap();
        assert_eq!(checked(&guard, url, &["2001:db8::1"]), Ok(()), "{url}");
    }
    for wrong in [
        "http://shop.example",
        "shop.example:80",
        "shop.example/x",
        "",
    ] {
        assert!(LoadGuard::new(Some(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn no_address_bypasses_the_guard() {
    let guard = LoadGuard::new(None).unwrap();
    let origin = LoadUrl::parse("http://192.0.2.1/").unwrap().origin;
    assert!(origin.address(None, &guard).is_err());
    let guard = LoadGuard::new(Some("192.0.2.1")).unwrap();
    assert_eq!(
        origin.address(None, &guard).unwrap().to_string(),
        "192.0.2.1:80"
    );
}
