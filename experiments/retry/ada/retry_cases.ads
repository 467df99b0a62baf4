--  SPDX-License-Identifier: Apache-2.0
--
--  The cases, in which clients make calls concurrently. Reports failed calls, and counts the faults
--  after which calls were retried.

with Appserver.Retry;
with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Latencies;
with Benchlab.Operation_Sets;
with Benchlab.Seeded_Sequences;
with Calls;
with Clients;

package Retry_Cases is

   use Benchlab;

   type Retry_Case (Work : not null Calls.Work) is
     limited new Cases.Concurrent_Case and Cases.Measuring_Case and Cases.Fallible_Case with
   record
      Group         : Clients.Groups.Group;
      Batch         : Clients.Batch_Number := 0;
      Operations    : Operation_Count := 1;
      Before, After : Appserver.Retry.Retry_Statistics;
      --  The statistics before and after the latest batch
   end record;

   overriding procedure Open
     (Self      : in out Retry_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Retry_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Retry_Case) return Latencies.Recorder is
     (Self.Group.Measured);

   overriding function Metrics (Self : Retry_Case) return Fields.Field_List;

   overriding function Failed (Self : Retry_Case) return Operation_Sets.Operation_Set;

   overriding procedure Close (Self : in out Retry_Case);

   function New_Case (Name : String) return Cases.Case_Reference;

end Retry_Cases;
