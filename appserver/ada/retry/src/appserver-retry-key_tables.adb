--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Retry.Key_Tables is

   use type SQL.Integer_64;

   --  PostgreSQL's clause avoids the error, which would end the transaction. MariaDB does not have
   --  it, and its INSERT IGNORE would truncate a key that is too long.

   procedure Take
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Is_New : out Boolean)
   is
      Change : SQL.Statement'Class :=
        DB.Use_Text
          ("INSERT INTO " & Table & " (id) VALUES (?)"
           & (if DB.Transactions_Survive_Errors then "" else " ON CONFLICT DO NOTHING"));
   begin
      Change.Bind (1, Id);
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
      Id    : SQL.UTF_8_String) return SQL.UTF_8_String
   is
      Query : SQL.Statement'Class :=
        DB.Use_Text ("SELECT result FROM " & Table & " WHERE id = ?");
   begin
      Query.Bind (1, Id);
      if not Query.Step then
         raise Key_Taken_Error with "another transaction has put the key there";
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
        DB.Use_Text ("UPDATE " & Table & " SET result = ? WHERE id = ?");
   begin
      Change.Bind (1, Result);
      Change.Bind (2, Id);
      Change.Execute;
   end Keep;

end Appserver.Retry.Key_Tables;
