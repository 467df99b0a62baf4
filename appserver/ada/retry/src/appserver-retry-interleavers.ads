--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  For tests: transactions of which the first one is stopped just before its commit, or just after
--  it, while something else is done, such as another transaction. So a test produces a stale
--  version, a serialization failure, a deadlock or a lost connection when it wants one, and not by
--  chance:
--
--     package Stopped is new Appserver.Retry.Interleavers
--       (SQLite.Connection, Open, Before_First_Commit => Change_The_Same_Record);
--     …
--     Stopped.Transactions.Run (By, DB, Change_The_Record'Access);
--
--  The actions run in the task that commits. They must not wait for a lock that the stopped
--  transaction holds: they would wait forever, or until the database's limit. For a deadlock the
--  stopped transaction's connection asks for a row that another one holds, in a task that waits.

pragma Ada_2022;

with Appserver.Retry.Transactions;

generic
   type Connection is limited new SQL.Connection with private;

   with procedure Open (DB : in out Connection);

   with procedure Before_First_Commit is null;
   --  If it raises an exception, the commit raises it and does nothing

   with procedure After_First_Commit is null;
   --  The same, once the database has committed: Appserver.SQL.Injected_Errors.Lose_Connection is
   --  an answer to the COMMIT that was lost

   Key_Table           : String  := "retry_key";
   Session_Per_Attempt : Boolean := False;

package Appserver.Retry.Interleavers is

   --  For Transactions: called at each commit

   procedure Before_Commit;
   procedure After_Commit;

   package Transactions is new Retry.Transactions
     (Connection, Open, Key_Table, Session_Per_Attempt, Before_Commit, After_Commit);

end Appserver.Retry.Interleavers;
