--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The state of a task's outermost retried call.

pragma Ada_2022;

with Ada.Real_Time;
with System.Storage_Elements;

private with Ada.Finalization;

private package Appserver.Retry.Calls is

   subtype Connection_Id is System.Storage_Elements.Integer_Address;
   --  The address of a connection object, which identifies the connection

   type Attempt_Scope;
   type Scope_Access is access all Attempt_Scope;

   type Call is limited record
      Lost_Before : SQL.Integer_64 := 0;
      --  The value of SQL.Lost_Connections when the attempt began
      Lost_Inside : SQL.Integer_64 := 0;
      --  The number of connections that the attempt lost inside transactions that were not
      --  committed
      Is_Spread   : Boolean := False;
      --  True if a transaction without a key was committed, or may have been committed, inside a
      --  transaction on another connection. The work must then not be run again. Transactions that
      --  are committed one after the other do not count, since the earlier transactions may only
      --  read.
      Is_Unknown  : Boolean := False;
      --  True if it is unknown whether the latest attempt took effect. In a call with a key, True
      --  if it is unknown whether an attempt before the attempt that inserts the key took effect.
      Was_Spread  : Boolean := False;
      --  The value of Is_Spread when the attempt began
      Is_Over     : Boolean := False;
      --  True if no further attempt may be made
      Innermost   : Scope_Access := null;
      Deadline    : Ada.Real_Time.Time := Ada.Real_Time.Time_Last;
      --  The time at which the timeout of the call expires
   end record;

   type Call_Access is access all Call;

   function Current return Call_Access with Inline;
   --  Returns the current task's outermost call; null outside of calls

   procedure Set_Current (To : Call_Access) with Inline;

   procedure Begin_Attempt (Self : in out Call);

   function Is_Surely_Uncommitted (Self : Call; Is_Lost : Boolean) return Boolean;
   --  Returns True if none of the connections that the attempt lost can have been committing. An
   --  exception does not show where it was first raised, so each connection lost outside of known
   --  transactions counts, even if the program handled the exception. Is_Lost is True if the
   --  attempt failed because a connection was lost; the result can then be True only if at least
   --  one connection was lost in a transaction that was not committed.

   procedure Note_Key_Taken (Repeatable : Boolean; May_Run : out Boolean);
   --  Records that the key was new, so no earlier attempt has committed the key and its work. Sets
   --  May_Run to False if the work is not Repeatable and an earlier attempt committed another
   --  transaction, which the work would repeat.

   --  A transaction of the current call. The object exists from the beginning to the end of the
   --  transaction.

   type Attempt_Scope (Connection : Connection_Id; Has_Key : Boolean) is
     tagged limited private;

   procedure Note_Uncommitted (Self : Attempt_Scope);
   --  Records that the transaction ended without a commit

   procedure Note_Committed (Self : Attempt_Scope; Is_Known : Boolean);
   --  Records that the transaction was committed or, if Is_Known is False, may have been committed

   procedure Check_Parts (Self : Attempt_Scope);
   --  If nested calls in the transaction have failed, raises the exception of the first such call
   --  again, since the database may have ended the transaction

   procedure Note_Part
     (Connection : Connection_Id; Error : Ada.Exceptions.Exception_Occurrence);
   --  Records that a nested call in the connection's transaction failed

private

   type Attempt_Scope (Connection : Connection_Id; Has_Key : Boolean) is
     new Ada.Finalization.Limited_Controlled with record
      Outer       : Scope_Access := null;
      Lost_Before : SQL.Integer_64 := 0;
      --  The value of SQL.Lost_Connections when the transaction began
      Lost_Inside : SQL.Integer_64 := 0;
      --  The value of the call's Lost_Inside when the transaction began
      Part_Failed : Boolean := False;
      Failure     : Ada.Exceptions.Exception_Occurrence;
   end record;

   overriding procedure Initialize (Self : in out Attempt_Scope);
   overriding procedure Finalize (Self : in out Attempt_Scope);

end Appserver.Retry.Calls;
