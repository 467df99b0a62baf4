--  SPDX-License-Identifier: Apache-2.0

procedure Report_Row
  (DB       : in out Appserver.SQL.Connection'Class;
   Query    : String;
   Settings : in out Benchlab.Fields.Field_List)
is
   Row : Appserver.SQL.Statement'Class := DB.Prepare_Client_Side (Query);
begin
   if Row.Step then
      for Column in 1 .. Row.Column_Count loop
         Settings.Add
           (Row.Column_Name (Column),
            (if Row.Is_Null (Column) then "" else Row.As_Text (Column)));
      end loop;
   end if;
end Report_Row;
