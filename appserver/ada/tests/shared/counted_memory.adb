--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Counters.Atomic;
with Interfaces.C;
with System;

package body Counted_Memory is

   use Interfaces.C;

   Counter : Appserver.Counters.Atomic.Counter;

   function Real_Malloc (Size : size_t) return System.Address
     with Import, Convention => C, External_Name => "__libc_malloc";

   function Counted_Malloc (Size : size_t) return System.Address
     with Export, Convention => C, External_Name => "malloc";

   function Counted_Malloc (Size : size_t) return System.Address is
   begin
      Counter.Increment;
      return Real_Malloc (Size);
   end Counted_Malloc;

   function Calls return Natural is (Natural (Counter.Value));

end Counted_Memory;
