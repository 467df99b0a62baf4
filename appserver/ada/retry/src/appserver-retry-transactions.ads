--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Transactions, from begin to commit, that are retried after a transient fault.
--
--     package Transactions is new Appserver.Retry.Transactions (SQLite.Connection, Open);
--     …
--     Transactions.Run (By => Orders, On => DB, Work => Place_Order'Access);
--
--  An attempt that fails is rolled back before the pause. The next one has its session, with what
--  a rollback does not undo, unless Session_Per_Attempt. If the session is lost, was in a commit
--  whose outcome is unknown, or cannot be rolled back, the connection is closed and opened again.
--  After a commit the session is kept in any case.
--
--  Inside a transaction that is open on the connection, work is part of that transaction and is not
--  retried by itself. If it fails with a transient fault, the whole transaction can no longer be
--  committed, even if it handles the exception: its commit raises the fault.

pragma Ada_2022;

generic
   type Connection is limited new SQL.Connection with private;

   with procedure Open (DB : in out Connection);
   --  Connects, and sets up the session. DB is closed before the call, and after an exception.

   Key_Table : String := "retry_key";
   --  For Run_Once

   Session_Per_Attempt : Boolean := False;
   --  True if each fault closes the session: for work with effects on the session that a rollback
   --  does not undo, such as advisory locks, variables, or temporary tables of MariaDB

   with procedure Before_Commit is null;
   with procedure After_Commit is null;
   --  For tests (Appserver.Retry.Fault_Injection). The commit raises their exceptions.

package Appserver.Retry.Transactions is

   procedure Run
     (By   : Policy;
      On   : aliased in out Connection;
      Work : not null access procedure (DB : in out Connection);
      Stop : access Cancellation := null);
   --  Runs Work in a transaction. On may be closed; it is then opened. Work neither begins nor ends
   --  a transaction, does nothing that a rollback does not undo, and lets SQL_Error pass. If the
   --  last attempt loses its connection, On is closed, until the next call opens it.
   --  Outcome_Unknown_Error if that was during the commit.

   function Run_Once
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Work    : not null access function (DB : in out Connection) return SQL.UTF_8_String;
      Stop    : access Cancellation := null;
      Request : SQL.UTF_8_String := "") return SQL.UTF_8_String;
   --  As Run, with one effect for all calls with the key Id, in this process or another: the
   --  transaction puts the key in Key_Table before the work, and its result after it; if the key is
   --  there already, the first result is returned. So a commit whose outcome is unknown is retried
   --  too. Outcome_Unknown_Error if it stays unknown: the call may be repeated. Id has at most 255
   --  characters. The client chooses it: the same for the same call when it is repeated, and
   --  different for each other call. Request is what the client asks for, such as the content of an
   --  HTTP request: Key_Reused_Error if the key came with another one before. Without it a key that
   --  is used again returns the first result, whatever the call is.

   procedure Run_Once
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Work    : not null access procedure (DB : in out Connection);
      Stop    : access Cancellation := null;
      Request : SQL.UTF_8_String := "");
   --  The same for a call without a result, with one statement less

end Appserver.Retry.Transactions;
