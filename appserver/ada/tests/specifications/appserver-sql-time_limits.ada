with Appserver.SQL.SQLite;

private procedure Appserver.SQL.Select_In_Time (DB : in out SQLite.Connection);

with Ada.Real_Time;
with Appserver.SQL.Time_Limits;

procedure Appserver.SQL.Select_In_Time (DB : in out SQLite.Connection) is

   use Ada.Real_Time;
   use Appserver.SQL.Time_Limits;
begin
   @1
end Appserver.SQL.Select_In_Time;
