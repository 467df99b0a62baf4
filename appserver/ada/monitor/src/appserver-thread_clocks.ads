--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The clocks of Linux, and which requests of a thread have its CPU time read.

pragma Ada_2022;

with Appserver.Atomic_Words;

package Appserver.Thread_Clocks is

   function Monotonic return Atomic_Words.Word with Inline;
   --  In ns: CLOCK_MONOTONIC

   function CPU_Time return Atomic_Words.Word;
   --  Of the calling thread, in ns. A read is a system call.

   function Unix_Milliseconds return Atomic_Words.Word;
   --  Since 1970

   procedure Choose_Sample (Now : Atomic_Words.Word; Is_Chosen : out Boolean) with Inline;
   --  One request in 1 to 2 ms of the calling thread is chosen, at random, so that none is left out
   --  that comes every so often; each one where they come more slowly. Now is that of Monotonic.

   function Stripe (Stripes : Positive) return Positive with Inline;
   --  The calling thread's one of so many, which are a power of two

end Appserver.Thread_Clocks;
