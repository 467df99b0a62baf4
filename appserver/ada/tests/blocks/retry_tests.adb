--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Strings.Maps;
with Ada.Strings.Unbounded;
with Ada.Text_IO;
with Appserver.Counters.Atomic;
with Appserver.Resilience.Circuit_Breakers;
with Appserver.Retry.Key_Tables;
with Appserver.Retry.Loops;
with Appserver.Retry.Prometheus;
with Appserver.Retry.Transactions;
with Appserver.SQL.Injected_Errors;
with Appserver.SQL.SQLite;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Counted_Memory;
with Interfaces;
with Parallel;
with Stress_Time;

package body Retry_Tests is

   use Appserver;
   use Appserver.Retry;
   use AUnit.Assertions;
   use type Ada.Real_Time.Time;
   use type Interfaces.Integer_64;

   --  A clock that only advances during pauses

   Fake_Time : Ada.Real_Time.Time := Ada.Real_Time.Clock;
   Chance    : Float := 0.5;
   Pauses    : array (1 .. 10) of Duration;
   Paused    : Natural := 0;

   function Clock return Ada.Real_Time.Time is (Fake_Time);

   procedure Pass (Time : Duration) is
   begin
      Fake_Time := Fake_Time + Ada.Real_Time.To_Time_Span (Time);
   end Pass;

   procedure Wait (Time : Pause; Stop : access Cancellation) is
      pragma Unreferenced (Stop);
   begin
      Paused          := Paused + 1;
      Pauses (Paused) := Time;
      Pass (Time);
   end Wait;

   function Random return Float is (Chance);

   package Tested_Loops is new Loops (Clock, Wait, Random);

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      Runs : Natural := 0;
   end record;

   overriding procedure Set_Up (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      Paused := 0;
      Chance := 0.5;
      T.Runs := 0;
   end Set_Up;

   --  Raises an exception for each kind of fault

   procedure Fail (By : Fault) is
      use SQL.Injected_Errors;
   begin
      case By is
         when Stale_Version         => raise Stale_Version_Error;
         when Serialization_Failure => Fail ("40001");
         when Deadlock              => Fail ("40P01");
         when Lock_Timeout          => Fail ("55P03");
         when Busy                  => Fail ("55P03", 5, Origin => SQL.From_SQLite);
         when Connection_Lost       => Fail ("08001");
         when Outcome_Unknown       => raise Outcome_Unknown_Error;
         when Permanent             => raise Constraint_Error;
      end case;
   end Fail;

   type Fault_List is array (Positive range <>) of Fault;

   --  Fails with these faults, one after the other, and then succeeds

   procedure Run
     (T : in out Fixture; By : Policy; Faults : Fault_List; Has_Key : Boolean := False) is
      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
         if T.Runs <= Faults'Length then
            Fail (Faults (T.Runs));
         end if;
      end Operation;
   begin
      T.Runs := 0;
      Paused := 0;
      Tested_Loops.Run (By, Has_Key, Operation'Access);
   end Run;

   procedure Fails (T : in out Fixture; By : Policy; Faults : Fault_List; Runs : Positive) is
   begin
      begin
         Run (T, By, Faults);
      exception
         when Error : others =>
            Assert
              (Fault_Of (Error)'Image, Faults (Runs)'Image, "the exception of the last attempt");
            Assert (T.Runs'Image, Runs'Image, "runs");
            return;
      end;
      Assert (False, "no exception after" & T.Runs'Image & " runs");
   end Fails;

   procedure Succeeds (T : in out Fixture; By : Policy; Faults : Fault_List) is
   begin
      Run (T, By, Faults);
      Assert (T.Runs'Image, Positive'Image (Faults'Length + 1), "runs");
   end Succeeds;

   procedure Check_Count (Found, Expected : Interfaces.Integer_64; Words : String) is
   begin
      Assert (Found'Image, Expected'Image, Words);
   end Check_Count;

   ------------
   -- Faults --
   ------------

   --  A line of faults.txt contains a database, an SQLSTATE and a code of its library, the fault,
   --  and "refused" if there was no connection. The Java tests read the same file.

   procedure Has_Class (Line : String) is
      Last : Natural := 0;

      function Next_Word return String is
         First : Positive;
      begin
         Ada.Strings.Fixed.Find_Token
           (Line, Ada.Strings.Maps.To_Set (' '), Last + 1, Ada.Strings.Outside, First, Last);
         return Line (First .. Last);
      end Next_Word;

      Origin     : constant SQL.Error_Origin := SQL.Error_Origin'Value ("From_" & Next_Word);
      State      : constant SQL.SQL_State := Next_Word;
      Code       : constant Integer := Integer'Value (Next_Word);
      Expected   : constant Fault := Fault'Value (Next_Word);
      Is_Refused : constant Boolean := Last < Line'Last;
      Counted    : aliased Metrics;
      By         : constant Policy := (null, Counted'Access, Attempts => 1, others => <>);

      procedure Operation is
      begin
         SQL.Injected_Errors.Fail (State, Code, Origin => Origin);
      exception
         when Error : SQL.SQL_Error =>
            Assert (Fault_Of (Error)'Image, Expected'Image, Line);
            raise;
      end Operation;
   begin
      Tested_Loops.Run (By, False, Operation'Access);
   exception
      when SQL.SQL_Error | Outcome_Unknown_Error =>
         --  If the connection was established, it may have been lost during a commit
         Check_Count
           (Counted.Statistics.Faults
              (if Expected = Connection_Lost and then not Is_Refused
               then Outcome_Unknown
               else Expected),
            1, Line);
   end Has_Class;

   procedure Classes (T : in out Fixture) is
      pragma Unreferenced (T);
      use Ada.Text_IO;

      File     : File_Type;
      Compared : Natural := 0;
   begin
      Open (File, In_File, Ada.Command_Line.Argument (3));
      while not End_Of_File (File) loop
         Has_Class (Get_Line (File));
         Compared := Compared + 1;
      end loop;
      Close (File);
      Assert (Compared >= 40, "the number of compared lines");
   end Classes;

   -----------
   -- Calls --
   -----------

   procedure Attempts_Are_Exact (T : in out Fixture) is
      Counted : aliased Metrics;
      By      : constant Policy := (null, Counted'Access, Attempts => 4, others => <>);
   begin
      Succeeds (T, By, [1 .. 0 => Deadlock]);
      Assert (Paused = 0, "no pause without a failure");
      Succeeds (T, By, [Deadlock, Stale_Version, Busy]);
      Fails (T, By, [1 .. 9 => Deadlock], Runs => 4);
      Check_Count (Counted.Statistics.Calls, 3, "calls");
      Check_Count (Counted.Statistics.Retries, 6, "retries");
      Check_Count (Counted.Statistics.Given_Up, 1, "given up");
      Check_Count (Counted.Statistics.Faults (Deadlock), 5, "deadlocks");
      Check_Count (Counted.Statistics.Faults (Busy), 1, "busy");
      Fails (T, (Attempts => 1, others => <>), [Deadlock], Runs => 1);
   end Attempts_Are_Exact;

   --  The operation simulates an attempt that fails before its work, and so takes no key

   procedure Unknown_With_Key (T : in out Fixture) is
      Counted : aliased Metrics;
      By      : constant Policy := (null, Counted'Access, Attempts => 2, others => <>);

      procedure Stays_Unknown (Faults : Fault_List; Runs : Positive) is
      begin
         Run (T, By, Faults, Has_Key => True);
         Assert (False, "no exception after" & T.Runs'Image & " runs");
      exception
         when Outcome_Unknown_Error =>
            Assert (T.Runs'Image, Runs'Image, "runs");
      end Stays_Unknown;
   begin
      Stays_Unknown ([1 .. 9 => Outcome_Unknown], Runs => 4);
      Stays_Unknown ([Deadlock, Outcome_Unknown, Connection_Lost, Connection_Lost], Runs => 4);
      Stays_Unknown ([Outcome_Unknown, Permanent], Runs => 2);
      Check_Count (Counted.Statistics.Given_Up, 3, "given up");
      Run (T, By, [Outcome_Unknown, Deadlock, Connection_Lost], Has_Key => True);
      Assert (T.Runs = 4, "attempts until the outcome was known");
      begin
         Run (T, By, [1 .. 9 => Deadlock], Has_Key => True);
         Assert (False, "no exception");
      exception
         when SQL.SQL_Error => Assert (T.Runs = 2, "no outcome is unknown");
      end;
   end Unknown_With_Key;

   procedure Each_Class (T : in out Fixture) is
      All_Tried : constant Policy := (Repeatable => True, others => <>);
   begin
      for Kind in Transient_Error loop
         Succeeds (T, All_Tried, [Kind, Kind]);
         declare
            All_But_One : Policy;
         begin
            All_But_One.Repeatable     := True;
            All_But_One.Retried (Kind) := False;
            Fails (T, All_But_One, [Kind], Runs => 1);
         end;
         Paused := 0;
      end loop;
   end Each_Class;

   procedure Permanent_Faults (T : in out Fixture) is
      Counted : aliased Metrics;
      By      : constant Policy := (null, Counted'Access, others => <>);
   begin
      Fails (T, By, [Permanent], Runs => 1);
      Check_Count (Counted.Statistics.Faults (Permanent), 1, "permanent");
      Check_Count (Counted.Statistics.Given_Up, 0, "given up");
   end Permanent_Faults;

   procedure Are_Pauses (Expected : String) is
      use Ada.Strings.Unbounded;
      Found : Unbounded_String;
   begin
      for Index in 1 .. Paused loop
         Append (Found, Natural'Image (Natural (Pauses (Index) * 1_000)));
      end loop;
      Assert (To_String (Found), Expected, "pauses, in milliseconds");
   end Are_Pauses;

   procedure Pauses_Double (T : in out Fixture) is
      By : Policy;
   begin
      By.Attempts            := 9;
      By.Backoffs (Deadlock) := (0.008, 0.040);
      Succeeds (T, By, [1 .. 5 => Deadlock]);
      Are_Pauses (" 4 8 16 20 20");
      Paused := 0;
      By.Backoffs (Stale_Version) := (0.0, 0.0);
      Succeeds (T, By, [Deadlock, Stale_Version, Deadlock]);
      Are_Pauses (" 4 0 16");
      Paused := 0;
      By.Backoffs (Deadlock) := (0.080, 0.040);
      Succeeds (T, By, [1 .. 2 => Deadlock]);
      Are_Pauses (" 20 20");
   end Pauses_Double;

   procedure Deadlines (T : in out Fixture) is
      Counted : aliased Metrics;
      By      : Policy := (null, Counted'Access, others => <>);

      procedure Be_Slow is
      begin
         Pass (1.0);
         Fail (Deadlock);
      end Be_Slow;
   begin
      By.Attempts            := 9;
      By.Deadline            := 0.025;
      By.Backoffs (Deadlock) := (0.020, 0.020);
      Fails (T, By, [1 .. 9 => Deadlock], Runs => 3);
      Are_Pauses (" 10 10");
      Assert (Counted.Statistics.Time_In_Failed_Attempts'Image, Duration'Image (0.020), "lost");
      begin
         Tested_Loops.Run (By, False, Be_Slow'Access);
         Assert (False, "no exception");
      exception
         when SQL.SQL_Error => null;
      end;
      Are_Pauses (" 10 10");
      Assert (Counted.Statistics.Time_In_Failed_Attempts'Image, Duration'Image (1.020), "lost");
   end Deadlines;

   procedure Budgets (T : in out Fixture) is
      Shared : aliased Budget (Percent => 25, Reserve => 2);
      By     : constant Policy := (Shared'Access, null, others => <>);
   begin
      Succeeds (T, By, [Deadlock, Deadlock]);
      Assert (Shared.Available = 0, "spent");
      Fails (T, By, [Deadlock], Runs => 1);
      for Call in 1 .. 2 loop
         Succeeds (T, By, [1 .. 0 => Deadlock]);
      end loop;
      Assert (Shared.Available = 0, "three calls earn less than one retry");
      Succeeds (T, By, [Deadlock]);
      for Call in 1 .. 100 loop
         Succeeds (T, By, [1 .. 0 => Deadlock]);
      end loop;
      Assert (Shared.Available = 2, "the budget does not exceed the reserve");
   end Budgets;

   procedure Outcomes_Unknown (T : in out Fixture) is
      Counted    : aliased Metrics;
      Once       : constant Policy := (null, Counted'Access, others => <>);
      Repeatedly : constant Policy := (Repeatable => True, others => <>);

      procedure Drop is
      begin
         T.Runs := T.Runs + 1;
         if T.Runs = 1 then
            SQL.Injected_Errors.Drop_Connection;
         end if;
      end Drop;
   begin
      begin
         Tested_Loops.Run (Once, False, Drop'Access);
         Assert (False, "a call that may have committed was retried");
      exception
         when Outcome_Unknown_Error =>
            Check_Count (Counted.Statistics.Faults (Outcome_Unknown), 1, "outcome unknown");
      end;
      Fails (T, Once, [Outcome_Unknown], Runs => 1);
      Succeeds (T, Repeatedly, [Outcome_Unknown]);
      Fails (T, Repeatedly, [Outcome_Unknown, Deadlock, Deadlock], Runs => 3);
      T.Runs := 0;
      Tested_Loops.Run (Repeatedly, True, Drop'Access);
      Assert (T.Runs = 2, "work that may take effect twice is retried");
   end Outcomes_Unknown;

   --  A circuit breaker with the clock of these tests

   type Tested_Breaker is new Outage_Breaker with null record;

   overriding function Now (Self : Tested_Breaker) return Ada.Real_Time.Time is (Fake_Time);

   procedure Breakers (T : in out Fixture) is
      use Resilience.Circuit_Breakers;

      Breaker : aliased Tested_Breaker := (Window => 3, others => <>);
      By      : constant Policy :=
        (null, null, Breaker'Access, null, Attempts => 4, others => <>);

      procedure Is_In (State : Breaker_State) is
      begin
         Assert (Breaker.Statistics.State'Image, State'Image, "state");
      end Is_In;
   begin
      Succeeds (T, By, [1 .. 3 => Deadlock]);
      Is_In (Closed);
      Fails (T, By, [1 .. 1 => Outcome_Unknown], Runs => 1);
      Is_In (Closed);
      Fails (T, By, [1 .. 1 => Outcome_Unknown], Runs => 1);
      begin
         Run (T, By, [1 .. 0 => Deadlock]);
         Assert (False, "admitted");
      exception
         when Resilience.Circuit_Open_Error => Assert (T.Runs = 0, "the work is not run");
      end;
      Pass (5.0);
      Succeeds (T, By, [1 .. 0 => Deadlock]);
      Is_In (Closed);
   end Breakers;

   procedure Nested (T : in out Fixture) is
      Counted : aliased Metrics;
      By      : constant Policy := (null, Counted'Access, Attempts => 4, others => <>);

      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
         Fail (Deadlock);
      end Operation;

      procedure Inner is
      begin
         Tested_Loops.Run (By, False, Operation'Access);
      end Inner;

      procedure Middle is
      begin
         Tested_Loops.Run (By, False, Inner'Access);
      end Middle;
   begin
      begin
         Tested_Loops.Run (By, False, Middle'Access);
         Assert (False, "no exception");
      exception
         when SQL.SQL_Error => null;
      end;
      Assert (T.Runs = 4, "only the outermost call is retried:" & T.Runs'Image);
      Check_Count (Counted.Statistics.Calls, 1, "calls");
      Succeeds (T, By, [Deadlock]);
   end Nested;

   --  A pause of days ends when the call is canceled, and when the task is aborted

   Endless : constant Backoff := (900_000.0, 900_000.0);

   procedure Cancelled (T : in out Fixture) is
      Stop    : aliased Cancellation;
      Counted : aliased Metrics;
      By      : Policy := (null, Counted'Access, others => <>);

      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
         Fail (Deadlock);
      end Operation;

      procedure Refuse is
      begin
         Retry.Run (By, Operation'Access, Stop'Access);
         Assert (False, "no exception");
      exception
         when SQL.SQL_Error => null;
      end Refuse;
   begin
      By.Deadline            := Pause'Last;
      By.Backoffs (Deadlock) := Endless;
      declare
         task Canceller;

         task body Canceller is
         begin
            while Counted.Statistics.Calls = 0 loop
               delay 0.001;
            end loop;
            Stop.Cancel;
         end Canceller;
      begin
         Refuse;
      end;
      Assert (T.Runs = 1, "a canceled call is not retried");
      Refuse;
      Assert (T.Runs = 2, "a call that is already canceled is not retried");
      Check_Count (Counted.Statistics.Given_Up, 2, "given up");
   end Cancelled;

   procedure Aborted (T : in out Fixture) is
      By      : Policy;
      Is_Over : Boolean := False;

      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
         Fail (Deadlock);
      end Operation;
   begin
      By.Deadline            := Pause'Last;
      By.Backoffs (Deadlock) := Endless;
      select
         delay 0.01;
         Is_Over := True;
      then abort
         Retry.Run (By, Operation'Access);
      end select;
      Assert (Is_Over, "aborted");
      Succeeds (T, (others => <>), [Deadlock]);
   end Aborted;

   Calls_Counted : constant := 100;

   --  Returns the number of memory allocations, after a few calls that are not counted

   function Memory_Of (Call : not null access procedure) return Natural is
      Before : Natural;
   begin
      for Time in 1 .. 3 loop
         Call.all;
      end loop;
      Before := Counted_Memory.Calls;
      for Time in 1 .. Calls_Counted loop
         Call.all;
      end loop;
      return Counted_Memory.Calls - Before;
   end Memory_Of;

   procedure No_Memory (T : in out Fixture) is
      Shared  : aliased Budget (10, 10);
      Counted : aliased Metrics;
      By      : constant Policy := (Shared'Access, Counted'Access, others => <>);

      procedure Operation is
      begin
         T.Runs := T.Runs + 1;
      end Operation;

      procedure Call is
      begin
         Retry.Run (By, Operation'Access);
      end Call;
   begin
      Assert (Counted_Memory.Calls > 0, "calls for memory are counted");
      Check_Count (Interfaces.Integer_64 (Memory_Of (Call'Access)), 0, "calls for memory");
      Assert (T.Runs = Calls_Counted + 3, "runs");
   end No_Memory;

   --  Each call to Transactions allocates as much memory as the same statements without it

   procedure Connect (DB : in out SQL.SQLite.Connection) is
   begin
      DB.Open (":memory:");
   end Connect;

   package Plain is new Transactions (SQL.SQLite.Connection, Connect);

   procedure No_Memory_In_Transactions (T : in out Fixture) is
      pragma Unreferenced (T);

      Table : constant String := "retry_key";
      Id    : constant String := "order 1";
      By    : constant Policy := (others => <>);
      DB    : aliased SQL.SQLite.Connection;

      Longest : constant String := [1 .. 1_000 => 'x'];

      procedure Work (DB : in out SQL.SQLite.Connection) is
      begin
         DB.Execute ("DELETE FROM retry_key");
      end Work;

      --  Deletes the key, so that the next call can use it

      function Longest_Result (DB : in out SQL.SQLite.Connection) return String is
      begin
         Work (DB);
         return Longest;
      end Longest_Result;

      function Longer_Result (DB : in out SQL.SQLite.Connection) return String is
        (Longest_Result (DB) & 'x');

      procedure Transaction_By_Hand (Has_Key : Boolean; Result : String) is
         Scope  : SQL.Transaction (DB'Access);
         Is_New : Boolean;
      begin
         if Has_Key then
            Key_Tables.Take (Table, DB, Id, Is_New);
         end if;
         Work (DB);
         if Result /= "" then
            Key_Tables.Keep (Table, DB, Id, Result);
         end if;
         Scope.Commit;
      end Transaction_By_Hand;

      procedure By_Hand is
      begin
         Transaction_By_Hand (False, "");
      end By_Hand;

      procedure Once_By_Hand is
      begin
         Transaction_By_Hand (True, "");
      end Once_By_Hand;

      procedure Result_By_Hand is
      begin
         Transaction_By_Hand (True, Longest);
      end Result_By_Hand;

      procedure Call is
      begin
         Plain.Run (By, DB, Work'Access);
      end Call;

      procedure Call_Once is
      begin
         Plain.Run_Once (By, DB, Id, Work'Access);
      end Call_Once;

      procedure Call_For_Result is
      begin
         Assert (Plain.Run_Once (By, DB, Id, Longest_Result'Access) = Longest, "result");
      end Call_For_Result;

      procedure Call_For_Longer is
      begin
         Assert (Plain.Run_Once (By, DB, Id, Longer_Result'Access) = Longest & 'x', "result");
      end Call_For_Longer;

      procedure Takes_As_Much
        (Words : String; Call, By_Hand : not null access procedure) is
      begin
         Assert (Memory_Of (Call)'Image, Memory_Of (By_Hand)'Image, Words);
      end Takes_As_Much;
   begin
      Connect (DB);
      DB.Execute ("CREATE TABLE retry_key (id text PRIMARY KEY, result text)");
      Takes_As_Much ("Run", Call'Access, By_Hand'Access);
      Takes_As_Much ("Run_Once", Call_Once'Access, Once_By_Hand'Access);
      Takes_As_Much ("its result", Call_For_Result'Access, Result_By_Hand'Access);
      Assert
        (Memory_Of (Call_For_Longer'Access) > Memory_Of (Call_For_Result'Access),
         "a longer result takes memory");
   end No_Memory_In_Transactions;

   --  Tasks spend the retries that they earn. No retry is spent twice, and no retry is lost.

   procedure Budget_Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      Tasks : constant := 4;
      Turns : constant := 20_000;

      procedure Round is
         Shared : aliased Budget (Percent => 50, Reserve => 100);
         By     : Policy := (Shared'Access, others => <>);
         Failed : Counters.Atomic.Counter;

         procedure Fail_Once is
            Is_First : Boolean := True;

            procedure Operation is
            begin
               if Is_First then
                  Is_First := False;
                  raise Stale_Version_Error;
               end if;
            end Operation;
         begin
            Retry.Run (By, Operation'Access);
         exception
            when Stale_Version_Error => Failed.Increment;
         end Fail_Once;

         procedure Work (Number : Positive) is
            pragma Unreferenced (Number);
         begin
            for Turn in 1 .. Turns loop
               Fail_Once;
            end loop;
         end Work;

         Calls : constant Interfaces.Integer_64 := Tasks * Turns;
      begin
         By.Backoffs := [others => (0.0, 0.0)];
         Parallel.Run (Tasks, Work'Access);
         Assert
           (Calls - Failed.Value + Interfaces.Integer_64 (Shared.Available) <= 100 + Calls / 2,
            "no more retries than the budget allows");
         Assert (Calls - Failed.Value >= 100, "the reserve is used");
      end Round;
   begin
      Stress_Time.Repeat (Round'Access);
   end Budget_Stress;

   procedure As_Text (T : in out Fixture) is
      pragma Unreferenced (T);
      use Ada.Strings.Unbounded;

      LF         : constant Character := Character'Val (10);
      Statistics : constant Retry_Statistics :=
        (Calls                   => 7,
         Time_In_Failed_Attempts => 1.5,
         Faults                  => [Deadlock => 2, others => 0],
         others                  => <>);
      Text  : constant String := Prometheus.Text
        ([(To_Unbounded_String ("shop"), Statistics),
          (To_Unbounded_String ("a ""b""\" & LF), (others => <>))]);

      procedure Has (Line : String) is
      begin
         Assert (Ada.Strings.Fixed.Count (Text, LF & Line & LF) = 1, Line & " in: " & Text);
      end Has;
   begin
      Assert (Ada.Strings.Fixed.Count (Text, "# TYPE ") = 5, "each metric is described once");
      Has ("# TYPE appserver_retry_calls_total counter");
      Has ("appserver_retry_calls_total{policy=""shop""} 7");
      Has ("appserver_retry_calls_total{policy=""a \""b\""\\\n""} 0");
      Has ("appserver_retry_faults_total{policy=""shop"",fault=""deadlock""} 2");
      Has ("appserver_retry_lost_seconds_total{policy=""shop""} 1.500000000");
   end As_Text;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Text, Test));
      end Add;
   begin
      Add ("retry: classification of errors", Classes'Access);
      Add ("retry: n attempts are n - 1 retries", Attempts_Are_Exact'Access);
      Add ("retry: unknown outcomes, with a key", Unknown_With_Key'Access);
      Add ("retry: each class, retried and not retried", Each_Class'Access);
      Add ("retry: permanent faults", Permanent_Faults'Access);
      Add ("retry: pauses double", Pauses_Double'Access);
      Add ("retry: deadlines", Deadlines'Access);
      Add ("retry: budgets", Budgets'Access);
      Add ("retry: unknown outcomes", Outcomes_Unknown'Access);
      Add ("retry: circuit breakers", Breakers'Access);
      Add ("retry: only the outermost call", Nested'Access);
      Add ("retry: canceled calls", Cancelled'Access);
      Add ("retry: aborted calls", Aborted'Access);
      Add ("retry: no heap memory without a fault", No_Memory'Access);
      Add ("retry: no heap memory in transactions", No_Memory_In_Transactions'Access);
      Add ("retry: tasks share a budget", Budget_Stress'Access);
      Add ("retry: statistics as text", As_Text'Access);
      return Result;
   end Suite;

end Retry_Tests;
