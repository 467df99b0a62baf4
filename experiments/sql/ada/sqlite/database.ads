--  SPDX-License-Identifier: Apache-2.0
--
--  The target: SQLite.

with Appserver.SQL.SQLite;
with Benchlab.Fields;

package Database is

   use Appserver.SQL;

   subtype Connection is SQLite.Connection;
   subtype Statement is SQLite.Statement;

   function Library return String is ("SQLite " & SQLite.Library_Version);

   Parameter : constant array (Parameter_Number range 1 .. 2) of String (1 .. 1) := ["?", "?"];
   --  The placeholders of the first two parameters in the text of a statement

   Nothing : constant String := """nothing""";
   --  The name of the column "nothing" in the table test_mixed. The name is quoted, since it is a
   --  keyword in SQLite.

   Has_Do : constant Boolean := False;
   --  True if the database supports the statement DO 1

   procedure Connect (DB : in out Connection; Target : String);
   --  Opens the target. Raises Unsupported_Error if Target is not sqlite:PATH.

   procedure Read_Back
     (DB        : in out Connection;
      Arguments : Benchlab.Fields.Field_List;
      Settings  : in out Benchlab.Fields.Field_List);

end Database;
