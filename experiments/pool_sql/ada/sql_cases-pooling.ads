--  SPDX-License-Identifier: Apache-2.0
--
--  Requests that lease a connection from a pool, and requests that open their own connection

with Benchlab.Latencies;
with SQL_Cases.Connecting;

private with Ada.Finalization;
private with Ada.Strings.Unbounded;
private with Appserver.Pools;
private with Benchlab.Worker_Groups;

package SQL_Cases.Pooling is

   type Pooled_Case is limited new Cases.Subject_Case with private;
   --  A case in which one thread leases connections

   overriding procedure Open
     (Self      : in out Pooled_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Pooled_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding procedure Close (Self : in out Pooled_Case) is null;

   type Shared_Case is limited new Cases.Concurrent_Case with private;
   --  A case with more threads than connections

   overriding procedure Open
     (Self      : in out Shared_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Shared_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Shared_Case) return Benchlab.Latencies.Recorder;

   overriding procedure Close (Self : in out Shared_Case) is null;

   function New_Case (Name : String) return Cases.Case_Reference is
     (if Name = "opened" then new Connecting.Connect_Case
      elsif Name = "pooled" then new Pooled_Case
      elsif Name = "shared" then new Shared_Case
      else null);

private

   Target : Ada.Strings.Unbounded.Unbounded_String;
   --  The database of the open case, to which the pool connects

   procedure Connect (DB : in out Database.Connection);

   package Connection_Pools is new Appserver.Pools (Database.Connection, Open => Connect);

   type Pool_Access is access all Connection_Pools.Pool;

   --  A pool that the case owns. When the pool is freed, the finalization of its connections closes
   --  them.

   type Owned_Pool is limited new Ada.Finalization.Limited_Controlled with record
      Pool : Pool_Access;
   end record;

   procedure Make
     (Self      : in out Owned_Pool;
      Arguments : Fields.Field_List;
      Settings  : in out Fields.Field_List);
   --  Opens all connections, and reads the settings back over one connection

   overriding procedure Finalize (Self : in out Owned_Pool);

   procedure Request
     (Pool  : not null Pool_Access;
      Check : in out Check_Value;
      Units : in out Unit_Count);

   type Pooled_Case is limited new Cases.Subject_Case with record
      Pool : Owned_Pool;
   end record;

   type Client is limited record
      Pool : Pool_Access;
   end record;

   procedure Do_Share
     (Self       : in out Client;
      Operations : Operation_Count;
      Recorder   : in out Benchlab.Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);

   package Client_Groups is new Benchlab.Worker_Groups (Client, Do_Share);

   type Shared_Case is limited new Cases.Concurrent_Case with record
      Pool    : Owned_Pool;
      Clients : Client_Groups.Group;
   end record;

   overriding function Measured (Self : Shared_Case) return Benchlab.Latencies.Recorder is
     (Self.Clients.Measured);

end SQL_Cases.Pooling;
