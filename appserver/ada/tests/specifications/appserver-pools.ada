@… DELETE FROM basket
with Appserver.Pools;
with Appserver.SQL.SQLite;

package Pooled is

   subtype Connection is Appserver.SQL.SQLite.Connection;

   procedure Connect (Item : in out Connection);

   @1

   procedure Work;

end Pooled;

package body Pooled is

   procedure Connect (Item : in out Connection) is
   begin
      Item.Open (":memory:");
   end Connect;

   procedure Work is
   begin
      @2
   end Work;

end Pooled;
