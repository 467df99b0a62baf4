--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Circuit breakers, which stop calls to a failing service. The callers then fail immediately, and
--  the service can recover.
--
--     state      calls                       leaves the state when
--     Closed     are made                    of the last Window results, of which there are at
--                                            least Min_Calls, at least Failure_Percent are
--                                            failures: Open
--     Open       raise Circuit_Open_Error    the first call after Open_Time: Half_Open
--     Half_Open  are made, up to Trials;     the first trial fails: Open; or all trials have
--                others raise the same       succeeded: Closed, without results
--
--  Results of calls that began before the last change of state are ignored, since they do not
--  describe the current state of the service. If trials have no result for Open_Time, new trials
--  replace them, so a hanging call does not keep the circuit breaker half open.
--
--  The states and the window correspond to Resilience4j's circuit breaker with a count-based
--  window, with one difference: in Resilience4j, the half-open state ends only after all trials,
--  and their failure rate decides.

pragma Ada_2022;

with Ada.Exceptions;
with Ada.Real_Time;
with Appserver.Counters;

package Appserver.Resilience.Circuit_Breakers is

   pragma Assertion_Policy (Pre => Check);

   type Breaker_State is (Closed, Open, Half_Open);

   subtype Window_Size is Positive range 1 .. 1_000_000;
   subtype Positive_Percentage is Percentage range 1 .. 100;

   type Breaker_Statistics is record
      State    : Breaker_State;
      --  The current state. An open circuit breaker stays in the state Open until it admits a call
      --  as a trial.
      Results  : Natural;
      --  The number of results in the window
      Failures : Natural;
      --  The number of failures in the window
      Rejected : Counters.Integer_64;
      --  The number of rejected calls
      Opened   : Counters.Integer_64;
      --  The number of times that the circuit breaker opened
   end record;

   type Shared_State (Window : Window_Size) is limited private;

   type Circuit_Breaker (Window : Window_Size := 20) is tagged limited record
      Min_Calls       : Window_Size         := 20;
      --  The minimum number of results in the window before the circuit breaker may open. The value
      --  is limited to Window.
      Failure_Percent : Positive_Percentage := 50;
      --  The percentage of failures in the window at which the circuit breaker opens
      Open_Time       : Pause               := 5.0;
      --  The time in seconds for which an open circuit breaker rejects all calls
      Trials          : Positive            := 1;
      --  The number of trial calls that must succeed to close the circuit breaker
      Shared          : Shared_State (Window);
   end record;
   --  A circuit breaker for calls from any number of tasks. The settings must not be changed while
   --  the circuit breaker is in use.

   procedure Run
     (Self : in out Circuit_Breaker'Class; Operation : not null access procedure);
   --  Runs an operation, unless the circuit breaker is open.
   --  @param Self the circuit breaker
   --  @param Operation the operation
   --  @exception Circuit_Open_Error the operation was not run; the message contains the time in
   --  seconds until a call is admitted

   function Statistics (Self : Circuit_Breaker) return Breaker_Statistics;
   --  @param Self the circuit breaker
   --  @return the statistics

   procedure Reset (Self : in out Circuit_Breaker);
   --  Closes the circuit breaker and clears its results, as if it were new.
   --  @param Self the circuit breaker

   --  Derived types can override the following operations. Multiple tasks may call them at the same
   --  time.

   function Is_Recorded
     (Self : Circuit_Breaker; Error : Ada.Exceptions.Exception_Occurrence) return Boolean;
   --  Returns True if an exception counts as a failure of the service. Other exceptions count
   --  neither as failures nor as successes. If a trial ends with such an exception, another call
   --  becomes the trial.
   --  @param Self the circuit breaker
   --  @param Error the exception of an operation
   --  @return by default, False only for rejections by other guards

   procedure On_Transition (Self : in out Circuit_Breaker; From, To : Breaker_State) is null;
   --  Observes a change of state. The task whose call caused the change calls this procedure after
   --  the change. An exception of this procedure does not affect the call.
   --  @param Self the circuit breaker
   --  @param From the earlier state
   --  @param To the new state

   function Now (Self : Circuit_Breaker) return Ada.Real_Time.Time is (Resilience.Clock);
   --  @param Self the circuit breaker
   --  @return the current time; tests override this function

private

   type Result_List is array (Positive range <>) of Boolean with Pack;

   type Call_Result is (Success, Failure, None);

   type Generation_Number is mod 2 ** 64;
   --  The number of changes of state so far

   type Transition is record
      From, To : Breaker_State := Closed;
   end record;

   type Settings is record
      Min_Calls       : Window_Size;
      Failure_Percent : Positive_Percentage;
      Open_Time       : Ada.Real_Time.Time_Span;
      Trials          : Positive;
   end record;

   protected type Machine (Window : Window_Size) is

      procedure Admit
        (Now        : Ada.Real_Time.Time;
         By         : Settings;
         Generation : out Generation_Number;
         Admitted   : out Boolean;
         Left       : out Ada.Real_Time.Time_Span;
         Change     : out Transition);

      procedure Finish
        (Now        : Ada.Real_Time.Time;
         By         : Settings;
         Generation : Generation_Number;
         Result     : Call_Result;
         Change     : out Transition);

      procedure Close (Now : Ada.Real_Time.Time; Change : out Transition);

      function Statistics return Breaker_Statistics;

   private
      State     : Breaker_State     := Closed;
      Current   : Generation_Number := 0;
      Failures  : Result_List (1 .. Window) := [others => False];
      --  The window of results, a ring buffer
      Next      : Positive := 1;
      --  The position in the ring for the next result
      Results   : Natural  := 0;
      Failed    : Natural  := 0;
      Running   : Natural  := 0;
      --  The number of trials that are running or have succeeded
      Succeeded : Natural  := 0;
      Since     : Ada.Real_Time.Time := Ada.Real_Time.Time_First;
      --  The time of the last change of state, or of the last admitted trial
      Rejected  : Counters.Integer_64 := 0;
      Opened    : Counters.Integer_64 := 0;
   end Machine;

   type Shared_State (Window : Window_Size) is limited record
      Machine : Circuit_Breakers.Machine (Window);
   end record;

end Appserver.Resilience.Circuit_Breakers;
