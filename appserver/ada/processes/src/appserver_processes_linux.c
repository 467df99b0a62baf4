/* SPDX-License-Identifier: Apache-2.0
 * Copyright 2026 The benchlab authors
 *
 * Values from the headers of Linux and the C library on the target machine, for Appserver.Processes.Linux_Values.
 * The layouts in Appserver.Processes.Linux are checked here. */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#define VALUE(type, name) const type appserver_processes_##name = name

VALUE (int, EAGAIN);
VALUE (int, EINTR);
VALUE (int, EINVAL);
VALUE (int, EPIPE);

VALUE (int, F_DUPFD_CLOEXEC);
VALUE (int, F_SETFL);
VALUE (int, O_CLOEXEC);
VALUE (int, O_NONBLOCK);
VALUE (int, O_RDWR);

VALUE (short, POLLIN);
VALUE (short, POLLOUT);

VALUE (int, SIGPIPE);
VALUE (int, SIG_BLOCK);
VALUE (int, SIG_SETMASK);
VALUE (long, SYS_pidfd_open);
VALUE (long, SYS_pidfd_send_signal);
VALUE (int, WNOHANG);

#define SAME(what) _Static_assert (what, "Appserver.Processes has another layout")

SAME (sizeof (sigset_t) <= 128);
SAME (sizeof (struct timespec) == 16 && sizeof (struct pollfd) == 8 && sizeof (nfds_t) == 8);
SAME (sizeof (pid_t) == 4 && sizeof (long) == 8);
