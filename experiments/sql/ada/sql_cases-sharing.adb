--  SPDX-License-Identifier: Apache-2.0

with SQL_Cases.Selecting;

package body SQL_Cases.Sharing is

   use Interfaces;
   use type Seeded_Sequences.Input_Index;

   overriding procedure Open
     (Self      : in out Connections_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      Count : constant Client_Groups.Worker_Number := Client_Groups.Worker_Number
        (Arguments.Number ("connections", 1, Unsigned_64 (Client_Groups.Worker_Number'Last)));
   begin
      Self.Clients.Start (Count);
      for Number in 1 .. Count loop
         declare
            Client : Sharing.Client renames Self.Clients.Member (Number).all;
         begin
            Database.Connect (Client.DB, Arguments.Text ("target"));
            Client.Query.Prepare (Client.DB, Selecting.Point_Text);
            Client.Ids    := Ids (Inputs, Arguments);
            Client.First  := Seeded_Sequences.Input_Index'Mod (Number - 1);
            Client.Stride := Seeded_Sequences.Input_Index'Mod (Count);
         end;
      end loop;
      Database.Read_Back (Self.Clients.Member (1).DB, Arguments, Settings);
   end Open;

   procedure Query_Share
     (Self       : in out Client;
      Operations : Operation_Count;
      Recorder   : in out Latencies.Recorder;
      Check      : in out Check_Value;
      Units      : in out Unit_Count)
   is
      K : Seeded_Sequences.Input_Index := Self.First;
   begin
      Recorder.Start;
      for Operation in 1 .. Operations loop
         Self.Query.Bind (1, Self.Ids (K));
         Add_Rows (Self.Query, Check, Units);
         Recorder.Lap;
         K := @ + Self.Stride;
      end loop;
   end Query_Share;

   overriding procedure Perform
     (Self       : in out Connections_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count) is
   begin
      Self.Clients.Perform (Operations, Check, Units);
   end Perform;

end SQL_Cases.Sharing;
