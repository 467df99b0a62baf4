--  SPDX-License-Identifier: Apache-2.0
--
--  Clients that make calls concurrently, each in its own session.

with Benchlab.Kernel;
with Benchlab.Latencies;
with Benchlab.Operation_Sets;
with Benchlab.Seeded_Sequences;
with Benchlab.Worker_Groups;
with Calls;
with Target_Sessions;

package Clients is

   use Benchlab;

   type Batch_Number is range 0 .. 2 ** 53;

   type Client is limited record
      Session       : aliased Target_Sessions.Statement_Caches.Statement_Cache;
      Work          : Calls.Work;
      Inputs        : Seeded_Sequences.Sequence;
      First, Stride : Operation_Number := 0;
      Opened        : Kernel.Nanoseconds := 0;
      Rate          : Kernel.Nanoseconds := 0;
      --  The rate at which the calls of all clients together are due, in calls per second. If 0,
      --  each client starts its next call when its previous call has ended.
      Batch         : Batch_Number := 0;
      Failed        : Operation_Sets.Operation_Set;
   end record;

   procedure Make_Calls
     (Self       : in out Client;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count);

   package Groups is new Benchlab.Worker_Groups (Client, Make_Calls);

end Clients;
