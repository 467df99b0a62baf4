// SPDX-License-Identifier: Apache-2.0
//! Two network namespaces with a pair of virtual Ethernet devices between them: IPv4 and IPv6 over the same
//! link, without any network. They belong to two threads, and are gone with them.

use super::turns;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::gettid;
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Addresses for documentation (RFC 5737, RFC 3849).
const SERVER: [&str; 2] = ["192.0.2.1", "2001:db8::1"];
const CLIENT: [&str; 2] = ["192.0.2.2", "2001:db8::2"];
/// Until an address can be used.
const PATIENCE: Duration = Duration::from_secs(5);

/// Does `client` in a namespace from which these addresses of the other one are reached.
///
/// # Errors
/// It takes root, and `ip` of iproute2; in words.
pub fn with_pair<T: Send>(client: impl FnOnce([SocketAddr; 2]) -> T + Send) -> Result<T, String> {
    let (tell_space, space) = mpsc::channel::<String>();
    let (tell_linked, linked) = mpsc::channel::<()>();
    let (tell_listening, listening) = mpsc::channel::<Result<[SocketAddr; 2], String>>();
    thread::spawn(move || {
        let listening = serve(&tell_space, &linked);
        let listeners = match listening {
            Ok(listeners) => listeners,
            Err(why) => return drop(tell_listening.send(Err(why))),
        };
        let addresses: Option<Vec<SocketAddr>> =
            listeners.iter().map(|l| l.local_addr().ok()).collect();
        let addresses = addresses.and_then(|all| <[SocketAddr; 2]>::try_from(all).ok());
        let told = addresses.ok_or_else(|| "no address".to_owned());
        let _ = tell_listening.send(told);
        for listener in listeners {
            // A thread that is started here is in the same namespace.
            thread::spawn(move || turns::answer(&listener));
        }
    });
    thread::scope(|scope| {
        let turns = scope.spawn(move || -> Result<T, String> {
            let space = space.recv();
            let space = space.map_err(|_| "a network namespace takes root".to_owned())?;
            enter()?;
            let veth = [
                "link", "add", "lab0", "type", "veth", "peer", "name", "lab1", "netns",
            ];
            ip(&[&veth[..], &[&space]].concat())?;
            set_up("lab0", CLIENT)?;
            let _ = tell_linked.send(());
            let addresses = listening.recv().map_err(|_| "no listener".to_owned())??;
            Ok(client(addresses))
        });
        turns
            .join()
            .unwrap_or_else(|_| Err("a thread ended".into()))
    })
}

/// Listens in a namespace of its own, once the other one has linked it.
fn serve(
    tell_space: &mpsc::Sender<String>,
    linked: &mpsc::Receiver<()>,
) -> Result<Vec<TcpListener>, String> {
    enter()?;
    let space = format!("/proc/{}/task/{}/ns/net", std::process::id(), gettid());
    let _ = tell_space.send(space);
    linked
        .recv()
        .map_err(|_| "the other namespace is not there".to_owned())?;
    set_up("lab1", SERVER)?;
    let listen = |address: &&str| -> Result<TcpListener, String> {
        let address = SocketAddr::new(address.parse().map_err(|_| "an address")?, 0);
        let limit = Instant::now() + PATIENCE;
        loop {
            match TcpListener::bind(address) {
                Ok(listener) => return Ok(listener),
                Err(e) if Instant::now() > limit => return Err(format!("{address}: {e}")),
                Err(_) => thread::sleep(Duration::from_millis(10)),
            }
        }
    };
    SERVER.iter().map(listen).collect()
}

fn enter() -> Result<(), String> {
    let entered = unshare(CloneFlags::CLONE_NEWNET);
    entered.map_err(|_| "a network namespace takes root".into())
}

fn set_up(device: &str, [v4, v6]: [&str; 2]) -> Result<(), String> {
    ip(&["link", "set", "lo", "up"])?;
    ip(&["address", "add", &format!("{v4}/24"), "dev", device])?;
    // Nobody else is there who could have the address.
    ip(&[
        "address",
        "add",
        &format!("{v6}/64"),
        "dev",
        device,
        "nodad",
    ])?;
    ip(&["link", "set", device, "up"])
}

fn ip(words: &[&str]) -> Result<(), String> {
    let run = |program: &str| {
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::null()).output()
    };
    let done = run("ip").or_else(|_| run("/usr/sbin/ip"));
    let done = done.map_err(|_| "`ip` of iproute2 is not installed".to_owned())?;
    match done.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            Err(format!("ip {}: {said}", words.join(" ")))
        }
    }
}
