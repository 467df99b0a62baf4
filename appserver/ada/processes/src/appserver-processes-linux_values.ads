--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Values of C macros on the target machine. appserver_processes_linux.c defines them from the
--  system headers.

pragma Ada_2022;

with Interfaces.C;

private package Appserver.Processes.Linux_Values is

   use Interfaces.C;

   EAGAIN : constant int
     with Import, Convention => C, External_Name => "appserver_processes_EAGAIN";
   EINTR : constant int
     with Import, Convention => C, External_Name => "appserver_processes_EINTR";
   EINVAL : constant int
     with Import, Convention => C, External_Name => "appserver_processes_EINVAL";
   EPIPE : constant int
     with Import, Convention => C, External_Name => "appserver_processes_EPIPE";

   F_DUPFD_CLOEXEC : constant int
     with Import, Convention => C, External_Name => "appserver_processes_F_DUPFD_CLOEXEC";
   F_SETFL : constant int
     with Import, Convention => C, External_Name => "appserver_processes_F_SETFL";
   O_CLOEXEC : constant int
     with Import, Convention => C, External_Name => "appserver_processes_O_CLOEXEC";
   O_NONBLOCK : constant int
     with Import, Convention => C, External_Name => "appserver_processes_O_NONBLOCK";
   O_RDWR : constant int
     with Import, Convention => C, External_Name => "appserver_processes_O_RDWR";

   POLLIN : constant short
     with Import, Convention => C, External_Name => "appserver_processes_POLLIN";
   POLLOUT : constant short
     with Import, Convention => C, External_Name => "appserver_processes_POLLOUT";

   SIGPIPE : constant int
     with Import, Convention => C, External_Name => "appserver_processes_SIGPIPE";
   SIG_BLOCK : constant int
     with Import, Convention => C, External_Name => "appserver_processes_SIG_BLOCK";
   SIG_SETMASK : constant int
     with Import, Convention => C, External_Name => "appserver_processes_SIG_SETMASK";
   SYS_pidfd_open : constant long
     with Import, Convention => C, External_Name => "appserver_processes_SYS_pidfd_open";
   SYS_pidfd_send_signal : constant long
     with Import, Convention => C, External_Name => "appserver_processes_SYS_pidfd_send_signal";
   WNOHANG : constant int
     with Import, Convention => C, External_Name => "appserver_processes_WNOHANG";

end Appserver.Processes.Linux_Values;
