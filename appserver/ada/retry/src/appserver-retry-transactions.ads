--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Transactions, from begin to commit, that are retried after transient errors.
--
--     package Transactions is new Appserver.Retry.Transactions (SQLite.Connection, Open);
--     …
--     Transactions.Run (By => Orders, On => DB, Work => Place_Order'Access);
--
--  An attempt that fails is rolled back before the pause. The next attempt uses the same session,
--  including its state that a rollback does not undo, unless Session_Per_Attempt is True. If the
--  session is lost, was in a commit whose outcome is unknown, or cannot be rolled back, the
--  connection is closed and opened again. After a commit the session is always kept.
--
--  Inside a transaction that is open on the connection, work is part of that transaction and is not
--  retried by itself. If it fails with a transient error, the whole transaction can no longer be
--  committed, even if the program handles the exception: its commit raises the error.

pragma Ada_2022;

generic
   type Connection is limited new SQL.Connection with private;

   with procedure Open (DB : in out Connection);
   --  Connects, and sets up the session. DB is closed before the call, and after an exception.

   Key_Table : String := "retry_key";
   --  The table of Run_Once (Key_Tables)

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
   --  Runs work in a transaction, and retries it after transient errors.
   --  @param By the policy
   --  @param On the connection, which is opened if it is closed. If the last attempt loses it, it
   --  is closed until the next call opens it.
   --  @param Work must not begin or end a transaction, must have no effect that a rollback does not
   --  undo, and must let SQL_Error propagate
   --  @param Stop ends the retries when it is cancelled; may be null
   --  @exception Outcome_Unknown_Error the connection was lost during the commit

   function Run_Once
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Work    : not null access function (DB : in out Connection) return SQL.UTF_8_String;
      Stop    : access Cancellation := null;
      Request : SQL.UTF_8_String := "") return SQL.UTF_8_String;
   --  Runs work like Run, with one effect for all calls with the same key, in this process or in
   --  another one. The transaction inserts the key in Key_Table before the work, and its result
   --  after it. If the key exists already, the first result is returned. So a commit whose outcome
   --  is unknown is retried, too.
   --  @param By the policy
   --  @param On the connection, as for Run
   --  @param Id the idempotency key, of at most 255 characters. The client chooses it: the same one
   --  when it repeats a call, and a different one for each other call.
   --  @param Work as for Run
   --  @param Stop ends the retries when it is cancelled; may be null
   --  @param Request what the client asks for, such as the content of an HTTP request. If it is
   --  empty, a key that is used again returns the first result, whatever the request is.
   --  @return the result of the work
   --  @exception Outcome_Unknown_Error the outcome stays unknown; the call may be repeated
   --  @exception Key_Reused_Error the key was used with another Request

   procedure Run_Once
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Work    : not null access procedure (DB : in out Connection);
      Stop    : access Cancellation := null;
      Request : SQL.UTF_8_String := "");
   --  Runs work without a result in the same way, with one statement less.
   --  @param By the policy
   --  @param On the connection, as for Run
   --  @param Id the idempotency key
   --  @param Work as for Run
   --  @param Stop ends the retries when it is cancelled; may be null
   --  @param Request what the client asks for; may be empty
   --  @exception Outcome_Unknown_Error the outcome stays unknown; the call may be repeated
   --  @exception Key_Reused_Error the key was used with another Request

end Appserver.Retry.Transactions;
