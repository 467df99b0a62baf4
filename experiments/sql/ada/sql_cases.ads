--  SPDX-License-Identifier: Apache-2.0
--
--  The common part of the SQL cases: a connection to the target, its
--  settings, and bound values.

with Appserver.SQL;
with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;
with Database;
with Interfaces;

package SQL_Cases is

   package SQL renames Appserver.SQL;

   use Benchlab;

   type SQL_Case is abstract limited new Cases.Subject_Case with record
      DB : aliased Database.Connection;
   end record;

   overriding procedure Open
     (Self      : in out SQL_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);
   --  Opens the case. Connects, calls Prepare, and then reads the settings of the session back.

   procedure Prepare
     (Self      : in out SQL_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence) is null;
   --  Prepares the case's resources in addition to the connection

   overriding procedure Close (Self : in out SQL_Case);

   --  The values to bind, in the order of the inputs

   type Bound_Values is array (Seeded_Sequences.Input_Index) of Interfaces.Integer_64;

   function Ids
     (Inputs : Seeded_Sequences.Sequence; Arguments : Fields.Field_List) return Bound_Values;
   --  Returns values to bind, which are the keys of existing rows

   function Values (Inputs : Seeded_Sequences.Sequence) return Bound_Values;
   --  Returns the values to insert

   function Amounts (Inputs : Seeded_Sequences.Sequence) return Bound_Values;
   --  Returns the amounts by which the operations change values

   --  The ways to run a statement: prepared once when the case is opened, or sent as text in every
   --  operation

   type Statement_Kind is (Prepared, Text);

   function Kind_Of is new Fields.Choice_Of (Statement_Kind);

   procedure Add_Rows
     (Query : in out Database.Statement;
      Check : in out Check_Value;
      Units : in out Unit_Count) with Inline;
   --  Runs a statement to its end. Adds the value of each row's first column to Check, and the
   --  number of rows to Units.

end SQL_Cases;
