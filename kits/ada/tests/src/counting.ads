--  SPDX-License-Identifier: Apache-2.0
--
--  A case with concurrent operations. Each worker adds up the numbers of its operations, or reports
--  that the operations have failed.

with Ada.Finalization;
with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Latencies;
with Benchlab.Operation_Sets;
with Benchlab.Seeded_Sequences;
with Benchlab.Worker_Groups;
with Interfaces;

package Counting is

   use Benchlab;

   Alive : Natural := 0;

   type Counter is new Ada.Finalization.Limited_Controlled with record
      First, Stride : Interfaces.Unsigned_64;
      Failing       : Boolean := False;
      Refusing      : Boolean := False;
      Has_Laps      : Boolean := True;
      Failed        : Operation_Sets.Operation_Set;
   end record;

   overriding procedure Initialize (Self : in out Counter);
   overriding procedure Finalize (Self : in out Counter);

   procedure Count
     (Self       : in out Counter;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);

   package Counters is new Benchlab.Worker_Groups (Counter, Count);

   type Counting_Case is limited new Cases.Concurrent_Case and Cases.Fallible_Case with record
      Workers : Counters.Group;
   end record;

   overriding procedure Open
     (Self      : in out Counting_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);
   --  Opens the case. The argument "failing" is the number of a worker that raises an exception,
   --  and "refusing" is the number of a worker whose operations all fail. 0 or no argument means no
   --  worker.

   overriding procedure Perform
     (Self       : in out Counting_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Counting_Case) return Latencies.Recorder is
     (Self.Workers.Measured);

   overriding function Failed (Self : Counting_Case) return Operation_Sets.Operation_Set;

   overriding procedure Close (Self : in out Counting_Case) is null;

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "counting" then new Counting_Case else null);

end Counting;
