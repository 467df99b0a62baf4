--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Calls of a database that are made again after a fault that passes, so that they have one effect.
--
--     Appserver.Retry.Transactions   each attempt is a transaction; it keeps its session, unless
--                                    told, or lost
--     Appserver.Retry.Key_Tables     keys of calls, for those whose outcome is unknown
--     Appserver.Retry.Prometheus     the figures as text
--     Appserver.Retry.Interleavers   for tests: something that happens at a commit
--
--  Of calls inside one another, in one task, only the outermost is made again. Without a fault a
--  call takes no memory of the heap besides what its statements take, but for a result of Run_Once
--  that is longer than 1_000 bytes.

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
      --  Somebody else has changed the record since it was read (an optimistic lock)
      Serialization_Failure,
      --  The database could not put the transaction in an order with others
      Deadlock,
      --  Transactions waited for each other; the database has ended this one
      Lock_Timeout,
      --  A lock was not free in time
      Busy,
      --  SQLite's database is locked, or has changed since the transaction read it
      Connection_Lost,
      --  There is no connection any more, or none could be made. Nothing was committed.
      Outcome_Unknown,
      --  The connection was lost during the commit: the database may have done it
      Permanent);
      --  All else. It is never retried.

   subtype Passing_Fault is Fault range Stale_Version .. Outcome_Unknown;

   Stale_Version_Error   : exception;
   Outcome_Unknown_Error : exception;
   Key_Taken_Error       : exception;
   --  Another transaction has put the key of this call where this one cannot see it: a
   --  Serialization_Failure

   function Fault_Of (Error : Ada.Exceptions.Exception_Occurrence) return Fault;
   --  By the kind of an SQL_Error. A connection that was lost is Connection_Lost here whenever that
   --  was: only Transactions knows that it was committing, and raises Outcome_Unknown_Error.

   procedure Check_Version (DB : SQL.Connection'Class)
     with Pre => SQL.Can_Use (DB);
   --  After an UPDATE or DELETE of one record whose condition names the version that was read:
   --  Stale_Version_Error if it hit no row. SQL.Misuse_Error if it hit several: its condition is no
   --  key.

   --------------
   -- Policies --
   --------------

   subtype Pause is Duration range 0.0 .. 1_000_000.0;

   type Backoff is record
      First   : Pause;
      Longest : Pause;
   end record;
   --  In seconds. Before the first retry a call waits at most for First, before each other one at
   --  most for twice as long as before the last, and never for more than Longest. Each pause is
   --  drawn at random below that ("full jitter": M. Brooker, Exponential Backoff and Jitter, AWS
   --  Architecture Blog, 2015).

   type Backoff_List is array (Passing_Fault) of Backoff;
   type Fault_Set is array (Passing_Fault) of Boolean;

   Usual_Backoffs : constant Backoff_List :=
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
   --  So many retries for a hundred calls, of which Reserve can be saved up, and are at first. So
   --  retries do not multiply the load of a database that is down. Tasks and policies share it.

   function Left (Self : Budget) return Natural
     with Post => Left'Result <= Self.Reserve;
   --  Retries that could be made now

   type Meter is tagged limited private;
   --  Counts what calls do, for all policies that name it

   type Policy
     (Budget : access Retry.Budget := null;
      Meter  : access Retry.Meter  := null) is tagged limited
   record
      Attempts   : Positive     := 3;
      --  How often it is run at most: n attempts are n - 1 retries. With a key as many again, as
      --  long as it is unknown whether one of them took effect.
      Deadline   : Pause        := 30.0;
      --  No retry begins later than this after the call began. An attempt that runs is not stopped.
      Backoffs   : Backoff_List := Usual_Backoffs;
      Retried    : Fault_Set    := [others => True];
      Repeatable : Boolean      := False;
      --  Whether it may take effect twice, such as what only reads: it is then retried too when its
      --  outcome is unknown
   end record;

   -------------
   -- Figures --
   -------------

   subtype Count is Counters.Integer_64 range 0 .. Counters.Integer_64'Last;

   type Fault_Counts is array (Fault) of Count;

   type Figures is record
      Calls    : Count := 0;
      --  One inside another does not count
      Faults   : Fault_Counts := [others => 0];
      --  Attempts that failed
      Retries  : Count := 0;
      Given_Up : Count := 0;
      --  Calls that ended with a fault that passes
      Lost     : Duration := 0.0;
      --  From the begin of each call to that of its last attempt, or to its end if that failed, all
      --  together
   end record;

   function Usage (Self : Meter) return Figures;
   --  Each is right at some moment of the call

   -----------
   -- Calls --
   -----------

   protected type Cancellation is

      procedure Cancel;
      --  Ends the retries of all calls that have it, and the pauses between them

      function Is_Cancelled return Boolean;
      entry Wait;
      --  Until it is

   private
      Cancelled : Boolean := False;
   end Cancellation;

   procedure Run
     (By        : Policy;
      Operation : not null access procedure;
      Stop      : access Cancellation := null);
   --  Operation is one transaction, from its begin to its commit, and nothing besides that a
   --  rollback does not undo. The last attempt's exception is raised. If it loses its connection,
   --  nobody can tell whether it was committing: that is Outcome_Unknown, unless Transactions in it
   --  knows better, or no connection could be made, and Outcome_Unknown_Error is raised. Abort ends
   --  the retries too.

private

   type Budget (Percent : Percentage; Reserve : Reserve_Count) is tagged limited record
      Spent : Counters.Atomic.Counter;
      --  In hundredths of a retry
   end record;

   procedure Earn (Self : in out Budget);
   --  Counts a call. As long as nobody retries, this only reads.

   procedure Spend (Self : in out Budget; Is_Spent : out Boolean);
   --  Takes a retry, if there is one

   type Fault_Counters is array (Fault) of Counters.Atomic.Counter;

   type Meter is tagged limited record
      Calls    : Counters.Striped.Counter (16);
      Faults   : Fault_Counters;
      Retries  : Counters.Atomic.Counter;
      Given_Up : Counters.Atomic.Counter;
      Lost     : Counters.Atomic.Counter;
      --  In nanoseconds
   end record;

   --  For the children. Has_Key: an attempt finds out what became of those before it.

   procedure Run
     (By        : Policy;
      Has_Key   : Boolean;
      Operation : not null access procedure;
      Stop      : access Cancellation);

end Appserver.Retry;
