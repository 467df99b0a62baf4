--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A job that deletes expired idempotency keys periodically, in a task of the program:
--
--     package Purges is new Appserver.Retry.Key_Purges (SQLite.Connection, Open);
--
--     task body Purger is
--     begin
--        Purges.Run (Expiry => 7 * 86_400.0, Interval => 3_600.0, Stop => Stop'Access);
--     end Purger;

pragma Ada_2022;

with Ada.Exceptions;
with Appserver.Retry.Key_Tables;

generic
   type Connection is limited new SQL.Connection with private;

   with procedure Open (DB : in out Connection);
   --  Connects to the database. DB is closed before the call.

   Key_Table : String := "retry_key";

   Max_Rows : Positive := 1_000;
   --  The maximum number of keys that one transaction deletes and locks

   with procedure Wait (Time : Pause; Stop : access Cancellation) is Resilience.Wait;
   --  Tests can replace this procedure

package Appserver.Retry.Key_Purges is

   procedure Run
     (Expiry     : Key_Tables.Age;
      Interval   : Pause;
      Stop       : not null access Cancellation;
      On_Purge   : access procedure (Deleted : SQL.Integer_64)                     := null;
      On_Failure : access procedure (Error : Ada.Exceptions.Exception_Occurrence) := null);
   --  Deletes expired keys now, and again after each interval, until it is cancelled. A key is
   --  valid for at least Expiry, and until the next purge. A call that is repeated later takes
   --  effect again, so Expiry must be longer than any client repeats its calls. Multiple processes
   --  may purge the same table.
   --  @param Expiry the age in seconds from which keys are deleted
   --  @param Interval the time in seconds from the end of a purge to the next one
   --  @param Stop ends the job when it is cancelled, also between two transactions
   --  @param On_Purge is called after each purge; may be null
   --  @param On_Failure is called after a purge that failed; the job goes on. May be null.

end Appserver.Retry.Key_Purges;
