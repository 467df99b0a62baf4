--  SPDX-License-Identifier: Apache-2.0
--
--  The system calls that the protocol requires: the clock and the thread ID.

package Benchlab.Kernel is

   type Nanoseconds is range 0 .. 2 ** 63 - 1;

   function Monotonic_Time return Nanoseconds with Inline;
   --  Returns the time of CLOCK_MONOTONIC in nanoseconds

   type Thread_Id is range 0 .. 2 ** 31 - 1;

   function Current_Thread return Thread_Id
     with Import, Convention => C, External_Name => "gettid";

end Benchlab.Kernel;
