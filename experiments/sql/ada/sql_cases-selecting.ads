--  SPDX-License-Identifier: Apache-2.0
--
--  What does it cost to ask for a value, for n rows, for one row by its key?

with Ada.Strings.Unbounded;

package SQL_Cases.Selecting is

   --  Select_1 and Select ask the same again and again

   type Query_Case is abstract limited new SQL_Case with record
      Kind  : Statement_Kind;
      Text  : Ada.Strings.Unbounded.Unbounded_String;
      Query : SQLite.Statement;
   end record;

   type Select_1_Case is limited new Query_Case with null record;

   overriding procedure Open
     (Self      : in out Select_1_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Select_1_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   type Select_Case is limited new Query_Case with null record;

   overriding procedure Open
     (Self      : in out Select_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Select_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   type Point_Case is limited new SQL_Case with record
      Ids   : Bound_Values;
      Query : SQLite.Statement;
   end record;

   overriding procedure Open
     (Self      : in out Point_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Point_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

end SQL_Cases.Selecting;
