--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Guards for calls that may fail.
--
--     Appserver.Resilience.Retries           retries calls of any kind
--     Appserver.Resilience.Circuit_Breakers  stops calls to a service that fails
--     Appserver.Resilience.Bulkheads         limits the number of concurrent calls
--     Appserver.Resilience.Time_Limits       limits the time of a call
--     Appserver.Resilience.Hedges            makes a second call if the first one is slow
--     Appserver.Resilience.Fallbacks         replaces a failure
--
--  Each guard runs a procedure. To combine guards, nest them: let the procedure of one guard call
--  another guard.

pragma Ada_2022;

with Ada.Exceptions;
with Ada.Real_Time;

private with Appserver.Counters.Atomic;

package Appserver.Resilience is

   pragma Assertion_Policy (Pre => Check);

   --------------
   -- Failures --
   --------------

   type Failure_Kind is
     (Transient,
      --  The call had no effect, and may succeed if it is repeated
      Outcome_Unknown,
      --  The call may have taken effect; for example, the response to an HTTP request was lost.
      --  Only an idempotent call is repeated.
      Permanent);
      --  The call would fail again, so it is never repeated

   subtype Pause is Duration range 0.0 .. 1_000_000.0;
   --  A time in seconds

   type Verdict is record
      Kind      : Failure_Kind;
      Min_Delay : Pause := 0.0;
      --  The minimum delay before a retry, such as the Retry-After of an HTTP response
   end record;
   --  The classification of a failure

   Circuit_Open_Error  : exception;
   --  A circuit breaker is open, so the call was not made. This failure is permanent: a caller that
   --  waited for the circuit breaker would occupy its task for as long as the service is down.
   Bulkhead_Full_Error : exception;
   --  A bulkhead had no free permit in time, so the call was not made. This failure is transient.
   Time_Limit_Error    : exception;
   --  A call was aborted at its time limit. The call may have taken effect, so its outcome is
   --  unknown.

   function Is_Of_Guard (Error : Ada.Exceptions.Exception_Occurrence) return Boolean;
   --  @param Error an exception
   --  @return True for Circuit_Open_Error, Bulkhead_Full_Error and Time_Limit_Error

   function Is_Rejection (Error : Ada.Exceptions.Exception_Occurrence) return Boolean;
   --  @param Error an exception
   --  @return True for Circuit_Open_Error and Bulkhead_Full_Error, which mean that the guard did
   --  not make the call

   function Verdict_Of_Guard (Error : Ada.Exceptions.Exception_Occurrence) return Verdict
     with Pre => Is_Of_Guard (Error);
   --  @param Error an exception of a guard
   --  @return the classification of the exception

   ------------
   -- Delays --
   ------------

   type Backoff is record
      Initial : Pause;
      Max     : Pause;
   end record;
   --  Exponential backoff, in seconds. The upper bound of the first pause is Initial. The bound
   --  doubles for each further pause, up to Max. Each pause is a random time below its bound ("full
   --  jitter": M. Brooker, Exponential Backoff and Jitter, AWS Architecture Blog, 2015).

   function Delay_Before
     (Retry : Positive; Bounds : Backoff; Random : Float) return Pause
     with Pre => Random in 0.0 .. 1.0;
   --  @param Retry the number of the retry, from 1
   --  @param Bounds the backoff
   --  @param Random a random number from 0.0 to 1.0
   --  @return the pause before the retry, in seconds

   protected type Cancellation is

      procedure Cancel;
      --  Stops the retries of all calls that use this object, and ends their current pauses

      function Is_Cancelled return Boolean;
      entry Wait;
      --  Waits until Cancel is called

   private
      Cancelled : Boolean := False;
   end Cancellation;

   --  The subprograms that guards use by default for time and random numbers. Tests replace them,
   --  so that the tests do not have to wait.

   function Clock return Ada.Real_Time.Time renames Ada.Real_Time.Clock;

   procedure Wait (Time : Pause; Stop : access Cancellation);
   --  Waits for Time seconds, or until Stop is canceled.
   --  @param Time the time in seconds
   --  @param Stop may be null

   function Random return Float
     with Post => Random'Result in 0.0 .. 1.0;
   --  @return a random number of at least 0.0 and less than 1.0

   -------------
   -- Budgets --
   -------------

   subtype Percentage is Natural range 0 .. 100;
   subtype Reserve_Count is Positive range 1 .. 1_000_000_000;

   type Budget (Percent : Percentage; Reserve : Reserve_Count) is tagged limited private;
   --  A limit on retries as a percentage of calls, so that retries do not multiply the load on a
   --  failing service. Unused retries accumulate up to Reserve. Initially, the budget has Reserve
   --  retries. Multiple tasks and policies may use the same budget.

   function Available (Self : Budget) return Natural
     with Post => Available'Result <= Self.Reserve;
   --  @param Self the budget
   --  @return the number of retries that are currently available

   ---------------
   -- Listeners --
   ---------------

   type Failed_Attempt is record
      Number  : Positive;
      --  The number of the attempt in its call
      Elapsed : Duration;
      --  The time since the start of the call, in seconds
   end record;

   type Retry_Listener is limited interface;
   --  Observes calls that may be retried, for logs and metrics. The procedures run in the task of
   --  the call, and multiple tasks may call them at the same time. Exceptions of these procedures
   --  do not affect the call.

   procedure On_Retry
     (Self    : in out Retry_Listener;
      Attempt : Failed_Attempt;
      Kind    : String;
      Error   : Ada.Exceptions.Exception_Occurrence;
      Time    : Pause) is null;
   --  Observes a failed attempt that is followed by another attempt.
   --  @param Self the listener
   --  @param Attempt the failed attempt
   --  @param Kind the class of the failure, such as "TRANSIENT"
   --  @param Error the exception of the attempt
   --  @param Time the pause before the next attempt, in seconds

   procedure On_Failure
     (Self    : in out Retry_Listener;
      Attempt : Failed_Attempt;
      Kind    : String;
      Error   : Ada.Exceptions.Exception_Occurrence) is null;
   --  Observes a failed call.
   --  @param Self the listener
   --  @param Attempt the last attempt
   --  @param Kind the class of the last attempt's failure
   --  @param Error the exception of the attempt

   procedure On_Success (Self : in out Retry_Listener; Attempts : Positive) is null;
   --  Observes a successful call.
   --  @param Self the listener
   --  @param Attempts the number of attempts, including the successful one

private

   type Budget (Percent : Percentage; Reserve : Reserve_Count) is tagged limited record
      Spent : Counters.Atomic.Counter;
      --  The number of retries that have been spent and that later calls have not earned back, in
      --  hundredths of a retry
   end record;

   procedure Earn (Self : in out Budget);
   --  Credits the budget for one call. While no retries have been spent, this procedure only reads
   --  memory.

   procedure Spend (Self : in out Budget; Is_Spent : out Boolean);
   --  Spends one retry, if one is available

end Appserver.Resilience;
