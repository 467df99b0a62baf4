--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Limits the time of an operation, by aborting it.

pragma Ada_2022;

package Appserver.Resilience.Time_Limits is

   procedure Run (Limit : Pause; Operation : not null access procedure);
   --  Runs an operation, and aborts it at the end of a time limit. An operation can be aborted
   --  while it waits or computes in Ada, but not in a C library or in an abort-deferred operation.
   --  In these cases, the caller waits until the library or the operation returns. So set the
   --  timeouts of clients and drivers as well.
   --  @param Limit the time limit in seconds
   --  @param Operation the operation
   --  @exception Time_Limit_Error the operation was aborted; it may have taken effect

end Appserver.Resilience.Time_Limits;
