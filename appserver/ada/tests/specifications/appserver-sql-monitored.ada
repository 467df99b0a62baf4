with Appserver.Monitors;
with Appserver.SQL.Monitored;
with Appserver.SQL.Pools;
with Appserver.SQL.SQLite;

package Watched_Databases is

   use Appserver;
   use Appserver.SQL;

   @1

   @2

   procedure Open_Shop (DB : in out Databases.Connection);

   @3

end Watched_Databases;

package body Watched_Databases is

   procedure Open_Shop (DB : in out Databases.Connection) is
   begin
      DB.Open (":memory:");
   end Open_Shop;

end Watched_Databases;
