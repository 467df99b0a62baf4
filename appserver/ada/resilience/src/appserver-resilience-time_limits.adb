--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Finalization;
with Ada.Real_Time;

pragma Warnings (Off, "*internal GNAT unit*");
with System.Tasking;
pragma Warnings (On, "*internal GNAT unit*");

--  Run does not use "select delay Limit; ... then abort". If the abortable part of this statement
--  ends at about the same time as the delay, the statement can break GNAT's run-time library (GCC
--  12, s-taasde.adb): its task Timer_Server takes the Delay_Block from the queue, releases the lock
--  of the queue, locks the calling task, and then reads the task from the Delay_Block again. But
--  this block is on the stack of the caller. While Timer_Server waits for the lock, the caller can
--  leave the statement, and reuse or free this part of the stack. Timer_Server then reads an
--  invalid address, and Storage_Error ends it silently while it holds the lock. After that, no
--  delay of such a statement expires in the program, and tasks that need the lock hang.
--
--  So a protected entry is the trigger, and a task of this package opens it. A limit leaves the
--  list of this task before its scope ends.

package body Appserver.Resilience.Time_Limits is

   use Ada.Real_Time;

   Interval : constant Time_Span := Milliseconds (50);
   --  The watcher task checks at this interval while there is a limit, so that it can end with the
   --  program

   protected type Expiry is
      entry Wait;
      --  Waits until the end of the time limit
      procedure Reach;
   private
      Is_Reached : Boolean := False;
   end Expiry;

   protected body Expiry is

      entry Wait when Is_Reached is
      begin
         null;
      end Wait;

      procedure Reach is
      begin
         Is_Reached := True;
      end Reach;

   end Expiry;

   type Time_Limit;
   type Limit_Access is access all Time_Limit;

   type Time_Limit is new Ada.Finalization.Limited_Controlled with record
      Deadline       : Time;
      At_End         : Expiry;
      Is_Listed      : Boolean := False;
      Previous, Next : Limit_Access;
   end record;

   overriding procedure Finalize (Self : in out Time_Limit);

   protected Limits is

      procedure Add (Limit : not null Limit_Access; Is_Early : out Boolean);
      --  Sets Is_Early to True if the watcher task would sleep beyond the deadline

      procedure Remove (Limit : not null Limit_Access);
      --  Has no effect if the limit is not listed

      procedure Expire (Any_Left : out Boolean; Look_At : out Time);
      --  Ends the limits whose deadlines have passed. If any limits remain, sets Look_At to the
      --  time of the next check.
   private
      First   : Limit_Access := null;
      Planned : Time := Time_Last;
   end Limits;

   protected body Limits is

      procedure Add (Limit : not null Limit_Access; Is_Early : out Boolean) is
      begin
         Limit.Next := First;
         if First /= null then
            First.Previous := Limit;
         end if;
         First           := Limit;
         Limit.Is_Listed := True;
         Is_Early        := Limit.Deadline < Planned;
      end Add;

      procedure Remove (Limit : not null Limit_Access) is
      begin
         if not Limit.Is_Listed then
            return;
         end if;
         if Limit.Previous = null then
            First := Limit.Next;
         else
            Limit.Previous.Next := Limit.Next;
         end if;
         if Limit.Next /= null then
            Limit.Next.Previous := Limit.Previous;
         end if;
         Limit.Is_Listed := False;
      end Remove;

      procedure Expire (Any_Left : out Boolean; Look_At : out Time) is
         Now   : constant Time := Clock;
         Limit : Limit_Access := First;
         Next  : Limit_Access;
      begin
         Look_At := Now + Interval;
         while Limit /= null loop
            Next := Limit.Next;
            if Limit.Deadline <= Now then
               Remove (Limit);
               Limit.At_End.Reach;
            elsif Limit.Deadline < Look_At then
               Look_At := Limit.Deadline;
            end if;
            Limit := Next;
         end loop;
         Any_Left := First /= null;
         Planned  := (if Any_Left then Look_At else Time_Last);
      end Expire;

   end Limits;

   task Watcher is
      entry Look;
   end Watcher;

   task body Watcher is
      Any_Left : Boolean;
      Look_At  : Time;
   begin
      loop
         Limits.Expire (Any_Left, Look_At);
         if Any_Left then
            select
               accept Look;
            or
               delay until Look_At;
            end select;
         else
            select
               accept Look;
            or
               terminate;
            end select;
         end if;
      end loop;
   end Watcher;

   procedure Start (Self : not null Limit_Access) is
      Is_Early : Boolean;
   begin
      Limits.Add (Self, Is_Early);
      if Is_Early then
         Watcher.Look;
      end if;
   exception
      when Tasking_Error =>
         null;  --  the program is exiting: the operation runs without a limit
   end Start;

   overriding procedure Finalize (Self : in out Time_Limit) is
   begin
      Limits.Remove (Self'Unchecked_Access);
   end Finalize;

   --  Returns True in an abort-deferred operation, such as Finalize. There, GNAT runs the abortable
   --  part only after the trigger.

   function Is_Abort_Deferred return Boolean is (System.Tasking.Self.Deferral_Level > 0);

   procedure Run (Limit : Pause; Operation : not null access procedure) is
      Message : constant String := "the operation did not end within" & Limit'Image & " s";
      Own     : aliased Time_Limit;
   begin
      Own.Deadline := Clock + To_Time_Span (Limit);
      if Limit = 0.0 then
         raise Time_Limit_Error with Message;
      elsif Is_Abort_Deferred then
         Operation.all;
         if Clock >= Own.Deadline then
            raise Time_Limit_Error with Message;
         end if;
      else
         Start (Own'Unchecked_Access);
         select
            Own.At_End.Wait;
            raise Time_Limit_Error with Message;
         then abort
            Operation.all;
         end select;
      end if;
   end Run;

end Appserver.Resilience.Time_Limits;
