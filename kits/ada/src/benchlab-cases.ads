--  SPDX-License-Identifier: Apache-2.0
--
--  A case: one kind of work that a subject implements.

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
   --  Prepares the work. Settings returns the effective values of the settings, which the case
   --  reads back from the library and benchlab compares. If Open raises an exception, the case is
   --  finalized without a call to Close.

   procedure Perform
     (Self       : in out Subject_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is abstract;
   --  Performs the operations, starting with the first input. benchlab measures the time of this
   --  call.

   procedure Close (Self : in out Subject_Case) is abstract;
   --  Releases the resources that Open acquired. The case is finalized afterwards.

   type Concurrent_Case is limited interface and Subject_Case;
   --  A case that performs multiple operations concurrently, for example with
   --  Benchlab.Worker_Groups

   function Measured (Self : Concurrent_Case) return Latencies.Recorder is abstract;
   --  Returns the latencies of the latest Perform. The batch lasts from the first start to the last
   --  end of an operation. If Lap was never called, no latencies are reported.

   type Measuring_Case is limited interface and Subject_Case;
   --  A case that reports its own metrics

   function Metrics (Self : Measuring_Case) return Fields.Field_List is abstract;
   --  Returns the metrics of the latest Perform, each added as a Metric_Value

   type Fallible_Case is limited interface and Subject_Case;
   --  A case whose operations may fail, and which reports the failed operations

   function Failed (Self : Fallible_Case) return Operation_Sets.Operation_Set is abstract;
   --  Returns the operations that failed in the latest Perform

   type Serving_Case is limited interface and Subject_Case;
   --  A server. Open starts the server, and adds its settings, including "url". Close shuts down
   --  the server gracefully. Other programs generate the load; Perform is never called.

   overriding procedure Perform
     (Self       : in out Serving_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is null;

   procedure Wait (Self : in out Serving_Case; Commands : Natural) is null;
   --  Waits for the next command; called while the subject has no command to run. A server without
   --  its own task must process requests during this call, until the descriptor Commands has input.
   --  Other servers do not need to override this procedure.

   type Case_Reference is access Subject_Case'Class;

   type Case_Maker is not null access function (Name : String) return Case_Reference;
   --  Returns a new case whose name is Name, or null if there is no such case. The caller must free
   --  the case.

end Benchlab.Cases;
