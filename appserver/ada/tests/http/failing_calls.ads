--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  System calls that fail when a test requests it. The program must be linked with
--
--     -Wl,--wrap=epoll_ctl

with Interfaces.C;

package Failing_Calls is

   procedure Allow_Memory (Bytes : Interfaces.C.unsigned_long);
   --  Limits the memory of the process to its current size plus Bytes (RLIMIT_AS)

   procedure Allow_All_Memory;

   procedure Fail_Events (Count : Natural);
   --  Makes the next Count calls of epoll_ctl that add or modify an entry fail, as if the system
   --  lacked the resources (ENOSPC)

   function Removed_Events return Natural;
   --  Returns the number of removals from epoll sets since the program started

   function Failed_Events return Natural;
   --  Returns the number of calls that have failed since the last Fail_Events

end Failing_Calls;
