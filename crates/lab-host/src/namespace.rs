// SPDX-License-Identifier: Apache-2.0
//! Network namespaces connected by virtual Ethernet (veth) pairs, which form a private network
//! for benchlab.
//!
//! They require root and iproute2. They disappear when the last process that uses them exits.

use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::panic::resume_unwind;
use std::process::{Command, Output, Stdio};
use std::thread;

/// A network namespace. Sockets created in it stay in it, no matter which thread uses them later.
pub struct Namespace(File);

/// Two namespaces connected by a virtual Ethernet (veth) pair.
pub struct NamespacePair {
    /// The client's namespace, with the device [`NamespacePair::DEVICES`]`[0]` and the addresses
    /// [`NamespacePair::CLIENT`].
    pub client: Namespace,
    /// The server's namespace, with the device [`NamespacePair::DEVICES`]`[1]` and the addresses
    /// [`NamespacePair::SERVER`].
    pub server: Namespace,
}

/// One end of a veth pair.
pub struct End<'a> {
    /// The namespace, or `None` for the machine's default namespace.
    pub space: Option<&'a Namespace>,
    /// The device name, at most 15 bytes.
    pub device: &'a str,
    /// Addresses with their prefix lengths.
    pub addresses: &'a [String],
}

impl Namespace {
    /// Creates a namespace with only a loopback device, which is up.
    ///
    /// # Errors
    /// Returns an error message if the process lacks root privileges.
    pub fn new() -> Result<Namespace, String> {
        let make = || -> Result<File, String> {
            unshare(CloneFlags::CLONE_NEWNET).map_err(|_| "a network namespace requires root")?;
            File::open("/proc/thread-self/ns/net").map_err(|e| e.to_string())
        };
        let file = thread::spawn(make).join();
        let space = Namespace(file.unwrap_or_else(|panic| resume_unwind(panic))?);
        space.run_inside(|| ip(&["link", "set", "lo", "up"]))??;
        Ok(space)
    }

    /// Runs `work` in the namespace, on a separate thread.
    ///
    /// # Errors
    /// Returns an error message if the thread cannot enter the namespace.
    ///
    /// # Panics
    /// Panics if `work` panics.
    pub fn run_inside<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        thread::scope(|scope| {
            let inside = scope.spawn(|| -> Result<T, String> {
                let entered = setns(&self.0, CloneFlags::CLONE_NEWNET);
                entered.map_err(|e| format!("cannot enter a network namespace: {e}"))?;
                Ok(work())
            });
            inside.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Returns a path that `ip` accepts as the namespace's name.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

impl NamespacePair {
    /// The devices at the ends of the veth pair.
    pub const DEVICES: [&'static str; 2] = ["lab0", "lab1"];
    /// The addresses of the client's end.
    ///
    /// They are reserved for documentation (RFC 5737, RFC 3849), so no host uses them.
    pub const CLIENT: [&'static str; 2] = ["192.0.2.2", "2001:db8::2"];
    /// The addresses of the server's end, from the same reserved ranges.
    pub const SERVER: [&'static str; 2] = ["192.0.2.1", "2001:db8::1"];

    /// Creates both namespaces and the veth pair.
    ///
    /// # Errors
    /// Returns an error message if the process lacks root privileges, or if `ip` from iproute2 is
    /// missing.
    pub fn new() -> Result<NamespacePair, String> {
        let (client, server) = (Namespace::new()?, Namespace::new()?);
        let with_prefixes = |[v4, v6]: [&str; 2]| [format!("{v4}/24"), format!("{v6}/64")];
        let (near, far) = (
            with_prefixes(NamespacePair::CLIENT),
            with_prefixes(NamespacePair::SERVER),
        );
        let end = |space, device, addresses| End {
            space: Some(space),
            device,
            addresses,
        };
        let [near_device, far_device] = NamespacePair::DEVICES;
        cable(
            &end(&client, near_device, &near),
            &end(&server, far_device, &far),
        )?;
        Ok(NamespacePair { client, server })
    }
}

/// Creates a virtual Ethernet (veth) pair and sets up both of its ends.
///
/// # Errors
/// Returns an error message if a device cannot be created.
pub fn cable(near: &End, far: &End) -> Result<(), String> {
    let words = [
        "link",
        "add",
        near.device,
        "type",
        "veth",
        "peer",
        "name",
        far.device,
    ];
    let peer_namespace = far.space.map(Namespace::path);
    let peer_namespace = peer_namespace
        .iter()
        .flat_map(|path| ["netns", path.as_str()]);
    let words: Vec<&str> = words.into_iter().chain(peer_namespace).collect();
    near.run_inside(|| ip(&words))?;
    [near, far].into_iter().try_for_each(End::set_up)
}

impl End<'_> {
    /// Runs `work` in the namespace of this end.
    fn run_inside(&self, work: impl FnOnce() -> Result<(), String> + Send) -> Result<(), String> {
        match self.space {
            Some(space) => space.run_inside(work)?,
            None => work(),
        }
    }

    fn set_up(&self) -> Result<(), String> {
        self.run_inside(|| {
            for address in self.addresses {
                let words = ["address", "add", address.as_str(), "dev", self.device];
                // `nodad` skips duplicate address detection, because no other host can have the address.
                let flags: &[&str] = if address.contains(':') {
                    &["nodad"]
                } else {
                    &[]
                };
                ip(&[&words[..], flags].concat())?;
            }
            ip(&["link", "set", self.device, "up"])
        })
    }
}

/// Runs `ip` from iproute2.
///
/// # Errors
/// Returns the output on standard error.
pub fn ip(words: &[&str]) -> Result<(), String> {
    let output = run("ip", words).or_else(|_| run("/usr/sbin/ip", words));
    let output = output.map_err(|_| "`ip` of iproute2 is not installed")?;
    if output.status.success() {
        Ok(())
    } else {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(format!("ip {}: {message}", words.join(" ")))
    }
}

fn run(program: &str, words: &[&str]) -> io::Result<Output> {
    let mut command = Command::new(program);
    command.args(words).stdin(Stdio::null()).output()
}
