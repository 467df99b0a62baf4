--  SPDX-License-Identifier: Apache-2.0
--
--  The case "own": the user's own statements, with values to bind from a file (docs/protocol.md,
--  The case `own`).

with Ada.Containers.Vectors;

package SQL_Cases.Own is

   type Value_Type is
     (Integer_Value, Float_Value, Text_Value, Boolean_Value, Decimal_Value, Bytes_Value, Date_Value,
      Timestamp_Value);

   package Type_Vectors is new Ada.Containers.Vectors (Positive, Value_Type);

   type Own_Statement is limited record
      Query      : Database.Statement;
      Parameters : Type_Vectors.Vector;
      Columns    : Type_Vectors.Vector; --  empty if the statement returns no rows
      First      : Positive; --  the index of its first value among an operation's values
   end record;

   type Statement_List is array (Positive range <>) of Own_Statement;
   type Statement_List_Access is access Statement_List;

   type Text_Access is access String;

   --  A value to bind: a slice of the file's text, and the corresponding number if the value is
   --  bound as a number

   type Bound_Value is record
      Number      : Interfaces.Integer_64 := 0;
      Float       : Long_Float := 0.0;
      First, Last : Natural := 0;
   end record;

   type Value_Table is array (Positive range <>, Positive range <>) of Bound_Value;
   type Value_Table_Access is access Value_Table;

   type Own_Case is limited new SQL_Case with record
      In_Transaction : Boolean := False;
      Statements     : Statement_List_Access;
      File           : Text_Access;
      Values         : Value_Table_Access; --  by operation and number; null if there are none
   end record;

   overriding procedure Prepare
     (Self      : in out Own_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence);

   overriding procedure Perform
     (Self       : in out Own_Case;
      Operations : Operation_Count;
      Check      : out Check_Value;
      Units      : out Unit_Count);

   overriding procedure Close (Self : in out Own_Case);

end SQL_Cases.Own;
