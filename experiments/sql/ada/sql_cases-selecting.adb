--  SPDX-License-Identifier: Apache-2.0

with SQL_Cases.Folds;

package body SQL_Cases.Selecting is

   use Ada.Strings.Unbounded;
   use Interfaces;
   use type Seeded_Sequences.Input_Index;

   procedure Prepare_Query (Self : in out Query_Case'Class; Text : String) is
   begin
      Self.Text := To_Unbounded_String (Text);
      if Self.Kind = Prepared then
         Self.Query.Prepare (Self.DB, Text);
      end if;
   end Prepare_Query;

   --------------
   -- SELECT 1 --
   --------------

   overriding procedure Prepare
     (Self      : in out Select_1_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence)
   is
      pragma Unreferenced (Inputs);
   begin
      Self.Kind := Kind_Of (Arguments, "statement");
      Prepare_Query (Self, "SELECT 1");
   end Prepare;

   overriding procedure Perform
     (Self       : in out Select_1_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Text : constant String := To_String (Self.Text);
   begin
      Check := 0;
      Units := 0;
      for Operation in 1 .. Operations loop
         case Self.Kind is
            when Prepared =>
               Add_Rows (Self.Query, Check, Units);
            when SQL_Cases.Text =>
               declare
                  Query : Database.Statement;
               begin
                  Query.Prepare_Client_Side (Self.DB, Text);
                  Add_Rows (Query, Check, Units);
               end;
         end case;
      end loop;
   end Perform;

   --------------------
   -- SELECT … LIMIT --
   --------------------

   overriding procedure Prepare
     (Self      : in out Select_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence)
   is
      pragma Unreferenced (Inputs);

      Limit : constant Unsigned_64 := Arguments.Number ("limit", 1, 2 ** 31 - 1);
   begin
      Self.Kind := Kind_Of (Arguments, "statement");
      Prepare_Query
        (Self, "SELECT id, value FROM test_simple ORDER BY id LIMIT" & Limit'Image);
   end Prepare;

   procedure Add_Pairs
     (Query : in out Database.Statement;
      Check : in out Check_Value;
      Units : in out Unit_Count) with Inline;
   procedure Add_Pairs
     (Query : in out Database.Statement;
      Check : in out Check_Value;
      Units : in out Unit_Count) is
   begin
      while Query.Step loop
         Check := Check
           + Check_Value'Mod (Query.As_Integer_64 (1))
           + Check_Value'Mod (Query.As_Integer_64 (2));
         Units := Units + 1;
      end loop;
   end Add_Pairs;

   overriding procedure Perform
     (Self       : in out Select_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Text : constant String := To_String (Self.Text);
   begin
      Check := 0;
      Units := 0;
      for Operation in 1 .. Operations loop
         case Self.Kind is
            when Prepared =>
               Add_Pairs (Self.Query, Check, Units);
            when SQL_Cases.Text =>
               declare
                  Query : Database.Statement;
               begin
                  Query.Prepare_Client_Side (Self.DB, Text);
                  Add_Pairs (Query, Check, Units);
               end;
         end case;
      end loop;
   end Perform;

   ----------------
   -- One by key --
   ----------------

   overriding procedure Prepare
     (Self      : in out Point_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence) is
   begin
      Self.Kind := Kind_Of (Arguments, "statement");
      Self.Ids  := Ids (Inputs, Arguments);
      Prepare_Query (Self, Point_Text);
   end Prepare;

   overriding procedure Perform
     (Self       : in out Point_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      K : Seeded_Sequences.Input_Index := 0;
   begin
      Check := 0;
      Units := 0;
      for Operation in 1 .. Operations loop
         case Self.Kind is
            when Prepared =>
               Self.Query.Bind (1, Self.Ids (K));
               Add_Rows (Self.Query, Check, Units);
            when SQL_Cases.Text =>
               declare
                  Query : Database.Statement;
               begin
                  Query.Prepare_Client_Side (Self.DB, Point_Text);
                  Query.Bind (1, Self.Ids (K));
                  Add_Rows (Query, Check, Units);
               end;
         end case;
         K := @ + 1;
      end loop;
   end Perform;

   -----------------------
   -- Columns of a kind --
   -----------------------

   type Amount is delta 0.000_1 digits 15;

   function As_Amount is new SQL.As_Decimal (Amount);

   function Ten_Thousandths (Value : Amount) return Integer_64 is
     (Integer_64 (Value / Amount'(Amount'Delta)));

   overriding procedure Prepare
     (Self      : in out Mixed_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence) is
   begin
      Self.Ids := Ids (Inputs, Arguments);
      Prepare_Query
        (Self,
         "SELECT id, small, big, amount, name, " & Database.Nothing
         & ", moment FROM test_mixed WHERE id = " & Database.Parameter (1));
   end Prepare;

   overriding procedure Perform
     (Self       : in out Mixed_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count)
   is
      Query : Database.Statement renames Self.Query;
      K     : Seeded_Sequences.Input_Index := 0;
   begin
      Check := 0;
      Units := 0;
      for Operation in 1 .. Operations loop
         Query.Bind (1, Self.Ids (K));
         while Query.Step loop
            Check := Check
              + Check_Value'Mod (Query.As_Integer_32 (1))
              + Check_Value'Mod (Query.As_Integer_32 (2))
              + Check_Value'Mod (Query.As_Integer_64 (3))
              + Check_Value'Mod (Ten_Thousandths (As_Amount (Query, 4)))
              + Folds.Code_Points (Query.As_Text (5))
              + Boolean'Pos (Query.Is_Null (6))
              + Check_Value'Mod (Folds.Milliseconds (Query.As_Time (7)));
            Units := Units + 1;
         end loop;
         K := @ + 1;
      end loop;
   end Perform;

end SQL_Cases.Selecting;
