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
   --  CPU time of the calling thread, in ns. Each call is a system call.

   function Unix_Milliseconds return Atomic_Words.Word;
   --  Since 1970

   procedure Choose_Sample (Now : Atomic_Words.Word; Is_Chosen : out Boolean) with Inline;
   --  Chooses one request in 1 to 2 ms of the calling thread; every one if they come more slowly.
   --  The time is random, so that no periodic request is left out. Now is that of Monotonic.

   function Stripe (Stripes : Positive) return Positive with Inline;
   --  The calling thread's index among this many, a power of two

end Appserver.Thread_Clocks;
