--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Retries database calls after transient errors, so that each call takes effect exactly once.
--
--     Appserver.Retry.Transactions  runs each attempt in a transaction
--     Appserver.Retry.Key_Tables    stores idempotency keys
--     Appserver.Retry.Prometheus    writes statistics as text
--
--  In the crate appserver_testing, Appserver.Retry.Fault_Injection injects faults at a commit.
--
--  If calls are nested in one task, only the outermost call is retried. Without a fault, a call
--  allocates no heap memory in addition to its statements, except for a result of Run_Once that is
--  longer than 1_000 bytes.

pragma Ada_2022;

with Ada.Exceptions;
with Appserver.Counters;
with Appserver.Resilience.Circuit_Breakers;
with Appserver.SQL;

private with Appserver.Counters.Atomic;
private with Appserver.Counters.Striped;

package Appserver.Retry is

   pragma Assertion_Policy (Pre => Check);

   ------------
   -- Faults --
   ------------

   type Fault is
     (Stale_Version,
      --  Another transaction has changed the record since this transaction read it (an optimistic
      --  lock)
      Serialization_Failure,
      --  The database could not serialize the transaction with other transactions, or a table that
      --  a prepared statement uses has changed since the statement was prepared
      Deadlock,
      --  Transactions waited for each other, and the database ended this transaction
      Lock_Timeout,
      --  A lock could not be acquired in time
      Busy,
      --  SQLite's database is locked, or has changed since the transaction read it
      Connection_Lost,
      --  The connection was lost, or could not be established. Nothing was committed.
      Outcome_Unknown,
      --  The connection was lost during the commit. The database may have completed the commit.
      Permanent);
      --  Any other failure, which is never retried

   subtype Transient_Error is Fault range Stale_Version .. Outcome_Unknown;

   Stale_Version_Error   : exception;
   Outcome_Unknown_Error : exception;
   Key_Taken_Error       : exception;
   --  Another transaction has inserted the key of this call, but this transaction cannot see the
   --  key. Classified as Serialization_Failure.
   Key_Reused_Error      : exception;
   --  The key of this call was used for another request, which is an error of the client.
   --  Classified as Permanent.

   function Fault_Of (Error : Ada.Exceptions.Exception_Occurrence) return Fault;
   --  Classifies an exception by the kind of its SQL_Error. A lost connection is classified as
   --  Connection_Lost, even if it was lost during a commit. Only the package Transactions can
   --  detect this case, and raises Outcome_Unknown_Error.
   --  @param Error the exception
   --  @return the fault

   function Is_Outage (Error : Ada.Exceptions.Exception_Occurrence) return Boolean is
     (Fault_Of (Error) in Connection_Lost | Outcome_Unknown);
   --  @param Error an exception
   --  @return True if a connection was lost, or could not be established

   type Outage_Breaker is new Resilience.Circuit_Breakers.Circuit_Breaker with null record;
   --  A circuit breaker that counts only outages of the database as failures, so deadlocks do not
   --  open the circuit breaker

   overriding function Is_Recorded
     (Self : Outage_Breaker; Error : Ada.Exceptions.Exception_Occurrence) return Boolean is
     (Is_Outage (Error));

   procedure Check_Version (DB : SQL.Connection'Class)
     with Pre => SQL.Can_Use (DB);
   --  Checks an optimistic lock. Call this procedure after an UPDATE or DELETE of one record, if
   --  the condition of the statement includes the version that the program has read.
   --  @param DB the connection
   --  @exception Stale_Version_Error the statement changed no row
   --  @exception Misuse_Error the statement changed multiple rows, so its condition is not unique

   --------------
   -- Policies --
   --------------

   subtype Pause is Resilience.Pause;
   subtype Backoff is Resilience.Backoff;

   type Backoff_List is array (Transient_Error) of Backoff;
   type Fault_Set is array (Transient_Error) of Boolean;

   Default_Backoffs : constant Backoff_List :=
     [Stale_Version         => (0.001, 0.050),
      Serialization_Failure => (0.002, 0.100),
      Deadlock              => (0.005, 0.200),
      Lock_Timeout          => (0.010, 1.0),
      Busy                  => (0.001, 0.100),
      Connection_Lost       => (0.050, 1.0),
      Outcome_Unknown       => (0.050, 1.0)];

   subtype Budget is Resilience.Budget;

   type Metrics is tagged limited private;
   --  Counts the calls of all policies that use this object

   No_Timeout : constant Pause := Pause'Last;

   type Policy
     (Budget   : access Retry.Budget                                      := null;
      Metrics  : access Retry.Metrics                                     := null;
      Breaker  : access Resilience.Circuit_Breakers.Circuit_Breaker'Class := null;
      --  A circuit breaker that runs each attempt; may be null. If the circuit breaker rejects an
      --  attempt, the call fails immediately. Use an Outage_Breaker.
      Listener : access Resilience.Retry_Listener'Class                   := null) is tagged limited
      --  A listener, which observes the calls; may be null. The listener receives the image of a
      --  Fault as the kind of a failure.
   record
      Attempts   : Positive     := 3;
      --  The maximum number of attempts per call, including the first: n attempts are n - 1
      --  retries. A call with a key can make the same number of additional attempts, as long as it
      --  is unknown whether an attempt took effect.
      Deadline   : Pause        := 30.0;
      --  The time in seconds since the start of the call after which no retry starts. An attempt
      --  that is running at the deadline continues.
      Backoffs   : Backoff_List := Default_Backoffs;
      Retried    : Fault_Set    := [others => True];
      --  The faults that are retried
      Repeatable : Boolean      := False;
      --  True if the operation may take effect more than once, for example because it only reads.
      --  Such an operation is retried even when its outcome is unknown.
      Timeout    : Pause        := No_Timeout;
      --  The timeout of the whole call, in seconds, including opening a connection, statements and
      --  the commit. When the timeout expires, the connections of the call's Transactions are shut
      --  down. So an unresponsive server causes SQL_Error 08006 (08001 while connecting), or
      --  Outcome_Unknown_Error during the commit. The timeout does not apply to SQLite, which has a
      --  busy timeout.
   end record;

   ----------------
   -- Statistics --
   ----------------

   subtype Count is Counters.Integer_64 range 0 .. Counters.Integer_64'Last;

   type Fault_Counts is array (Fault) of Count;

   type Retry_Statistics is record
      Calls                   : Count := 0;
      --  The number of calls, without calls that are nested in other calls
      Faults                  : Fault_Counts := [others => 0];
      --  The number of failed attempts, for each fault
      Retries                 : Count := 0;
      Given_Up                : Count := 0;
      --  The number of calls that failed with a transient error
      Time_In_Failed_Attempts : Duration := 0.0;
      --  The time in seconds that successful calls spent before their last attempt, plus the total
      --  time of failed calls
   end record;

   function Statistics (Self : Metrics) return Retry_Statistics;
   --  Returns statistics. Each value was exact at some moment during the call, but different values
   --  may be from different moments.
   --  @param Self the metrics
   --  @return the statistics

   -----------
   -- Calls --
   -----------

   subtype Cancellation is Resilience.Cancellation;

   procedure Run
     (By        : Policy;
      Operation : not null access procedure;
      Stop      : access Cancellation := null);
   --  Runs an operation, and retries it after transient errors. If the last attempt fails, its
   --  exception is propagated. An abort of the task ends the retries.
   --  @param By the policy
   --  @param Operation one transaction, from its beginning to its commit. It must have no effect
   --  that a rollback does not undo.
   --  @param Stop ends the retries when it is canceled; may be null
   --  @exception Outcome_Unknown_Error a connection was lost, possibly during a commit. Not raised
   --  if Operation uses Transactions and no connection was lost during a commit, or if a connection
   --  could not be established.

private

   type Fault_Counters is array (Fault) of Counters.Atomic.Counter;

   type Metrics is tagged limited record
      Calls                   : Counters.Striped.Counter (16);
      Faults                  : Fault_Counters;
      Retries                 : Counters.Atomic.Counter;
      Given_Up                : Counters.Atomic.Counter;
      Time_In_Failed_Attempts : Counters.Atomic.Counter;
      --  The time of failed attempts, in nanoseconds
   end record;

   --  Runs an operation like Run, for child packages. If Has_Key is True, an attempt can detect
   --  whether earlier attempts took effect.

   procedure Run
     (By        : Policy;
      Has_Key   : Boolean;
      Operation : not null access procedure;
      Stop      : access Cancellation);

end Appserver.Retry;
