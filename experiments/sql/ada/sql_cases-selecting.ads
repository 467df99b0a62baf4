--  SPDX-License-Identifier: Apache-2.0
--
--  Queries for one value, for n rows, and for one row by its key.

with Ada.Strings.Unbounded;

package SQL_Cases.Selecting is

   type Query_Case is abstract limited new SQL_Case with record
      Kind  : Statement_Kind := Prepared;
      Text  : Ada.Strings.Unbounded.Unbounded_String;
      Query : Database.Statement;
   end record;

   type Select_1_Case is limited new Query_Case with null record;

   overriding procedure Prepare
     (Self      : in out Select_1_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Select_1_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   type Select_Case is limited new Query_Case with null record;

   overriding procedure Prepare
     (Self      : in out Select_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Select_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   type Point_Case is limited new Query_Case with record
      Ids : Bound_Values;
   end record;

   overriding procedure Prepare
     (Self      : in out Point_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Point_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   --  A case that selects a row with columns of many types, with a prepared statement

   type Mixed_Case is limited new Query_Case with record
      Ids : Bound_Values;
   end record;

   overriding procedure Prepare
     (Self      : in out Mixed_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Mixed_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   Point_Text : constant String :=
     "SELECT value FROM test_simple WHERE id = " & Database.Parameter (1);

end SQL_Cases.Selecting;
