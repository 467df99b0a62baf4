--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Exceptions;
with Ada.Finalization;
with Ada.Real_Time;
with Ada.Strings.Unbounded;
with Appserver.Counters.Atomic;
with Appserver.Resilience.Bulkheads;
with Appserver.Resilience.Circuit_Breakers;
with Appserver.Resilience.Fallbacks;
with Appserver.Resilience.Hedges;
with Appserver.Resilience.Retries;
with Appserver.Resilience.Time_Limits;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Failing_Threads;
with Interfaces;
with Parallel;
with Stress_Time;

package body Resilience_Tests is

   use Ada.Exceptions;
   use Ada.Strings.Unbounded;
   use Appserver;
   use Appserver.Resilience;
   use Appserver.Resilience.Circuit_Breakers;
   use AUnit.Assertions;
   use type Ada.Real_Time.Time;
   use type Interfaces.Integer_64;

   --  A clock that only advances during pauses

   Fake_Time : Ada.Real_Time.Time := Ada.Real_Time.Clock;
   Pauses    : Unbounded_String;

   function Clock return Ada.Real_Time.Time is (Fake_Time);

   procedure Pass (Time : Duration) is
   begin
      Fake_Time := Fake_Time + Ada.Real_Time.To_Time_Span (Time);
   end Pass;

   procedure Wait (Time : Pause; Stop : access Cancellation) is
      pragma Unreferenced (Stop);
   begin
      Append (Pauses, Natural'Image (Natural (Time * 1_000)));
      Pass (Time);
   end Wait;

   function Random return Float is (0.5);

   Busy_Error, Later_Error, Lost_Error, Other_Error : exception;

   function Classify (Error : Exception_Occurrence) return Verdict is
      Identity : constant Exception_Id := Exception_Identity (Error);
   begin
      return
        (if Identity = Busy_Error'Identity then (Transient, others => <>)
         elsif Identity = Later_Error'Identity then (Transient, Min_Delay => 1.0)
         elsif Identity = Lost_Error'Identity then (Outcome_Unknown, others => <>)
         else (Permanent, others => <>));
   end Classify;

   package Tested_Retries is new Retries (Classify, Clock, Wait, Random);
   use Tested_Retries;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      Runs : Natural := 0;
   end record;

   overriding procedure Set_Up (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Pauses := Null_Unbounded_String;
      T.Runs := 0;
   end Set_Up;

   -------------
   -- Retries --
   -------------

   --  Fails once for each letter of Failures, and then succeeds

   procedure Run (T : in out Fixture; By : Policy; Failures : String) is
      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
         if T.Runs <= Failures'Length then
            case Failures (T.Runs) is
               when 'b'    => raise Busy_Error;
               when 'a'    => raise Later_Error;
               when 'l'    => raise Lost_Error;
               when 'f'    => raise Bulkhead_Full_Error;
               when 'c'    => raise Circuit_Open_Error;
               when 't'    => raise Time_Limit_Error;
               when others => raise Other_Error;
            end case;
         end if;
      end Operation;
   begin
      T.Runs := 0;
      Run (By, Operation'Access);
   end Run;

   procedure Succeeds (T : in out Fixture; By : Policy; Failures : String) is
   begin
      Run (T, By, Failures);
      Assert (T.Runs'Image, Positive'Image (Failures'Length + 1), Failures & ": runs");
   end Succeeds;

   procedure Fails (T : in out Fixture; By : Policy; Failures : String; Runs : Positive) is
   begin
      begin
         Run (T, By, Failures);
      exception
         when Busy_Error | Later_Error | Lost_Error | Other_Error | Bulkhead_Full_Error
            | Circuit_Open_Error | Time_Limit_Error =>
            Assert (T.Runs'Image, Runs'Image, Failures & ": runs");
            return;
      end;
      Assert (False, Failures & ": no exception");
   end Fails;

   procedure Kinds_Retried (T : in out Fixture) is
      By : Policy := (Attempts => 4, others => <>);
   begin
      Succeeds (T, By, "");
      Succeeds (T, By, "bbb");
      Fails (T, By, "bbbb", Runs => 4);
      Fails (T, By, "bo", Runs => 2);
      Fails (T, By, "l", Runs => 1);
      Fails (T, By, "bl", Runs => 2);
      By.Idempotent := True;
      Succeeds (T, By, "lbl");
      Fails (T, By, "o", Runs => 1);
   end Kinds_Retried;

   procedure Guards_Have_Verdicts (T : in out Fixture) is
      By : constant Policy := (others => <>);
   begin
      Succeeds (T, By, "f");
      Fails (T, By, "c", Runs => 1);
      Fails (T, By, "t", Runs => 1);
      Succeeds (T, (Idempotent => True, others => <>), "t");
   end Guards_Have_Verdicts;

   procedure Delays (T : in out Fixture) is
      By : Policy := (Attempts => 9, Bounds => (0.008, 0.040), others => <>);
   begin
      Succeeds (T, By, "bbbabb");
      Assert (To_String (Pauses), " 4 8 16 1000 20 20", "pauses");
      By.Deadline := 0.999;
      Fails (T, By, "a", Runs => 1);
   end Delays;

   procedure Shared_Budget (T : in out Fixture) is
      Shared : aliased Budget (Percent => 50, Reserve => 2);
      One    : constant Policy := (Shared'Access, others => <>);
      Other  : constant Policy := (Shared'Access, Attempts => 9, others => <>);
   begin
      Succeeds (T, One, "b");
      Assert (Shared.Available = 1, "spent");
      Fails (T, Other, "bbb", Runs => 2);
      for Call in 1 .. 4 loop
         Succeeds (T, One, "");
      end loop;
      Assert (Shared.Available = 2, "earned");
   end Shared_Budget;

   type Recorder is limited new Retry_Listener with record
      Events : Unbounded_String;
   end record;

   overriding procedure On_Retry
     (Self    : in out Recorder;
      Attempt : Failed_Attempt;
      Kind    : String;
      Error   : Exception_Occurrence;
      Time    : Pause);
   overriding procedure On_Failure
     (Self    : in out Recorder;
      Attempt : Failed_Attempt;
      Kind    : String;
      Error   : Exception_Occurrence);
   overriding procedure On_Success (Self : in out Recorder; Attempts : Positive);

   overriding procedure On_Retry
     (Self    : in out Recorder;
      Attempt : Failed_Attempt;
      Kind    : String;
      Error   : Exception_Occurrence;
      Time    : Pause) is
   begin
      Append
        (Self.Events,
         Attempt.Number'Image & " " & Kind & " " & Exception_Name (Error) & Time'Image & ";");
   end On_Retry;

   overriding procedure On_Failure
     (Self    : in out Recorder;
      Attempt : Failed_Attempt;
      Kind    : String;
      Error   : Exception_Occurrence)
   is
      pragma Unreferenced (Error);
   begin
      Append
        (Self.Events, " failed" & Attempt.Number'Image & " " & Kind & Attempt.Elapsed'Image & ";");
      raise Program_Error with "a listener that fails";
   end On_Failure;

   overriding procedure On_Success (Self : in out Recorder; Attempts : Positive) is
   begin
      Append (Self.Events, " succeeded" & Attempts'Image & ";");
   end On_Success;

   procedure Listeners (T : in out Fixture) is
      Seen : aliased Recorder;
      By   : constant Policy := (null, Seen'Access, Bounds => (0.5, 0.5), others => <>);
      Name : constant String := "RESILIENCE_TESTS.BUSY_ERROR";
   begin
      Succeeds (T, By, "b");
      Fails (T, By, "bl", Runs => 2);
      Assert
        (To_String (Seen.Events),
         " 1 TRANSIENT " & Name & " 0.250000000; succeeded 2; 1 TRANSIENT " & Name
         & " 0.250000000; failed 2 OUTCOME_UNKNOWN 0.250000000;",
         "events");
   end Listeners;

   procedure Cancelled (T : in out Fixture) is
      Stop : aliased Cancellation;

      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
         raise Busy_Error;
      end Operation;
   begin
      Stop.Cancel;
      Run ((others => <>), Operation'Access, Stop'Access);
      Assert (False, "no exception");
   exception
      when Busy_Error => Assert (T.Runs = 1, "a failure without a retry");
   end Cancelled;

   ----------------------
   -- Circuit breakers --
   ----------------------

   type Tested_Breaker is new Circuit_Breaker with record
      Transitions : Unbounded_String;
   end record;

   overriding function Now (Self : Tested_Breaker) return Ada.Real_Time.Time is (Fake_Time);

   overriding function Is_Recorded
     (Self : Tested_Breaker; Error : Exception_Occurrence) return Boolean;

   overriding procedure On_Transition (Self : in out Tested_Breaker; From, To : Breaker_State);

   overriding function Is_Recorded
     (Self : Tested_Breaker; Error : Exception_Occurrence) return Boolean is
   begin
      if Exception_Identity (Error) = Later_Error'Identity then
         raise Program_Error with "a test that fails";
      end if;
      return Circuit_Breaker (Self).Is_Recorded (Error)
        and then Exception_Identity (Error) /= Other_Error'Identity;
   end Is_Recorded;

   overriding procedure On_Transition (Self : in out Tested_Breaker; From, To : Breaker_State) is
   begin
      Append (Self.Transitions, From'Image & " " & To'Image & ";");
      raise Program_Error with "a listener that fails";
   end On_Transition;

   procedure Succeed (By : in out Circuit_Breaker'Class; Calls : Positive := 1) is
      procedure Operation is null;
   begin
      for Call in 1 .. Calls loop
         By.Run (Operation'Access);
      end loop;
   end Succeed;

   procedure Fail (By : in out Circuit_Breaker'Class; Calls : Positive := 1) is
      procedure Operation is
      begin
         raise Busy_Error;
      end Operation;
   begin
      for Call in 1 .. Calls loop
         begin
            By.Run (Operation'Access);
            Assert (False, "no exception");
         exception
            when Busy_Error => null;
         end;
      end loop;
   end Fail;

   procedure Rejects (By : in out Circuit_Breaker'Class; Left : Duration) is
   begin
      Succeed (By);
      Assert (False, "admitted");
   exception
      when Error : Circuit_Open_Error =>
         Assert
           (Exception_Message (Error),
            "the circuit breaker is open; the next call is admitted in" & Left'Image & " s",
            "message");
   end Rejects;

   procedure Is_In (By : Circuit_Breaker'Class; State : Breaker_State) is
   begin
      Assert (By.Statistics.State'Image, State'Image, "state");
   end Is_In;

   procedure Opens (T : in out Fixture) is
      pragma Unreferenced (T);
      By : Tested_Breaker :=
        (Window => 10, Min_Calls => 4, others => <>);
   begin
      Fail (By, 3);
      Is_In (By, Closed);
      By.Reset;
      Succeed (By, 5);
      Fail (By, 4);
      Is_In (By, Closed);
      Fail (By);
      Is_In (By, Open);
      Assert (To_String (By.Transitions), "CLOSED OPEN;", "transitions");
      Assert (By.Statistics.Opened = 1, "opened");
   end Opens;

   procedure Window_Forgets (T : in out Fixture) is
      pragma Unreferenced (T);
      By : Circuit_Breaker := (Window => 10, Min_Calls => 4, others => <>);
   begin
      Succeed (By, 4);
      Fail (By, 3);
      Succeed (By, 10);
      Assert (By.Statistics.Failures = 0, "forgotten");
      Fail (By, 4);
      Succeed (By, 6);
      Assert (By.Statistics = (Closed, 10, 4, 0, 0), "statistics");
   end Window_Forgets;

   procedure Half_Opens (T : in out Fixture) is
      pragma Unreferenced (T);
      By : Tested_Breaker :=
        (Window => 4, Trials => 2, others => <>);
   begin
      Fail (By, 4);
      Rejects (By, 5.0);
      Pass (4.0);
      Rejects (By, 1.0);
      Pass (1.0);
      Succeed (By);
      Is_In (By, Half_Open);
      Succeed (By);
      Assert
        (To_String (By.Transitions), "CLOSED OPEN;OPEN HALF_OPEN;HALF_OPEN CLOSED;",
         "transitions");
      Fail (By, 3);
      Is_In (By, Closed);
      Fail (By);
      Pass (5.0);
      Succeed (By);
      Fail (By);
      Rejects (By, 5.0);
      Assert (By.Statistics.Opened = 3, "opened");
      Assert (By.Statistics.Rejected = 3, "rejected");
      By.Reset;
      Succeed (By);
      Is_In (By, Closed);
   end Half_Opens;

   procedure Trials_Are_Limited (T : in out Fixture) is
      pragma Unreferenced (T);
      By : Tested_Breaker :=
        (Window => 4, Trials => 2, others => <>);

      procedure Innermost is
      begin
         Rejects (By, 0.0);
      end Innermost;

      procedure Hanging is
      begin
         Pass (5.0);
         Succeed (By, 2);
         Is_In (By, Closed);
         Fail (By, 3);
      end Hanging;

      Trial : access procedure := Innermost'Access;

      procedure Inner is
      begin
         By.Run (Trial);
      end Inner;
   begin
      Fail (By, 4);
      Pass (5.0);
      By.Run (Inner'Access);
      Is_In (By, Closed);
      Fail (By, 4);
      Pass (5.0);
      Trial := Hanging'Access;
      By.Run (Inner'Access);
      Assert (By.Statistics.Results = 3, "results of hanging trials are ignored");
   end Trials_Are_Limited;

   procedure Late_Results (T : in out Fixture) is
      pragma Unreferenced (T);
      By : Tested_Breaker :=
        (Window => 4, Trials => 2, others => <>);

      procedure Slow is
      begin
         Fail (By, 4);
         Pass (5.0);
         Succeed (By);
         raise Lost_Error;
      end Slow;
   begin
      By.Run (Slow'Access);
      Assert (False, "no exception");
   exception
      when Lost_Error =>
         Is_In (By, Half_Open);
         Succeed (By);
         Is_In (By, Closed);
   end Late_Results;

   --  Exceptions that are not recorded, exceptions of the test itself, and aborts use up no trial

   procedure No_Results (T : in out Fixture) is
      pragma Unreferenced (T);
      By : Tested_Breaker :=
        (Window => 4, others => <>);

      procedure Other is
      begin
         raise Other_Error;
      end Other;

      procedure Later is
      begin
         raise Later_Error;
      end Later;

      procedure Full is
      begin
         raise Bulkhead_Full_Error;
      end Full;

      procedure Hang is
      begin
         delay Duration'Last;
      end Hang;

      procedure Has_No_Result (Operation : not null access procedure) is
      begin
         By.Run (Operation);
         Assert (False, "no exception");
      exception
         when Other_Error | Program_Error | Bulkhead_Full_Error => null;
      end Has_No_Result;
   begin
      for Call in 1 .. 9 loop
         Has_No_Result (Other'Access);
         Has_No_Result (Full'Access);
      end loop;
      Assert (By.Statistics.Results = 0, "results");
      Fail (By, 4);
      Pass (5.0);
      for Call in 1 .. 9 loop
         Has_No_Result (Other'Access);
         Has_No_Result (Later'Access);
         select
            delay 0.001;
         then abort
            By.Run (Hang'Access);
         end select;
      end loop;
      Succeed (By);
      Is_In (By, Closed);
   end No_Results;

   type Stressed_Breaker is new Circuit_Breaker with record
      Time : Counters.Atomic.Counter;
      --  In seconds
   end record;

   Start_Time : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;

   overriding function Now (Self : Stressed_Breaker) return Ada.Real_Time.Time is
     (Start_Time + Ada.Real_Time.Seconds (Integer (Self.Time.Value)));

   --  Every call is either made or rejected, no trial is lost, and no task sees more than the
   --  maximum number of trials

   procedure Breaker_Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      Tasks : constant := 4;
      Turns : constant := 5_000;

      procedure Round is
         By             : Stressed_Breaker :=
           (Window => 10, Trials => 3, others => <>);
         Made, Rejected : Counters.Atomic.Counter;

         procedure Work (Number : Positive) is
            pragma Unreferenced (Number);
            Fails : Boolean;

            procedure Operation is
            begin
               Made.Increment;
               if Fails then
                  raise Busy_Error;
               end if;
            end Operation;
         begin
            for Turn in 1 .. Turns loop
               Fails := Turn / 100 mod 2 = 1;
               if Turn mod 64 = 0 then
                  By.Time.Increment;
               end if;
               begin
                  By.Run (Operation'Access);
               exception
                  when Busy_Error         => null;
                  when Circuit_Open_Error => Rejected.Increment;
               end;
            end loop;
         end Work;
      begin
         Parallel.Run (Tasks, Work'Access);
         Assert (Made.Value + Rejected.Value = Tasks * Turns, "each call was made or rejected");
         Assert (By.Statistics.Rejected = Rejected.Value, "rejected");
         Assert (By.Statistics.Opened > 0, "opened");
         By.Time.Add (5);
         Succeed (By, 20);
         Is_In (By, Closed);
      end Round;
   begin
      Stress_Time.Repeat (Round'Access);
   end Breaker_Stress;

   procedure Trials_Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Round is
         By    : Stressed_Breaker :=
           (Window => 1, Trials => 2, others => <>);
         Made  : Counters.Atomic.Counter;
         Asked : Counters.Atomic.Counter;

         --  The trials end after all tasks have asked for admission

         procedure Operation is
         begin
            Made.Increment;
            while Asked.Value < 2 loop
               delay 0.0;
            end loop;
         end Operation;

         procedure Work (Number : Positive) is
            pragma Unreferenced (Number);
         begin
            By.Run (Operation'Access);
         exception
            when Circuit_Open_Error => Asked.Increment;
         end Work;
      begin
         Fail (By);
         By.Time.Add (5);
         Parallel.Run (4, Work'Access);
         Assert (Made.Value = 2, "trials:" & Made.Value'Image);
         Is_In (By, Closed);
      end Round;
   begin
      Stress_Time.Repeat (Round'Access);
   end Trials_Stress;

   ---------------
   -- Bulkheads --
   ---------------

   use Appserver.Resilience.Bulkheads;

   procedure Bulkhead_Full (T : in out Fixture) is
      Two : aliased Bulkhead (2);

      procedure Innermost is
      begin
         Assert (False, "run");
      end Innermost;

      procedure Inner is
      begin
         Assert (Two.Running = 2, "running");
         Two.Run (Innermost'Access);
      exception
         when Bulkhead_Full_Error => T.Runs := T.Runs + 1;
      end Inner;

      procedure Outer is
      begin
         Two.Run (Inner'Access);
         raise Busy_Error;
      end Outer;
   begin
      begin
         Two.Run (Outer'Access);
      exception
         when Busy_Error => null;
      end;
      Assert (T.Runs = 1, "rejected");
      Assert (Two.Running = 0, "returned");
   end Bulkhead_Full;

   --  Callers wait in the order in which they arrive, and an abort ends the wait

   procedure Bulkhead_Waits (T : in out Fixture) is
      pragma Unreferenced (T);

      One   : aliased Bulkhead (1);
      Order : Unbounded_String;

      task type Caller (Name : Character);

      task body Caller is
         procedure Operation is
         begin
            Append (Order, Name);
         end Operation;
      begin
         One.Run (Operation'Access, Max_Wait => Pause'Last);
      end Caller;

      type Caller_Access is access Caller;

      procedure Hold is
         Callers : array (1 .. 4) of Caller_Access;
      begin
         for Index in Callers'Range loop
            Callers (Index) := new Caller (Character'Val (96 + Index));
            while One.Waiting < Index loop
               delay 0.0;
            end loop;
         end loop;
         abort Callers (2).all;
         while One.Waiting > 3 loop
            delay 0.0;
         end loop;
      end Hold;
   begin
      One.Run (Hold'Access);
      while One.Running > 0 loop
         delay 0.0;
      end loop;
      Assert (To_String (Order), "acd", "order");
   end Bulkhead_Waits;

   procedure Bulkhead_Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Round is
         Three  : aliased Bulkhead (3);
         Inside : Counters.Atomic.Counter;
         Excess : Counters.Atomic.Counter;

         procedure Operation is
            Before : constant Interfaces.Integer_64 := Inside.Fetch_And_Add (1);
         begin
            if Before >= 3 then
               Excess.Increment;
            end if;
            delay 0.0;
            Inside.Decrement;
         end Operation;

         procedure Wait_For_Permit is
            procedure Nothing is null;
         begin
            Three.Run (Nothing'Access, Max_Wait => Pause'Last);
         end Wait_For_Permit;

         procedure Work (Number : Positive) is
         begin
            for Turn in 1 .. 200 loop
               if (Turn + Number) mod 10 = 0 then
                  --  The call is aborted at any point, even between waiting and running. This test
                  --  has no "select delay ... then abort": see the body of Time_Limits.
                  begin
                     Time_Limits.Run (0.000_05, Wait_For_Permit'Access);
                  exception
                     when Time_Limit_Error => null;
                  end;
               else
                  Three.Run (Operation'Access, Max_Wait => Pause'Last);
               end if;
            end loop;
         end Work;
      begin
         Parallel.Run (8, Work'Access);
         Assert (Excess.Value = 0, "more operations ran than there are permits");
         Assert (Three.Running = 0, "returned:" & Three.Running'Image);
      end Round;
   begin
      Stress_Time.Repeat (Round'Access);
   end Bulkhead_Stress;

   ------------
   -- Others --
   ------------

   procedure Limits (T : in out Fixture) is
      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
      end Operation;

      procedure Raise_Busy is
      begin
         raise Busy_Error;
      end Raise_Busy;

      procedure Hang is
      begin
         T.Runs := T.Runs + 1;
         delay Duration'Last;
      end Hang;
   begin
      Time_Limits.Run (Pause'Last, Operation'Access);
      Assert (T.Runs = 1, "run");
      begin
         Time_Limits.Run (Pause'Last, Raise_Busy'Access);
         Assert (False, "no exception");
      exception
         when Busy_Error => null;
      end;
      begin
         Time_Limits.Run (0.001, Hang'Access);
         Assert (False, "no exception");
      exception
         when Error : Time_Limit_Error =>
            Assert (Verdict_Of_Guard (Error).Kind = Outcome_Unknown, "unknown");
            Assert (not Is_Rejection (Error), "the failure is not a rejection");
      end;
   end Limits;

   --  The operations end at about the same time as their limits. After that, limits still end
   --  operations.

   procedure Limits_Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Round is

         procedure Hang is
         begin
            delay Duration'Last;
         end Hang;

         procedure Work (Number : Positive) is
            Length : Pause := 0.0;

            procedure Operation is
               use Ada.Real_Time;

               Finish : constant Time := Clock + To_Time_Span (Length);
            begin
               while Clock < Finish loop
                  delay 0.0;
               end loop;
            end Operation;

            Has_Ended : Boolean;
         begin
            for Turn in 1 .. 100 loop
               Length := Pause (Number + Turn mod 10) * 0.000_01;
               begin
                  Time_Limits.Run (Length, Operation'Access);
               exception
                  when Time_Limit_Error => null;
               end;
            end loop;
            begin
               Time_Limits.Run (Length, Hang'Access);
               Has_Ended := True;
            exception
               when Time_Limit_Error => Has_Ended := False;
            end;
            Assert (not Has_Ended, "not aborted");
         end Work;
      begin
         Parallel.Run (8, Work'Access);
      end Round;
   begin
      Stress_Time.Repeat (Round'Access);
   end Limits_Stress;

   --  An operation that cannot be aborted, because the caller is a finalization, still runs at once

   package Limited_Finalizations is
      type Limited_Object is new Ada.Finalization.Limited_Controlled with record
         Length   : Pause   := 0.0;
         Runs     : access Natural;
         Failures : access Natural;
      end record;

      overriding procedure Finalize (Self : in out Limited_Object);
   end Limited_Finalizations;

   package body Limited_Finalizations is
      overriding procedure Finalize (Self : in out Limited_Object) is
         procedure Operation is
         begin
            delay 0.002;
            Self.Runs.all := Self.Runs.all + 1;
         end Operation;
      begin
         Time_Limits.Run (Self.Length, Operation'Access);
      exception
         when Time_Limit_Error => Self.Failures.all := Self.Failures.all + 1;
      end Finalize;
   end Limited_Finalizations;

   procedure Limits_In_Finalize (T : in out Fixture) is
      pragma Unreferenced (T);

      Runs, Failures : aliased Natural := 0;

      procedure Finalize_With (Length : Pause) is
         Object : Limited_Finalizations.Limited_Object with Unreferenced;
      begin
         Object.Length   := Length;
         Object.Runs     := Runs'Unchecked_Access;
         Object.Failures := Failures'Unchecked_Access;
      end Finalize_With;
   begin
      Finalize_With (Pause'Last);
      Assert (Runs = 1 and then Failures = 0, "the operation ended in time");
      Finalize_With (0.001);
      Assert (Runs = 2 and then Failures = 1, "the operation was late");
   end Limits_In_Finalize;

   --  Calls of the hedge tests: the first one hangs until it is aborted or released

   protected Hedged is
      procedure Begin_Call (Number : out Positive);
      procedure Release;
      procedure Reset;
      function Calls return Natural;
      entry Wait_For_Release;
   private
      Count    : Natural := 0;
      Released : Boolean := False;
   end Hedged;

   protected body Hedged is
      procedure Begin_Call (Number : out Positive) is
      begin
         Count  := Count + 1;
         Number := Count;
      end Begin_Call;

      procedure Release is
      begin
         Released := True;
      end Release;

      procedure Reset is
      begin
         Count    := 0;
         Released := False;
      end Reset;

      function Calls return Natural is (Count);

      entry Wait_For_Release when Released is
      begin
         null;
      end Wait_For_Release;
   end Hedged;

   function First_Hangs return Integer is
      Number : Positive;
   begin
      Hedged.Begin_Call (Number);
      if Number = 1 then
         delay Duration'Last;
      end if;
      return Number;
   end First_Hangs;

   function Second_Fails return Integer is
      Number : Positive;
   begin
      Hedged.Begin_Call (Number);
      if Number = 1 then
         Hedged.Wait_For_Release;
         return 1;
      end if;
      Hedged.Release;
      raise Busy_Error;
   end Second_Fails;

   function All_Fail return Integer is
      Number : Positive;
   begin
      Hedged.Begin_Call (Number);
      if Number = 1 then
         Hedged.Wait_For_Release;
         raise Lost_Error;
      end if;
      Hedged.Release;
      return raise Busy_Error;
   end All_Fail;

   --  Returns some time after the creation of a task has failed

   function Outlasts_Failure return Integer is
      Number : Positive;
   begin
      Hedged.Begin_Call (Number);
      while Failing_Threads.Failures = 0 loop
         delay 0.001;
      end loop;
      delay 0.02;
      return Number;
   end Outlasts_Failure;

   package Hanging_Hedges is new Hedges (Integer, First_Hangs);
   package Failing_Hedges is new Hedges (Integer, Second_Fails);
   package Lost_Hedges is new Hedges (Integer, All_Fail);
   package Lone_Hedges is new Hedges (Integer, Outlasts_Failure);

   procedure Hedging (T : in out Fixture) is
      pragma Unreferenced (T);

      Shared : aliased Budget (Percent => 0, Reserve => 1);
      Number : Integer;
   begin
      Hedged.Reset;
      Assert (Hanging_Hedges.First_Result (0.001) = 2, "the second call is faster");
      Hedged.Reset;
      Assert (Failing_Hedges.First_Result (0.001) = 1, "the first call is awaited");
      Hedged.Reset;
      Number := Hanging_Hedges.First_Result (0.001, Max_Calls => 3, Shared => Shared'Access);
      Assert (Number in 2 .. 3 and then Shared.Available = 0, "the budget is spent");
      Assert (Hanging_Hedges.First_Result (Pause'Last) > 2, "a fast call is not hedged");
      begin
         Hedged.Reset;
         Number := Lost_Hedges.First_Result (0.001);
         Assert (False, "no exception:" & Number'Image);
      exception
         when Lost_Error | Busy_Error => Assert (Hedged.Calls = 2, "both calls have failed");
      end;
      --  An abort of the caller aborts the calls, even while it starts them
      for Round in 0 .. 499 loop
         Hedged.Reset;
         select
            delay Round * 0.000_002;
         then abort
            Number := Hanging_Hedges.First_Result (Pause'Last);
            Assert (False, "the other call was not aborted:" & Number'Image);
         end select;
      end loop;
   end Hedging;

   --  If no task can be created for another call, the call that is running is awaited

   procedure Hedging_Without_Tasks (T : in out Fixture) is
      pragma Unreferenced (T);

      Number : Integer := 0;
   begin
      Hedged.Reset;
      Failing_Threads.Allow_Threads (1);
      begin
         Number := Lone_Hedges.First_Result (0.001, Max_Calls => 3);
      exception
         when Storage_Error | Tasking_Error => null;
      end;
      Failing_Threads.Allow_All_Threads;
      Assert (Number = 1, "the first call is awaited");
      Assert (Failing_Threads.Failures = 1, "tasks:" & Failing_Threads.Failures'Image);
      Failing_Threads.Allow_Threads (0);
      begin
         Number := Lone_Hedges.First_Result (0.001);
      exception
         when Storage_Error | Tasking_Error => Number := 0;
      end;
      Failing_Threads.Allow_All_Threads;
      Assert (Number = 0, "the first call cannot be made");
   end Hedging_Without_Tasks;

   procedure Combined (T : in out Fixture) is
      Breaker : Tested_Breaker :=
        (Window => 4, others => <>);
      Single  : aliased Bulkhead (1);
      Is_Down : Boolean := True;
      Result  : Unbounded_String;

      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
         if Is_Down then
            raise Busy_Error;
         end if;
         Result := To_Unbounded_String ("done");
      end Operation;

      procedure In_Bulkhead is
      begin
         Single.Run (Operation'Access);
      end In_Bulkhead;

      procedure In_Breaker is
      begin
         Breaker.Run (In_Bulkhead'Access);
      end In_Breaker;

      procedure Retried is
      begin
         Tested_Retries.Run ((others => <>), In_Breaker'Access);
      end Retried;

      procedure Replace (Error : Exception_Occurrence) is
      begin
         Result := To_Unbounded_String (Exception_Name (Error));
      end Replace;

      procedure Has_Result (Expected : String; Runs : Positive) is
      begin
         Fallbacks.Run (Retried'Access, Replace'Access);
         Assert (To_String (Result), Expected, "result");
         Assert (T.Runs'Image, Runs'Image, "runs");
      end Has_Result;
   begin
      Has_Result ("RESILIENCE_TESTS.BUSY_ERROR", Runs => 3);
      Has_Result ("APPSERVER.RESILIENCE.CIRCUIT_OPEN_ERROR", Runs => 4);
      Is_Down := False;
      Has_Result ("APPSERVER.RESILIENCE.CIRCUIT_OPEN_ERROR", Runs => 4);
      Pass (5.0);
      Has_Result ("done", Runs => 5);
   end Combined;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Text, Test));
      end Add;
   begin
      Add ("resilience: which failures are retried", Kinds_Retried'Access);
      Add ("resilience: verdicts of guards", Guards_Have_Verdicts'Access);
      Add ("resilience: delays", Delays'Access);
      Add ("resilience: policies share a budget", Shared_Budget'Access);
      Add ("resilience: listeners", Listeners'Access);
      Add ("resilience: canceled retries", Cancelled'Access);
      Add ("resilience: a circuit breaker opens", Opens'Access);
      Add ("resilience: the window of a circuit breaker", Window_Forgets'Access);
      Add ("resilience: a half-open circuit breaker", Half_Opens'Access);
      Add ("resilience: the number of trials is limited", Trials_Are_Limited'Access);
      Add ("resilience: late results", Late_Results'Access);
      Add ("resilience: calls without a result", No_Results'Access);
      Add ("resilience: tasks share a circuit breaker", Breaker_Stress'Access);
      Add ("resilience: tasks share the trials of a circuit breaker", Trials_Stress'Access);
      Add ("resilience: a full bulkhead", Bulkhead_Full'Access);
      Add ("resilience: waiting for a permit", Bulkhead_Waits'Access);
      Add ("resilience: tasks share a bulkhead", Bulkhead_Stress'Access);
      Add ("resilience: time limits", Limits'Access);
      Add ("resilience: time limits in a finalization", Limits_In_Finalize'Access);
      Add ("resilience: tasks share the watcher of time limits", Limits_Stress'Access);
      Add ("resilience: hedging", Hedging'Access);
      Add ("resilience: hedging without tasks", Hedging_Without_Tasks'Access);
      Add ("resilience: guards combined", Combined'Access);
      return Result;
   end Suite;

end Resilience_Tests;
