// SPDX-License-Identifier: Apache-2.0
//! The kernel's counters of processes and of the whole machine.

use std::fs;
use std::io;
use std::mem;

/// Returns the number of bytes that this process read from devices, or `None` if the kernel does not count them.
pub fn read_bytes() -> Option<u64> {
    counted_of("self", "read_bytes")
}

/// Returns a counter of `/proc/PID/io` (proc(5)).
pub fn counted_of(process: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/io")).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(": "));
    lines.find(|(key, _)| *key == name)?.1.parse().ok()
}

/// Returns the idle time and the total time of all cores in ticks. Waiting for a disk counts as idle.
pub fn cpu_ticks() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let words = text.lines().next()?.split_whitespace().skip(1);
    let ticks: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((idle, ticks.iter().take(8).sum()))
}

/// Returns two times in µs from the kernel's pressure stall information: the time in which at least one task was
/// stalled on I/O, and the time in which all non-idle tasks were stalled.
pub fn io_pressure() -> Option<(u64, u64)> {
    let text = fs::read_to_string("/proc/pressure/io").ok()?;
    let total = |kind: &str| {
        let line = text.lines().find(|line| line.starts_with(kind))?;
        line.rsplit_once("total=")?.1.trim().parse().ok()
    };
    Some((total("some")?, total("full")?))
}

/// Lets the calling thread, and processes and threads that it starts from now on, run on all cores.
pub fn use_all_cores() {
    // SAFETY: a CPU set of the given size; 0 is the calling thread.
    unsafe {
        let mut cores: libc::cpu_set_t = mem::zeroed();
        for core in 0..libc::CPU_SETSIZE as usize {
            libc::CPU_SET(core, &mut cores);
        }
        libc::sched_setaffinity(0, mem::size_of::<libc::cpu_set_t>(), &cores);
    }
}

/// Sets the I/O class of the calling process to "idle" (ioprio_set(2)), which is served when there is no other I/O.
pub fn be_idle() -> io::Result<()> {
    const WHO_PROCESS: libc::c_int = 1;
    const CLASS_IDLE: libc::c_int = 3 << 13;
    // SAFETY: a system call with numeric arguments.
    match unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, 0, CLASS_IDLE) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
