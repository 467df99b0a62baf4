--  SPDX-License-Identifier: Apache-2.0
--
--  What the SQL cases share: a connection to the target, its settings, statements' two ways to run.

with Appserver.SQL.SQLite;
with Benchlab.Cases;
with Benchlab.Fields;
with Benchlab.Seeded_Sequences;
with Interfaces;

package SQL_Cases is

   package SQL renames Appserver.SQL;
   package SQLite renames Appserver.SQL.SQLite;

   use Benchlab;

   type SQL_Case is abstract limited new Cases.Subject_Case with record
      DB : aliased SQLite.Connection;
   end record;

   overriding procedure Open
     (Self      : in out SQL_Case;
      Arguments : Fields.Field_List;
      Inputs    : Seeded_Sequences.Sequence;
      Settings  : in out Fields.Field_List);
   --  Connects, and reads the settings back

   overriding procedure Close (Self : in out SQL_Case);

   function Path_Of (Arguments : Fields.Field_List) return String;
   --  Of the database file: the argument target, sqlite:PATH

   procedure Connect (DB : in out SQLite.Connection; Path : String);
   --  As every case does

   --  A statement is prepared once, as the case opens, or as text in every operation

   type Statement_Kind is (Prepared, Text);

   function Kind_Of is new Fields.Choice_Of (Statement_Kind);

   --  What is bound, in the order of the inputs

   type Bound_Values is array (Seeded_Sequences.Input_Index) of Interfaces.Integer_64;

   procedure Add_Rows
     (Query : in out SQLite.Statement;
      Check : in out Benchlab.Check_Value;
      Units : in out Benchlab.Unit_Count) with Inline;
   --  Runs it to its end: each row's first column is added to Check, 1 to Units

end SQL_Cases;
