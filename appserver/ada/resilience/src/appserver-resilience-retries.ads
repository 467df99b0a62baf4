--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Retries calls of any kind. The function Classify decides whether a call may be retried after an
--  exception. For example, for an HTTP client:
--
--     function Verdict_Of (Error : Exception_Occurrence) return Verdict is
--       (if Exception_Identity (Error) = Refused_Error'Identity then (Transient, others => <>)
--        elsif Exception_Identity (Error) = Broken_Error'Identity
--        then (Outcome_Unknown, others => <>)
--        else (Permanent, others => <>));
--
--     package Client_Retries is new Appserver.Resilience.Retries (Verdict_Of);
--     …
--     Client_Retries.Run ((Attempts => 4, others => <>), Fetch'Access);
--
--  The numbers of attempts of nested policies multiply. A common Budget limits the total number of
--  retries.

pragma Ada_2022;

with Ada.Exceptions;
with Ada.Real_Time;

generic
   with function Classify (Error : Ada.Exceptions.Exception_Occurrence) return Verdict;
   --  Classifies the exceptions of calls. Not called for the exceptions of other guards, whose
   --  classification is fixed. Multiple tasks may call this function at the same time.

   --  The clock and the source of random numbers, which tests can replace

   with function Clock return Ada.Real_Time.Time is Resilience.Clock;
   with procedure Wait (Time : Pause; Stop : access Cancellation) is Resilience.Wait;
   with function Random return Float is Resilience.Random;

package Appserver.Resilience.Retries is

   type Policy
     (Budget   : access Resilience.Budget    := null;
      Listener : access Retry_Listener'Class := null) is tagged limited
   record
      Attempts   : Positive           := 3;
      --  The maximum number of attempts per call, including the first: n attempts are n - 1 retries
      Deadline   : Pause              := 30.0;
      --  The time in seconds since the start of the call after which no retry starts. An attempt
      --  that is running at the deadline continues.
      Bounds     : Resilience.Backoff := (Initial => 0.050, Max => 1.0);
      Idempotent : Boolean            := False;
      --  True if running an operation twice has the same effect as running it once. If False, an
      --  operation whose outcome is unknown is not repeated.
   end record;

   procedure Run
     (By        : Policy;
      Operation : not null access procedure;
      Stop      : access Cancellation := null);
   --  Runs an operation, and retries it after transient failures. If the last attempt fails, its
   --  exception is propagated. An abort of the task ends the retries.
   --  @param By the policy
   --  @param Operation the operation
   --  @param Stop ends the retries when it is canceled; may be null

end Appserver.Resilience.Retries;
