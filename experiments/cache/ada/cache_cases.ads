--  SPDX-License-Identifier: Apache-2.0
--
--  The cases of the experiment, in which tasks use one map concurrently.

with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Latencies;
with Benchlab.Seeded_Sequences;

private with Ada.Finalization;
private with Benchlab.Worker_Groups;
private with Interfaces;
private with Shared_Maps;
private with Traces;

package Cache_Cases is

   use Benchlab;

   Readers_Share_Lock : Boolean := False;
   --  True if protected functions run concurrently under the program's locking policy. The subject
   --  with this policy offers only the scheme read_write_lock. The other subject offers all other
   --  schemes.

   function New_Case (Name : String) return Cases.Case_Reference;

private

   use Interfaces;
   use Shared_Maps;

   type Owned_Map is new Ada.Finalization.Limited_Controlled with record
      Map : Map_Reference;
   end record;

   overriding procedure Finalize (Self : in out Owned_Map);

   type Shared_Data is limited record
      Scheme : Shared_Maps.Scheme;
      Owned  : Owned_Map;
      Trace  : Traces.Trace;
   end record;

   procedure Make_Map
     (Self      : in out Shared_Data;
      Arguments : Fields.Field_List;
      Entries   : Natural;
      Writes    : Boolean := True);
   --  Creates a map with the scheme in Arguments. Raises Unsupported_Error if Writes is True and
   --  the scheme is unsynchronized, which does not support writes.

   -----------
   -- Tasks --
   -----------

   type Work_Kind is (Replay, Replay_With_Laps, Put_New_Keys);

   type Worker is limited record
      Data          : access Shared_Data;
      Kind          : Work_Kind;
      First, Stride : Unsigned_64;
   end record;

   procedure Work
     (Self       : in out Worker;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);

   package Groups is new Worker_Groups (Worker, Work);

   procedure Start
     (Group : in out Groups.Group;
      Size  : Groups.Worker_Number;
      Kind  : Work_Kind;
      Data  : not null access Shared_Data);

   -------------------------------
   -- read_only and read_mostly --
   -------------------------------

   type Replay_Case (Writes : Boolean) is limited new Cases.Concurrent_Case with record
      Data  : aliased Shared_Data;
      Group : Groups.Group;
   end record;

   overriding procedure Open
     (Self      : in out Replay_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Replay_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Replay_Case) return Latencies.Recorder is
     (Self.Group.Measured);

   overriding procedure Close (Self : in out Replay_Case) is null;

   -----------
   -- write --
   -----------

   type Write_Case is limited new Cases.Subject_Case with record
      Data : Shared_Data;
   end record;

   overriding procedure Open
     (Self      : in out Write_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Write_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding procedure Close (Self : in out Write_Case) is null;

   ----------
   -- wait --
   ----------

   type Wait_Case is limited new Cases.Concurrent_Case and Cases.Measuring_Case with record
      Data  : aliased Shared_Data;
      Group : Groups.Group;
      Peak  : Fields.Metric_Value;
   end record;

   overriding procedure Open
     (Self      : in out Wait_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Wait_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Wait_Case) return Latencies.Recorder is
     (Self.Group.Measured);

   overriding function Metrics (Self : Wait_Case) return Fields.Field_List;

   overriding procedure Close (Self : in out Wait_Case) is null;

   ----------
   -- lost --
   ----------

   type Lost_Case is limited new Cases.Measuring_Case with record
      Data  : aliased Shared_Data;
      Group : Groups.Group;
      Lost  : Fields.Metric_Value;
   end record;

   overriding procedure Open
     (Self      : in out Lost_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Lost_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Metrics (Self : Lost_Case) return Fields.Field_List;

   overriding procedure Close (Self : in out Lost_Case) is null;

   -----------
   -- evict --
   -----------

   type Evict_Case is limited new Cases.Measuring_Case with record
      Requests : Traces.Request_List;
      Hit_Rate : Fields.Metric_Value;
   end record;

   overriding procedure Open
     (Self      : in out Evict_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Evict_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Metrics (Self : Evict_Case) return Fields.Field_List;

   overriding procedure Close (Self : in out Evict_Case) is null;

end Cache_Cases;
