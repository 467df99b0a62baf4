// SPDX-License-Identifier: Apache-2.0
//! `--server-host`: an agent beside the server tells what that uses.

use super::{Place, slices};
use crate::load::web::{Manner, Web};

/// The server is in this process, which the agent finds by its port, or by its number.
#[test]
fn what_the_server_uses_is_read_by_an_agent_beside_it() {
    let own = std::process::id().to_string();
    for which in [&[][..], &["--server-pid", &own]] {
        let (place, web) = (Place::new(), Web::new(Manner::Honest));
        let words = [
            &web.url("/"),
            "--server-host",
            "local:1",
            "-c",
            "4",
            "--on",
            "local:2",
        ];
        place.load(&[&words[..], which].concat()).expect(0);
        let run = place.0.load();
        assert!(slices(&run).count() > 0);
        for slice in slices(&run) {
            assert!(slice.server_threads.is_some_and(|n| n > 1), "{slice:?}");
            assert!(slice.server_bytes.is_some_and(|n| n > 1_000_000));
            assert!(slice.server_cpu_ns.is_some());
        }
    }
}

#[test]
fn a_server_that_is_not_there_is_told_before_the_load() {
    let (place, web) = (Place::new(), Web::new(Manner::Honest));
    let url = web.url("/");
    let words = [
        &url[..],
        "--server-host",
        "local:1",
        "--server-pid",
        "4194303",
    ];
    place
        .load(&words)
        .expect(1)
        .says(&["--server-host: local 1: ", "no such process"]);
    place
        .load(&[&url, "--server-host", "local:2"])
        .expect(2)
        .says(&["names one machine"]);
    assert!(place.0.files().is_empty());
}
