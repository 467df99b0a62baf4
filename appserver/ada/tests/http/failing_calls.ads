--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Calls of the system that fail when a test wants them to. The program has to be linked with the
--  C library as a shared one, and with
--
--     -Wl,--wrap=epoll_ctl

with Interfaces.C;

package Failing_Calls is

   procedure Allow_Threads (Count : Natural);
   --  Creating threads fails after Count more

   procedure Allow_All_Threads;

   procedure Allow_Memory (Bytes : Interfaces.C.unsigned_long);
   --  Limits memory to Bytes more than now (RLIMIT_AS)

   procedure Allow_All_Memory;

   procedure Fail_Events (Count : Natural);
   --  The next calls that change what is waited for fail, as if the system had no room (ENOSPC)

   function Failed_Events return Natural;
   --  How many of them did since then

end Failing_Calls;
