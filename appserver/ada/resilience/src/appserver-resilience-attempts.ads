--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The attempts of one call: their number, the pauses between them, and the limits of the call. All
--  packages that retry calls use this package: Retries, and packages with their own classes of
--  faults, such as Appserver.Retry for database transactions.

pragma Ada_2022;

with Ada.Exceptions;
with Ada.Real_Time;

generic
   type Fault is (<>);
   --  The classes of failures, an enumeration type

   with function Clock return Ada.Real_Time.Time is Resilience.Clock;
   with procedure Wait (Time : Pause; Stop : access Cancellation) is Resilience.Wait;
   --  Waits for Time seconds, or until Stop is canceled

   with function Random return Float is Resilience.Random;
   --  Returns a random number of at least 0.0 and less than 1.0

package Appserver.Resilience.Attempts is

   No_Timeout : constant Pause := Pause'Last;

   type Attempt_Sequence
     (Budget   : access Resilience.Budget;
      Listener : access Retry_Listener'Class) is tagged limited private;
   --  The attempts of one call. Only the calling task may use this object.

   procedure Start
     (Self : in out Attempt_Sequence; Deadline : Pause; Timeout : Pause := No_Timeout);
   --  Begins the call, and adds a fraction of a retry to the budget.
   --  @param Self the attempts
   --  @param Deadline the time in seconds from now after which no further attempt begins
   --  @param Timeout the time in seconds from now by which the call must have ended

   function Start_Time (Self : Attempt_Sequence) return Ada.Real_Time.Time with Inline;
   --  @param Self the attempts
   --  @return the time at which the call began

   function Number (Self : Attempt_Sequence) return Positive with Inline;
   --  @param Self the attempts
   --  @return the number of the current attempt, starting with 1

   procedure Next
     (Self      : in out Attempt_Sequence;
      Error     : Ada.Exceptions.Exception_Occurrence;
      Kind      : Fault;
      May_Retry : Boolean;
      Bounds    : Backoff;
      Stop      : access Cancellation;
      Goes_On   : out Boolean;
      Min_Delay : Pause := 0.0);
   --  Decides after a failed attempt whether to make another attempt. If so, waits for the pause
   --  before the next attempt.
   --  @param Self the attempts
   --  @param Error the exception of the attempt
   --  @param Kind the class of the failure, for the listener
   --  @param May_Retry False if the failure must not be retried
   --  @param Bounds the backoff
   --  @param Stop ends the retries when it is canceled; may be null
   --  @param Goes_On True if the next attempt may begin; False if the failure ends the call
   --  @param Min_Delay the minimum pause in seconds

   procedure Succeed (Self : Attempt_Sequence);
   --  Records that the current attempt has succeeded.
   --  @param Self the attempts

private

   type Attempt_Sequence
     (Budget   : access Resilience.Budget;
      Listener : access Retry_Listener'Class) is tagged limited
   record
      Deadline : Pause    := 0.0;
      Timeout  : Pause    := No_Timeout;
      Started  : Ada.Real_Time.Time;
      Count    : Positive := 1;
   end record;

   function Start_Time (Self : Attempt_Sequence) return Ada.Real_Time.Time is (Self.Started);
   function Number (Self : Attempt_Sequence) return Positive is (Self.Count);

end Appserver.Resilience.Attempts;
