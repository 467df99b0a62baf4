// SPDX-License-Identifier: Apache-2.0
//! A network link in user space that delays or drops packets.
//!
//! It has a TUN device at each end (Documentation/networking/tuntap.rst in Linux), because some
//! kernels lack tc-netem(8).

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The ioctl that creates a device for packets without an additional header (linux/if_tun.h).
const TUNSETIFF: u64 = 0x4004_54ca;
const IFF_TUN: i16 = 1;
const IFF_NO_PI: i16 = 0x1000;
/// The size of the largest packet in bytes.
const MAX_PACKET: usize = 65_536;

/// The argument of the ioctl (netdevice(7), `struct ifreq`).
#[repr(C)]
struct Request {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

/// Creates a device in the thread's namespace. The device exists until the file is closed.
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
    // SAFETY: the descriptor is open, and `request` is as large as the kernel's structure.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), TUNSETIFF as _, &raw mut request) };
    if status == 0 {
        Ok(file)
    } else {
        Err(format!("/dev/net/tun: {}", std::io::Error::last_os_error()))
    }
}

/// Connects two devices until the process exits.
///
/// `delay` returns the delay of a packet from the first device, or `None` if the packet is dropped. Packets from the
/// second device arrive without delay.
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

/// Forwards packets in order.
fn carry(
    mut from: File,
    mut to: File,
    mut delay: impl FnMut(&[u8]) -> Option<Duration> + Send + 'static,
) {
    let (sender, under_way) = mpsc::channel::<(Instant, Vec<u8>)>();
    thread::spawn(move || {
        let mut room = vec![0; MAX_PACKET];
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
            // A device that is down does not accept packets.
            let _ = to.write(&packet);
        }
    });
}
