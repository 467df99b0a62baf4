// SPDX-License-Identifier: Apache-2.0
//! The runtime of the asynchronous drivers.

use std::io;
use tokio::runtime::{Builder, Runtime};

/// Creates a runtime whose tasks all run on the thread that enters it.
pub fn this_thread() -> io::Result<Runtime> {
    Builder::new_current_thread().enable_all().build()
}
