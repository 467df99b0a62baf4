--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Maps SQLite's errors to SQLSTATEs, which SQLite itself does not provide.

pragma Ada_2022;

with Appserver.SQL.SQLite_Library;

private package Appserver.SQL.SQLite_States is

   function State_Of
     (Code : SQLite_Library.Result_Code; Message : UTF_8_String) return SQL_State;
   --  Returns the SQLSTATE for an extended result code. Message distinguishes the kinds of
   --  SQLITE_ERROR, which have the same code.

end Appserver.SQL.SQLite_States;
