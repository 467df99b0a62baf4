--  SPDX-License-Identifier: Apache-2.0

package body SQL_Cases.Connecting is

   use Ada.Strings.Unbounded;

   --  The settings are read over a separate connection, which is not measured

   overriding procedure Open
     (Self      : in out Connect_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List) is
   begin
      SQL_Case (Self).Open (Arguments, Inputs, Settings);
      Self.DB.Close;
      Self.Target := To_Unbounded_String (Arguments.Text ("target"));
   end Open;

   overriding procedure Perform
     (Self       : in out Connect_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Target : constant String := To_String (Self.Target);
   begin
      Check := 0;
      Units := 0;
      for Operation in 1 .. Operations loop
         declare
            DB    : Database.Connection;
            Query : Database.Statement;
         begin
            Database.Connect (DB, Target);
            Query.Prepare_Client_Side (DB, "SELECT 1");
            Add_Rows (Query, Check, Units);
         end;
      end loop;
   end Perform;

end SQL_Cases.Connecting;
