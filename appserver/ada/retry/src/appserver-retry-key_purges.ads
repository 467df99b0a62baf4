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
   --  Connects to the database. DB is not open before the call.

   Key_Table : String := "retry_key";

   Max_Rows : Positive := 1_000;
   --  The maximum number of keys that one transaction locks and deletes

   with procedure Wait (Time : Pause; Stop : access Cancellation) is Resilience.Wait;
   --  Waits for Time seconds, or until Stop is canceled. Tests can replace this procedure.

package Appserver.Retry.Key_Purges is

   procedure Run
     (Expiry     : Key_Tables.Age;
      Interval   : Pause;
      Stop       : not null access Cancellation;
      On_Purge   : access procedure (Deleted : SQL.Integer_64)                     := null;
      On_Failure : access procedure (Error : Ada.Exceptions.Exception_Occurrence) := null);
   --  Deletes expired keys now, and again after each interval, until Stop is canceled. A key stays
   --  valid until the first purge after Expiry. If a client repeats a call after that, the call
   --  takes effect again. So Expiry must be longer than the time for which clients repeat their
   --  calls. Multiple processes may purge the same table.
   --  @param Expiry the minimum age in seconds of the keys to delete
   --  @param Interval the time in seconds from the end of a purge to the start of the next purge
   --  @param Stop ends the procedure when it is canceled, even between two transactions
   --  @param On_Purge called after each purge; may be null
   --  @param On_Failure called after a failed purge; may be null. The procedure continues after a
   --  failed purge.

end Appserver.Retry.Key_Purges;
