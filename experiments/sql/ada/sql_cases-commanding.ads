--  SPDX-License-Identifier: Apache-2.0
--
--  Statements that are sent as text: a statement that does nothing, and statements that drop a
--  table and create it again.

with Ada.Strings.Unbounded;

package SQL_Cases.Commanding is

   type Do_1_Case is limited new SQL_Case with null record;

   overriding procedure Prepare
     (Self      : in out Do_1_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Do_1_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   type Drop_Create_Case is limited new SQL_Case with record
      Table : Ada.Strings.Unbounded.Unbounded_String;
   end record;

   overriding procedure Prepare
     (Self      : in out Drop_Create_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Drop_Create_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

end SQL_Cases.Commanding;
