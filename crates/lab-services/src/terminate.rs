// SPDX-License-Identifier: Apache-2.0
//! Ends connections of a database server from any thread, as an administrator does.

use crate::ServiceError;
use crate::address::ServiceAddress;
use crate::database::{Database, DatabaseKind};

/// The server's address. Unlike a connection, this can be sent to another thread.
pub struct Terminator {
    kind: &'static DatabaseKind,
    address: ServiceAddress,
}

/// A connected [`Terminator`].
pub struct ConnectedTerminator {
    database: Box<dyn Database>,
}

impl Terminator {
    pub(crate) fn new(kind: &'static DatabaseKind, address: ServiceAddress) -> Terminator {
        Terminator { kind, address }
    }

    /// Connects as the subjects' user, who may end its own connections.
    pub fn connect(self) -> Result<ConnectedTerminator, ServiceError> {
        let database = (self.kind.connect)(self.address)?;
        Ok(ConnectedTerminator { database })
    }
}

impl ConnectedTerminator {
    /// Ends the connection from this TCP port of the client, if there is one.
    pub fn end(&mut self, port: u16) -> Result<(), ServiceError> {
        self.database.end_connection(port)
    }
}
