--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Retry.Key_Tables is

   procedure Find
     (Table  : String;
      DB     : in out SQL.Connection'Class;
      Id     : SQL.UTF_8_String;
      Read   : not null access procedure (Result : SQL.UTF_8_String);
      Is_Old : out Boolean)
   is
      Query : SQL.Statement'Class :=
        DB.Use_Text ("SELECT result FROM " & Table & " WHERE id = ?");
   begin
      Query.Bind (1, Id);
      Is_Old := Query.Step;
      if Is_Old then
         Read (if Query.Is_Null (1) then "" else Query.As_Text (1));
      end if;
   end Find;

   procedure Take
     (Table : String; DB : in out SQL.Connection'Class; Id : SQL.UTF_8_String)
   is
      Change : SQL.Statement'Class :=
        DB.Use_Text ("INSERT INTO " & Table & " (id) VALUES (?)");
   begin
      Change.Bind (1, Id);
      Change.Execute;
   exception
      when Error : SQL.SQL_Error =>
         if SQL.Error_Of (Error).Is_Constraint_Violation then
            raise Key_Taken_Error with SQL.Message_Of (Error);
         end if;
         raise;
   end Take;

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
