// SPDX-License-Identifier: Apache-2.0
//! A line that delays packets or loses them, in user space: a TUN device at each end
//! (Documentation/networking/tuntap.rst of Linux). tc-netem(8) is not in every kernel.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The request that creates a device with packets without a header of their own (linux/if_tun.h).
const TUNSETIFF: u64 = 0x4004_54ca;
const IFF_TUN: i16 = 1;
const IFF_NO_PI: i16 = 0x1000;
/// Bytes of the largest packet.
const LARGEST: usize = 65_536;

/// The request for a device (netdevice(7), `struct ifreq`).
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

/// A device of this name in the thread's namespace, until its file is closed.
pub fn device(name: &str) -> Result<File, String> {
    let opened = OpenOptions::new()
        .read(true)
        .write(true)
        .open("/dev/net/tun");
    let file = opened.map_err(|e| format!("/dev/net/tun: {e}"))?;
    let mut request = Request {
        name: [0; 16],
        flags: IFF_TUN | IFF_NO_PI,
        rest: [0; 22],
    };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: the descriptor is open, and `request` is as large as the kernel's.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, &raw mut request) };
    if status == 0 {
        Ok(file)
    } else {
        Err(format!("/dev/net/tun: {}", std::io::Error::last_os_error()))
    }
}

/// Joins two devices until the process ends. `delay`: how long a packet from the first one is under way; `None`: it is
/// lost. Packets from the second one arrive at once.
pub fn join(
    first: File,
    second: File,
    delay: impl FnMut(&[u8]) -> Option<Duration> + Send + 'static,
) -> Result<(), String> {
    let copy = |file: &File| file.try_clone().map_err(|e| e.to_string());
    carry(copy(&first)?, copy(&second)?, delay);
    carry(second, first, |_| Some(Duration::ZERO));
    Ok(())
}

/// Moves packets in their order.
fn carry(
    mut from: File,
    mut to: File,
    mut delay: impl FnMut(&[u8]) -> Option<Duration> + Send + 'static,
) {
    let (sender, under_way) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut room = vec![0; LARGEST];
        // A device that is down cannot be read.
        loop {
            let Ok(length @ 1..) = from.read(&mut room) else {
                thread::sleep(Duration::from_millis(10));
                continue;
            };
            if let Some(delay) = delay(&room[..length]) {
                let packet = (Instant::now() + delay, room[..length].to_vec());
                if sender.send(packet).is_err() {
                    return;
                }
            }
        }
    });
    thread::spawn(move || {
        for (due, packet) in under_way {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            // A device that is down takes none.
            let _ = to.write(&packet);
        }
    });
}
