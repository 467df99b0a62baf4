--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Exceptions;
with Ada.Unchecked_Deallocation;
with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Pools is

   use Ada.Real_Time;

   --  These operations are sequentially consistent. So a task that pushes a slot and then sees no
   --  Attention, and a task that increments Attention and then sees no slot, cannot miss each
   --  other.

   package Arithmetic is new System.Atomic_Operations.Modular_Arithmetic (Atomic_Count);
   package Exchange is new System.Atomic_Operations.Exchange (Stack_Word);

   use Arithmetic;
   use Exchange;

   -----------
   -- Slots --
   -----------

   Number_Unit : constant Stack_Word := 2 ** 16;

   function First_Of (Stack : Stack_Word) return Slot_Count is (Slot_Count (Stack mod Number_Unit));

   function With_First (Stack : Stack_Word; Slot : Slot_Count) return Stack_Word is
     ((Stack / Number_Unit + 1) * Number_Unit + Stack_Word (Slot));

   procedure Push (Self : in out Pool; Slot : Pool_Capacity) is
      Observed : aliased Stack_Word := Self.Idle.Word;
   begin
      loop
         Self.Slots (Slot).Next := First_Of (Observed);
         exit when Atomic_Compare_And_Exchange
           (Self.Idle.Word, Observed, With_First (Observed, Slot));
      end loop;
   end Push;

   procedure Pop (Self : in out Pool; Slot : out Slot_Count) is
      Observed : aliased Stack_Word := Self.Idle.Word;
   begin
      loop
         Slot := First_Of (Observed);
         exit when Slot = No_Slot
           or else Atomic_Compare_And_Exchange
             (Self.Idle.Word, Observed, With_First (Observed, Self.Slots (Slot).Next));
      end loop;
   end Pop;

   procedure Give (Slot : Pool_Capacity; To : in out Lease) is
      Granted : Pools.Slot renames To.Pool.Slots (Slot);
   begin
      To.Slot := Slot;
      To.Stage := Given;
      Granted.Is_Leased := True;
      Granted.Leases := Granted.Leases + 1;
   end Give;

   procedure Open_Item (Slot : in out Pools.Slot) is
   begin
      pragma Abort_Defer;
      Open (Slot.Item);
      Slot.Is_Open := True;
   end Open_Item;

   procedure Close_Item (Slot : in out Pools.Slot) is
   begin
      pragma Abort_Defer;
      if Slot.Is_Open then
         Slot.Is_Open := False;
         Close (Slot.Item);
      end if;
   exception
      when others =>
         null;  --  Close must not raise exceptions; the slot can be reopened
   end Close_Item;

   -------------
   -- Waiting --
   -------------

   protected body Wake_Up is

      entry Wait when Is_Signaled is
      begin
         null;
      end Wait;

      procedure Signal is
      begin
         Is_Signaled := True;
      end Signal;

   end Wake_Up;

   overriding procedure Initialize (Self : in out Waiter) is
   begin
      Atomic_Add (Self.Lease.Pool.Attention, 1);
   end Initialize;

   overriding procedure Finalize (Self : in out Waiter) is
   begin
      Self.Lease.Pool.Control.Leave (Self'Unchecked_Access);
      Atomic_Subtract (Self.Lease.Pool.Attention, 1);
   end Finalize;

   protected body Control is

      procedure Set_Up is
      begin
         Current_Size := Pool.Capacity;
         for Slot in reverse Pool.Slots'Range loop
            Push (Pool.all, Slot);
         end loop;
      end Set_Up;

      procedure End_Wait (Caller : not null Waiter_Access; Outcome : Wait_Outcome) is
         Waited : constant Duration := To_Duration (Clock - Caller.Since);
      begin
         Caller.Outcome := Outcome;
         Waiting := Waiting - 1;
         Waiting_Time := Waiting_Time + Waited;
         Max_Wait := Duration'Max (Max_Wait, Waited);
      end End_Wait;

      procedure Serve_First (Outcome : Wait_Outcome; Slot : Slot_Count := No_Slot) is
         Caller : constant not null Waiter_Access := Waiter_Access (First);
      begin
         First := Caller.Next;
         if First = null then
            Last := null;
         end if;
         if Slot /= No_Slot then
            Give (Slot, To => Caller.Lease.all);
         end if;
         End_Wait (Caller, Outcome);
         Caller.Wake.Signal;
      end Serve_First;

      procedure Serve is
         Slot : Slot_Count;
      begin
         while First /= null loop
            Pop (Pool.all, Slot);
            exit when Slot = No_Slot;
            Serve_First (Served, Slot);
         end loop;
      end Serve;

      procedure Join (Caller : not null Waiter_Access) is
      begin
         if Is_Shut then
            Caller.Outcome := Closed;
         else
            Waits := Waits + 1;
            Waiting := Waiting + 1;
            Caller.Since := Clock;
            Caller.Has_Joined := True;
            if Last = null then
               First := Caller;
            else
               Last.Next := Caller;
            end if;
            Last := Caller;
            Serve;
         end if;
      end Join;

      procedure Leave (Caller : not null Waiter_Access) is

         procedure Unlink is
            Before : access Waiter := null;
         begin
            if Waiter_Access (First) = Caller then
               First := Caller.Next;
            else
               Before := First;
               while Waiter_Access (Before.Next) /= Caller loop
                  Before := Before.Next;
               end loop;
               Before.Next := Caller.Next;
            end if;
            if Waiter_Access (Last) = Caller then
               Last := Before;
            end if;
         end Unlink;

      begin
         if Caller.Has_Joined and then Caller.Outcome = Queued then
            Unlink;
            Timeouts := Timeouts + 1;
            End_Wait (Caller, Queued);
         end if;
         Caller.Has_Joined := False;
      end Leave;

      procedure Grow (By : Natural) is
         Slot : Slot_Count;
      begin
         for Turn in 1 .. By loop
            Slot := Retired;
            if Slot = No_Slot then
               Missing := Missing + 1;
            else
               Retired := Pool.Slots (Slot).Next;
               Push (Pool.all, Slot);
            end if;
         end loop;
      end Grow;

      procedure Resize (To : Natural) is
         Retained : constant Natural := Natural'Min (Excess, Natural'Max (To - Current_Size, 0));
      begin
         if Is_Shut then
            return;
         end if;
         Excess := Excess - Retained;
         Atomic_Subtract (Pool.Attention, Atomic_Count (Retained));
         if To >= Current_Size then
            Grow (To - Current_Size - Retained);
         else
            Excess := Excess + Current_Size - To;
            Atomic_Add (Pool.Attention, Atomic_Count (Current_Size - To));
         end if;
         Current_Size := To;
      end Resize;

      procedure Close is
      begin
         if not Is_Shut then
            Resize (0);
            Is_Shut := True;
            Atomic_Add (Pool.Attention, 1);
            while First /= null loop
               Serve_First (Closed);
            end loop;
         end if;
      end Close;

      procedure Next_To_Retire (Slot : out Slot_Count) is
      begin
         Slot := No_Slot;
         if Excess > 0 then
            Pop (Pool.all, Slot);
            if Slot /= No_Slot then
               Excess := Excess - 1;
               Atomic_Subtract (Pool.Attention, 1);
            end if;
         end if;
      end Next_To_Retire;

      procedure Retire (Slot : Pool_Capacity) is
      begin
         if Missing > 0 then
            Missing := Missing - 1;
            Push (Pool.all, Slot);
         else
            Pool.Slots (Slot).Next := Retired;
            Retired := Slot;
         end if;
      end Retire;

      procedure Begin_Opening is
      begin
         Openings := Openings + 1;
      end Begin_Opening;

      procedure End_Opening is
      begin
         Openings := Openings - 1;
      end End_Opening;

      procedure Count_Timeout is
      begin
         Timeouts := Timeouts + 1;
      end Count_Timeout;

      entry Await_Openings when Openings = 0 is
      begin
         null;
      end Await_Openings;

      procedure Put_Statistics (Into : in out Pool_Statistics) is
      begin
         Into.Size := Current_Size;
         Into.Waiting := Waiting;
         Into.Waits := Waits;
         Into.Timeouts := Timeouts;
         Into.Waiting_Time := Waiting_Time;
         Into.Max_Wait := Max_Wait;
      end Put_Statistics;

      function Size return Natural is (Current_Size);
      function Is_Closed return Boolean is (Is_Shut);

   end Control;

   ----------
   -- Pool --
   ----------

   overriding procedure Initialize (Self : in out Pool) is
   begin
      Self.Control.Set_Up;
   end Initialize;

   overriding procedure Finalize (Self : in out Pool) is
   begin
      Self.Close;
      Self.Control.Await_Openings;
   end Finalize;

   --  Retires excess slots, and serves waiting tasks

   procedure Finish_Changes (Self : in out Pool) is
      Slot : Slot_Count;
   begin
      pragma Abort_Defer;
      loop
         Self.Control.Next_To_Retire (Slot);
         exit when Slot = No_Slot;
         Close_Item (Self.Slots (Slot));
         Self.Control.Retire (Slot);
      end loop;
      Self.Control.Serve;
   end Finish_Changes;

   function Size (Self : Pool) return Natural is (Self.Control.Size);

   procedure Resize (Self : in out Pool; To : Natural) is
   begin
      Self.Control.Resize (To);
      Finish_Changes (Self);
   end Resize;

   procedure Close (Self : in out Pool) is
   begin
      Self.Control.Close;
      Finish_Changes (Self);
   end Close;

   function Is_Closed (Self : Pool) return Boolean is (Self.Control.Is_Closed);

   function Statistics (Self : in out Pool) return Pool_Statistics is
      Result : Pool_Statistics;
   begin
      Result.In_Use := 0;
      Result.Open := 0;
      Result.Leases := 0;
      Self.Control.Put_Statistics (Result);
      for Slot of Self.Slots loop
         Result.In_Use := Result.In_Use + Boolean'Pos (Slot.Is_Leased);
         Result.Open := Result.Open + Boolean'Pos (Slot.Is_Open);
         Result.Leases := Result.Leases + Slot.Leases;
      end loop;
      return Result;
   end Statistics;

   procedure Put_Back (Self : in out Pool; Slot : Pool_Capacity) is
   begin
      Self.Slots (Slot).Is_Leased := False;
      Push (Self, Slot);
      if Self.Attention /= 0 then
         Finish_Changes (Self);
      end if;
   end Put_Back;

   -------------
   -- Opening --
   -------------

   --  A resource that another task opens, because the leasing task must not wait beyond its
   --  timeout. In the meantime the slot belongs to the Opening. The last task that leaves the
   --  Opening frees it.

   protected type Progress is
      procedure Finish;
      procedure Fail (Error : Ada.Exceptions.Exception_Occurrence);
      entry Wait;
      procedure Raise_Failure;
      --  Raises the exception of Open if it failed

      procedure Leave (Is_Last : out Boolean);
   private
      Is_Finished : Boolean := False;
      Is_Left     : Boolean := False;
      Failure     : Ada.Exceptions.Exception_Occurrence;
   end Progress;

   protected body Progress is

      procedure Finish is
      begin
         Is_Finished := True;
      end Finish;

      procedure Fail (Error : Ada.Exceptions.Exception_Occurrence) is
      begin
         Ada.Exceptions.Save_Occurrence (Failure, Error);
         Is_Finished := True;
      end Fail;

      entry Wait when Is_Finished is
      begin
         null;
      end Wait;

      procedure Raise_Failure is
      begin
         Ada.Exceptions.Reraise_Occurrence (Failure);
      end Raise_Failure;

      procedure Leave (Is_Last : out Boolean) is
      begin
         Is_Last := Is_Left;
         Is_Left := True;
      end Leave;

   end Progress;

   type Opening is limited record
      Pool     : Pool_Access;
      Slot     : Slot_Count := No_Slot;
      Progress : Pools.Progress;
   end record;

   type Opening_Access is access Opening;

   procedure Free is new Ada.Unchecked_Deallocation (Opening, Opening_Access);

   --  If no task waits any longer, the slot can serve another lease

   procedure Leave (Self : in out Opening_Access) is
      Is_Last : Boolean;
   begin
      Self.Progress.Leave (Is_Last);
      if Is_Last then
         if Self.Slot /= No_Slot then
            Put_Back (Self.Pool.all, Self.Slot);
         end if;
         Self.Pool.Control.End_Opening;
         Free (Self);
      end if;
      Self := null;
   end Leave;

   type Opener;
   type Opener_Access is access all Opener;

   task type Opening_Task (Self : not null access Opener) is
      entry Start (Work : not null Opening_Access);
   end Opening_Task;

   type Opener is limited record
      Next : Opener_Access := null;
      Runs : Opening_Task (Opener'Access);
   end record;

   --  The idle opener tasks. Their number never exceeds the maximum number of concurrent openings.

   protected Openers is
      procedure Take (First : out Opener_Access);
      procedure Put (Idle : not null Opener_Access);
   private
      Stack : Opener_Access := null;
   end Openers;

   protected body Openers is

      procedure Take (First : out Opener_Access) is
      begin
         First := Stack;
         if First /= null then
            Stack := First.Next;
         end if;
      end Take;

      procedure Put (Idle : not null Opener_Access) is
      begin
         Idle.Next := Stack;
         Stack := Idle;
      end Put;

   end Openers;

   procedure Open_Again (Slot : in out Pools.Slot) is
   begin
      Close_Item (Slot);
      Open_Item (Slot);
   end Open_Again;

   task body Opening_Task is
      Current : Opening_Access;
   begin
      loop
         select
            accept Start (Work : not null Opening_Access) do
               Current := Work;
            end Start;
         or
            terminate;
         end select;
         begin
            Open_Again (Current.Pool.Slots (Current.Slot));
            Current.Progress.Finish;
         exception
            when Error : others =>
               Current.Progress.Fail (Error);
         end;
         Leave (Current);
         Openers.Put (Opener_Access (Self));
      end loop;
   end Opening_Task;

   type Opening_Wait is new Ada.Finalization.Limited_Controlled with record
      Opening : Opening_Access := null;
   end record;

   overriding procedure Finalize (Self : in out Opening_Wait);

   overriding procedure Finalize (Self : in out Opening_Wait) is
   begin
      if Self.Opening /= null then
         Leave (Self.Opening);
      end if;
   end Finalize;

   --  Transfers the lease's slot to an opening

   procedure Start (Self : in out Lease; Wait : in out Opening_Wait) is
      Worker : Opener_Access;
      Work   : Opening_Access;
   begin
      pragma Abort_Defer;
      Openers.Take (Worker);
      if Worker = null then
         Worker := new Opener;
      end if;
      Work := new Opening;
      Work.Pool := Self.Pool.all'Unchecked_Access;
      Work.Slot := Self.Slot;
      Self.Pool.Control.Begin_Opening;
      Self.Slot := No_Slot;
      Wait.Opening := Work;
      Worker.Runs.Start (Work);
   end Start;

   procedure Open_By (Self : in out Lease; Deadline : Time) is
      Wait : Opening_Wait;
   begin
      Start (Self, Wait);
      select
         Wait.Opening.Progress.Wait;
      or
         delay until Deadline;
         Self.Pool.Control.Count_Timeout;
         raise Pool_Timeout with "opening the resource timed out";
      end select;
      begin
         pragma Abort_Defer;
         Self.Slot := Wait.Opening.Slot;
         Wait.Opening.Slot := No_Slot;
      end;
      Wait.Opening.Progress.Raise_Failure;
   end Open_By;

   -----------
   -- Lease --
   -----------

   --  With GNAT on Linux, a task is aborted only in calls of the run-time library (s-taprop,
   --  Abort_Handler). There is no such call between Push or Pop and the assignment to Self.Slot, so
   --  no slot can be lost. Deferring aborts would take as long as all the rest.

   procedure Put_Back (Self : in out Lease) is
      Slot : constant Slot_Count := Self.Slot;
   begin
      if Slot /= No_Slot then
         Self.Slot := No_Slot;
         Put_Back (Self.Pool.all, Slot);
      end if;
   end Put_Back;

   procedure Check (Slot : in out Pools.Slot; Time_Left : in out Duration; Is_Valid : out Boolean)
   is
   begin
      Is_Valid := True;
      Validate (Slot.Item, Is_Valid);
      if Is_Valid then
         if Time_Left < Forever then
            Time_Left := Time_Left / 2;  --  reserves the other half for opening
         end if;
         Probe (Slot.Item, Time_Left, Is_Valid);
      end if;
   exception
      when others =>
         Is_Valid := False;
   end Check;

   procedure Prepare (Self : in out Lease; Timeout : Duration) is
      Slot      : Pools.Slot renames Self.Pool.Slots (Self.Slot);
      Time_Left : Duration := Timeout;
      Is_Valid  : Boolean := False;
   begin
      if Slot.Is_Open then
         Self.Stage := In_Hook;
         Check (Slot, Time_Left, Is_Valid);
      end if;
      if not Is_Valid then
         if Time_Left = Forever then
            Open_Again (Slot);
         else
            Open_By (Self, Clock + To_Time_Span (Time_Left));
         end if;
      end if;
      Self.Stage := Ready;
   exception
      when others =>
         Put_Back (Self);
         raise;
   end Prepare;

   procedure Wait_For_Slot (Self : in out Lease; Time_Left : in out Duration) is
      Place    : aliased Waiter (Self'Unchecked_Access);
      Deadline : Time;
   begin
      Self.Pool.Control.Join (Place'Unchecked_Access);
      if Place.Outcome = Queued then
         if Time_Left = Forever then
            Place.Wake.Wait;
         elsif Time_Left > 0.0 then
            Deadline := Clock + To_Time_Span (Time_Left);
            select
               Place.Wake.Wait;
            or
               delay until Deadline;
            end select;
            Time_Left := Duration'Max (0.0, To_Duration (Deadline - Clock));
         end if;
         Self.Pool.Control.Leave (Place'Unchecked_Access);
      end if;
      case Place.Outcome is
         when Served => null;
         when Queued => raise Pool_Timeout;
         when Closed => raise Pool_Closed;
      end case;
   end Wait_For_Slot;

   Max_Timeout : constant Duration := 100.0 * 365.0 * 86_400.0;

   --  Reads the clock only around calls that may take a while

   procedure Get (Self : in out Lease; Timeout : Duration := Forever) is
      Slot      : Slot_Count := No_Slot;
      Time_Left : Duration := (if Timeout < Max_Timeout then Timeout else Forever);
   begin
      if Self.Pool.Attention = 0 then
         Pop (Self.Pool.all, Slot);
      end if;
      if Slot = No_Slot then
         Wait_For_Slot (Self, Time_Left);
      else
         Give (Slot, To => Self);
      end if;
      Prepare (Self, (if Timeout > 0.0 then Time_Left else Forever));
   end Get;

   procedure Release (Self : in out Lease) is
      Slot : Pools.Slot renames Self.Pool.Slots (Self.Slot);
   begin
      Self.Stage := In_Hook;
      begin
         Reset (Slot.Item);
      exception
         when others =>
            Close_Item (Slot);
      end;
      Put_Back (Self);
   end Release;

   procedure Discard (Self : in out Lease) is
   begin
      Self.Stage := In_Hook;
      Close_Item (Self.Pool.Slots (Self.Slot));
      Put_Back (Self);
   end Discard;

   --  If the task was aborted in Get before Validate, the resource has not been used. If it was
   --  aborted in a hook or in Discard, the resource is closed or in an unknown state.

   overriding procedure Finalize (Self : in out Lease) is
   begin
      if Self.Slot /= No_Slot then
         case Self.Stage is
            when Given   => Put_Back (Self);
            when In_Hook => Self.Discard;
            when Ready   => Self.Release;
         end case;
      end if;
   end Finalize;

end Appserver.Pools;
