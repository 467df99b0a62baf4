--  SPDX-License-Identifier: Apache-2.0

package body SQL_Cases.Inserting is

   use Interfaces;
   use type Seeded_Sequences.Input_Index;

   Text : constant String := "INSERT INTO test_simple (value) VALUES (?)";

   overriding procedure Open
     (Self      : in out Inserting_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List) is
   begin
      SQL_Case (Self).Open (Arguments, Inputs, Settings);
      Self.Values := [for K in Inputs'Range => Integer_64 (Shift_Right (Inputs (K), 33))];
   end Open;

   procedure Add_Row
     (Insert : in out SQLite.Statement;
      Value  : Integer_64;
      Check  : in out Check_Value) with Inline;
   procedure Add_Row
     (Insert : in out SQLite.Statement;
      Value  : Integer_64;
      Check  : in out Check_Value) is
   begin
      Insert.Bind (1, Value);
      Insert.Execute;
      Check := Check + Check_Value'Mod (Value);
   end Add_Row;

   -------------------
   -- Row after row --
   -------------------

   overriding procedure Open
     (Self      : in out Insert_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List) is
   begin
      Self.Kind := Kind_Of (Arguments, "statement");
      Inserting_Case (Self).Open (Arguments, Inputs, Settings);
      if Self.Kind = Prepared then
         Self.Insert.Prepare (Self.DB, Text);
      end if;
   end Open;

   overriding procedure Perform
     (Self       : in out Insert_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      K : Seeded_Sequences.Input_Index := 0;
   begin
      Check := 0;
      for Operation in 1 .. Operations loop
         case Self.Kind is
            when Prepared =>
               Add_Row (Self.Insert, Self.Values (K), Check);
            when SQL_Cases.Text =>
               declare
                  Insert : SQLite.Statement;
               begin
                  Insert.Prepare (Self.DB, Text);
                  Add_Row (Insert, Self.Values (K), Check);
               end;
         end case;
         K := @ + 1;
      end loop;
      Units := Unit_Count (Operations);
   end Perform;

   ---------------------
   -- In transactions --
   ---------------------

   overriding procedure Open
     (Self      : in out Insert_Transaction_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List) is
   begin
      Self.Rows := Unit_Count (Arguments.Number ("rows_tx", 1, 2 ** 31 - 1));
      Inserting_Case (Self).Open (Arguments, Inputs, Settings);
      Self.Insert.Prepare (Self.DB, Text);
   end Open;

   overriding procedure Perform
     (Self       : in out Insert_Transaction_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      K : Seeded_Sequences.Input_Index := 0;
   begin
      Check := 0;
      for Operation in 1 .. Operations loop
         declare
            Work : SQL.Transaction (Self.DB'Access);
         begin
            for Row in 1 .. Self.Rows loop
               Add_Row (Self.Insert, Self.Values (K), Check);
               K := @ + 1;
            end loop;
            Work.Commit;
         end;
      end loop;
      Units := Unit_Count (Operations) * Self.Rows;
   end Perform;

end SQL_Cases.Inserting;
