--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Strings.Fixed;
with GNAT.SHA256;

package body Appserver.Retry.Key_Tables is

   use type SQL.Error_Kind;
   use type SQL.Error_Origin;
   use type SQL.Integer_64;

   --  ON CONFLICT avoids the error, which would abort the transaction in PostgreSQL. MariaDB does
   --  not support this clause, and its INSERT IGNORE would truncate a key that is too long.

   procedure Take
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Is_New : out Boolean;
      Print  : SQL.UTF_8_String := "")
   is
      Change : SQL.Statement'Class :=
        DB.Prepare_Client_Side
          ("INSERT INTO " & Table & (if Print = "" then " (id) VALUES (?)"
                                     else " (id, request) VALUES (?, ?)")
           & (if DB.Transactions_Survive_Errors then "" else " ON CONFLICT DO NOTHING"));
   begin
      Change.Bind (1, Id);
      if Print /= "" then
         Change.Bind (2, Print);
      end if;
      Change.Execute;
      Is_New := DB.Rows_Affected > 0;
   exception
      when Error : SQL.SQL_Error =>
         if not SQL.Error_Of (Error).Is_Unique_Violation then
            raise;
         end if;
         Is_New := False;
   end Take;

   function Result_Of
     (Table : String;
      DB    : in out SQL.Connection'Class;
      Id    : SQL.UTF_8_String;
      Print : SQL.UTF_8_String := "") return SQL.UTF_8_String
   is
      Query : SQL.Statement'Class :=
        DB.Prepare_Client_Side
          ("SELECT result" & (if Print = "" then "" else ", request")
           & " FROM " & Table & " WHERE id = ?");
   begin
      Query.Bind (1, Id);
      if not Query.Step then
         raise Key_Taken_Error with "another transaction has inserted the key";
      end if;
      --  A key without a fingerprint was inserted by a call that did not pass its request
      if Print /= "" and then not Query.Is_Null (2) and then Query.As_Text (2) /= Print then
         raise Key_Reused_Error with "the key was used for another request: " & Id;
      end if;
      return (if Query.Is_Null (1) then "" else Query.As_Text (1));
   end Result_Of;

   procedure Keep
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Result : SQL.UTF_8_String)
   is
      Change : SQL.Statement'Class :=
        DB.Prepare_Client_Side ("UPDATE " & Table & " SET result = ? WHERE id = ?");
   begin
      Change.Bind (1, Result);
      Change.Bind (2, Id);
      Change.Execute;
   end Keep;

   function Fingerprint (Request : SQL.UTF_8_String) return SQL.UTF_8_String is
     (if Request = "" then "" else GNAT.SHA256.Digest (Request));

   --  The inner query is a named derived table, since MariaDB does not support LIMIT in a subquery
   --  of IN

   function Deletion (Table, Moment : String; Max_Rows : Positive) return String is
     ("DELETE FROM " & Table & " WHERE id IN (SELECT id FROM (SELECT id FROM " & Table
      & " WHERE created < " & Moment & " LIMIT" & Max_Rows'Image & ") AS older)");

   procedure Delete_Older
     (Table    : String;
      DB       : in out SQL.Connection'Class;
      Than     : Age;
      Deleted  : out SQL.Integer_64;
      Max_Rows : Positive := 1_000)
   is
      Seconds : constant String :=
        Ada.Strings.Fixed.Trim (SQL.Integer_64 (Than)'Image, Ada.Strings.Left);
   begin
      DB.Execute
        (Deletion (Table, "CURRENT_TIMESTAMP - INTERVAL '" & Seconds & "' SECOND", Max_Rows));
      Deleted := DB.Rows_Affected;
   exception
      when Error : SQL.SQL_Error =>
         --  SQLite has no interval type
         if SQL.Error_Of (Error).Kind /= SQL.Wrong_Statement
           or else SQL.Error_Of (Error).Origin /= SQL.From_SQLite
         then
            raise;
         end if;
         DB.Execute (Deletion (Table, "datetime('now', '-" & Seconds & " seconds')", Max_Rows));
         Deleted := DB.Rows_Affected;
   end Delete_Older;

end Appserver.Retry.Key_Tables;
