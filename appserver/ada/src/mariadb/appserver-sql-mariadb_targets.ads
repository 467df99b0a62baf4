--  SPDX-License-Identifier: Apache-2.0
--
--  Where a database is.

with Ada.Strings.Unbounded;

private package Appserver.SQL.MariaDB_Targets is

   use Ada.Strings.Unbounded;

   type Target is record
      Host, User, Password, Database, Socket : Unbounded_String;
      Port                                   : Natural range 0 .. 65_535 := 0;
   end record;
   --  What is empty, or 0, is the library's default

   function Parsed (URI : String) return Target;
   --  mariadb://USER:PASSWORD@HOST:PORT/DATABASE?socket=PATH, its parts percent-encoded; all but
   --  the host may be missing. SQL_Error, 08001, if it is malformed.

end Appserver.SQL.MariaDB_Targets;
