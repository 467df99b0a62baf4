// SPDX-License-Identifier: Apache-2.0
//! Edge-triggered epoll (epoll(7)): a connection is registered once, when it is opened.

use crate::clock::timespec;
use std::io;
use std::net::TcpStream;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// The most events of one wait.
const MAX_EVENTS: usize = 256;

/// Waits for events of connections.
pub struct Poll {
    epoll: OwnedFd,
    events: Box<[libc::epoll_event]>,
    count: usize,
}

/// An event of a connection.
#[derive(Clone, Copy, Debug)]
pub struct PollEvent {
    /// The key that the connection was registered with.
    pub key: u64,
    /// There may be room to send, or it was just opened.
    pub writable: bool,
    /// There may be something to receive, an end or an error included.
    pub readable: bool,
    /// The server has ended it, or it failed: the end comes behind what there is to receive.
    pub ended: bool,
}

impl Poll {
    /// Without any connection.
    pub fn new() -> io::Result<Poll> {
        // SAFETY: makes a new descriptor.
        let epoll = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if epoll < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Poll {
            // SAFETY: the descriptor was just made, and nobody else owns it.
            epoll: unsafe { OwnedFd::from_raw_fd(epoll) },
            events: vec![libc::epoll_event { events: 0, u64: 0 }; MAX_EVENTS].into(),
            count: 0,
        })
    }

    /// Reports events of `stream` with this key, until it is closed.
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

    /// Waits until something happens, but no longer than this. A signal ends the waiting too.
    pub fn wait(&mut self, timeout_ns: u64) {
        let timeout = timespec(timeout_ns);
        // SAFETY: the kernel writes no more events than there is room for. epoll_pwait2 is in Linux since
        // 5.11; unlike epoll_wait it takes a time in ns.
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

    /// An event of the last wait; `index` is below [`Poll::event_count`].
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

    /// How many events the last wait found: 0 to 256.
    pub fn event_count(&self) -> usize {
        self.count
    }

    /// True if there may be more events than were found.
    pub fn is_full(&self) -> bool {
        self.count == MAX_EVENTS
    }
}
