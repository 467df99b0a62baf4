// SPDX-License-Identifier: Apache-2.0
//! Ends connections of a database server, as an administrator does: from any thread.

use crate::ServiceError;
use crate::address::ServiceAddress;
use crate::database::{Database, DatabaseKind};

/// The server's address. Unlike a connection it can be sent to another thread.
pub struct Terminator {
    kind: &'static DatabaseKind,
    address: ServiceAddress,
}

/// A [`Terminator`] that is connected.
pub struct ConnectedTerminator {
    database: Box<dyn Database>,
}

impl Terminator {
    pub(crate) fn new(kind: &'static DatabaseKind, address: ServiceAddress) -> Terminator {
        Terminator { kind, address }
    }

    /// Connects as the subjects' user, who may end connections of its own.
    pub fn connect(self) -> Result<ConnectedTerminator, ServiceError> {
        let database = (self.kind.connect)(self.address)?;
        Ok(ConnectedTerminator { database })
    }
}

impl ConnectedTerminator {
    /// Ends the connection that comes from this TCP port of its client, if there is one.
    pub fn end(&mut self, port: u16) -> Result<(), ServiceError> {
        self.database.end_connection(port)
    }
}
