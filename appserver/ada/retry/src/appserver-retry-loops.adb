--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Finalization;
with Appserver.Resilience.Attempts;
with Appserver.Retry.Calls;

package body Appserver.Retry.Loops is

   use Ada.Exceptions;
   use Ada.Real_Time;
   use type Calls.Call_Access;

   package Sequences is new Resilience.Attempts (Fault, Clock, Wait, Random);

   --  The current call, from its beginning until it ends, even by an abort

   type Retried_Call
     (By       : not null access constant Policy;
      Budget   : access Resilience.Budget;
      Listener : access Resilience.Retry_Listener'Class) is
     new Ada.Finalization.Limited_Controlled with record
      State      : aliased Calls.Call;
      Has_Key    : Boolean := False;
      Attempts   : Sequences.Attempt_Sequence (Budget, Listener);
      Lost_Until : Time;
   end record;

   overriding procedure Initialize (Self : in out Retried_Call);
   overriding procedure Finalize (Self : in out Retried_Call);

   overriding procedure Initialize (Self : in out Retried_Call) is
   begin
      Self.Attempts.Start (Self.By.Deadline, Self.By.Timeout);
      Self.Lost_Until := Self.Attempts.Start_Time;
      if Self.By.Metrics /= null then
         Self.By.Metrics.Calls.Increment;
      end if;
      if Self.By.Timeout /= No_Timeout then
         Self.State.Deadline := Self.Attempts.Start_Time + To_Time_Span (Self.By.Timeout);
      end if;
      Calls.Set_Current (Self.State'Unchecked_Access);
      Calls.Begin_Attempt (Self.State);
   end Initialize;

   overriding procedure Finalize (Self : in out Retried_Call) is
      pragma Unreferenced (Self);
   begin
      Calls.Set_Current (null);
   end Finalize;

   use type SQL.Error_Kind;

   function Fault_In (Self : Retried_Call; Error : Exception_Occurrence) return Fault is
      Found   : constant Fault   := Fault_Of (Error);
      Is_Lost : constant Boolean :=
        Found = Connection_Lost and then SQL.Error_Of (Error).Kind /= SQL.Unable_To_Connect;
   begin
      return
        (if Found in Transient_Error
           and then (Self.State.Is_Spread
                     or else not Calls.Is_Surely_Uncommitted (Self.State, Is_Lost))
         then Outcome_Unknown
         else Found);
   end Fault_In;

   --  If the outcome is unknown, only another attempt can determine the outcome

   function Max_Attempts (Self : Retried_Call) return Long_Long_Integer is
     (Long_Long_Integer (Self.By.Attempts)
      * (if Self.Has_Key and then Self.State.Is_Unknown then 2 else 1));

   function Is_Allowed (Self : Retried_Call; After : Fault) return Boolean is
     (After in Transient_Error
      and then Self.By.Retried (After)
      and then not Self.State.Is_Over
      and then (After /= Outcome_Unknown or else Self.Has_Key or else Self.By.Repeatable)
      and then Long_Long_Integer (Self.Attempts.Number) < Max_Attempts (Self));

   procedure Count
     (Self : in out Retried_Call; Failed_By : Fault; Is_Retried : Boolean)
   is
      Now       : constant Time := Clock;
      Lost_Time : constant Duration := To_Duration (Now - Self.Lost_Until);
   begin
      Self.Lost_Until := Now;
      if Self.By.Metrics = null then
         return;
      end if;
      Self.By.Metrics.Faults (Failed_By).Increment;
      Self.By.Metrics.Time_In_Failed_Attempts.Add (Counters.Integer_64'Integer_Value (Lost_Time));
      if Is_Retried then
         Self.By.Metrics.Retries.Increment;
      elsif Failed_By /= Permanent or else Self.State.Is_Unknown then
         Self.By.Metrics.Given_Up.Increment;
      end if;
   end Count;

   --  Decides after a failure whether to retry, and if so, pauses first

   procedure Decide
     (Self    : in out Retried_Call;
      Error   : Exception_Occurrence;
      Stop    : access Cancellation;
      Goes_On : out Boolean)
   is
      Found : constant Fault := Fault_In (Self, Error);
   begin
      Self.State.Is_Unknown :=
        Found = Outcome_Unknown or else (Self.Has_Key and then Self.State.Is_Unknown);
      Self.Attempts.Next
        (Error,
         Kind      => Found,
         May_Retry => Is_Allowed (Self, Found),
         Bounds    => (if Found in Transient_Error then Self.By.Backoffs (Found) else (0.0, 0.0)),
         Stop      => Stop,
         Goes_On   => Goes_On);
      Count (Self, Found, Goes_On);
      if Goes_On then
         Calls.Begin_Attempt (Self.State);
      end if;
   end Decide;

   --  Raises the final exception. The exception of the latest attempt could look as if nothing had
   --  been committed.

   procedure Give_Up (Self : Retried_Call; Error : Exception_Occurrence) with No_Return;
   procedure Give_Up (Self : Retried_Call; Error : Exception_Occurrence) is
   begin
      if Self.State.Is_Unknown
        and then Exception_Identity (Error) /= Outcome_Unknown_Error'Identity
      then
         raise Outcome_Unknown_Error with SQL.Message_Of (Error);
      end if;
      Reraise_Occurrence (Error);
   end Give_Up;

   procedure Make
     (By        : Policy;
      Has_Key   : Boolean;
      Operation : not null access procedure;
      Stop      : access Cancellation)
   is
      Call    : Retried_Call (By'Access, By.Budget, By.Listener);
      Goes_On : Boolean;
   begin
      Call.Has_Key := Has_Key;
      loop
         begin
            if By.Breaker = null then
               Operation.all;
            else
               By.Breaker.Run (Operation);
            end if;
            exit;
         exception
            when Error : others =>
               Decide (Call, Error, Stop, Goes_On);
               if not Goes_On then
                  Give_Up (Call, Error);
               end if;
         end;
      end loop;
      Call.Attempts.Succeed;
   end Make;

   procedure Run
     (By        : Policy;
      Has_Key   : Boolean;
      Operation : not null access procedure;
      Stop      : access Cancellation := null) is
   begin
      if Calls.Current /= null then
         Operation.all;
      else
         Make (By, Has_Key, Operation, Stop);
      end if;
   end Run;

end Appserver.Retry.Loops;
