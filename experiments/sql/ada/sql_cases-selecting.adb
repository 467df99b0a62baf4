--  SPDX-License-Identifier: Apache-2.0

package body SQL_Cases.Selecting is

   use Ada.Strings.Unbounded;
   use Interfaces;
   use type Seeded_Sequences.Input_Index;

   procedure Open_Query
     (Self : in out Query_Case'Class; Arguments : Fields.Field_List; Text : String) is
   begin
      Self.Kind := Kind_Of (Arguments, "statement");
      Self.Text := To_Unbounded_String (Text);
      if Self.Kind = Prepared then
         Self.Query.Prepare (Self.DB, Text);
      end if;
   end Open_Query;

   --------------
   -- SELECT 1 --
   --------------

   overriding procedure Open
     (Self      : in out Select_1_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List) is
   begin
      SQL_Case (Self).Open (Arguments, Inputs, Settings);
      Open_Query (Self, Arguments, "SELECT 1");
   end Open;

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
                  Query : SQLite.Statement;
               begin
                  Query.Prepare (Self.DB, Text);
                  Add_Rows (Query, Check, Units);
               end;
         end case;
      end loop;
   end Perform;

   --------------------
   -- SELECT … LIMIT --
   --------------------

   overriding procedure Open
     (Self      : in out Select_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      Limit : constant Unsigned_64 := Arguments.Number ("limit", 1, 2 ** 31 - 1);
   begin
      SQL_Case (Self).Open (Arguments, Inputs, Settings);
      Open_Query
        (Self, Arguments, "SELECT id, value FROM test_simple ORDER BY id LIMIT" & Limit'Image);
   end Open;

   procedure Add_Pairs
     (Query : in out SQLite.Statement;
      Check : in out Check_Value;
      Units : in out Unit_Count) with Inline;
   procedure Add_Pairs
     (Query : in out SQLite.Statement;
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
                  Query : SQLite.Statement;
               begin
                  Query.Prepare (Self.DB, Text);
                  Add_Pairs (Query, Check, Units);
               end;
         end case;
      end loop;
   end Perform;

   ----------------
   -- One by key --
   ----------------

   overriding procedure Open
     (Self      : in out Point_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List)
   is
      Rows : constant Unsigned_64 := Arguments.Number ("rows", 1, 2 ** 31 - 1);
   begin
      SQL_Case (Self).Open (Arguments, Inputs, Settings);
      Self.Ids := [for K in Inputs'Range => Integer_64 (1 + Inputs (K) mod Rows)];
      Self.Query.Prepare (Self.DB, "SELECT value FROM test_simple WHERE id = ?");
   end Open;

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
         Self.Query.Bind (1, Self.Ids (K));
         Add_Rows (Self.Query, Check, Units);
         K := @ + 1;
      end loop;
   end Perform;

end SQL_Cases.Selecting;
