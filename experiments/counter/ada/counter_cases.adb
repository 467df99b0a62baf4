--  SPDX-License-Identifier: Apache-2.0

package body Counter_Cases is

   use type Fields.Metric_Value;

   Max_Threads : constant := 1_024;

   function Threads (Arguments : Fields.Field_List) return Positive is
     (Positive (Arguments.Number ("threads", 1, Max_Threads)));

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name in "increment" | "plain" then new Counting_Case (Reads => False)
      elsif Name = "read_mostly" then new Counting_Case (Reads => True)
      elsif Name = "side_by_side" then new Side_By_Side_Case
      else null);

   procedure Tell_Lost
     (Self : in out Losing_Case; Operations : Operation_Count; Reached : Integer_64)
   is
      Lost : constant Integer_64 := Integer_64 (Operations) - Reached;
   begin
      Self.Percent_Lost :=
        100.0 * Fields.Metric_Value (Lost) / Fields.Metric_Value (Operations);
   end Tell_Lost;

   overriding function Metrics (Self : Losing_Case) return Fields.Field_List is
   begin
      return Result : Fields.Field_List do
         Result.Add ("lost", Self.Percent_Lost);
      end return;
   end Metrics;

   -------------------------------
   -- increment and read_mostly --
   -------------------------------

   function Scheme_Of is new Fields.Choice_Of (Schemes.Scheme);

   overriding procedure Open
     (Self      : in out Counting_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs, Settings);

      Kind : constant Schemes.Scheme := Scheme_Of (Arguments, "scheme");
   begin
      Self.Workers.Start (Threads (Arguments));
      Self.Counter := Schemes.New_Counter (Kind);
      for Number in 1 .. Self.Workers.Size loop
         Self.Workers.Member (Number).Counter := Self.Counter;
         Self.Workers.Member (Number).Reads   := Self.Reads;
      end loop;
   end Open;

   procedure Count
     (Self       : in out Counting_Worker;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count) is
   begin
      Recorder.Start;
      if Self.Reads then
         Self.Counter.Increment_And_Read (Operations, Backwards => Check);
      else
         Self.Counter.Increment (Operations);
      end if;
      Units := Unit_Count (Operations);
   end Count;

   --  For a safe counter, the check is its final value. The number of reads that went backwards
   --  must be 0.

   overriding procedure Perform
     (Self       : in out Counting_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Before  : constant Integer_64 := Self.Counter.Value;
      Reached : Integer_64;
   begin
      Self.Workers.Perform (Operations, Check, Units);
      Reached := Self.Counter.Value - Before;
      Check   :=
        (if Self.Counter.Is_Safe then Check + Check_Value (Reached)
         else Check_Value (Operations));
      Self.Tell_Lost (Operations, Reached);
   end Perform;

   overriding procedure Close (Self : in out Counting_Case) is
   begin
      Schemes.Free (Self.Counter);
   end Close;

   ------------------
   -- side_by_side --
   ------------------

   overriding procedure Open
     (Self      : in out Side_By_Side_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs, Settings);
   begin
      Self.Workers.Start (Threads (Arguments));
      for Number in 1 .. Self.Workers.Size loop
         Self.Workers.Member (Number).Pair := Self.Pair'Unchecked_Access;
      end loop;
   end Open;

   procedure Increment_Both (Pair : in out Counter_Pair; Times : Operation_Count) is
   begin
      for Operation in 1 .. Times loop
         Pair.Safe.Increment;
         Unsafe_Counters.Increment (Pair.Unsafe);
      end loop;
   end Increment_Both;

   procedure Count_Both
     (Self       : in out Pair_Worker;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count)
   is
      pragma Unreferenced (Check);
   begin
      Recorder.Start;
      Increment_Both (Self.Pair.all, Operations);
      Units := Unit_Count (Operations);
   end Count_Both;

   --  The metric is the number of increments that the unsafe counter lost

   overriding procedure Perform
     (Self       : in out Side_By_Side_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      use Unsafe_Counters;

      Safe_Before   : constant Integer_64 := Self.Pair.Safe.Value;
      Unsafe_Before : constant Integer_64 := Value (Self.Pair.Unsafe);
   begin
      Self.Workers.Perform (Operations, Check, Units);
      Check := Check_Value (Self.Pair.Safe.Value - Safe_Before);
      Self.Tell_Lost (Operations, Value (Self.Pair.Unsafe) - Unsafe_Before);
   end Perform;

end Counter_Cases;
