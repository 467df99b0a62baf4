with Appserver.Retry.Key_Purges;
with Appserver.SQL.SQLite;

package Purged is

   use Appserver.SQL;

   procedure Open (DB : in out SQLite.Connection);

   task Purger;

end Purged;

package body Purged is

   Stop : aliased Appserver.Retry.Cancellation;

   procedure Open (DB : in out SQLite.Connection) is
   begin
      DB.Open (":memory:");
   end Open;

   @1

   @2

end Purged;
