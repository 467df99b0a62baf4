--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Database calls that are retried after a transient fault, so that each has one effect.
--
--     Appserver.Retry.Transactions   each attempt is a transaction; it keeps its session, unless
--                                    told otherwise, or lost
--     Appserver.Retry.Key_Tables     keys of calls, for those whose outcome is unknown
--     Appserver.Retry.Prometheus     the figures as text
--     Appserver.Retry.Fault_Injection   for tests: something that happens at a commit
--
--  Of nested calls in one task, only the outermost is retried. Without a fault, a call uses no heap
--  memory beyond what its statements use, except for a result of Run_Once that is longer than 1_000
--  bytes.

pragma Ada_2022;

with Ada.Exceptions;
with Appserver.Counters;
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
      --  Another transaction has changed the record since it was read (an optimistic lock)
      Serialization_Failure,
      --  The database could not serialize the transaction with others, or a table of a prepared
      --  statement has changed since it was prepared
      Deadlock,
      --  Transactions waited for each other; the database has ended this one
      Lock_Timeout,
      --  A lock was not free in time
      Busy,
      --  SQLite's database is locked, or has changed since the transaction read it
      Connection_Lost,
      --  The connection was lost, or none could be made. Nothing was committed.
      Outcome_Unknown,
      --  The connection was lost during the commit: the database may have done it
      Permanent);
      --  Any other failure. It is never retried.

   subtype Transient_Error is Fault range Stale_Version .. Outcome_Unknown;

   Stale_Version_Error   : exception;
   Outcome_Unknown_Error : exception;
   Key_Taken_Error       : exception;
   --  Another transaction has put the key of this call where this one cannot see it: a
   --  Serialization_Failure
   Key_Reused_Error      : exception;
   --  The key of this call was used for another request: an error of the client. Permanent.

   function Fault_Of (Error : Ada.Exceptions.Exception_Occurrence) return Fault;
   --  The fault, by the kind of an SQL_Error. A lost connection is Connection_Lost here, even if it
   --  was lost during a commit: only Transactions knows that, and raises Outcome_Unknown_Error.

   procedure Check_Version (DB : SQL.Connection'Class)
     with Pre => SQL.Can_Use (DB);
   --  To be called after an UPDATE or DELETE of one record whose condition has the version that was
   --  read. Raises Stale_Version_Error if the statement changed no row, SQL.Misuse_Error if it
   --  changed multiple rows: its condition is not a key.

   --------------
   -- Policies --
   --------------

   subtype Pause is Duration range 0.0 .. 1_000_000.0;

   type Backoff is record
      Initial : Pause;
      Max     : Pause;
   end record;
   --  In seconds. The longest pause before the first retry is Initial; it doubles with each retry,
   --  up to Max. Each pause is drawn at random below it ("full jitter": M. Brooker, Exponential
   --  Backoff and Jitter, AWS Architecture Blog, 2015).

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

   subtype Percentage is Natural range 0 .. 100;
   subtype Reserve_Count is Positive range 1 .. 1_000_000_000;

   type Budget (Percent : Percentage; Reserve : Reserve_Count) is tagged limited private;
   --  Every hundred calls earn Percent retries. At most Reserve retries can be saved, and the
   --  budget starts with as many. So retries do not multiply the load of a database that is down.
   --  Tasks and policies may share a budget.

   function Available (Self : Budget) return Natural
     with Post => Available'Result <= Self.Reserve;
   --  The number of retries that are available now

   type Metrics is tagged limited private;
   --  Counts what calls do, for all policies that use it

   No_Timeout : constant Pause := Pause'Last;

   type Policy
     (Budget  : access Retry.Budget  := null;
      Metrics : access Retry.Metrics := null) is tagged limited
   record
      Attempts   : Positive     := 3;
      --  The maximum number of runs of an operation: n attempts are n - 1 retries. A call with a
      --  key has as many again while it is unknown whether an attempt took effect.
      Deadline   : Pause        := 30.0;
      --  No retry begins later than this after the call began. An attempt that runs is not stopped.
      Backoffs   : Backoff_List := Default_Backoffs;
      Retried    : Fault_Set    := [others => True];
      Repeatable : Boolean      := False;
      --  True if the operation may take effect twice, such as one that only reads. It is then also
      --  retried when its outcome is unknown.
      Timeout    : Pause        := No_Timeout;
      --  For the whole call, including opening a connection, statements and the commit. When it is
      --  over, the connections of its Transactions are cut off. So a silent server causes SQL_Error
      --  08006, 08001 while connecting, or Outcome_Unknown_Error during the commit. It does not
      --  apply to SQLite, which has a busy timeout.
   end record;

   ----------------------
   -- Retry_Statistics --
   ----------------------

   subtype Count is Counters.Integer_64 range 0 .. Counters.Integer_64'Last;

   type Fault_Counts is array (Fault) of Count;

   type Retry_Statistics is record
      Calls                   : Count := 0;
      --  Not counting calls inside other calls
      Faults                  : Fault_Counts := [others => 0];
      --  Attempts that failed
      Retries                 : Count := 0;
      Given_Up                : Count := 0;
      --  Calls that ended with a transient fault
      Time_In_Failed_Attempts : Duration := 0.0;
      --  Seconds that calls took before their last attempt, or in all if they failed
   end record;

   function Statistics (Self : Metrics) return Retry_Statistics;
   --  Each number is exact for some moment during the call

   -----------
   -- Calls --
   -----------

   protected type Cancellation is

      procedure Cancel;
      --  Ends the retries of all calls that use it, and the pauses between them

      function Is_Cancelled return Boolean;
      entry Wait;
      --  Waits until it is cancelled

   private
      Cancelled : Boolean := False;
   end Cancellation;

   procedure Run
     (By        : Policy;
      Operation : not null access procedure;
      Stop      : access Cancellation := null);
   --  Operation is one transaction, from its begin to its commit. It must have no other effect that
   --  a rollback does not undo. The exception of the last attempt is raised. A connection may have
   --  been lost during a commit: this is Outcome_Unknown, and Outcome_Unknown_Error is raised,
   --  unless Transactions inside Operation knows better or no connection could be made. An abort of
   --  the task ends the retries.

private

   type Budget (Percent : Percentage; Reserve : Reserve_Count) is tagged limited record
      Spent : Counters.Atomic.Counter;
      --  In hundredths of a retry
   end record;

   procedure Earn (Self : in out Budget);
   --  Counts a call. As long as there are no retries, this only reads memory.

   procedure Spend (Self : in out Budget; Is_Spent : out Boolean);
   --  Takes a retry, if one is available

   type Fault_Counters is array (Fault) of Counters.Atomic.Counter;

   type Metrics is tagged limited record
      Calls                   : Counters.Striped.Counter (16);
      Faults                  : Fault_Counters;
      Retries                 : Counters.Atomic.Counter;
      Given_Up                : Counters.Atomic.Counter;
      Time_In_Failed_Attempts : Counters.Atomic.Counter;
      --  In nanoseconds
   end record;

   --  For child packages. Has_Key: an attempt finds out whether earlier ones took effect.

   procedure Run
     (By        : Policy;
      Has_Key   : Boolean;
      Operation : not null access procedure;
      Stop      : access Cancellation);

end Appserver.Retry;
