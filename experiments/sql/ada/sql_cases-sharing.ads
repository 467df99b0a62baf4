--  SPDX-License-Identifier: Apache-2.0
--
--  Queries over n connections of one process. Each connection has its own task.

with Benchlab.Latencies;
with Benchlab.Worker_Groups;

package SQL_Cases.Sharing is

   --  A connection with its statement and its inputs. The inputs are every Stride-th input of the
   --  batch, starting with First.

   type Client is limited record
      DB            : Database.Connection;
      Query         : Database.Statement;
      Ids           : Bound_Values;
      First, Stride : Seeded_Sequences.Input_Index;
   end record;

   procedure Query_Share
     (Self       : in out Client;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);

   package Client_Groups is new Benchlab.Worker_Groups (Client, Query_Share);

   type Connections_Case is limited new Cases.Concurrent_Case with record
      Clients : Client_Groups.Group;
   end record;

   overriding procedure Open
     (Self      : in out Connections_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Connections_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding function Measured (Self : Connections_Case) return Latencies.Recorder is
     (Self.Clients.Measured);

   overriding procedure Close (Self : in out Connections_Case) is null;
   --  Has no effect, since the tasks end when the case is finalized

end SQL_Cases.Sharing;
