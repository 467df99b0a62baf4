--  SPDX-License-Identifier: Apache-2.0

with Ada.Unchecked_Deallocation;

package body SQL_Cases.Pooling is

   use Ada.Strings.Unbounded;

   Connections : constant := 4;

   ----------
   -- Pool --
   ----------

   procedure Free is new Ada.Unchecked_Deallocation (Connection_Pools.Pool, Pool_Access);

   procedure Connect (DB : in out Database.Connection) is
   begin
      Database.Connect (DB, To_String (Target));
   end Connect;

   procedure Make
     (Self      : in out Owned_Pool;
      Arguments : Fields.Field_List;
      Settings  : in out Fields.Field_List) is
   begin
      Target := To_Unbounded_String (Arguments.Text ("target"));
      Self.Pool := new Connection_Pools.Pool (Connections);
      declare
         Held : array (1 .. Connections) of Connection_Pools.Lease (Self.Pool);
      begin
         for Lease of Held loop
            Lease.Get;
         end loop;
         Database.Read_Back (Held (1).Item, Arguments, Settings);
      end;
   end Make;

   overriding procedure Finalize (Self : in out Owned_Pool) is
   begin
      Free (Self.Pool);
   end Finalize;

   procedure Request
     (Pool  : not null Pool_Access;
      Check : in out Check_Value;
      Units : in out Unit_Count)
   is
      Held  : Connection_Pools.Lease (Pool);
      Query : Database.Statement;
   begin
      Held.Get;
      Query.Prepare_Client_Side (Held.Item, "SELECT 1");
      Add_Rows (Query, Check, Units);
   end Request;

   ------------
   -- Pooled --
   ------------

   overriding procedure Open
     (Self      : in out Pooled_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs);
   begin
      Self.Pool.Make (Arguments, Settings);
   end Open;

   overriding procedure Perform
     (Self       : in out Pooled_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Check := 0;
      Units := 0;
      for Operation in 1 .. Operations loop
         Request (Self.Pool.Pool, Check, Units);
      end loop;
   end Perform;

   ------------
   -- Shared --
   ------------

   overriding procedure Open
     (Self      : in out Shared_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      pragma Unreferenced (Inputs);
      Threads : constant Positive := Positive (Arguments.Number ("threads", 1, 256));
   begin
      Self.Pool.Make (Arguments, Settings);
      Self.Clients.Start (Threads);
      for Number in 1 .. Threads loop
         Self.Clients.Member (Number).Pool := Self.Pool.Pool;
      end loop;
   end Open;

   procedure Do_Share
     (Self       : in out Client;
      Operations : Operation_Count;
      Recorder   : in out Benchlab.Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count) is
   begin
      Recorder.Start;
      for Operation in 1 .. Operations loop
         Request (Self.Pool, Check, Units);
         Recorder.Lap;
      end loop;
   end Do_Share;

   overriding procedure Perform
     (Self       : in out Shared_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Self.Clients.Perform (Operations, Check, Units);
   end Perform;

end SQL_Cases.Pooling;
