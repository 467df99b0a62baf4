// SPDX-License-Identifier: Apache-2.0
//! When bytes came, whenever they are looked at: the kernel's own time of their arrival (socket(7),
//! SO_TIMESTAMPNS; of TCP since Linux 4.14).

use crate::clock::{now_ns, since_1970_ns};
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd};

/// Room for one time, and its alignment.
const CONTROL: usize = 8;

/// Has the arrival of a connection's bytes noted from now on.
pub fn note(socket: &impl AsFd) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::ReceiveTimestampns, &true)?)
}

/// By how much the time since 1970, in which arrivals are noted, is ahead of CLOCK_MONOTONIC, ns.
pub fn ahead_ns() -> u64 {
    since_1970_ns().saturating_sub(now_ns())
}

/// Receives what is there, 0 bytes at the end: how many, and when the last of them came, ns since 1970.
pub fn receive(tcp: &TcpStream, room: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut control = [0u64; CONTROL];
    let mut part = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    // SAFETY: a header of zeros is an empty one.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<[u64; CONTROL]>() as _;
    // SAFETY: the kernel writes into the room and the control buffer, no more than they hold.
    let received = unsafe { libc::recvmsg(tcp.as_raw_fd(), &raw mut message, 0) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    Ok((received, came_ns(&message)))
}

fn came_ns(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled in the header and what it points to; a time is copied whatever its
    // alignment.
    unsafe {
        let first = libc::CMSG_FIRSTHDR(message).as_ref()?;
        if first.cmsg_level != libc::SOL_SOCKET || first.cmsg_type != libc::SCM_TIMESTAMPNS {
            return None;
        }
        let time: libc::timespec = libc::CMSG_DATA(first)
            .cast::<libc::timespec>()
            .read_unaligned();
        Some(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::thread::sleep;
    use std::time::Duration;

    #[test]
    fn bytes_came_before_they_are_looked_at() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        note(&tcp).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        // The kernel begins to note a little after it is asked to.
        for _ in 0..100 {
            let before = since_1970_ns();
            other.write_all(b"hello").unwrap();
            let after = since_1970_ns();
            sleep(Duration::from_millis(20));
            let mut room = [0; 10];
            let (n, came) = receive(&tcp, &mut room).unwrap();
            assert_eq!(&room[..n], b"hello");
            if let Some(came) = came {
                assert!((before..=after + 10_000_000).contains(&came));
                drop(other);
                assert_eq!(receive(&tcp, &mut room).unwrap().0, 0);
                return;
            }
        }
        panic!("the kernel tells nothing");
    }
}
