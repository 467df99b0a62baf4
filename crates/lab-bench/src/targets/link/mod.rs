// SPDX-License-Identifier: Apache-2.0
//! Links with a rate and a delay between a subject's client and server, both on this machine.

mod network;
mod relay;
mod wire_queue;

use crate::subject::fault::{Fault, SubjectResult};
use lab_model::{Plan, PointId, Shape, Shaper};
use network::Network;
pub use network::unavailable as netem_unavailable;
use relay::Relay;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The maximum length of a Unix socket's path in bytes (unix(7)).
const MAX_PATH: usize = 107;

/// The links of a run.
pub struct Links {
    folder: PathBuf,
    /// Networks shaped by the kernel, by shape. Each network is created once.
    networks: RefCell<HashMap<String, Rc<Network>>>,
    count: Cell<u32>,
}

/// The link of one visit. Dropping it closes its connections.
pub struct ShapedLink {
    /// The address that the client connects to.
    address: SocketAddr,
    /// The Unix socket on which the server listens.
    socket: PathBuf,
    relay: Relay,
    /// Lives as long as the link.
    _network: Option<Rc<Network>>,
}

impl Links {
    /// Creates links whose servers' sockets are in `folder`.
    pub fn new(folder: &Path) -> Links {
        Links {
            folder: folder.to_path_buf(),
            networks: RefCell::default(),
            count: Cell::new(0),
        }
    }

    /// Creates the link of a visit to a point.
    pub fn fresh(&self, plan: &Plan, point: PointId) -> SubjectResult<ShapedLink> {
        let shape = plan.shape(point);
        let shape = shape.ok_or_else(|| fault("the point has no link".into()))?;
        let number = self.count.replace(self.count.get() + 1);
        let socket = self.folder.join(format!("link-{number}"));
        if socket.as_os_str().len() > MAX_PATH {
            let path = socket.display();
            return Err(fault(format!(
                "{path} is too long for a Unix socket: choose a directory with a shorter path with --scratch"
            )));
        }
        let network = match shape.by {
            Shaper::Lab => None,
            Shaper::Netem => Some(self.network(shape)?),
        };
        let listener = match &network {
            None => TcpListener::bind((Ipv4Addr::LOCALHOST, 0)),
            Some(network) => network.listen(),
        };
        let relay_shape = network.is_none().then_some(shape);
        ShapedLink::new(listener, socket, relay_shape, network)
            .map_err(|e| fault(format!("cannot create the link: {e}")))
    }

    /// Returns the network with this shape.
    fn network(&self, shape: &Shape) -> SubjectResult<Rc<Network>> {
        let mut networks = self.networks.borrow_mut();
        let key = format!("{shape:?}");
        if let Some(network) = networks.get(&key) {
            return Ok(network.clone());
        }
        let network = Rc::new(Network::new(shape).map_err(fault)?);
        networks.insert(key, network.clone());
        Ok(network)
    }
}

impl ShapedLink {
    fn new(
        listener: io::Result<TcpListener>,
        socket: PathBuf,
        shape: Option<&Shape>,
        network: Option<Rc<Network>>,
    ) -> io::Result<ShapedLink> {
        let listener = listener?;
        Ok(ShapedLink {
            address: listener.local_addr()?,
            relay: Relay::start(listener, socket.clone(), shape)?,
            socket,
            _network: network,
        })
    }

    /// Returns the value of the subject's `target=` parameter: the client's address and the server's socket.
    pub fn url(&self) -> String {
        format!("link:{}{}", self.address, self.socket.display())
    }

    /// Returns the number of bytes sent by clients.
    pub fn sent(&self) -> u64 {
        self.relay.sent()
    }
}

impl Drop for ShapedLink {
    fn drop(&mut self) {
        // A server that shuts down normally has already removed its socket.
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn fault(message: String) -> Fault {
    Fault::Failed("link", message)
}
