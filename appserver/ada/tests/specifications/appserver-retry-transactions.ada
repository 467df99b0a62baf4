with Appserver.Retry.Transactions;
with Appserver.SQL.SQLite;

package Retried is

   use Appserver;
   use Appserver.SQL;

   procedure Open (DB : in out SQLite.Connection);

   procedure Place_Order (DB : in out SQLite.Connection) is null;

   procedure Order (Orders : Retry.Policy; DB : aliased in out SQLite.Connection);

end Retried;

package body Retried is

   procedure Open (DB : in out SQLite.Connection) is
   begin
      DB.Open (":memory:");
   end Open;

   @1

   procedure Order (Orders : Retry.Policy; DB : aliased in out SQLite.Connection) is
   begin
      @2
   end Order;

end Retried;
