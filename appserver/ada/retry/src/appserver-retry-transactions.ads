--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs transactions, and retries them from the beginning after transient errors.
--
--     package Transactions is new Appserver.Retry.Transactions (SQLite.Connection, Open);
--     …
--     Transactions.Run (By => Orders, On => DB, Work => Place_Order'Access);
--
--  A failed attempt is rolled back before the pause. The next attempt uses the same session,
--  including session state that a rollback does not undo, unless Session_Per_Attempt is True. If
--  the session is lost, if the outcome of its commit is unknown, or if the rollback fails, the
--  connection is closed and opened again. After a successful commit, the connection always stays
--  open.
--
--  If a transaction is already open on the connection, the work becomes part of that transaction
--  and is not retried separately. If the work fails with a transient error, the whole transaction
--  can no longer be committed, even if the program handles the exception: the commit raises the
--  error again.

pragma Ada_2022;

generic
   type Connection is limited new SQL.Connection with private;

   with procedure Open (DB : in out Connection);
   --  Connects to the database and sets up the session. DB is not open before the call. If Open
   --  raises an exception, DB is closed.

   Key_Table : String := "retry_key";
   --  The name of the table in which Run_Once stores keys; see Key_Tables

   Session_Per_Attempt : Boolean := False;
   --  True to close the session after each fault. Use this setting if the work changes session
   --  state that a rollback does not undo, such as advisory locks, variables, or temporary tables
   --  in MariaDB.

   with procedure Before_Commit is null;
   with procedure After_Commit is null;
   --  Hooks for tests, which run before and after each commit; see Appserver.Retry.Fault_Injection.
   --  The commit propagates exceptions of these hooks.

package Appserver.Retry.Transactions is

   procedure Run
     (By   : Policy;
      On   : aliased in out Connection;
      Work : not null access procedure (DB : in out Connection);
      Stop : access Cancellation := null);
   --  Runs work in a transaction, and retries it after transient errors.
   --  @param By the policy
   --  @param On the connection. Run opens it if necessary. If the last attempt loses the
   --  connection, the connection stays closed until the next call.
   --  @param Work the work of the transaction. It must not begin or end a transaction, must have no
   --  effect that a rollback does not undo, and must let SQL_Error propagate.
   --  @param Stop ends the retries when it is canceled; may be null
   --  @exception Outcome_Unknown_Error the connection was lost during the commit

   function Run_Once
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Work    : not null access function (DB : in out Connection) return SQL.UTF_8_String;
      Stop    : access Cancellation := null;
      Request : SQL.UTF_8_String := "") return SQL.UTF_8_String;
   --  Runs work like Run, but the work takes effect only once for all calls with the same key, in
   --  this process and in other processes. The transaction inserts the key into Key_Table before
   --  the work, and stores the result after it. If the key already exists, Run_Once returns the
   --  stored result and does not run the work. So even a commit whose outcome is unknown can be
   --  retried.
   --  @param By the policy
   --  @param On the connection, as for Run
   --  @param Id the idempotency key, of at most 255 characters. The client chooses the key: it uses
   --  a new key for each call, and the same key to repeat a call.
   --  @param Work as for Run
   --  @param Stop ends the retries when it is canceled; may be null
   --  @param Request the client's request, such as the content of an HTTP request. If Request is
   --  empty, a repeated key returns the stored result without checking that the requests are equal.
   --  @return the result of the work
   --  @exception Outcome_Unknown_Error the outcome is still unknown after the last attempt; the
   --  call may be repeated with the same key
   --  @exception Key_Reused_Error the key was used with another Request

   procedure Run_Once
     (By      : Policy;
      On      : aliased in out Connection;
      Id      : SQL.UTF_8_String;
      Work    : not null access procedure (DB : in out Connection);
      Stop    : access Cancellation := null;
      Request : SQL.UTF_8_String := "");
   --  Runs work without a result, like the function Run_Once. Needs one statement less.
   --  @param By the policy
   --  @param On the connection, as for Run
   --  @param Id the idempotency key
   --  @param Work as for Run
   --  @param Stop ends the retries when it is canceled; may be null
   --  @param Request the client's request; may be empty
   --  @exception Outcome_Unknown_Error the outcome is still unknown after the last attempt; the
   --  call may be repeated with the same key
   --  @exception Key_Reused_Error the key was used with another Request

end Appserver.Retry.Transactions;
