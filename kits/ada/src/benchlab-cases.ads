--  SPDX-License-Identifier: Apache-2.0
--
--  A case: one piece of work that a subject knows how to do.

with Benchlab.Fields;
with Benchlab.Latencies;
with Benchlab.Operation_Sets;
with Benchlab.Seeded_Sequences;

package Benchlab.Cases is

   type Subject_Case is limited interface;

   procedure Open
     (Self      : in out Subject_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List) is abstract;
   --  Prepares the work. Settings returns values that were read back, for the lab to compare.
   --  After an exception the case is finalized without a Close.

   procedure Perform
     (Self       : in out Subject_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is abstract;
   --  Does the operations, from the first input on. The time it takes is what is measured.

   procedure Close (Self : in out Subject_Case) is abstract;
   --  Releases what Open took. The case is finalized after it.

   type Concurrent_Case is limited interface and Subject_Case;
   --  A case that does several operations at once, as with Benchlab.Worker_Groups

   function Measured (Self : Concurrent_Case) return Latencies.Recorder is abstract;
   --  The latencies of the latest Perform. The batch lasts from the first start to the last end.
   --  Without a lap no latencies are reported.

   type Measuring_Case is limited interface and Subject_Case;
   --  A case of an experiment that has metrics of its own

   function Metrics (Self : Measuring_Case) return Fields.Field_List is abstract;
   --  The metrics of the latest Perform, each added as a Metric_Value

   type Fallible_Case is limited interface and Subject_Case;
   --  A case whose operations may fail, which is what is measured

   function Failed (Self : Fallible_Case) return Operation_Sets.Operation_Set is abstract;
   --  The operations of the latest Perform that failed

   type Serving_Case is limited interface and Subject_Case;
   --  A server. It serves from Open, which adds the setting "url" and others, to Close, which ends
   --  it gracefully. Other programs put load on it; Perform is never called.

   overriding procedure Perform
     (Self       : in out Serving_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is null;

   procedure Wait (Self : in out Serving_Case; Commands : Natural) is null;
   --  Called while the next command is waited for. A server that has no task of its own serves in
   --  it, until there is input on the descriptor Commands; for any other there is nothing to do.

   type Case_Reference is access Subject_Case'Class;

   type Case_Maker is not null access function (Name : String) return Case_Reference;
   --  A new case of that name, allocated for the caller to free; null if there is none

end Benchlab.Cases;
