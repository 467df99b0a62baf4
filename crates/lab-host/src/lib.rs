// SPDX-License-Identifier: Apache-2.0
//! The machine that benchlab runs on: its files, processes, cores, disks and network namespaces.
//!
//! Also measures the machine's activity during a measurement.

pub mod cores;
mod cpu_clock;
pub mod disk;
mod facts;
mod gauge;
pub mod kernel;
mod medium;
pub mod namespace;
pub mod netstat;
pub mod procfs;
mod root;
mod tree_cpu;
mod virtual_machine;

pub use cores::{allowed_cores, cores_except};
pub use cpu_clock::CpuClock;
pub use facts::describe;
pub use gauge::Gauge;
pub use medium::{Medium, not_a_disk};
pub use root::Root;
pub use tree_cpu::TreeCpu;
pub use virtual_machine::is_virtual_machine;
