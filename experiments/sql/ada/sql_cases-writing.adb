--  SPDX-License-Identifier: Apache-2.0

package body SQL_Cases.Writing is

   use Interfaces;
   use type Seeded_Sequences.Input_Index;

   -----------------------
   -- One row at a time --
   -----------------------

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
                  Insert.Prepare_Client_Side (Self.DB, Insert_Text);
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

   function Change (Sign : Character) return String is
     ("UPDATE test_simple SET value = value " & Sign & " " & Database.Parameter (1)
      & " WHERE id = " & Database.Parameter (2));

   procedure Change_Row
     (Change : in out Database.Statement;
      Amount : Integer_64;
      Id     : Integer_64) with Inline;
   procedure Change_Row
     (Change : in out Database.Statement;
      Amount : Integer_64;
      Id     : Integer_64) is
   begin
      Change.Bind (1, Amount);
      Change.Bind (2, Id);
      Change.Execute;
   end Change_Row;

   overriding procedure Prepare
     (Self      : in out Update_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence) is
   begin
      Self.Amounts := Amounts (Inputs);
      Self.To      := Ids (Inputs, Arguments);
      Self.Give.Prepare (Self.DB, Change ('+'));
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
         Change_Row (Self.Give, Self.Amounts (K), Self.To (K));
         Check := Check + Check_Value'Mod (Self.Amounts (K));
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
   begin
      Self.Amounts := Amounts (Inputs);
      Self.From    := Ids (Inputs, Arguments);
      Self.To      := [for K in Inputs'Range =>
                         Integer_64 (1 + Shift_Right (Inputs (K), 32) mod Rows)];
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
            Change_Row (Self.Take, Self.Amounts (K), Self.From (K));
            Change_Row (Self.Give, Self.Amounts (K), Self.To (K));
            Work.Commit;
         end;
         Check := Check + Check_Value'Mod (Self.Amounts (K));
         K := @ + 1;
      end loop;
      Units := 2 * Unit_Count (Operations);
   end Perform;

end SQL_Cases.Writing;
