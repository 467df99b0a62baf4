--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What the tests expect of SQL: values, and actions that are refused in one certain way.

with Ada.Real_Time;
with Appserver.SQL.SQLite;

package Checks is

   package SQL renames Appserver.SQL;
   package SQLite renames Appserver.SQL.SQLite;

   procedure Is_Refused
     (Act : not null access procedure; State : SQL.SQL_State; Words : String := "");
   --  With SQL_Error of that state, whose message contains Words

   procedure Is_Misuse (Act : not null access procedure; Words : String);
   --  With Misuse_Error, whose message contains Words

   procedure Answers (DB : in out SQL.Connection'Class; Query, Text : String);
   --  Query's first column of its first row is Text

   Long_Time : constant Duration := 20.0;
   --  In seconds: what takes longer hangs

   function Since (Start : Ada.Real_Time.Time) return Duration;
   --  In seconds

   function File_Name (Name : String) return String;
   --  The path of a database file that does not exist yet, in the tests' scratch directory

end Checks;
