--  SPDX-License-Identifier: Apache-2.0
--
--  Opens and closes connections.

with Ada.Strings.Unbounded;

package SQL_Cases.Connecting is

   type Connect_Case is limited new SQL_Case with record
      Target : Ada.Strings.Unbounded.Unbounded_String;
   end record;

   overriding procedure Open
     (Self      : in out Connect_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);

   overriding procedure Perform
     (Self       : in out Connect_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

end SQL_Cases.Connecting;
