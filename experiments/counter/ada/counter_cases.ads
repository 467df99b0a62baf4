--  SPDX-License-Identifier: Apache-2.0
--
--  The cases of the experiment, in which tasks concurrently use one counter, or a safe and an
--  unsafe counter.

with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Latencies;
with Benchlab.Seeded_Sequences;

private with Appserver.Counters.Atomic;
private with Benchlab.Worker_Groups;
private with Interfaces;
private with Schemes;
private with Unsafe_Counters;

package Counter_Cases is

   use Benchlab;

   function New_Case (Name : String) return Cases.Case_Reference;

private

   use Interfaces;

   --  The base type of the cases, which measures the percentage of lost increments

   type Losing_Case is abstract limited new Cases.Concurrent_Case and Cases.Measuring_Case
   with record
      Percent_Lost : Fields.Metric_Value;
   end record;

   procedure Tell_Lost
     (Self : in out Losing_Case; Operations : Operation_Count; Reached : Integer_64);

   overriding function Metrics (Self : Losing_Case) return Fields.Field_List;

   -------------------------------
   -- increment and read_mostly --
   -------------------------------

   type Counting_Worker is limited record
      Counter : Schemes.Counter_Reference;
      Reads   : Boolean;
   end record;

   procedure Count
     (Self       : in out Counting_Worker;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);

   package Counting_Groups is new Worker_Groups (Counting_Worker, Count);

   type Counting_Case (Reads : Boolean) is limited new Losing_Case with record
      Counter : Schemes.Counter_Reference;
      Workers : Counting_Groups.Group;
   end record;

   overriding procedure Open
     (Self      : in out Counting_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Counting_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Counting_Case) return Latencies.Recorder is
     (Self.Workers.Measured);

   overriding procedure Close (Self : in out Counting_Case);

   ------------------
   -- side_by_side --
   ------------------

   type Counter_Pair is limited record
      Safe   : Appserver.Counters.Atomic.Counter;
      Unsafe : Unsafe_Counters.Volatile_Counter;
   end record;

   type Pair_Worker is limited record
      Pair : access Counter_Pair;
   end record;

   procedure Increment_Both (Pair : in out Counter_Pair; Times : Operation_Count)
     with No_Inline;

   procedure Count_Both
     (Self       : in out Pair_Worker;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);

   package Pair_Groups is new Worker_Groups (Pair_Worker, Count_Both);

   type Side_By_Side_Case is limited new Losing_Case with record
      Pair    : aliased Counter_Pair;
      Workers : Pair_Groups.Group;
   end record;

   overriding procedure Open
     (Self      : in out Side_By_Side_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Side_By_Side_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Side_By_Side_Case) return Latencies.Recorder is
     (Self.Workers.Measured);

   overriding procedure Close (Self : in out Side_By_Side_Case) is null;

end Counter_Cases;
