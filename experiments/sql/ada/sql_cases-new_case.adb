--  SPDX-License-Identifier: Apache-2.0

with SQL_Cases.Commanding;
with SQL_Cases.Connecting;
with SQL_Cases.Own;
with SQL_Cases.Selecting;
with SQL_Cases.Sharing;
with SQL_Cases.Writing;

function SQL_Cases.New_Case (Name : String) return Cases.Case_Reference is
begin
   return
     (if Name = "connect" then new Connecting.Connect_Case
      elsif Name = "select_1" then new Selecting.Select_1_Case
      elsif Name = "do_1" then new Commanding.Do_1_Case
      elsif Name = "select" then new Selecting.Select_Case
      elsif Name = "point" then new Selecting.Point_Case
      elsif Name = "mixed" then new Selecting.Mixed_Case
      elsif Name = "insert" then new Writing.Insert_Case
      elsif Name = "insert_tx" then new Writing.Insert_Transaction_Case
      elsif Name = "update_point" then new Writing.Update_Case
      elsif Name = "transfer" then new Writing.Transfer_Case
      elsif Name = "drop_create" then new Commanding.Drop_Create_Case
      elsif Name = "connections" then new Sharing.Connections_Case
      elsif Name = "own" then new Own.Own_Case
      else null);
end SQL_Cases.New_Case;
