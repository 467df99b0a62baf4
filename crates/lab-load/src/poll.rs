// SPDX-License-Identifier: Apache-2.0
//! Edge-triggered epoll (epoll(7)). Each connection is registered once, when it is opened.

use crate::clock::timespec;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The maximum number of events per wait.
const MAX_EVENTS: usize = 256;

/// Waits for events on connections.
pub struct Poll {
    epoll: OwnedFd,
    events: Box<[libc::epoll_event]>,
    count: usize,
}

/// An event of a connection.
#[derive(Clone, Copy, Debug)]
pub struct PollEvent {
    /// The key under which the connection was registered.
    pub key: u64,
    /// True if the connection may accept bytes, or was just opened.
    pub writable: bool,
    /// True if there may be bytes, the end of the stream, or an error to receive.
    pub readable: bool,
    /// True if the server closed the connection or the connection failed. Bytes may still be
    /// available.
    pub ended: bool,
}

impl Poll {
    /// Creates an epoll instance without connections.
    pub fn new() -> io::Result<Poll> {
        // SAFETY: creates a new descriptor.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Poll {
            // SAFETY: the descriptor was just created and has no other owner.
            epoll: unsafe { OwnedFd::from_raw_fd(epoll) },
            events: vec![libc::epoll_event { events: 0, u64: 0 }; MAX_EVENTS].into(),
            count: 0,
        })
    }

    /// Starts to report the events of a connection, identified by `key`, until the connection is
    /// closed.
    pub fn add(&self, stream: &TcpStream, key: u64) -> io::Result<()> {
        let all = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        let mut event = libc::epoll_event {
            events: all as u32,
            u64: key,
        };
        let (epoll, stream) = (self.epoll.as_raw_fd(), stream.as_raw_fd());
        // SAFETY: both descriptors are open, and the event is only read.
        match unsafe { libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, stream, &mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits until an event occurs, a signal arrives, or the timeout has passed.
    pub fn wait(&mut self, timeout_ns: u64) {
        let timeout = timespec(timeout_ns);
        // SAFETY: the kernel writes at most as many events as the buffer holds. epoll_pwait2 exists since Linux 5.11;
        // unlike epoll_wait, it takes a timeout in ns.
        let count = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                self.epoll.as_raw_fd(),
                self.events.as_mut_ptr(),
                MAX_EVENTS,
                &raw const timeout,
                std::ptr::null::<libc::sigset_t>(),
                0,
            )
        };
        self.count = usize::try_from(count).unwrap_or(0);
    }

    /// Returns an event of the last wait. `index` is below [`Poll::event_count`].
    pub fn event(&self, index: usize) -> PollEvent {
        let libc::epoll_event { events, u64: key } = self.events[index];
        let ends = libc::EPOLLERR | libc::EPOLLHUP | libc::EPOLLRDHUP;
        PollEvent {
            key,
            writable: events & libc::EPOLLOUT as u32 != 0,
            readable: events & (libc::EPOLLIN | ends) as u32 != 0,
            ended: events & ends as u32 != 0,
        }
    }

    /// Returns the number of events of the last wait, from 0 to 256.
    pub fn event_count(&self) -> usize {
        self.count
    }

    /// Returns true if more events may be available.
    pub fn is_full(&self) -> bool {
        self.count == MAX_EVENTS
    }
}
