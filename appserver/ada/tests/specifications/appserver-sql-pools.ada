with Interfaces;
with Appserver.SQL.Pools;
with Appserver.SQL.SQLite;

package Pooled_Shops is

   use Appserver.SQL;

   procedure Open_Shop (DB : in out SQLite.Connection);

   @1

   procedure Look_Up (Id : Interfaces.Integer_64);

end Pooled_Shops;

package body Pooled_Shops is

   procedure Open_Shop (DB : in out SQLite.Connection) is
   begin
      DB.Open ("shop.db");
   end Open_Shop;

   procedure Look_Up (Id : Interfaces.Integer_64) is
   begin
      @2
         end;
      end;
   end Look_Up;

end Pooled_Shops;
