--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs an action of a test, such as another transaction, just before or just after the first
--  commit. So a test can deterministically cause a stale version, a serialization failure, a
--  deadlock or a lost connection:
--
--     package Stopped is new Appserver.Retry.Fault_Injection
--       (SQLite.Connection, Open, Before_First_Commit => Change_The_Same_Record);
--     …
--     Stopped.Transactions.Run (By, DB, Change_The_Record'Access);
--
--  An action runs in the task that commits the transaction. So it must not wait for a lock that
--  this transaction holds, since the wait would last until the database's timeout, or forever. To
--  cause a deadlock, let another task use the transaction's connection to request a row that
--  another transaction has locked.

pragma Ada_2022;

with Appserver.Retry.Transactions;

generic
   type Connection is limited new SQL.Connection with private;

   with procedure Open (DB : in out Connection);
   --  Connects to the database; see Appserver.Retry.Transactions

   with procedure Before_First_Commit is null;
   --  Called before the first commit. If this procedure raises an exception, the commit propagates
   --  the exception and has no effect.

   with procedure After_First_Commit is null;
   --  Called after the first commit. If this procedure raises an exception, the commit propagates
   --  the exception, although the database has committed the transaction.
   --  Appserver.SQL.Injected_Errors.Drop_Connection simulates a lost reply to the COMMIT.

   Key_Table           : String  := "retry_key";
   Session_Per_Attempt : Boolean := False;

package Appserver.Retry.Fault_Injection is

   --  Procedures that the package Transactions calls before and after each commit

   procedure Before_Commit;
   procedure After_Commit;

   package Transactions is new Retry.Transactions
     (Connection, Open, Key_Table, Session_Per_Attempt, Before_Commit, After_Commit);

end Appserver.Retry.Fault_Injection;
