--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The SQLSTATE for each of SQLite's errors, which SQLite itself does not give.

pragma Ada_2022;

with Appserver.SQL.SQLite_Library;

private package Appserver.SQL.SQLite_States is

   function State_Of
     (Code : SQLite_Library.Result_Code; Message : UTF_8_String) return SQL_State;
   --  Code is the extended one. Message tells the kinds of SQLITE_ERROR apart, which have one code
   --  among them.

end Appserver.SQL.SQLite_States;
