--  SPDX-License-Identifier: Apache-2.0

with SQL_Cases.Connecting;
with SQL_Cases.Inserting;
with SQL_Cases.Selecting;
with SQL_Cases.Tables;

function SQL_Cases.New_Case (Name : String) return Cases.Case_Reference is
begin
   return
     (if Name = "connect" then new Connecting.Connect_Case
      elsif Name = "select_1" then new Selecting.Select_1_Case
      elsif Name = "select" then new Selecting.Select_Case
      elsif Name = "point" then new Selecting.Point_Case
      elsif Name = "insert" then new Inserting.Insert_Case
      elsif Name = "insert_tx" then new Inserting.Insert_Transaction_Case
      elsif Name = "drop_create" then new Tables.Drop_Create_Case
      else null);
end SQL_Cases.New_Case;
