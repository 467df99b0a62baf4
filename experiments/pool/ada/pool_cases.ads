--  SPDX-License-Identifier: Apache-2.0
--
--  Cases in which one or more threads lease resources from a pool

with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Latencies;
with Benchlab.Seeded_Sequences;
with Resources;

private with Ada.Finalization;
private with Benchlab.Worker_Groups;
private with Interfaces;

package Pool_Cases is

   use Benchlab;
   use Benchlab.Seeded_Sequences;

   type Uncontended_Case is limited new Cases.Subject_Case with private;
   --  A case in which one thread leases and releases a resource

   overriding procedure Open
     (Self      : in out Uncontended_Case;
      Arguments : Fields.Field_List;
      Inputs    : Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Uncontended_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding procedure Close (Self : in out Uncontended_Case) is null;

   type Kind is (Lease, Fail, Reuse);

   type Shared_Case (Kind : Pool_Cases.Kind) is
     limited new Cases.Concurrent_Case and Cases.Measuring_Case with private;
   --  A case in which many threads lease resources, and use them in the way that the case specifies

   overriding procedure Open
     (Self      : in out Shared_Case;
      Arguments : Fields.Field_List;
      Inputs    : Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Shared_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Shared_Case) return Latencies.Recorder;

   overriding function Metrics (Self : Shared_Case) return Fields.Field_List;

   overriding procedure Close (Self : in out Shared_Case) is null;

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "uncontended" then new Uncontended_Case
      elsif Name = "lease" then new Shared_Case (Lease)
      elsif Name = "fail" then new Shared_Case (Fail)
      elsif Name = "reuse" then new Shared_Case (Reuse)
      else null);

private

   use Interfaces;

   --  A pool that the case owns. The pool is freed after the case's threads have ended.

   type Owned_Pool is limited new Ada.Finalization.Limited_Controlled with record
      Pool : Resources.Pool_Access;
   end record;

   procedure Make (Self : in out Owned_Pool; Size : Positive);

   overriding procedure Finalize (Self : in out Owned_Pool);

   type Uncontended_Case is limited new Cases.Subject_Case with record
      Pool : Owned_Pool;
   end record;

   ------------
   -- Holder --
   ------------

   type Hold_Kind is (Nothing, A_While, Failing, Reading);

   type Failure_List is array (Input_Index) of Boolean;

   --  A worker task, whose first operation is First

   type Holder is limited record
      Pool        : Resources.Pool_Access;
      Hold        : Hold_Kind := Nothing;
      Fails       : Failure_List := [others => False];
      First, Step : Input_Index := 0;
      Over        : Unsigned_64 := 0;
      --  The number of leases during which another worker held the same resource, which is an error
      Rate        : Long_Float := 0.0;
      --  The worker's rate in the batch, in operations per nanosecond
   end record;

   procedure Do_Share
     (Self       : in out Holder;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);

   package Holder_Groups is new Worker_Groups (Holder, Do_Share);

   type Shared_Case (Kind : Pool_Cases.Kind) is
     limited new Cases.Concurrent_Case and Cases.Measuring_Case with record
      Pool    : Owned_Pool;
      Holders : Holder_Groups.Group;
   end record;

   overriding function Measured (Self : Shared_Case) return Latencies.Recorder is
     (Self.Holders.Measured);

end Pool_Cases;
