--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Exceptions;
with Ada.Task_Identification;
with Ada.Text_IO;
with Ada.Unchecked_Deallocation;
with GNAT.Traceback.Symbolic;
with System.Atomic_Operations.Exchange;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.Pools is

   use Ada.Real_Time;

   --  These operations are sequentially consistent. One task pushes a slot and then reads
   --  Attention; another task increments Attention and then looks for a slot. So at least one of
   --  the two tasks sees the change of the other one.

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

   Max_Time : constant Duration := 100.0 * 365.0 * 86_400.0;

   --  Returns Start + Time, but not more than 100 years

   function After (Start : Time; Time_Left : Duration) return Time is
     (Start + To_Time_Span (Duration'Min (Time_Left, Max_Time)));

   procedure Open_Item (Self : in out Pool; Slot : Pool_Capacity) is
      Opened   : Pools.Slot renames Self.Slots (Slot);
      Start    : constant Time := Clock;
      Fraction : Float;
   begin
      pragma Abort_Defer;
      Opened.Generation := Self.Generation;
      Open (Opened.Item);
      if Self.Options.Max_Lifetime < Forever then
         Self.Control.Draw (Fraction);
         Opened.Expires :=
           After (Clock, Self.Options.Max_Lifetime * Duration (1.0 - Fraction / 4.0));
      end if;
      Opened.Is_Open := True;
      Self.Control.Count_Opening (To_Duration (Clock - Start));
   exception
      when others =>
         Self.Control.Count_Open_Failure;
         raise;
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

   --  Closes a resource for one of the causes in the statistics

   procedure Close_Item (Self : in out Pool; Slot : Pool_Capacity; Cause : Closing_Cause) is
   begin
      pragma Abort_Defer;
      if Self.Slots (Slot).Is_Open then
         Close_Item (Self.Slots (Slot));
         Self.Control.Count_Closing (Cause);
      end if;
   end Close_Item;

   function Is_Expired (Self : Pool; Slot : Pool_Capacity; Now : Time) return Boolean is
     (Self.Options.Max_Lifetime < Forever and then Now >= Self.Slots (Slot).Expires);

   function Is_Evicted (Self : Pool; Slot : Pool_Capacity) return Boolean is
     (Self.Slots (Slot).Generation /= Self.Generation);

   --  Reads the clock only if there is a maximum lifetime

   function Is_Stale (Self : Pool; Slot : Pool_Capacity) return Boolean is
     (Is_Evicted (Self, Slot)
      or else (Self.Options.Max_Lifetime < Forever and then Is_Expired (Self, Slot, Clock)));

   procedure Close_Stale_Item (Self : in out Pool; Slot : Pool_Capacity) is
   begin
      Close_Item (Self, Slot, (if Is_Evicted (Self, Slot) then Evicted else Expired));
   end Close_Stale_Item;

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

      procedure Begin_Job is
      begin
         Jobs := Jobs + 1;
      end Begin_Job;

      procedure End_Job is
      begin
         Jobs := Jobs - 1;
      end End_Job;

      procedure Count_Timeout is
      begin
         Timeouts := Timeouts + 1;
      end Count_Timeout;

      entry Await_Jobs when Jobs = 0 is
      begin
         null;
      end Await_Jobs;

      entry Await_Close when Is_Shut is
      begin
         null;
      end Await_Close;

      --  Takes all idle slots. The first slot of the chain is the last one to be leased.

      procedure Pop_All (Chain : out Slot_Count; Open_Count : out Natural) is
         Slot : Slot_Count;
      begin
         Chain := No_Slot;
         Open_Count := 0;
         loop
            Pop (Pool.all, Slot);
            exit when Slot = No_Slot;
            Pool.Slots (Slot).Next := Chain;
            Chain := Slot;
            Open_Count := Open_Count + Boolean'Pos (Pool.Slots (Slot).Is_Open);
         end loop;
      end Pop_All;

      procedure Take_First (Chain : in out Slot_Count; Slot : out Pool_Capacity) is
      begin
         Slot := Chain;
         Chain := Pool.Slots (Slot).Next;
      end Take_First;

      --  Takes the first slot for which Is_Taken is True, and makes all other slots idle again

      procedure Take_One
        (Chain    : Slot_Count;
         Is_Taken : access function (Slot : Pool_Capacity) return Boolean;
         Taken    : out Slot_Count)
      is
         Left : Slot_Count := Chain;
         Slot : Pool_Capacity;
      begin
         Taken := No_Slot;
         while Left /= No_Slot loop
            Take_First (Left, Slot);
            if Taken = No_Slot and then Is_Taken (Slot) then
               Taken := Slot;
            else
               Push (Pool.all, Slot);
            end if;
         end loop;
      end Take_One;

      procedure Observe (Slot : in out Pools.Slot; Now : Time) is
      begin
         if Slot.Observed /= Slot.Leases then
            Slot.Observed := Slot.Leases;
            Slot.Idle_Since := Now;
            Slot.Checked := Now;
         end if;
      end Observe;

      procedure Sweep (Now : Time; Slot : out Slot_Count; Cause : out Closing_Cause) is
         Chain, Open_Count : Natural;

         function Is_Old (Slot : Pool_Capacity) return Boolean is
            Idle : Pools.Slot renames Pool.Slots (Slot);
         begin
            Observe (Idle, Now);
            if not Idle.Is_Open then
               return False;
            elsif Is_Expired (Pool.all, Slot, Now) then
               Cause := Expired;
            elsif Open_Count > Pool.Options.Min_Idle
              and then Now >= After (Idle.Idle_Since, Pool.Options.Idle_Timeout)
            then
               Cause := Timed_Out;
            else
               return False;
            end if;
            return True;
         end Is_Old;

      begin
         Cause := Expired;
         Pop_All (Chain, Open_Count);
         Take_One (Chain, Is_Old'Access, Slot);
      end Sweep;

      procedure Take_Unchecked (Now : Time; Slot : out Slot_Count) is
         Chain, Open_Count : Natural;

         function Is_Unchecked (Slot : Pool_Capacity) return Boolean is
           (Pool.Slots (Slot).Is_Open
            and then Pool.Slots (Slot).Observed = Pool.Slots (Slot).Leases
            and then Now >= After (Pool.Slots (Slot).Checked, Pool.Options.Keep_Alive));

      begin
         Pop_All (Chain, Open_Count);
         Take_One (Chain, Is_Unchecked'Access, Slot);
      end Take_Unchecked;

      procedure Take_Unopened (Now : Time; Slot : out Slot_Count) is
         Chain, Open_Count : Natural;

         function Is_Unopened (Slot : Pool_Capacity) return Boolean is
           (not Pool.Slots (Slot).Is_Open and then Open_Count < Pool.Options.Min_Idle);

      begin
         if Now < Next_Fill then
            Slot := No_Slot;
         else
            Pop_All (Chain, Open_Count);
            Take_One (Chain, Is_Unopened'Access, Slot);
         end if;
      end Take_Unopened;

      procedure Take_Evicted (Slot : out Slot_Count) is
         Chain, Open_Count : Natural;

         function Is_Old (Slot : Pool_Capacity) return Boolean is
           (Pool.Slots (Slot).Is_Open and then Is_Evicted (Pool.all, Slot));

      begin
         Pop_All (Chain, Open_Count);
         Take_One (Chain, Is_Old'Access, Slot);
      end Take_Evicted;

      procedure Restock (Slot : Pool_Capacity) is
         Chain, Open_Count : Natural;
         Next              : Pool_Capacity;
      begin
         Pop_All (Chain, Open_Count);
         Push (Pool.all, Slot);
         while Chain /= No_Slot loop
            Take_First (Chain, Next);
            Push (Pool.all, Next);
         end loop;
      end Restock;

      --  SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)

      procedure Draw (Fraction : out Float) is
         Mixed : Unsigned_64;
      begin
         if Random = 0 then
            --  In nanoseconds: a Duration of a million times the uptime would overflow after hours
            Random := Unsigned_64'Mod
              (Integer_64'Integer_Value (To_Duration (Clock - Time_Of (0, Time_Span_Zero))));
         end if;
         Random := Random + 16#9E37_79B9_7F4A_7C15#;
         Mixed := (Random xor Shift_Right (Random, 30)) * 16#BF58_476D_1CE4_E5B9#;
         Mixed := (Mixed xor Shift_Right (Mixed, 27)) * 16#94D0_49BB_1331_11EB#;
         Fraction := Float (Shift_Right (Mixed xor Shift_Right (Mixed, 31), 40)) / 2.0 ** 24;
      end Draw;

      procedure Count_Opening (Time : Duration) is
      begin
         Opened := Opened + 1;
         Opening_Time := Opening_Time + Time;
         Max_Opening := Duration'Max (Max_Opening, Time);
         Fill_Pause := 0.0;
      end Count_Opening;

      procedure Count_Open_Failure is
      begin
         Failures := Failures + 1;
         Fill_Pause := Duration'Min (10.0, Duration'Max (0.01, 2 * Fill_Pause));
         Next_Fill := Clock + To_Time_Span (Fill_Pause);
      end Count_Open_Failure;

      procedure Count_Closing (Cause : Closing_Cause) is
      begin
         Closings (Cause) := Closings (Cause) + 1;
      end Count_Closing;

      procedure Count_Check is
      begin
         Checks := Checks + 1;
      end Count_Check;

      procedure Note_Origins (List : Origin_List_Access) is
      begin
         Origins := List;
      end Note_Origins;

      procedure Note (Slot : Pool_Capacity; Origin : Lease_Origin) is
      begin
         Origins (Slot) := Origin;
      end Note;

      procedure Forget (Slot : Pool_Capacity) is
      begin
         Origins (Slot).Is_Noted := False;
      end Forget;

      procedure Next_Leak (Origin : out Lease_Origin) is
         Now : constant Time := Clock;
      begin
         for Each of Origins.all loop
            if Each.Is_Noted
              and then not Each.Is_Reported
              and then Now >= After (Each.Since, Pool.Options.Leak_Threshold)
            then
               Each.Is_Reported := True;
               Leaks := Leaks + 1;
               Origin := Each;
               return;
            end if;
         end loop;
         Origin.Is_Noted := False;
      end Next_Leak;

      procedure Take_Origins (List : out Origin_List_Access) is
      begin
         List := Origins;
         Origins := null;
      end Take_Origins;

      procedure Put_Statistics (Into : in out Pool_Statistics) is
      begin
         Into.Size := Current_Size;
         Into.Waiting := Waiting;
         Into.Waits := Waits;
         Into.Timeouts := Timeouts;
         Into.Waiting_Time := Waiting_Time;
         Into.Max_Wait := Max_Wait;
         Into.Opened := Opened;
         Into.Opening_Time := Opening_Time;
         Into.Max_Opening_Time := Max_Opening;
         Into.Open_Failures := Failures;
         Into.Broken := Closings (Broken);
         Into.Expired := Closings (Expired);
         Into.Timed_Out := Closings (Timed_Out);
         Into.Evicted := Closings (Evicted);
         Into.Keep_Alives := Checks;
         Into.Leaks := Leaks;
      end Put_Statistics;

      function Size return Natural is (Current_Size);
      function Is_Closed return Boolean is (Is_Shut);

   end Control;

   ----------
   -- Pool --
   ----------

   --  Starts a job. The finalization of the pool waits for its End_Job.

   procedure Start_Job (Self : in out Pool; Work : not null access Pool_Workers.Job'Class) is
   begin
      Self.Control.Begin_Job;
      Pool_Workers.Start (Work);
   exception
      when others =>
         Self.Control.End_Job;
         raise;
   end Start_Job;

   overriding procedure Initialize (Self : in out Pool) is
   begin
      Self.Control.Set_Up;
   end Initialize;

   procedure Free is new Ada.Unchecked_Deallocation (Origin_List, Origin_List_Access);

   overriding procedure Finalize (Self : in out Pool) is
      Origins : Origin_List_Access;
   begin
      Self.Close;
      Self.Control.Await_Jobs;
      Self.Control.Take_Origins (Origins);
      Free (Origins);
   end Finalize;

   --  Closes evicted resources, retires excess slots, and serves waiting tasks

   procedure Finish_Changes (Self : in out Pool) is
      Slot : Slot_Count;
   begin
      pragma Abort_Defer;
      while Self.Generation /= 0 loop
         Self.Control.Take_Evicted (Slot);
         exit when Slot = No_Slot;
         Close_Item (Self, Slot, Evicted);
         Self.Control.Restock (Slot);
      end loop;
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

   procedure Soft_Evict (Self : in out Pool) is
   begin
      Atomic_Add (Self.Generation, 1);
      Finish_Changes (Self);
   end Soft_Evict;

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
      Generation : constant Atomic_Count := Self.Slots (Slot).Generation;
   begin
      if Self.Options.Leak_Threshold < Forever then
         Self.Control.Forget (Slot);
      end if;
      Self.Slots (Slot).Is_Leased := False;
      Push (Self, Slot);
      if Self.Attention /= 0 or else Self.Generation /= Generation then
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

   type Opening is limited new Pool_Workers.Job with record
      Pool     : Pool_Access;
      Slot     : Slot_Count := No_Slot;
      Progress : Pools.Progress;
   end record;

   overriding procedure Run (Self : in out Opening);

   type Opening_Access is access all Opening;

   procedure Free is new Ada.Unchecked_Deallocation (Opening, Opening_Access);

   --  If no task waits any longer, the slot can serve another lease

   procedure Leave (Self : in out Opening_Access) is
      Pool    : constant Pool_Access := Self.Pool;
      Is_Last : Boolean;
   begin
      Self.Progress.Leave (Is_Last);
      if Is_Last then
         if Self.Slot /= No_Slot then
            Put_Back (Pool.all, Self.Slot);
         end if;
         Free (Self);
         Pool.Control.End_Job;
      end if;
      Self := null;
   end Leave;

   procedure Open_Again (Self : in out Pool; Slot : Pool_Capacity) is
   begin
      Close_Item (Self.Slots (Slot));
      Open_Item (Self, Slot);
   end Open_Again;

   overriding procedure Run (Self : in out Opening) is
      Current : Opening_Access := Self'Unchecked_Access;
   begin
      begin
         Open_Again (Self.Pool.all, Self.Slot);
         Self.Progress.Finish;
      exception
         when Error : others =>
            Self.Progress.Fail (Error);
      end;
      Leave (Current);
   end Run;

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

   --  Transfers the lease's slot to an opening. If the opening cannot start, the lease keeps it.

   procedure Start (Self : in out Lease; Wait : in out Opening_Wait) is
      Work : Opening_Access;
   begin
      pragma Abort_Defer;
      Work := new Opening;
      Work.Pool := Self.Pool.all'Unchecked_Access;
      Work.Slot := Self.Slot;
      begin
         Start_Job (Self.Pool.all, Work);
      exception
         when others =>
            Free (Work);
            raise;
      end;
      Wait.Opening := Work;
      Self.Slot := No_Slot;
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
         raise Pool_Timeout with "Open did not return within the timeout of Get";
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

   --  With GNAT on Linux, a task is aborted only in calls to the run-time library (s-taprop,
   --  Abort_Handler). There is no such call between Push or Pop and the assignment to Self.Slot, so
   --  no slot can be lost. Deferring aborts would take as long as all the rest.

   procedure Put_Back (Self : in out Lease) is
      Slot : constant Slot_Count := Self.Slot;

      --  Control.Forget is a call to the run-time library, in which the task could be aborted
      --  before the slot is idle again

      procedure Put_Back_Noted is
      begin
         pragma Abort_Defer;
         Self.Slot := No_Slot;
         Put_Back (Self.Pool.all, Slot);
      end Put_Back_Noted;

   begin
      if Slot = No_Slot then
         return;
      end if;
      if Self.Pool.Options.Leak_Threshold < Forever then
         Put_Back_Noted;
      else
         Self.Slot := No_Slot;
         Put_Back (Self.Pool.all, Slot);
      end if;
   end Put_Back;

   --  Records the task and the traceback of a lease. The first frames of the traceback belong to
   --  this package, and the frames of the caller follow.

   procedure Note_Origin (Self : in out Pool; Slot : Pool_Capacity) is
      Name   : constant String :=
        Ada.Task_Identification.Image (Ada.Task_Identification.Current_Task);
      Origin : Lease_Origin;
   begin
      Origin.Is_Noted := True;
      Origin.Since := Clock;
      Origin.Name_Length := Natural'Min (Name'Length, Max_Name);
      Origin.Holder (1 .. Origin.Name_Length) :=
        Name (Name'First .. Name'First + Origin.Name_Length - 1);
      GNAT.Traceback.Call_Chain (Origin.Frames, Origin.Frame_Count);
      Self.Control.Note (Slot, Origin);
   end Note_Origin;

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
         if Is_Stale (Self.Pool.all, Self.Slot) then
            Self.Pool.Control.Count_Closing
              (if Is_Evicted (Self.Pool.all, Self.Slot) then Evicted else Expired);
         else
            Check (Slot, Time_Left, Is_Valid);
            if not Is_Valid then
               Self.Pool.Control.Count_Closing (Broken);
            end if;
         end if;
      end if;
      if not Is_Valid then
         if Time_Left = Forever then
            Open_Again (Self.Pool.all, Self.Slot);
         else
            Open_By (Self, Clock + To_Time_Span (Time_Left));
         end if;
      end if;
      Self.Stage := Ready;
      if Self.Pool.Options.Leak_Threshold < Forever then
         Note_Origin (Self.Pool.all, Self.Slot);
      end if;
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
            Deadline := After (Clock, Time_Left);
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
         when Queued =>
            raise Pool_Timeout with
              "no resource became available within the timeout; the size of the pool is"
              & Self.Pool.Size'Image;
         when Closed => raise Pool_Closed with "the pool is closed";
      end case;
   end Wait_For_Slot;

   --  Reads the clock only around calls that may take a while

   procedure Get (Self : in out Lease; Timeout : Duration := Forever) is
      Slot      : Slot_Count := No_Slot;
      Time_Left : Duration := (if Timeout < Max_Time then Timeout else Forever);
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
         if Is_Stale (Self.Pool.all, Self.Slot) then
            Close_Stale_Item (Self.Pool.all, Self.Slot);
         end if;
      exception
         when others =>
            Close_Item (Self.Pool.all, Self.Slot, Broken);
      end;
      Put_Back (Self);
   end Release;

   procedure Discard (Self : in out Lease) is
   begin
      Self.Stage := In_Hook;
      Close_Item (Self.Pool.all, Self.Slot, Broken);
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

   -----------------
   -- Maintenance --
   -----------------

   procedure Start (Self : in out Pool; Timeout : Duration) is
      Deadline : constant Time := After (Clock, Timeout);
      Pause    : Duration := 0.01;
      Held     : Lease (Self'Unchecked_Access);
   begin
      loop
         begin
            Held.Get
              (if Timeout > 0.0
               then Duration'Max (Duration'Small, To_Duration (Deadline - Clock)) else 0.0);
            Held.Release;
            exit;
         exception
            when Pool_Timeout | Pool_Closed => raise;
            when others =>
               if Clock + To_Time_Span (Pause) >= Deadline then
                  raise;
               end if;
         end;
         delay Pause;
         Pause := Duration'Min (2 * Pause, 10.0);
      end loop;
   end Start;

   procedure Configure (Self : in out Pool; Options : Pool_Options) is

      procedure Require (Condition : Boolean; Message : String) is
      begin
         if not Condition then
            raise Misuse_Error with Message;
         end if;
      end Require;

   begin
      Require
        (not Self.Is_Configured and then (for all Slot of Self.Slots => Slot.Leases = 0),
         "Configure must be called only once, before the first Get");
      Require
        (Duration'Min
           (Duration'Min (Options.Idle_Timeout, Options.Max_Lifetime),
            Duration'Min (Options.Keep_Alive, Options.Leak_Threshold)) >= 0.0,
         "a time in Pool_Options is negative");
      Require
        (Options.Keep_Alive = Forever or else Options.Keep_Alive < Options.Max_Lifetime,
         "Keep_Alive must be less than Max_Lifetime");
      Self.Options := Options;
      Self.Is_Configured := True;
      if Options.Leak_Threshold < Forever then
         Self.Control.Note_Origins (new Origin_List (1 .. Self.Capacity));
         Start_Job (Self, Self.Leak_Watch'Unchecked_Access);
      end if;
      if Options.Min_Idle > 0
        or else Duration'Min
                  (Options.Idle_Timeout, Duration'Min (Options.Max_Lifetime, Options.Keep_Alive))
                < Forever
      then
         Start_Job (Self, Self.Upkeep'Unchecked_Access);
      end if;
   end Configure;

   --  Calls Visit periodically until the pool is closed or the program ends. The period is 1/16 of
   --  Shortest, but at least 2 ms and at most 100 ms.

   procedure Repeat
     (Self : in out Pool; Shortest : Duration; Visit : not null access procedure)
   is
      Period   : constant Duration := Duration'Max (0.002, Duration'Min (0.1, Shortest / 16));
      Is_Ended : Boolean := False;
   begin
      while not Is_Ended loop
         Visit.all;
         select
            Self.Control.Await_Close;
            Is_Ended := True;
         or
            delay Period;
            Is_Ended := Pool_Workers.Is_Program_Ending;
         end select;
      end loop;
   end Repeat;

   procedure Keep_Alive (Self : in out Pool; Slot : Pool_Capacity) is
      Time_Left : Duration := Forever;
      Is_Valid  : Boolean := False;
   begin
      if not Is_Stale (Self, Slot) then
         Self.Control.Count_Check;
         Check (Self.Slots (Slot), Time_Left, Is_Valid);
         if not Is_Valid then
            Close_Item (Self, Slot, Broken);
         end if;
      else
         Close_Stale_Item (Self, Slot);
      end if;
      Self.Slots (Slot).Checked := Clock;
   end Keep_Alive;

   --  Makes a slot idle that the upkeep has taken

   procedure Restock (Self : in out Pool; Slot : Pool_Capacity) is
   begin
      Self.Control.Restock (Slot);
      Finish_Changes (Self);
   end Restock;

   overriding procedure Run (Self : in out Upkeep) is
      Pool    : Pools.Pool renames Self.Pool.all;
      Options : Pool_Options renames Pool.Options;

      procedure Visit is
         Slot  : Slot_Count;
         Cause : Closing_Cause;
      begin
         loop
            Pool.Control.Sweep (Clock, Slot, Cause);
            exit when Slot = No_Slot;
            Close_Item (Pool, Slot, Cause);
            Restock (Pool, Slot);
         end loop;
         while Options.Keep_Alive < Forever loop
            Pool.Control.Take_Unchecked (Clock, Slot);
            exit when Slot = No_Slot;
            Keep_Alive (Pool, Slot);
            Restock (Pool, Slot);
         end loop;
         while Options.Min_Idle > 0 and then not Pool.Is_Closed loop
            Pool.Control.Take_Unopened (Clock, Slot);
            exit when Slot = No_Slot;
            begin
               Open_Item (Pool, Slot);
               Put_Back (Pool, Slot);
            exception
               when others => Restock (Pool, Slot);  --  tries again after a pause
            end;
         end loop;
      end Visit;

   begin
      Repeat
        (Pool,
         Duration'Min
           (Options.Idle_Timeout, Duration'Min (Options.Max_Lifetime, Options.Keep_Alive)),
         Visit'Access);
      Pool.Control.End_Job;
   end Run;

   procedure Report (Origin : Lease_Origin; To : Leak_Listener) is
      Holder   : String renames Origin.Holder (1 .. Origin.Name_Length);
      Held_For : constant Duration := To_Duration (Clock - Origin.Since);
      Place    : constant String :=
        GNAT.Traceback.Symbolic.Symbolic_Traceback (Origin.Frames (1 .. Origin.Frame_Count));
   begin
      if To = null then
         Ada.Text_IO.Put_Line
           (Ada.Text_IO.Standard_Error,
            "possible leak: task " & Holder & " has held a lease for" & Held_For'Image
            & " s, since it called Get at:" & ASCII.LF & Place);
      else
         To (Holder, Held_For, Place);
      end if;
   exception
      when others => null;
   end Report;

   overriding procedure Run (Self : in out Leak_Watch) is
      Pool : Pools.Pool renames Self.Pool.all;

      procedure Visit is
         Origin : Lease_Origin;
      begin
         loop
            Pool.Control.Next_Leak (Origin);
            exit when not Origin.Is_Noted;
            Report (Origin, Pool.Options.On_Leak);
         end loop;
      end Visit;

   begin
      Repeat (Pool, Pool.Options.Leak_Threshold, Visit'Access);
      Pool.Control.End_Job;
   end Run;

end Appserver.Pools;
