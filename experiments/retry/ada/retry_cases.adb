--  SPDX-License-Identifier: Apache-2.0

with Benchlab.Kernel;
with Dialect;
with Policies;
with Target_Sessions;

package body Retry_Cases is

   use Appserver.Retry;
   use type Calls.Work;
   use type Clients.Batch_Number;
   use type Count;
   use type Fields.Metric_Value;

   Max_Clients    : constant := 256;
   Max_Per_Second : constant := 1_000_000;

   --  Reads the settings back. After an exception, drops the key table, since benchlab does not
   --  close the case then.

   procedure Read_Back
     (Self      : in out Retry_Case;
      Arguments : Fields.Field_List;
      Settings  : in out Fields.Field_List) is
   begin
      Dialect.Read_Back (Self.Group.Member (1).Session.DB, Arguments, Settings);
   exception
      when others =>
         Target_Sessions.Drop_Key_Table;
         raise;
   end Read_Back;

   --  Creates the key table before a session reads SQLite's schema. While the database is locked,
   --  SQLite cannot detect that the schema has changed, and reports that there is no such table.

   overriding procedure Open
     (Self      : in out Retry_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      Opened : constant Kernel.Nanoseconds := Kernel.Monotonic_Time;
      Count  : constant Positive := Positive (Arguments.Number ("clients", 1, Max_Clients));
      Rate   : constant Kernel.Nanoseconds :=
        (if Arguments.Has ("rate")
         then Kernel.Nanoseconds (Arguments.Number ("rate", 1, Max_Per_Second)) else 0);
   begin
      Target_Sessions.Set_Target (Arguments.Text ("target"));
      Self.Group.Start (Count);
      for Number in 1 .. Count loop
         declare
            Client : Clients.Client renames Self.Group.Member (Number).all;
         begin
            Target_Sessions.Connect (Client.Session.DB);
            Client.Work   := Self.Work;
            Client.Inputs := Inputs;
            Client.First  := Operation_Number (Number - 1);
            Client.Stride := Operation_Number (Count);
            Client.Opened := Opened;
            Client.Rate   := Rate;
         end;
      end loop;
      Target_Sessions.Make_Key_Table;
      Read_Back (Self, Arguments, Settings);
   end Open;

   overriding procedure Close (Self : in out Retry_Case) is
      pragma Unreferenced (Self);
   begin
      Target_Sessions.Drop_Key_Table;
   end Close;

   overriding procedure Perform
     (Self       : in out Retry_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Self.Batch      := Self.Batch + 1;
      Self.Operations := Operations;
      for Number in 1 .. Self.Group.Size loop
         Self.Group.Member (Number).Batch := Self.Batch;
         Self.Group.Member (Number).Failed.Clear;
      end loop;
      Self.Before := Policies.Counted.Statistics;
      Self.Group.Perform (Operations, Check, Units);
      Self.After := Policies.Counted.Statistics;
   end Perform;

   overriding function Failed (Self : Retry_Case) return Operation_Sets.Operation_Set is
   begin
      return Result : Operation_Sets.Operation_Set do
         for Number in 1 .. Self.Group.Size loop
            Result.Union (Self.Group.Member (Number).Failed);
         end loop;
      end return;
   end Failed;

   -------------
   -- Metrics --
   -------------

   overriding function Metrics (Self : Retry_Case) return Fields.Field_List is

      function Percent (Number : Count) return Fields.Metric_Value is
        (100.0 * Fields.Metric_Value (Number) / Fields.Metric_Value (Self.Operations));

      function Percent_Of (Kind : Fault) return Fields.Metric_Value is
        (Percent (Self.After.Faults (Kind) - Self.Before.Faults (Kind)));
   begin
      return Result : Fields.Field_List do
         Result.Add ("stale", Percent_Of (Stale_Version));
         Result.Add
           ("deadlock",
            Percent_Of (Serialization_Failure) + Percent_Of (Deadlock)
            + Percent_Of (Lock_Timeout) + Percent_Of (Busy));
         Result.Add
           ("disconnected", Percent_Of (Connection_Lost) + Percent_Of (Outcome_Unknown));
         Result.Add ("retried", Percent (Self.After.Retries - Self.Before.Retries));
      end return;
   end Metrics;

   function New_Case (Name : String) return Cases.Case_Reference is
      Work : constant Calls.Work := Calls.Of_Case (Name);
   begin
      return (if Work = null then null else new Retry_Case (Work));
   end New_Case;

end Retry_Cases;
