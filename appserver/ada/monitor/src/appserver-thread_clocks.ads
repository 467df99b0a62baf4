--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Linux clocks, the choice of the requests whose CPU time is measured, and the stripe of each
--  thread.

pragma Ada_2022;

with Appserver.Atomic_Words;

package Appserver.Thread_Clocks is

   function Monotonic return Atomic_Words.Word with Inline;
   --  Returns the time of CLOCK_MONOTONIC, in nanoseconds

   function CPU_Time return Atomic_Words.Word;
   --  Returns the CPU time of the calling thread, in nanoseconds. Each call is a system call.

   function Unix_Milliseconds return Atomic_Words.Word;
   --  Returns the number of milliseconds since 1970

   procedure Choose_Sample (Now : Atomic_Words.Word; Is_Chosen : out Boolean) with Inline;
   --  Decides whether the CPU time of the current request is measured. Chooses one request of the
   --  calling thread per interval of 1 to 2 ms, or every request if requests are less frequent. The
   --  interval is random, so that the choice is not in step with periodic requests. Now is the
   --  current time of Monotonic.

   function Stripe (Stripes : Positive) return Positive with Inline;
   --  Returns the calling thread's stripe, from 1 to Stripes. Stripes must be a power of two.

end Appserver.Thread_Clocks;
