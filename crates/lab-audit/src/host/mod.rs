// SPDX-License-Identifier: Apache-2.0
//! `audit host`: describes a machine from `/proc`, `/sys` and `/etc`.

mod audit;
mod copy;
mod cpu;
mod disks;
mod filesystems;
mod fitness;
mod machine;
mod memory;
mod network;
mod system;

pub use audit::{CLASSES, audit, available, mounts, observe, rules};
pub use fitness::inspect;
pub use machine::{AuditedMachine, HostActivity, Probe, name};
