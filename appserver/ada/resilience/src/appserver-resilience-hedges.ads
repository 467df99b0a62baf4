--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Makes additional calls while the first call is still running, and returns the result that
--  arrives first, to shorten the slowest calls (J. Dean, L. A. Barroso, The Tail at Scale,
--  Communications of the ACM 56, 2013). The other calls are aborted, but may take effect, so
--  hedging is only for idempotent calls.

pragma Ada_2022;

generic
   type Result is private;

   with function Call return Result;
   --  Makes the call. The call must be idempotent: taking effect twice must have the same result as
   --  taking effect once. Multiple tasks call this function at the same time.

package Appserver.Resilience.Hedges is

   subtype Hedged_Calls is Positive range 2 .. 100;

   function First_Result
     (After     : Pause;
      Max_Calls : Hedged_Calls := 2;
      Shared    : access Budget := null) return Result;
   --  Makes a call, and makes another call each time that After has passed without a result. A
   --  failed call does not end the wait for the running calls. After the first result, the function
   --  aborts the other calls and waits for their end. A call that is running in a C library cannot
   --  be aborted, so the function waits until the library returns. If no task can be created for
   --  another call, the function waits for the calls that are running.
   --  @param After the time in seconds until another call is made, such as the 95th percentile of
   --  the response time
   --  @param Max_Calls the maximum number of calls that run at the same time
   --  @param Shared a budget, from which each call after the first spends a retry; may be null.
   --  Without a budget, the load of a slow service increases up to Max_Calls times.
   --  @return the first result
   --  @exception Storage_Error there is not enough memory for the task of the first call
   --  @exception Tasking_Error the task of the first call cannot be created
   --  @exception others the exception of the last call, if all calls failed

end Appserver.Resilience.Hedges;
