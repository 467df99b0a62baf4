--  SPDX-License-Identifier: Apache-2.0
--
--  Inserts and updates of rows: one row at a time, and in transactions.

package SQL_Cases.Writing is

   type Insert_Case is limited new SQL_Case with record
      Kind   : Statement_Kind := Prepared;
      Values : Bound_Values;
      Insert : Database.Statement;
   end record;

   overriding procedure Prepare
     (Self      : in out Insert_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Insert_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   type Insert_Transaction_Case is limited new SQL_Case with record
      Values : Bound_Values;
      Insert : Database.Statement;
      Rows   : Unit_Count;
   end record;

   overriding procedure Prepare
     (Self      : in out Insert_Transaction_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Insert_Transaction_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   type Update_Case is limited new SQL_Case with record
      Amounts, To : Bound_Values;
      Give        : Database.Statement;
   end record;

   overriding procedure Prepare
     (Self      : in out Update_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Update_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   --  A case that performs two updates in each operation

   type Transfer_Case is limited new SQL_Case with record
      Amounts, From, To : Bound_Values;
      Take, Give        : Database.Statement;
   end record;

   overriding procedure Prepare
     (Self      : in out Transfer_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Transfer_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

end SQL_Cases.Writing;
