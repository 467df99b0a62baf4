with Appserver.Retry.Fault_Injection;
with Appserver.SQL.SQLite;

package Interleaved is

   use Appserver;
   use Appserver.SQL;

   procedure Open (DB : in out SQLite.Connection);

   procedure Change_The_Same_Record is null;
   procedure Change_The_Record (DB : in out SQLite.Connection) is null;

   procedure Test (By : Retry.Policy; DB : aliased in out SQLite.Connection);

end Interleaved;

package body Interleaved is

   procedure Open (DB : in out SQLite.Connection) is
   begin
      DB.Open (":memory:");
   end Open;

   @1

   procedure Test (By : Retry.Policy; DB : aliased in out SQLite.Connection) is
   begin
      @2
   end Test;

end Interleaved;
