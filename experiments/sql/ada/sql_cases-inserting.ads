--  SPDX-License-Identifier: Apache-2.0
--
--  What does it cost to insert: a row at a time, and n rows in a transaction?

package SQL_Cases.Inserting is

   type Inserting_Case is abstract limited new SQL_Case with record
      Values : Bound_Values;
      Insert : SQLite.Statement;
   end record;

   overriding procedure Open
     (Self      : in out Inserting_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   type Insert_Case is limited new Inserting_Case with record
      Kind : Statement_Kind;
   end record;

   overriding procedure Open
     (Self      : in out Insert_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Insert_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   type Insert_Transaction_Case is limited new Inserting_Case with record
      Rows : Unit_Count;
   end record;

   overriding procedure Open
     (Self      : in out Insert_Transaction_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Insert_Transaction_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

end SQL_Cases.Inserting;
