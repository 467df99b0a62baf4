--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.Retry.Loops;

package body Appserver.Retry is

   use Ada.Exceptions;
   use type SQL.Integer_64;

   ------------
   -- Faults --
   ------------

   --  If SQLite cannot open a file, a retry would also fail

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

   package System_Loops is new Loops (Resilience.Clock, Resilience.Wait, Resilience.Random);

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

end Appserver.Retry;
