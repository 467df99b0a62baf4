--  SPDX-License-Identifier: Apache-2.0
--
--  The target: PostgreSQL.

with Appserver.SQL.PostgreSQL;
with Benchlab.Fields;

package Database is

   use Appserver.SQL;

   subtype Connection is PostgreSQL.Connection;
   subtype Statement is PostgreSQL.Statement;

   function Library return String is ("libpq " & PostgreSQL.Library_Version);

   Parameter : constant array (Parameter_Number range 1 .. 2) of String (1 .. 2) :=
     ["$1", "$2"];
   --  As a statement's text has them

   Nothing : constant String := "nothing";
   --  The column of test_mixed

   Has_Do : constant Boolean := False;
   --  True if there is a statement DO 1

   procedure Connect (DB : in out Connection; Target : String);
   --  Unsupported_Error if Target is not postgresql://...

   procedure Read_Back
     (DB        : in out Connection;
      Arguments : Benchlab.Fields.Field_List;
      Settings  : in out Benchlab.Fields.Field_List);

end Database;
