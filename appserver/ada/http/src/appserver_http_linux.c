/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The benchlab authors
 *
 * Values from the headers of Linux and the C library on the target machine, for Appserver.HTTP.Linux_Values. The layouts
 * in Appserver.HTTP.Linux and Appserver.HTTP.Linux_Files are checked here. */

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <linux/futex.h>
#include <linux/sockios.h>

#define VALUE(type, name) const type appserver_http_##name = name

VALUE (int, EAGAIN);
VALUE (int, ECONNREFUSED);
VALUE (int, EINTR);
VALUE (int, EMFILE);
VALUE (int, ENFILE);
VALUE (int, ENOBUFS);
VALUE (int, ENOENT);
VALUE (int, ENOMEM);

VALUE (int, AF_INET);
VALUE (int, AF_INET6);
VALUE (int, AF_UNIX);
VALUE (int, IPPROTO_TCP);
VALUE (int, MSG_DONTWAIT);
VALUE (int, MSG_MORE);
VALUE (int, MSG_NOSIGNAL);
VALUE (int, MSG_PEEK);
VALUE (int, SHUT_WR);
VALUE (int, SIGPIPE);
VALUE (int, SO_ACCEPTCONN);
VALUE (int, SO_ATTACH_FILTER);
VALUE (int, SO_DOMAIN);
VALUE (int, SO_KEEPALIVE);
VALUE (int, SO_LINGER);
VALUE (int, SO_REUSEADDR);
VALUE (int, SO_TYPE);
VALUE (int, SOCK_CLOEXEC);
VALUE (int, SOCK_NONBLOCK);
VALUE (int, SOCK_STREAM);
VALUE (int, SOL_SOCKET);
VALUE (int, TCP_KEEPCNT);
VALUE (int, TCP_KEEPIDLE);
VALUE (int, TCP_KEEPINTVL);
VALUE (int, TCP_NODELAY);
VALUE (unsigned long, SIOCOUTQ);

VALUE (short, POLLIN);
VALUE (short, POLLOUT);
VALUE (uint32_t, EPOLLIN);
VALUE (uint32_t, EPOLLOUT);
VALUE (uint32_t, EPOLLEXCLUSIVE);
VALUE (int, EPOLL_CLOEXEC);
VALUE (int, EPOLL_CTL_ADD);
VALUE (int, EPOLL_CTL_DEL);
VALUE (int, EPOLL_CTL_MOD);
VALUE (int, EFD_CLOEXEC);
VALUE (int, EFD_NONBLOCK);

VALUE (int, AT_EMPTY_PATH);
VALUE (int, AT_FDCWD);
VALUE (int, AT_SYMLINK_NOFOLLOW);
VALUE (int, F_DUPFD_CLOEXEC);
VALUE (int, F_GETFL);
VALUE (int, F_SETFD);
VALUE (int, F_SETFL);
VALUE (int, LOCK_EX);
VALUE (int, LOCK_NB);
VALUE (int, O_APPEND);
VALUE (int, O_CLOEXEC);
VALUE (int, O_CREAT);
VALUE (int, O_DIRECTORY);
VALUE (int, O_NOFOLLOW);
VALUE (int, O_NONBLOCK);
VALUE (int, O_PATH);
VALUE (int, O_WRONLY);
VALUE (unsigned, STATX_INO);
VALUE (unsigned, STATX_MODE);
VALUE (unsigned, STATX_MTIME);
VALUE (unsigned, STATX_SIZE);
VALUE (unsigned, STATX_TYPE);
VALUE (uint16_t, S_IFDIR);
VALUE (uint16_t, S_IFMT);
VALUE (uint16_t, S_IFREG);
VALUE (uint16_t, S_IFSOCK);

VALUE (long, FUTEX_WAIT_PRIVATE);
VALUE (long, FUTEX_WAKE_PRIVATE);
VALUE (long, SYS_futex);

VALUE (int, CLOCK_MONOTONIC);
VALUE (int, CLOCK_MONOTONIC_COARSE);
VALUE (int, CLOCK_REALTIME_COARSE);
VALUE (int, MADV_DONTNEED);
VALUE (int, MADV_NOHUGEPAGE);
VALUE (int, PROT_NONE);
VALUE (int, PROT_READ);
VALUE (int, PROT_WRITE);
VALUE (int, RLIMIT_NOFILE);

/* The size of struct epoll_event, which is packed on x86-64, and the offset of its member data, in words of 32 bits */
const uint32_t appserver_http_event_words = sizeof (struct epoll_event) / 4;
const uint32_t appserver_http_event_key = offsetof (struct epoll_event, data) / 4;

#define SAME(what) _Static_assert (what, "Appserver.HTTP has another layout")

SAME (sizeof (struct epoll_event) <= 16);
SAME (sizeof (pthread_attr_t) <= 128 && sizeof (pthread_t) == sizeof (unsigned long));
SAME (sizeof (cpu_set_t) == 128);
SAME (sizeof (long) == 8 && sizeof (off_t) == 8 && sizeof (size_t) == 8 && sizeof (nfds_t) == 8);
SAME (sizeof (rlim_t) == 8 && sizeof (struct timespec) == 16 && sizeof (struct pollfd) == 8);
SAME (sizeof (struct sockaddr_in) == 16 && sizeof (struct sockaddr_in6) == 28 && sizeof (sa_family_t) == 2);
SAME (offsetof (struct sockaddr_in, sin_addr) == 4 && offsetof (struct sockaddr_in6, sin6_addr) == 8);
SAME (sizeof (struct sockaddr_un) == 110 && offsetof (struct sockaddr_un, sun_path) == 2);
SAME (sizeof (struct linger) == 8);
SAME (sizeof (struct statx) == 256 && offsetof (struct statx, stx_mode) == 28);
SAME (offsetof (struct statx, stx_size) == 40 && offsetof (struct statx, stx_mtime) == 112);
SAME (offsetof (struct statx, stx_ino) == 32 && offsetof (struct statx, stx_dev_major) == 136);
