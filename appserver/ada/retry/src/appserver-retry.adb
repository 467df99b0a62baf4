--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Real_Time;
with Ada.Unchecked_Conversion;
with Appserver.Retry.Loops;
with Interfaces;

package body Appserver.Retry is

   use Ada.Exceptions;
   use type Ada.Real_Time.Time;
   use Interfaces;

   ------------
   -- Faults --
   ------------

   --  If SQLite cannot open a file, a retry would fail, too

   function Fault_Of (Error : SQL.Error_Record) return Fault is
     (case Error.Kind is
         when SQL.Serialization_Failure => Serialization_Failure,
         when SQL.Stale_Statement       => Serialization_Failure,
         when SQL.Deadlock              => Deadlock,
         when SQL.Lock_Timeout          => Lock_Timeout,
         when SQL.Database_Busy         => Busy,
         when SQL.Unable_To_Connect     =>
           (if Error.Is_Retryable then Connection_Lost else Permanent),
         when SQL.Connection_Lost       => Connection_Lost,
         when SQL.Outcome_Unknown       => Outcome_Unknown,
         when others                    => Permanent);

   function Fault_Of (Error : Exception_Occurrence) return Fault is
      Identity : constant Exception_Id := Exception_Identity (Error);
   begin
      return
        (if Identity = Stale_Version_Error'Identity then Stale_Version
         elsif Identity = Outcome_Unknown_Error'Identity then Outcome_Unknown
         elsif Identity = Key_Taken_Error'Identity then Serialization_Failure
         elsif Identity = SQL.SQL_Error'Identity then Fault_Of (SQL.Error_Of (Error))
         else Permanent);
   end Fault_Of;

   procedure Check_Version (DB : SQL.Connection'Class) is
      Rows : constant SQL.Integer_64 := DB.Rows_Affected;
   begin
      if Rows = 0 then
         raise Stale_Version_Error with "the record was changed or deleted after it was read";
      elsif Rows /= 1 then
         raise Misuse_Error with
           "the condition is not unique: the statement changed" & Rows'Image & " rows";
      end if;
   end Check_Version;

   -------------
   -- Budgets --
   -------------

   Retry_Cost : constant := 100;

   function Available (Self : Budget) return Natural is
     (Self.Reserve
      - Natural ((Self.Spent.Value + Retry_Cost - 1) / Retry_Cost));

   procedure Earn (Self : in out Budget) is
      Spent  : SQL.Integer_64 := Self.Spent.Value;
      Is_Set : Boolean;
   begin
      while Spent > 0 and then Self.Percent > 0 loop
         Self.Spent.Compare_And_Set
           (Expected => Spent,
            To       => SQL.Integer_64'Max (0, Spent - SQL.Integer_64 (Self.Percent)),
            Is_Set   => Is_Set);
         exit when Is_Set;
         Spent := Self.Spent.Value;
      end loop;
   end Earn;

   procedure Spend (Self : in out Budget; Is_Spent : out Boolean) is
      Spent : SQL.Integer_64;
   begin
      loop
         Spent    := Self.Spent.Value;
         Is_Spent := Spent + Retry_Cost <= Retry_Cost * SQL.Integer_64 (Self.Reserve);
         exit when not Is_Spent;
         Self.Spent.Compare_And_Set (Spent, Spent + Retry_Cost, Is_Spent);
         exit when Is_Spent;
      end loop;
   end Spend;

   ----------------------
   -- Retry_Statistics --
   ----------------------

   function Statistics (Self : Metrics) return Retry_Statistics is
   begin
      return Result : Retry_Statistics do
         Result.Calls                   := Self.Calls.Value;
         Result.Retries                 := Self.Retries.Value;
         Result.Given_Up                := Self.Given_Up.Value;
         Result.Time_In_Failed_Attempts :=
           Duration'Fixed_Value (Self.Time_In_Failed_Attempts.Value);
         for Kind in Fault loop
            Result.Faults (Kind) := Self.Faults (Kind).Value;
         end loop;
      end return;
   end Statistics;

   -----------
   -- Calls --
   -----------

   protected body Cancellation is

      procedure Cancel is
      begin
         Cancelled := True;
      end Cancel;

      function Is_Cancelled return Boolean is (Cancelled);

      entry Wait when Cancelled is
      begin
         null;
      end Wait;

   end Cancellation;

   procedure Wait (Time : Pause; Stop : access Cancellation) is
   begin
      if Stop = null then
         delay Time;
      else
         select
            Stop.Wait;
         or
            delay Time;
         end select;
      end if;
   end Wait;

   --  SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014), whose state tasks can share with
   --  one atomic addition

   Gamma : constant Unsigned_64 := 16#9E37_79B9_7F4A_7C15#;

   function To_Integer is new Ada.Unchecked_Conversion (Unsigned_64, Integer_64);
   function To_Unsigned is new Ada.Unchecked_Conversion (Integer_64, Unsigned_64);

   Seed : Counters.Atomic.Counter;

   function Random return Float is
      Mixed : Unsigned_64 := To_Unsigned (Seed.Fetch_And_Add (To_Integer (Gamma)));
   begin
      Mixed := (Mixed xor Shift_Right (Mixed, 30)) * 16#BF58_476D_1CE4_E5B9#;
      Mixed := (Mixed xor Shift_Right (Mixed, 27)) * 16#94D0_49BB_1331_11EB#;
      Mixed := Mixed xor Shift_Right (Mixed, 31);
      return Float (Shift_Right (Mixed, 40)) / 2.0 ** 24;
   end Random;

   package System_Loops is new Loops (Ada.Real_Time.Clock, Wait, Random);

   procedure Run
     (By        : Policy;
      Has_Key   : Boolean;
      Operation : not null access procedure;
      Stop      : access Cancellation) renames System_Loops.Run;

   procedure Run
     (By        : Policy;
      Operation : not null access procedure;
      Stop      : access Cancellation := null) is
   begin
      Run (By, Has_Key => False, Operation => Operation, Stop => Stop);
   end Run;

   Boot : constant Ada.Real_Time.Time :=
     Ada.Real_Time.Time_Of (0, Ada.Real_Time.Time_Span_Zero);

begin
   Seed.Set
     (Integer_64'Integer_Value
        (Ada.Real_Time.To_Duration (Ada.Real_Time.Clock - Boot)));
end Appserver.Retry;
