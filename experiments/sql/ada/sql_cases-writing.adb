--  SPDX-License-Identifier: Apache-2.0

package body SQL_Cases.Writing is

   use Interfaces;
   use type Seeded_Sequences.Input_Index;

   ----------------
   -- Row by row --
   ----------------

   Insert_Text : constant String :=
     "INSERT INTO test_simple (value) VALUES (" & Database.Parameter (1) & ")";

   procedure Add_Row
     (Insert : in out Database.Statement;
      Value  : Integer_64;
      Check  : in out Check_Value) with Inline;
   procedure Add_Row
     (Insert : in out Database.Statement;
      Value  : Integer_64;
      Check  : in out Check_Value) is
   begin
      Insert.Bind (1, Value);
      Insert.Execute;
      Check := Check + Check_Value'Mod (Value);
   end Add_Row;

   overriding procedure Prepare
     (Self      : in out Insert_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence) is
   begin
      Self.Kind   := Kind_Of (Arguments, "statement");
      Self.Values := Values (Inputs);
      if Self.Kind = Prepared then
         Self.Insert.Prepare (Self.DB, Insert_Text);
      end if;
   end Prepare;

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
            when Text =>
               declare
                  Insert : Database.Statement;
               begin
                  Insert.Use_Text (Self.DB, Insert_Text);
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

   overriding procedure Prepare
     (Self      : in out Insert_Transaction_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence) is
   begin
      Self.Rows   := Unit_Count (Arguments.Number ("rows_tx", 1, 2 ** 31 - 1));
      Self.Values := Values (Inputs);
      Self.Insert.Prepare (Self.DB, Insert_Text);
   end Prepare;

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

   -------------
   -- Updates --
   -------------

   overriding procedure Prepare
     (Self      : in out Update_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence) is
   begin
      Self.Values := Values (Inputs);
      Self.Ids    := Ids (Inputs, Arguments);
      Self.Update.Prepare
        (Self.DB,
         "UPDATE test_simple SET value = " & Database.Parameter (1)
         & " WHERE id = " & Database.Parameter (2));
   end Prepare;

   overriding procedure Perform
     (Self       : in out Update_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      K : Seeded_Sequences.Input_Index := 0;
   begin
      Check := 0;
      for Operation in 1 .. Operations loop
         Self.Update.Bind (1, Self.Values (K));
         Self.Update.Bind (2, Self.Ids (K));
         Self.Update.Execute;
         Check := Check + Check_Value'Mod (Self.Values (K));
         K := @ + 1;
      end loop;
      Units := Unit_Count (Operations);
   end Perform;

   ---------------
   -- Transfers --
   ---------------

   overriding procedure Prepare
     (Self      : in out Transfer_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence)
   is
      Rows : constant Unsigned_64 := Arguments.Number ("rows", 1, 2 ** 31 - 1);

      function Change (Sign : Character) return String is
        ("UPDATE test_simple SET value = value " & Sign & " " & Database.Parameter (1)
         & " WHERE id = " & Database.Parameter (2));
   begin
      for K in Inputs'Range loop
         Self.Amounts (K) := Integer_64 (1 + Shift_Right (Inputs (K), 20) mod 100);
         Self.To (K)      := Integer_64 (1 + Shift_Right (Inputs (K), 32) mod Rows);
      end loop;
      Self.From := Ids (Inputs, Arguments);
      Self.Take.Prepare (Self.DB, Change ('-'));
      Self.Give.Prepare (Self.DB, Change ('+'));
   end Prepare;

   overriding procedure Perform
     (Self       : in out Transfer_Case;
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
            Self.Take.Bind (1, Self.Amounts (K));
            Self.Take.Bind (2, Self.From (K));
            Self.Take.Execute;
            Self.Give.Bind (1, Self.Amounts (K));
            Self.Give.Bind (2, Self.To (K));
            Self.Give.Execute;
            Work.Commit;
         end;
         Check := Check + Check_Value'Mod (Self.Amounts (K));
         K := @ + 1;
      end loop;
      Units := 2 * Unit_Count (Operations);
   end Perform;

end SQL_Cases.Writing;
