// SPDX-License-Identifier: Apache-2.0
//! Arrival times of received bytes, as recorded by the kernel (socket(7), SO_TIMESTAMPNS; for TCP
//! since Linux 4.14). They do not depend on when the generator reads the bytes.

use crate::clock::{now_ns, since_1970_ns};
use crate::tracker::CHECK_INTERVAL_NS;
use nix::sys::socket::{setsockopt, sockopt};
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::net::TcpStream;
use std::os::fd::{AsFd, AsRawFd};

/// The size of the buffer for a control message with one timestamp, in 64-bit words.
const CONTROL_WORDS: usize = 8;

/// Makes the kernel record the arrival time of the bytes on a connection.
pub fn enable_timestamps(socket: &impl AsFd) -> io::Result<()> {
    Ok(setsockopt(socket, sockopt::ReceiveTimestampns, &true)?)
}

/// The minimum change of the offset between the clocks, in ns, that counts as a step of the time of
/// day. Without a step, the kernel adjusts the rate of both clocks equally.
const STEP_NS: u64 = 20_000;

/// The duration in ns up to which a comparison of the clocks is accurate enough. If [`COMPARISONS`]
/// attempts all take longer, the shortest comparison is used.
const GOOD_COMPARISON_NS: u64 = 1_000;
const COMPARISONS: u32 = 4;

/// Converts the kernel's arrival times to CLOCK_MONOTONIC.
pub struct ArrivalClock {
    offset: Offset,
    /// The time in ns until which arrival times are ignored, because the time of day was set.
    doubted_until_ns: u64,
}

/// The difference CLOCK_REALTIME minus CLOCK_MONOTONIC, and the duration of its measurement, in ns.
#[derive(Clone, Copy)]
struct Offset {
    ahead_ns: i64,
    took_ns: u64,
}

impl Offset {
    fn read() -> Offset {
        let read = || {
            let before = now_ns();
            let since_1970 = since_1970_ns();
            let took_ns = now_ns() - before;
            Offset {
                ahead_ns: since_1970 as i64 - (before + took_ns / 2) as i64,
                took_ns,
            }
        };
        let mut best = read();
        for _ in 1..COMPARISONS {
            if best.took_ns <= GOOD_COMPARISON_NS {
                break;
            }
            best = std::cmp::min_by_key(best, read(), |offset| offset.took_ns);
        }
        best
    }
}

impl ArrivalClock {
    pub fn new() -> ArrivalClock {
        ArrivalClock {
            offset: Offset::read(),
            doubted_until_ns: 0,
        }
    }

    /// Compares the clocks again.
    ///
    /// Must be called before [`ArrivalClock::came_ns`] converts timestamps that were recorded since
    /// the last comparison.
    pub fn refresh(&mut self) {
        self.update(Offset::read(), now_ns());
    }

    fn update(&mut self, offset: Offset, now_ns: u64) {
        let previous = std::mem::replace(&mut self.offset, offset);
        let apart_ns = previous.ahead_ns.abs_diff(offset.ahead_ns);
        if apart_ns > STEP_NS + previous.took_ns + offset.took_ns {
            self.doubted_until_ns = now_ns + CHECK_INTERVAL_NS;
        }
    }

    /// Converts the kernel's timestamp of a response to CLOCK_MONOTONIC, in ns.
    ///
    /// Returns `None` if the result is before the request was sent or after the response was read,
    /// or if the clock has just been set.
    pub fn came_ns(&mut self, noted_ns: u64, sent_ns: u64, read_ns: u64) -> Option<u64> {
        self.plausible_arrival(noted_ns, sent_ns, read_ns)
            .or_else(|| {
                self.refresh();
                self.plausible_arrival(noted_ns, sent_ns, read_ns)
            })
    }

    fn plausible_arrival(&self, noted_ns: u64, sent_ns: u64, read_ns: u64) -> Option<u64> {
        let came_ns = u64::try_from(noted_ns as i64 - self.offset.ahead_ns).ok()?;
        let fits = (sent_ns..=read_ns + STEP_NS).contains(&came_ns);
        (fits && read_ns >= self.doubted_until_ns).then(|| came_ns.min(read_ns))
    }
}

/// Receives the available bytes.
///
/// Returns the number of bytes, which is 0 at the end of the stream, and the arrival time of the
/// last byte in ns since 1970.
pub fn receive(tcp: &TcpStream, room: &mut [u8]) -> io::Result<(usize, Option<u64>)> {
    let mut control = [0u64; CONTROL_WORDS];
    let mut part = libc::iovec {
        iov_base: room.as_mut_ptr().cast(),
        iov_len: room.len(),
    };
    // SAFETY: a header of zeros is an empty header.
    let mut message: libc::msghdr = unsafe { MaybeUninit::zeroed().assume_init() };
    message.msg_iov = &raw mut part;
    message.msg_iovlen = 1;
    message.msg_control = control.as_mut_ptr().cast();
    message.msg_controllen = size_of::<[u64; CONTROL_WORDS]>() as _;
    // SAFETY: the kernel writes at most as many bytes as `room` and the control buffer hold.
    let received = unsafe { libc::recvmsg(tcp.as_raw_fd(), &raw mut message, 0) };
    let received = usize::try_from(received).map_err(|_| io::Error::last_os_error())?;
    Ok((received, came_ns(&message)))
}

fn came_ns(message: &libc::msghdr) -> Option<u64> {
    // SAFETY: the kernel has filled in the header and the data that it points to. The timestamp may be unaligned and is
    // copied.
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

    const SECOND: u64 = 1_000_000_000;

    /// Returns an offset in ns, measured in a short comparison of the clocks.
    fn ahead(ahead_ns: i64) -> Offset {
        Offset {
            ahead_ns,
            took_ns: 100,
        }
    }

    #[test]
    fn implausible_arrival_times_are_ignored() {
        let now = now_ns();
        for off_ns in [600, -600].map(|s| s * SECOND as i64) {
            let mut clock = ArrivalClock::new();
            let noted = (now as i64 + clock.offset.ahead_ns - off_ns) as u64;
            assert_eq!(clock.came_ns(noted, now - 1_000_000, now + 1_000_000), None);
        }
        let mut clock = ArrivalClock::new();
        let noted = (now as i64 + clock.offset.ahead_ns) as u64;
        let came = clock.came_ns(noted, now - 1_000_000, now + 1_000_000);
        assert_eq!(came, Some(now));
    }

    /// A clock step that is shorter than a request results in a plausible arrival time. Only a
    /// comparison of the clocks detects it.
    #[test]
    fn arrival_times_near_a_clock_step_are_ignored() {
        let mut clock = ArrivalClock {
            offset: ahead(SECOND as i64),
            doubted_until_ns: 0,
        };
        let (sent, read) = (10 * SECOND, 10 * SECOND + 9_000_000);
        let noted = 11 * SECOND + 4_000_000;
        assert_eq!(
            clock.plausible_arrival(noted, sent, read),
            Some(10 * SECOND + 4_000_000)
        );
        // Drift between two comparisons is not a clock step.
        clock.update(ahead(SECOND as i64 + 300), read);
        assert!(clock.plausible_arrival(noted, sent, read).is_some());
        clock.update(ahead(SECOND as i64 + 3_000_000), read);
        assert_eq!(clock.plausible_arrival(noted, sent, read), None);
        let later = read + CHECK_INTERVAL_NS;
        assert!(
            clock
                .plausible_arrival(noted + CHECK_INTERVAL_NS, later - 9_000_000, later)
                .is_some()
        );
    }

    #[test]
    fn bytes_arrived_before_they_are_checked() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        enable_timestamps(&tcp).unwrap();
        let (mut other, _) = listener.accept().unwrap();
        // The kernel starts to record timestamps a little later.
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
        panic!("the kernel reports no timestamp");
    }
}
