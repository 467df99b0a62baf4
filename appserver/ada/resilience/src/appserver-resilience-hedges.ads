--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Makes a call again while the first one is still running, and returns the result that arrives
--  first, to shorten the slowest calls. (J. Dean, L. A. Barroso, The Tail at Scale, Communications
--  of the ACM 56, 2013.) The others are aborted, but may take effect, so hedging is only for calls
--  that are idempotent.

pragma Ada_2022;

generic
   type Result is private;

   with function Call return Result;
   --  An idempotent call: if it takes effect twice, the effect is the same as once. Multiple tasks
   --  call it at the same time.

package Appserver.Resilience.Hedges is

   subtype Hedged_Calls is Positive range 2 .. 100;

   function First_Result
     (After     : Pause;
      Max_Calls : Hedged_Calls := 2;
      Shared    : access Budget := null) return Result;
   --  Calls, and calls again each time that no result has arrived for a time. A failed call does
   --  not end the wait for those that still run. The function returns when the other calls have
   --  been aborted: one that is in a C library is waited for.
   --  @param After the time in seconds after which another call is made, such as the 95th
   --  percentile of the response time
   --  @param Max_Calls the maximum number of calls that run at the same time
   --  @param Shared a budget, from which each call after the first spends a retry; may be null.
   --  Without it, a slow service gets Max_Calls times its load.
   --  @return the first result
   --  @exception others if all calls have failed, the exception of the last one

end Appserver.Resilience.Hedges;
