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
   --  As a statement's text has them

   Nothing : constant String := """nothing""";
   --  The column of test_mixed: a keyword here, so it is quoted

   Has_Do : constant Boolean := False;
   --  True if there is a statement DO 1

   procedure Connect (DB : in out Connection; Target : String);
   --  Target is sqlite:PATH; Unsupported_Error if it is not

   procedure Read_Back
     (DB        : in out Connection;
      Arguments : Benchlab.Fields.Field_List;
      Settings  : in out Benchlab.Fields.Field_List);

end Database;
