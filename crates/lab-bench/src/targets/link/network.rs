// SPDX-License-Identifier: Apache-2.0
//! A link shaped by the kernel: a virtual cable to a separate network namespace, with netem at both ends.

use lab_host::namespace::{End, Namespace, cable, ip, tc};
use lab_model::{Shape, Shaper};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicU32, Ordering};

/// The size of an Ethernet header in bytes. The kernel counts it as part of a packet, but the shape of a link does not.
const ETHERNET: i32 = 14;

/// The number of networks created by this process.
static CREATED: AtomicU32 = AtomicU32::new(0);

/// The cable and the namespace at its far end. Dropping it removes both.
pub struct Network {
    far: Namespace,
    address: Ipv4Addr,
    device: String,
}

/// Returns the reason why the kernel cannot shape links here, or `None` if it can.
pub fn unavailable() -> Option<String> {
    let shape = Shape {
        up_kbit_s: 1000,
        down_kbit_s: 1000,
        round_trip_ms: 1.0,
        mtu: 1500,
        by: Shaper::Netem,
    };
    Network::new(&shape).err()
}

impl Network {
    /// Creates a network with this shape.
    ///
    /// # Errors
    /// Returns a description of what is missing: root, iproute2 or the kernel's netem.
    pub fn new(shape: &Shape) -> Result<Network, String> {
        let far = Namespace::new()?;
        let number = CREATED.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        let device = format!("lab{process}n{number}");
        let far_device = "lab0";
        // Each of the 64 networks has four addresses from the range for documentation (RFC 5737).
        let begin = 4 * ((process + number) % 64) as u8;
        let [near_address, address] = [1, 2].map(|at| Ipv4Addr::new(192, 0, 2, begin + at));
        let ends = [near_address, address].map(|address| [format!("{address}/30")]);
        let near = End {
            space: None,
            device: &device,
            addresses: &ends[0],
        };
        let other = End {
            space: Some(&far),
            device: far_device,
            addresses: &ends[1],
        };
        cable(&near, &other)?;
        // From here on, dropping `network` removes the cable.
        let network = Network {
            device,
            address,
            far,
        };
        shape_device(&network.device, shape.mtu, shape.up_kbit_s, shape)?;
        let shape_far_end = || shape_device(far_device, shape.mtu, shape.down_kbit_s, shape);
        network.far.within(shape_far_end)??;
        Ok(network)
    }

    /// Opens a socket at the far end.
    pub fn listen(&self) -> io::Result<TcpListener> {
        let bound = self
            .far
            .within(|| TcpListener::bind(SocketAddr::from((self.address, 0))));
        bound.map_err(io::Error::other)?
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = ip(&["link", "delete", &self.device]);
    }
}

/// Shapes the outgoing traffic of a device.
fn shape_device(device: &str, mtu: u32, kbit_s: u32, shape: &Shape) -> Result<(), String> {
    // Otherwise the kernel would merge packets, and their headers would count only once.
    let mtu = mtu.to_string();
    ip(&["link", "set", device, "mtu", &mtu, "gso_max_segs", "1"])?;
    let delay = format!("{}us", (shape.round_trip_ms * 500.0).round());
    let (rate, overhead) = (format!("{kbit_s}kbit"), format!("-{ETHERNET}"));
    let words = [
        "qdisc", "add", "dev", device, "root", "netem", "limit", "10000", "delay", &delay, "rate",
        &rate, &overhead,
    ];
    tc(&words).map_err(|message| format!("the kernel does not support netem: {message}"))
}
