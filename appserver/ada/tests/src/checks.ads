--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Checks values and errors in the tests of SQL.

with Ada.Real_Time;
with Appserver.SQL.SQLite;

package Checks is

   package SQL renames Appserver.SQL;
   package SQLite renames Appserver.SQL.SQLite;

   procedure Is_Refused
     (Act : not null access procedure; State : SQL.SQL_State; Words : String := "");
   --  Checks that Act raises SQL_Error with the SQLSTATE State and a message that contains Words

   procedure Is_Misuse (Act : not null access procedure; Words : String);
   --  Checks that Act raises Misuse_Error with a message that contains Words

   procedure Answers (DB : in out SQL.Connection'Class; Query, Text : String);
   --  Checks that the first column of the first row that Query returns is Text

   Long_Time : constant Duration := 120.0;
   --  The time in seconds after which an operation is considered to hang

   function Since (Start : Ada.Real_Time.Time) return Duration;
   --  Returns the time since Start in seconds

   function File_Name (Name : String) return String;
   --  Returns the path of a database file that does not exist yet, in the tests' scratch directory

end Checks;
