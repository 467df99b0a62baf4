--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Values of C macros on the target machine. appserver_http_linux.c defines them from the system
--  headers.

pragma Ada_2022;

with Interfaces.C;

private package Appserver.HTTP.Linux_Values is

   use Interfaces;
   use Interfaces.C;

   EAGAIN : constant int
     with Import, Convention => C, External_Name => "appserver_http_EAGAIN";
   ECONNREFUSED : constant int
     with Import, Convention => C, External_Name => "appserver_http_ECONNREFUSED";
   EINTR : constant int
     with Import, Convention => C, External_Name => "appserver_http_EINTR";
   EMFILE : constant int
     with Import, Convention => C, External_Name => "appserver_http_EMFILE";
   ENFILE : constant int
     with Import, Convention => C, External_Name => "appserver_http_ENFILE";
   ENOBUFS : constant int
     with Import, Convention => C, External_Name => "appserver_http_ENOBUFS";
   ENOENT : constant int
     with Import, Convention => C, External_Name => "appserver_http_ENOENT";
   ENOMEM : constant int
     with Import, Convention => C, External_Name => "appserver_http_ENOMEM";

   AF_INET : constant int
     with Import, Convention => C, External_Name => "appserver_http_AF_INET";
   AF_INET6 : constant int
     with Import, Convention => C, External_Name => "appserver_http_AF_INET6";
   AF_UNIX : constant int
     with Import, Convention => C, External_Name => "appserver_http_AF_UNIX";
   IPPROTO_TCP : constant int
     with Import, Convention => C, External_Name => "appserver_http_IPPROTO_TCP";
   MSG_DONTWAIT : constant int
     with Import, Convention => C, External_Name => "appserver_http_MSG_DONTWAIT";
   MSG_MORE : constant int
     with Import, Convention => C, External_Name => "appserver_http_MSG_MORE";
   MSG_NOSIGNAL : constant int
     with Import, Convention => C, External_Name => "appserver_http_MSG_NOSIGNAL";
   MSG_PEEK : constant int
     with Import, Convention => C, External_Name => "appserver_http_MSG_PEEK";
   SHUT_WR : constant int
     with Import, Convention => C, External_Name => "appserver_http_SHUT_WR";
   SIGPIPE : constant int
     with Import, Convention => C, External_Name => "appserver_http_SIGPIPE";
   SO_ACCEPTCONN : constant int
     with Import, Convention => C, External_Name => "appserver_http_SO_ACCEPTCONN";
   SO_ATTACH_FILTER : constant int
     with Import, Convention => C, External_Name => "appserver_http_SO_ATTACH_FILTER";
   SO_DOMAIN : constant int
     with Import, Convention => C, External_Name => "appserver_http_SO_DOMAIN";
   SO_KEEPALIVE : constant int
     with Import, Convention => C, External_Name => "appserver_http_SO_KEEPALIVE";
   SO_LINGER : constant int
     with Import, Convention => C, External_Name => "appserver_http_SO_LINGER";
   SO_REUSEADDR : constant int
     with Import, Convention => C, External_Name => "appserver_http_SO_REUSEADDR";
   SO_TYPE : constant int
     with Import, Convention => C, External_Name => "appserver_http_SO_TYPE";
   SOCK_CLOEXEC : constant int
     with Import, Convention => C, External_Name => "appserver_http_SOCK_CLOEXEC";
   SOCK_NONBLOCK : constant int
     with Import, Convention => C, External_Name => "appserver_http_SOCK_NONBLOCK";
   SOCK_STREAM : constant int
     with Import, Convention => C, External_Name => "appserver_http_SOCK_STREAM";
   SOL_SOCKET : constant int
     with Import, Convention => C, External_Name => "appserver_http_SOL_SOCKET";
   TCP_KEEPCNT : constant int
     with Import, Convention => C, External_Name => "appserver_http_TCP_KEEPCNT";
   TCP_KEEPIDLE : constant int
     with Import, Convention => C, External_Name => "appserver_http_TCP_KEEPIDLE";
   TCP_KEEPINTVL : constant int
     with Import, Convention => C, External_Name => "appserver_http_TCP_KEEPINTVL";
   TCP_NODELAY : constant int
     with Import, Convention => C, External_Name => "appserver_http_TCP_NODELAY";
   SIOCOUTQ : constant unsigned_long
     with Import, Convention => C, External_Name => "appserver_http_SIOCOUTQ";

   POLLIN : constant short
     with Import, Convention => C, External_Name => "appserver_http_POLLIN";
   POLLOUT : constant short
     with Import, Convention => C, External_Name => "appserver_http_POLLOUT";
   EPOLLIN : constant Unsigned_32
     with Import, Convention => C, External_Name => "appserver_http_EPOLLIN";
   EPOLLOUT : constant Unsigned_32
     with Import, Convention => C, External_Name => "appserver_http_EPOLLOUT";
   EPOLLEXCLUSIVE : constant Unsigned_32
     with Import, Convention => C, External_Name => "appserver_http_EPOLLEXCLUSIVE";
   EPOLL_CLOEXEC : constant int
     with Import, Convention => C, External_Name => "appserver_http_EPOLL_CLOEXEC";
   EPOLL_CTL_ADD : constant int
     with Import, Convention => C, External_Name => "appserver_http_EPOLL_CTL_ADD";
   EPOLL_CTL_DEL : constant int
     with Import, Convention => C, External_Name => "appserver_http_EPOLL_CTL_DEL";
   EPOLL_CTL_MOD : constant int
     with Import, Convention => C, External_Name => "appserver_http_EPOLL_CTL_MOD";
   EFD_CLOEXEC : constant int
     with Import, Convention => C, External_Name => "appserver_http_EFD_CLOEXEC";
   EFD_NONBLOCK : constant int
     with Import, Convention => C, External_Name => "appserver_http_EFD_NONBLOCK";

   AT_EMPTY_PATH : constant int
     with Import, Convention => C, External_Name => "appserver_http_AT_EMPTY_PATH";
   AT_FDCWD : constant int
     with Import, Convention => C, External_Name => "appserver_http_AT_FDCWD";
   AT_SYMLINK_NOFOLLOW : constant int
     with Import, Convention => C, External_Name => "appserver_http_AT_SYMLINK_NOFOLLOW";
   F_DUPFD_CLOEXEC : constant int
     with Import, Convention => C, External_Name => "appserver_http_F_DUPFD_CLOEXEC";
   F_GETFL : constant int
     with Import, Convention => C, External_Name => "appserver_http_F_GETFL";
   F_SETFD : constant int
     with Import, Convention => C, External_Name => "appserver_http_F_SETFD";
   F_SETFL : constant int
     with Import, Convention => C, External_Name => "appserver_http_F_SETFL";
   LOCK_EX : constant int
     with Import, Convention => C, External_Name => "appserver_http_LOCK_EX";
   LOCK_NB : constant int
     with Import, Convention => C, External_Name => "appserver_http_LOCK_NB";
   O_APPEND : constant int
     with Import, Convention => C, External_Name => "appserver_http_O_APPEND";
   O_CLOEXEC : constant int
     with Import, Convention => C, External_Name => "appserver_http_O_CLOEXEC";
   O_CREAT : constant int
     with Import, Convention => C, External_Name => "appserver_http_O_CREAT";
   O_DIRECTORY : constant int
     with Import, Convention => C, External_Name => "appserver_http_O_DIRECTORY";
   O_NOFOLLOW : constant int
     with Import, Convention => C, External_Name => "appserver_http_O_NOFOLLOW";
   O_NONBLOCK : constant int
     with Import, Convention => C, External_Name => "appserver_http_O_NONBLOCK";
   O_PATH : constant int
     with Import, Convention => C, External_Name => "appserver_http_O_PATH";
   O_WRONLY : constant int
     with Import, Convention => C, External_Name => "appserver_http_O_WRONLY";
   STATX_INO : constant unsigned
     with Import, Convention => C, External_Name => "appserver_http_STATX_INO";
   STATX_MODE : constant unsigned
     with Import, Convention => C, External_Name => "appserver_http_STATX_MODE";
   STATX_MTIME : constant unsigned
     with Import, Convention => C, External_Name => "appserver_http_STATX_MTIME";
   STATX_SIZE : constant unsigned
     with Import, Convention => C, External_Name => "appserver_http_STATX_SIZE";
   STATX_TYPE : constant unsigned
     with Import, Convention => C, External_Name => "appserver_http_STATX_TYPE";
   S_IFDIR : constant Unsigned_16
     with Import, Convention => C, External_Name => "appserver_http_S_IFDIR";
   S_IFMT : constant Unsigned_16
     with Import, Convention => C, External_Name => "appserver_http_S_IFMT";
   S_IFREG : constant Unsigned_16
     with Import, Convention => C, External_Name => "appserver_http_S_IFREG";
   S_IFSOCK : constant Unsigned_16
     with Import, Convention => C, External_Name => "appserver_http_S_IFSOCK";

   FUTEX_WAIT_PRIVATE : constant long
     with Import, Convention => C, External_Name => "appserver_http_FUTEX_WAIT_PRIVATE";
   FUTEX_WAKE_PRIVATE : constant long
     with Import, Convention => C, External_Name => "appserver_http_FUTEX_WAKE_PRIVATE";
   SYS_futex : constant long
     with Import, Convention => C, External_Name => "appserver_http_SYS_futex";

   CLOCK_MONOTONIC : constant int
     with Import, Convention => C, External_Name => "appserver_http_CLOCK_MONOTONIC";
   CLOCK_MONOTONIC_COARSE : constant int
     with Import, Convention => C, External_Name => "appserver_http_CLOCK_MONOTONIC_COARSE";
   CLOCK_REALTIME_COARSE : constant int
     with Import, Convention => C, External_Name => "appserver_http_CLOCK_REALTIME_COARSE";
   MADV_DONTNEED : constant int
     with Import, Convention => C, External_Name => "appserver_http_MADV_DONTNEED";
   MADV_NOHUGEPAGE : constant int
     with Import, Convention => C, External_Name => "appserver_http_MADV_NOHUGEPAGE";
   PROT_NONE : constant int
     with Import, Convention => C, External_Name => "appserver_http_PROT_NONE";
   PROT_READ : constant int
     with Import, Convention => C, External_Name => "appserver_http_PROT_READ";
   PROT_WRITE : constant int
     with Import, Convention => C, External_Name => "appserver_http_PROT_WRITE";
   RLIMIT_NOFILE : constant int
     with Import, Convention => C, External_Name => "appserver_http_RLIMIT_NOFILE";

   Event_Words : constant Unsigned_32
     with Import, Convention => C, External_Name => "appserver_http_event_words";
   --  The size of struct epoll_event, in words of 32 bits
   Event_Key : constant Unsigned_32
     with Import, Convention => C, External_Name => "appserver_http_event_key";
   --  The offset of the member data in struct epoll_event, in words of 32 bits

end Appserver.HTTP.Linux_Values;
