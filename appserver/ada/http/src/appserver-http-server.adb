--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Real_Time;
with Ada.Task_Identification;
with Ada.Unchecked_Deallocation;
with Appserver.HTTP.Blocks;
with Appserver.HTTP.Contexts;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Locks;
with Appserver.HTTP.Loops;
with Appserver.HTTP.Transports;

package body Appserver.HTTP.Server is

   use type Access_Logs.Log_Reference;
   use type Linux.Word;
   use type HTTP.Loops.Absence;
   use type HTTP.Loops.Slot_Count;

   Backlog   : constant := 4_096;
   Few_Files : constant := 64;
   --  The number of file descriptors in addition to the descriptors of connections
   Stack_Guard : constant := 2 ** 20;
   --  The number of guard bytes at the end of a worker's stack, for code that does not probe the
   --  stack: as many as Linux reserves below the first stack of a process (stack_guard_gap). They
   --  use address space, not memory.

   Library_Stack : constant := 65_536;
   --  Stack in bytes for the library's own subprograms

   --  Detection of blocking handlers

   After_Error : constant Duration := 0.01;
   Tick       : constant Duration := 0.01;
   --  The interval, in seconds, between checks of the loops
   Slow_Turns : constant := 20;
   --  A loop has slow handlers if its task is in a handler at two consecutive ticks, with fewer
   --  calls to handlers in between than this number. After that, another task takes over the loop
   --  before each call of a handler.
   Slow_Time  : constant := 500_000;
   --  In nanoseconds. A handler that takes longer is slow, and handing over continues.
   Slow_While : constant := 2_000;
   --  The time in milliseconds for which handing over continues after the latest slow handler
   Between_Looks : constant := 1_000;
   --  The interval, in milliseconds, between checks whether the program has ended
   Quiet_Ticks : constant := 50;
   --  The watching task sleeps after this number of ticks without a call of a handler

   ---------------
   -- Scheduler --
   ---------------

   type Role is (To_Serve, To_Watch, To_Leave);

   type Loop_Flags is array (Positive range <>) of Boolean;

   --  Assigns roles to tasks. A loop is unserved when no task serves it.

   protected type Scheduler (Count : Positive) is

      entry Get_Role (Next_Role : out Role; Loop_Number : out Positive);
      --  Waits for a role

      entry Get_Unserved (Next_Role : out Role; Loop_Number : out Positive);
      --  Called by the watching task: waits until a loop is unserved, or it is time to leave

      entry Await_End;
      --  Waits until it is time to leave

      entry Sleep (Next_Role : out Role; Loop_Number : out Positive);
      --  Like Get_Unserved, but also returns when woken, with Next_Role = To_Watch

      procedure Announce (Loop_Number : Positive);
      --  Announces an unserved loop

      function Is_Noticed (Loop_Number : Positive) return Boolean;
      --  Returns False if the loop is unserved and all tasks are busy

      procedure Claim (Loop_Number : Positive; Is_Unserved : out Boolean);
      --  Takes a loop if it is unserved

      function Unserved_Loops return Loop_Flags;

      procedure End_Watch;
      --  Ends the watch. The next idle task takes over, immediately if one is idle.
      function Has_Watch return Boolean;
      procedure Wake_Watch;

      procedure Note_Not_Listening (Is_Last : out Boolean);
      --  Records that a loop has stopped listening. Sets Is_Last to True if no other loop listens.

      procedure Note_Over (Loop_Number : Positive);
      --  Records that a loop needs no task any longer. When no loop needs a task, all tasks can
      --  leave.

   private
      Unserved       : Loop_Flags (1 .. Count) := [others => True];
      Unserved_Count : Natural := Count;
      Listening      : Natural := Count;
      Over           : Loop_Flags (1 .. Count) := [others => False];
      Is_Watched     : Boolean := False;
      Is_Woken       : Boolean := False;
      All_Over       : Boolean := False;
   end Scheduler;

   protected body Scheduler is

      procedure Choose (Next_Role : out Role; Loop_Number : out Positive) is
      begin
         Loop_Number := 1;
         if All_Over then
            Next_Role := To_Leave;
         elsif Unserved_Count > 0 then
            Next_Role := To_Serve;
            while not Unserved (Loop_Number) loop
               Loop_Number := Loop_Number + 1;
            end loop;
            Unserved (Loop_Number) := False;
            Unserved_Count := Unserved_Count - 1;
         else
            Next_Role := To_Watch;
         end if;
      end Choose;

      entry Get_Role (Next_Role : out Role; Loop_Number : out Positive)
        when All_Over or else Unserved_Count > 0 or else not Is_Watched is
      begin
         Choose (Next_Role, Loop_Number);
         Is_Watched := Is_Watched or else Next_Role = To_Watch;
      end Get_Role;

      entry Get_Unserved (Next_Role : out Role; Loop_Number : out Positive)
        when All_Over or else Unserved_Count > 0 is
      begin
         Choose (Next_Role, Loop_Number);
      end Get_Unserved;

      entry Await_End when All_Over is
      begin
         null;
      end Await_End;

      entry Sleep (Next_Role : out Role; Loop_Number : out Positive)
        when All_Over or else Unserved_Count > 0 or else Is_Woken is
      begin
         Choose (Next_Role, Loop_Number);
         Is_Woken := False;
      end Sleep;

      procedure Announce (Loop_Number : Positive) is
      begin
         if not Unserved (Loop_Number) then
            Unserved (Loop_Number) := True;
            Unserved_Count := Unserved_Count + 1;
         end if;
      end Announce;

      function Is_Noticed (Loop_Number : Positive) return Boolean is
        (Is_Watched or else not Unserved (Loop_Number));

      procedure Claim (Loop_Number : Positive; Is_Unserved : out Boolean) is
      begin
         Is_Unserved := Unserved (Loop_Number);
         if Is_Unserved then
            Unserved (Loop_Number) := False;
            Unserved_Count := Unserved_Count - 1;
         end if;
      end Claim;

      function Unserved_Loops return Loop_Flags is (Unserved);

      procedure End_Watch is
      begin
         Is_Watched := False;
      end End_Watch;

      function Has_Watch return Boolean is (Is_Watched);

      procedure Wake_Watch is
      begin
         Is_Woken := True;
      end Wake_Watch;

      procedure Note_Not_Listening (Is_Last : out Boolean) is
      begin
         Listening := Listening - 1;
         Is_Last   := Listening = 0;
      end Note_Not_Listening;

      procedure Note_Over (Loop_Number : Positive) is
      begin
         Over (Loop_Number) := True;
         All_Over := (for all Is_Over of Over => Is_Over);
      end Note_Over;

   end Scheduler;

   -----------
   -- Loops --
   -----------

   Nobody : constant := 0;

   type Phase is (Working, Waiting, Handling);
   --  The state of the task that serves a loop

   type Nanoseconds_List is array (Positive range <>) of Byte_Count;

   --  Volatile components are read by the watching task, which does not need to see changes
   --  immediately

   type Shared_Loop
     (Slots   : HTTP.Loops.Slot_Index;
      Waiting : Blocks.Block_Count;
      Engine  : not null Engine_Reference;
      Number  : Positive;
      Workers : Positive)
   is new HTTP.Loops.Event_Loop (Slots, Waiting) with record
      Lock           : Locks.Lock;
      Holder         : Natural := Nobody with Volatile;
      --  The task that holds the lock
      Server         : Natural := Nobody;
      --  The task that serves the loop
      Current_Phase  : Phase := Working with Volatile;
      Turns          : Linux.Word := 0;
      --  The number of handler calls
      Hands_Over     : Boolean := False;
      --  True if another task continues the loop before a handler is called
      Slow_Until     : Byte_Count := 0;
      Handed_Over_At : Nanoseconds_List (1 .. Workers) := [others => 0];
      --  The time at which each task called a handler after handing over the loop; 0 if it has not
      --  handed over
      Is_Done        : Boolean := False;
      Next_Look      : Byte_Count := 0;
      --  The time of the next check of the environment task
   end record;

   overriding procedure Leave
     (Self : in out Shared_Loop; Context : Contexts.Context; Reason : HTTP.Loops.Absence);
   overriding procedure Come_Back
     (Self : in out Shared_Loop; Context : Contexts.Context; Reason : HTTP.Loops.Absence);
   overriding procedure Wait_Anywhere
     (Self : in out Shared_Loop; Context : Contexts.Context; Milliseconds : in out Integer);
   overriding function Is_Served (Self : Shared_Loop; Context : Contexts.Context) return Boolean;
   overriding procedure Stop_Listening (Self : in out Shared_Loop; Is_Last : out Boolean);
   overriding procedure Place
     (Self      : in out Shared_Loop;
      Context   : Contexts.Context;
      Socket    : Descriptor;
      Client    : IP_Addresses.Address;
      Transport : Transports.Transport_Reference);
   overriding procedure Offer (Self : in out Shared_Loop; Is_Taken : out Boolean);
   overriding function May_Open_Channel (Self : Shared_Loop) return Boolean;

   type Loop_Reference is access Shared_Loop;
   type Loop_List is array (Positive range <>) of Loop_Reference;

   -------------
   -- Workers --
   -------------

   task type Worker (Engine : not null Engine_Reference; Number, Stack : Positive)
     with Storage_Size => Stack;

   type Worker_Reference is access Worker;
   type Worker_List is array (Positive range <>) of Worker_Reference;

   task type Log_Writer (Engine : not null Engine_Reference)
     with Storage_Size => 2 * Library_Stack;

   type Log_Writer_Reference is access Log_Writer;

   --  The memory of workers is allocated before their tasks, so that Start detects a lack of
   --  memory. It is not on the stacks of the workers, since -fstack-check would write to each page.

   type Builder_Reference is access Response_Builder;
   type Builder_List is array (Positive range <>) of Builder_Reference;

   type Context_Reference is access Contexts.Context;
   type Context_List is array (Positive range <>) of Context_Reference;

   type Goal_List is array (Positive range <>) of Natural;

   Nowhere : constant := 0;

   type Engine (Loop_Count, Worker_Count, Listener_Count : Positive) is limited record
      Options      : Settings;
      Scheduler    : Server.Scheduler (Loop_Count);
      Watch_Sleeps : Boolean := False with Atomic;
      Watcher      : Natural := Nobody with Atomic;
      --  The watching task
      Has_Unserved : Boolean := False with Atomic;
      --  True if a loop may be unserved
      Next_Loop    : Goal_List (1 .. Worker_Count) := [others => Nowhere];
      --  The loop that each task must serve next
      Loops        : Loop_List (1 .. Loop_Count);
      Builders     : Builder_List (1 .. Worker_Count);
      Contexts     : Context_List (1 .. Worker_Count);
      Workers      : Worker_List (1 .. Worker_Count);
      Log_Writer   : Log_Writer_Reference := null;
      --  Null if there is no log
      Listeners    : HTTP.Listeners.Listener_List (1 .. Listener_Count);
      --  Last, so that the offsets of the other components do not depend on its length
   end record;

   -----------
   -- Locks --
   -----------

   procedure Acquire (Self : in out Shared_Loop; Number : Positive) is
   begin
      Locks.Acquire (Self.Lock);
      Self.Holder := Number;
   end Acquire;

   procedure Release (Self : in out Shared_Loop) is
   begin
      Self.Holder := Nobody;
      Locks.Release (Self.Lock);
   end Release;

   ---------------------------
   -- Leaving and returning --
   ---------------------------

   overriding function Is_Served (Self : Shared_Loop; Context : Contexts.Context) return Boolean is
     (Self.Server = Context.Owner and then Self.Engine.Next_Loop (Context.Owner) = Nowhere);

   --  Leaves a loop unserved. If all tasks are busy, wakes one that waits in another loop.

   procedure Leave_Unserved (Self : in out Shared_Loop) is
   begin
      Self.Server := Nobody;
      Self.Engine.Scheduler.Announce (Self.Number);
      Self.Engine.Has_Unserved := True;
      --  Checked only now, so that a task that ends the watch after this sees Has_Unserved
      if not Self.Engine.Scheduler.Is_Noticed (Self.Number) then
         for Other of Self.Engine.Loops loop
            if Other.Current_Phase = Waiting then
               Other.Wake;
               exit;
            end if;
         end loop;
      end if;
   end Leave_Unserved;

   --  Returns True if another task must continue the loop before a handler is called

   function Is_To_Hand_Over (Self : Shared_Loop) return Boolean is
     (Self.Hands_Over
      or else (Self.Engine.Watcher = Nobody
               and then Self.Engine.Worker_Count > Self.Engine.Loop_Count));

   procedure Leave_For_Handler (Self : in out Shared_Loop; Context : Contexts.Context) is
   begin
      Self.Current_Phase := Handling;
      Self.Turns         := Self.Turns + 1;
      if Is_To_Hand_Over (Self) then
         Self.Hands_Over := Self.Now < Self.Slow_Until;
         Self.Handed_Over_At (Context.Owner) := Linux.Nanoseconds;
         Leave_Unserved (Self);
      end if;
   end Leave_For_Handler;

   procedure Wake_Watch (Self : in out Engine) is
   begin
      if Self.Watch_Sleeps then
         Self.Watch_Sleeps := False;
         Self.Scheduler.Wake_Watch;
      end if;
   end Wake_Watch;

   overriding procedure Leave
     (Self : in out Shared_Loop; Context : Contexts.Context; Reason : HTTP.Loops.Absence) is
   begin
      Self.Handed_Over_At (Context.Owner) := 0;
      if Self.Server = Context.Owner then
         case Reason is
            when HTTP.Loops.Waiting  => Self.Current_Phase := Waiting;
            when HTTP.Loops.Handling => Leave_For_Handler (Self, Context);
         end case;
      end if;
      Release (Self);
      if Reason = HTTP.Loops.Handling then
         --  Must follow the memory barrier of the lock, so that a task that goes to sleep sees that
         --  a handler is called
         Wake_Watch (Self.Engine.all);
      end if;
   end Leave;

   overriding procedure Come_Back
     (Self : in out Shared_Loop; Context : Contexts.Context; Reason : HTTP.Loops.Absence)
   is
      pragma Unreferenced (Reason);
   begin
      Acquire (Self, Context.Owner);
      if Self.Handed_Over_At (Context.Owner) > 0
        and then Linux.Nanoseconds - Self.Handed_Over_At (Context.Owner) > Slow_Time
      then
         Self.Slow_Until := Self.Now + Slow_While;
      end if;
      if Self.Server = Nobody then
         Self.Server := Context.Owner;
      end if;
      if Self.Server = Context.Owner then
         Self.Current_Phase := Working;
      end if;
   end Come_Back;

   overriding procedure Stop_Listening (Self : in out Shared_Loop; Is_Last : out Boolean) is
   begin
      HTTP.Loops.Event_Loop (Self).Stop_Listening (Is_Last);
      Self.Engine.Scheduler.Note_Not_Listening (Is_Last);
      if Is_Last then
         --  The loop accepts the clients that are waiting, and closes the sockets
         for Each of Self.Engine.Listeners loop
            HTTP.Listeners.Remove_File (Each);
            HTTP.Listeners.Forget (Each);
         end loop;
      end if;
   end Stop_Listening;

   procedure Ask_To_Stop (Self : in out Engine) is
   begin
      for Each of Self.Loops loop
         if Each /= null then
            Each.Ask_To_Stop;
         end if;
      end loop;
   end Ask_To_Stop;

   --  A server that is declared in a library-level package must stop at the end of the main
   --  subprogram, but its finalization waits for its tasks. So the tasks check whether the
   --  environment task has ended.

   procedure Stop_With_Program (Self : in out Shared_Loop) is
      use Ada.Task_Identification;
   begin
      if Self.Now >= Self.Next_Look then
         Self.Next_Look := Self.Now + Between_Looks;
         if not Is_Callable (Environment_Task) then
            Ask_To_Stop (Self.Engine.all);
         end if;
      end if;
   end Stop_With_Program;

   --  A waiting task also watches the unserved loops. It serves the next loop that has work, in the
   --  order of the loops' numbers, so no loop has to wait for long.

   overriding procedure Wait_Anywhere
     (Self : in out Shared_Loop; Context : Contexts.Context; Milliseconds : in out Integer) is
   begin
      if Self.Number = 1 then
         Stop_With_Program (Self);
         if Milliseconds = Linux.Forever then
            Milliseconds := Between_Looks;
         end if;
      end if;
      if not Self.Engine.Has_Unserved then
         return;
      end if;
      Self.Engine.Has_Unserved := False;
      declare
         Unserved : constant Loop_Flags := Self.Engine.Scheduler.Unserved_Loops;
         Sets     : Linux.Descriptor_List (1 .. Unserved'Length) := [others => Self.Events_Of];
         Numbers  : Goal_List (Sets'Range) := [others => Nowhere];
         Set_Count : Natural := 0;
         Number   : Positive := Self.Number;
         Ready    : Natural;
      begin
         for Step in 2 .. Unserved'Length loop
            Number := Number mod Unserved'Length + 1;
            if Unserved (Number) then
               Set_Count := Set_Count + 1;
               Sets (Set_Count)    := Self.Engine.Loops (Number).Events_Of;
               Numbers (Set_Count) := Number;
            end if;
         end loop;
         if Set_Count > 0 then
            Self.Engine.Has_Unserved := True;
            Sets (Set_Count + 1) := Self.Events_Of;
            Linux.Wait_For_Any (Sets (1 .. Set_Count + 1), Milliseconds, Ready);
            if Ready > 0 then
               Self.Engine.Next_Loop (Context.Owner) := Numbers (Ready);
            end if;
            Milliseconds := 0;
         end if;
      end;
   end Wait_Anywhere;

   --  Assigns a connection to the loop with the fewest connections, if this loop has clearly more.
   --  Only one loop is locked at a time, to prevent deadlocks, so another task may take the last
   --  slot in the meantime.

   overriding procedure Place
     (Self      : in out Shared_Loop;
      Context   : Contexts.Context;
      Socket    : Descriptor;
      Client    : IP_Addresses.Address;
      Transport : Transports.Transport_Reference)
   is
      Least_Loaded : not null Loop_Reference := Self.Engine.Loops (1);
      Is_Moved     : Boolean := False;
   begin
      for Candidate of Self.Engine.Loops loop
         if Candidate.Connections < Least_Loaded.Connections then
            Least_Loaded := Candidate;
         end if;
      end loop;
      if Self.Connections > Least_Loaded.Connections + Least_Loaded.Connections / 4 + 1 then
         Release (Self);
         Acquire (Least_Loaded.all, Context.Owner);
         if Least_Loaded.Has_Free_Slot and then not Least_Loaded.Is_Stopping then
            Least_Loaded.Adopt (Socket, Client, Transport);
            Least_Loaded.Wake;
            Is_Moved := True;
         end if;
         Release (Least_Loaded.all);
         Acquire (Self, Context.Owner);
      end if;
      if not Is_Moved and then Self.Has_Free_Slot then
         Self.Adopt (Socket, Client, Transport);
      elsif not Is_Moved then
         Linux.Close (Socket);
      end if;
   end Place;

   overriding procedure Offer (Self : in out Shared_Loop; Is_Taken : out Boolean) is
   begin
      Is_Taken := False;
      for Other of Self.Engine.Loops loop
         if Other.Has_Free_Slot and then not Is_Taken then
            Other.Wake;
            Is_Taken := True;
         end if;
      end loop;
   end Offer;

   --  Counts the channels of all loops, since their connections are not evenly distributed

   overriding function May_Open_Channel (Self : Shared_Loop) return Boolean is
      Slots, Channels : HTTP.Loops.Slot_Count := 0;
   begin
      for Each of Self.Engine.Loops loop
         Slots    := Slots + Each.Slots;
         Channels := Channels + Each.Channels;
      end loop;
      return Channels < Slots - (Slots + 7) / 8;
   end May_Open_Channel;

   -------------
   -- Serving --
   -------------

   --  Called with the loop's lock held, which is released at the end

   procedure Serve (Self : in out Shared_Loop; Context : in out Contexts.Context) is
      Is_Over : Boolean := False;
   begin
      Self.Server        := Context.Owner;
      Self.Current_Phase := Working;
      HTTP.Loops.Serve (Self, Context);
      if Self.Server = Context.Owner then
         if Self.Is_Over then
            Is_Over      := True;
            Self.Is_Done := True;
            Self.Server  := Nobody;
         else
            Leave_Unserved (Self);
         end if;
      end if;
      Release (Self);
      if Is_Over then
         Self.Engine.Scheduler.Note_Over (Self.Number);
      end if;
   end Serve;

   procedure Serve_Unserved (Self : in out Shared_Loop; Context : in out Contexts.Context) is
   begin
      Acquire (Self, Context.Owner);
      if Self.Server = Nobody and then not Self.Is_Done then
         Serve (Self, Context);
      else
         --  The task that left the loop has returned
         Release (Self);
      end if;
   end Serve_Unserved;

   --  Serves the loops in which the task has seen work, until it sees no more

   procedure Serve_Claimed (Self : in out Engine; Context : in out Contexts.Context) is
      Goal      : Natural;
      Is_Unserved : Boolean;
   begin
      loop
         Goal := Self.Next_Loop (Context.Owner);
         exit when Goal = Nowhere;
         Self.Next_Loop (Context.Owner) := Nowhere;
         Self.Scheduler.Claim (Goal, Is_Unserved);
         if Is_Unserved then
            Serve_Unserved (Self.Loops (Goal).all, Context);
         end if;
      end loop;
   end Serve_Claimed;

   --------------
   -- Watching --
   --------------

   type Turn_List is array (Positive range <>) of Linux.Word;

   procedure Leave_If_Handling (Self : in out Shared_Loop) is
   begin
      if Self.Server /= Nobody and then Self.Current_Phase = Handling then
         Leave_Unserved (Self);
      end if;
   end Leave_If_Handling;

   --  Compares the state of a loop with the previous tick. If its task is still in the same
   --  handler, makes the loop unserved, so that another task can serve it.

   procedure Look_At
     (Self         : in out Shared_Loop;
      Number       : Positive;
      Turns        : in out Linux.Word;
      Was_Handling : in out Boolean;
      Is_Quiet     : in out Boolean)
   is
      Turns_Now   : constant Linux.Word := Self.Turns;
      Is_Handling : constant Boolean := Self.Current_Phase = Handling;
      Is_Slow     : constant Boolean :=
        Was_Handling and then Is_Handling and then Turns_Now - Turns < Slow_Turns;
   begin
      if Is_Slow then
         Acquire (Self, Number);
         Self.Hands_Over := True;
         Self.Slow_Until := Self.Now + Slow_While;
         if Self.Turns = Turns then
            Leave_If_Handling (Self);
         end if;
         Release (Self);
      end if;
      Is_Quiet     := Is_Quiet and then not Is_Handling and then Turns_Now = Turns;
      Was_Handling := Is_Handling;
      Turns        := Turns_Now;
   end Look_At;

   --  A handler that was called while a task was watching may block after the watch has ended, so
   --  its loop is made unserved now. Later calls to handlers see that no task is watching.

   procedure Hand_Over_All (Self : in out Engine; Number : Positive) is
   begin
      for Each of Self.Loops loop
         Acquire (Each.all, Number);
         Leave_If_Handling (Each.all);
         Release (Each.all);
      end loop;
   end Hand_Over_All;

   procedure End_Watch (Self : in out Engine; Number : Positive) is
   begin
      Self.Watcher := Nobody;
      Self.Scheduler.End_Watch;
      if not Self.Scheduler.Has_Watch then
         Hand_Over_All (Self, Number);
      end if;
   end End_Watch;

   procedure Watch (Self : in out Engine; Context : in out Contexts.Context) is
      Turns        : Turn_List (1 .. Self.Loop_Count) := [others => 0];
      Was_Handling : Loop_Flags (1 .. Self.Loop_Count) := [others => False];
      Quiet        : Natural := 0;
      Is_Quiet     : Boolean;
      Next_Role    : Role;
      Loop_Number  : Positive;
   begin
      Self.Watcher := Context.Owner;
      loop
         Next_Role := To_Watch;
         if Quiet < Quiet_Ticks then
            select
               Self.Scheduler.Get_Unserved (Next_Role, Loop_Number);
            or
               delay Tick;
            end select;
         else
            Self.Watch_Sleeps := True;
            if not (for some Each of Self.Loops => Each.Current_Phase = Handling) then
               Self.Scheduler.Sleep (Next_Role, Loop_Number);
            end if;
            Self.Watch_Sleeps := False;
            Quiet := 0;
         end if;
         if Next_Role /= To_Watch then
            End_Watch (Self, Context.Owner);
            if Next_Role = To_Serve then
               Serve_Unserved (Self.Loops (Loop_Number).all, Context);
            end if;
            return;
         end if;
         Is_Quiet := True;
         for K in Self.Loops'Range loop
            Look_At (Self.Loops (K).all, Context.Owner, Turns (K), Was_Handling (K), Is_Quiet);
         end loop;
         Quiet := (if Is_Quiet then Quiet + 1 else 0);
      end loop;
   end Watch;

   procedure Take_Role
     (Self : in out Engine; Context : in out Contexts.Context; Is_Over : out Boolean)
   is
      Next_Role   : Role;
      Loop_Number : Positive;
   begin
      Self.Scheduler.Get_Role (Next_Role, Loop_Number);
      case Next_Role is
         when To_Serve => Serve_Unserved (Self.Loops (Loop_Number).all, Context);
         when To_Watch => Watch (Self, Context);
         when To_Leave => null;
      end case;
      Is_Over := Next_Role = To_Leave;
      if not Is_Over then
         Serve_Claimed (Self, Context);
      end if;
   end Take_Role;

   --  After an unexpected exception, releases everything that the task held

   procedure Release_All (Self : in out Engine; Number : Positive) is
   begin
      for Each of Self.Loops loop
         if Each.Server = Number and then Each.Holder /= Number then
            Acquire (Each.all, Number);
         end if;
         if Each.Holder = Number then
            if Each.Server = Number then
               Leave_Unserved (Each.all);
            end if;
            Release (Each.all);
         end if;
      end loop;
      Self.Next_Loop (Number) := Nowhere;
      if Self.Watcher = Number then
         End_Watch (Self, Number);
      end if;
   end Release_All;

   procedure Work (Self : in out Engine; Context : in out Contexts.Context) is
      Is_Over : Boolean := False;
   begin
      while not Is_Over loop
         begin
            Take_Role (Self, Context, Is_Over);
         exception
            when Error : others =>
               Contexts.Pass_On (Self.Options.Report, Error);
               Release_All (Self, Context.Owner);
               delay After_Error;
         end;
      end loop;
   end Work;

   task body Worker is
   begin
      Linux.Guard_Stack (Stack_Guard);
      Work (Engine.all, Engine.Contexts (Number).all);
      Linux.Unguard_Stack (Stack_Guard);
   exception
      when Error : others =>
         Contexts.Pass_On (Engine.Options.Report, Error);
         Linux.Unguard_Stack (Stack_Guard);
   end Worker;

   Between_Writes : constant Duration := 0.1;

   task body Log_Writer is
      Is_Over  : Boolean := False;
      Is_Empty : Boolean;
   begin
      while not Is_Over loop
         begin
            Engine.Options.Log.Write_Out (Is_Empty);
         exception
            when Error : others =>
               Contexts.Pass_On (Engine.Options.Report, Error);
         end;
         select
            Engine.Scheduler.Await_End;
            Is_Over := True;
         or
            delay Between_Writes;
         end select;
      end loop;
   end Log_Writer;

   --  Includes up to two copies of a request's header: the joined lines of a field, and a decoded
   --  path

   function Stack_Of (Options : Settings) return Positive is
     (Options.Handler_Stack + Library_Stack + 2 * Options.Limits.Header + Stack_Guard);

   ---------------------------
   -- Starting and stopping --
   ---------------------------

   procedure Free is new Ada.Unchecked_Deallocation (Shared_Loop, Loop_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Worker, Worker_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Log_Writer, Log_Writer_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Contexts.Context, Context_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Response_Builder, Builder_Reference);
   procedure Free is new Ada.Unchecked_Deallocation (Engine, Engine_Reference);

   procedure Open_Loops
     (Engine  : not null Engine_Reference;
      Handle  : Handler;
      Service : Services.Service_Reference)
   is

      function Share (Total : Positive) return Positive is
        ((Total + Engine.Loop_Count - 1) / Engine.Loop_Count);

      Options : Settings renames Engine.Options;

      Listeners : HTTP.Loops.Listener_List (Engine.Listeners'Range);
   begin
      for K in Listeners'Range loop
         Listeners (K) :=
           (Socket    => HTTP.Listeners.Socket (Engine.Listeners (K)),
            Transport => HTTP.Listeners.Transport (Engine.Listeners (K)),
            Is_Passed => HTTP.Listeners.Is_Passed (Engine.Listeners (K)));
      end loop;
      for K in Engine.Loops'Range loop
         Engine.Loops (K) := new Shared_Loop
           (Slots   => HTTP.Loops.Slot_Index (Share (Options.Connections)),
            Waiting => Blocks.Block_Count (Share (Options.Waiting_Memory) / Blocks.Block_Size + 1),
            Engine  => Engine,
            Number  => K,
            Workers => Engine.Worker_Count);
         Engine.Loops (K).Open
           (Listeners, Engine.Loop_Count > 1, Handle, Service, Options.Limits,
            Options.Times, Options.Report, Options.Log, Writes => False);
         Engine.Loops (K).Allow_Channels;
      end loop;
   end Open_Loops;

   function Has_Log (Engine : Server.Engine) return Boolean is
     (Engine.Options.Log /= null and then Engine.Options.Log.Is_Open);

   procedure Make_Contexts (Engine : in out Server.Engine) is
      Options : Settings renames Engine.Options;
   begin
      for K in Engine.Contexts'Range loop
         Engine.Builders (K) := new Response_Builder (Options.Response_Content);
         Engine.Contexts (K) := new Contexts.Context
           (Request_Capacity => Options.Limits.Header + Options.Limits.Content + Parsing.Slack,
            Output_Capacity  => Options.Response_Content + Contexts.Max_Header_Length,
            Builder          => Engine.Builders (K),
            Owner            => K);
      end loop;
   end Make_Contexts;

   procedure Start_Workers (Engine : not null Engine_Reference) is
   begin
      for K in Engine.Workers'Range loop
         Engine.Workers (K) := new Worker (Engine, Number => K, Stack => Stack_Of (Engine.Options));
      end loop;
      if Has_Log (Engine.all) then
         Engine.Log_Writer := new Log_Writer (Engine);
      end if;
   end Start_Workers;

   procedure Await_Workers (Engine : in out Server.Engine; Timeout : Duration) is

      Begun : constant Ada.Real_Time.Time := Ada.Real_Time.Clock;

      procedure Pause is
         use type Ada.Real_Time.Time;
      begin
         if Ada.Real_Time.To_Duration (Ada.Real_Time.Clock - Begun) >= Timeout then
            raise Stop_Timeout with "the server did not stop within Timeout; call Stop again";
         end if;
         delay 0.001;
      end Pause;
   begin
      for Worker of Engine.Workers loop
         while Worker /= null and then not Worker'Terminated loop
            Pause;
         end loop;
         Free (Worker);
      end loop;
      while Engine.Log_Writer /= null and then not Engine.Log_Writer'Terminated loop
         Pause;
      end loop;
      Free (Engine.Log_Writer);
   end Await_Workers;

   procedure Close (Engine : in out Engine_Reference) is
      Is_Empty : Boolean;
   begin
      if Has_Log (Engine.all) then
         Engine.Options.Log.Write_Out (Is_Empty);
      end if;
      for Each of Engine.Loops loop
         if Each /= null then
            Each.Close;
            Free (Each);
         end if;
      end loop;
      for Each of Engine.Listeners loop
         HTTP.Listeners.Close (Each);
      end loop;
      for K in Engine.Contexts'Range loop
         Free (Engine.Contexts (K));
         Free (Engine.Builders (K));
      end loop;
      Free (Engine);
   end Close;

   procedure Start
     (Self      : in out Web_Server;
      Handle    : Handler;
      Service   : Services.Service_Reference;
      Listeners : HTTP.Listeners.Listener_List;
      Options   : Settings)
   is
      Loop_Count : constant Positive :=
        (if Options.Loops > 0 then Options.Loops
         else Positive'Min (Linux.Usable_Cores, (Options.Workers + 1) / 2));
   begin
      Linux.Ignore_Broken_Pipes;
      Linux.Allow_Files (Options.Connections + Few_Files);
      Self.Engine := new Engine (Loop_Count, Options.Workers, Listeners'Length);
      Self.Engine.Options   := Options;
      Self.Engine.Listeners := Listeners;
      for Each of Self.Engine.Listeners loop
         HTTP.Listeners.Open (Each, Backlog);
      end loop;
      Make_Contexts (Self.Engine.all);
      Open_Loops (Self.Engine, Handle, Service);
      Start_Workers (Self.Engine);
   exception
      when others =>
         --  If not all workers could be started, stop the others
         Self.Stop;
         raise;
   end Start;

   procedure Start
     (Self    : in out Web_Server;
      Handle  : Handler;
      Address : String := "127.0.0.1";
      Port    : Port_Number := 0;
      Options : Settings := (others => <>)) is
   begin
      Start (Self, Handle, null, [HTTP.Listeners.TCP_Listener (Address, Port)], Options);
   end Start;

   procedure Start
     (Self    : in out Web_Server;
      Service : not null Services.Service_Reference;
      Address : String := "127.0.0.1";
      Port    : Port_Number := 0;
      Options : Settings := (others => <>)) is
   begin
      Start
        (Self, Services.Not_Here'Access, Service,
         [HTTP.Listeners.TCP_Listener (Address, Port)], Options);
   end Start;

   procedure Start
     (Self      : in out Web_Server;
      Handle    : Handler;
      Listeners : HTTP.Listeners.Listener_List;
      Options   : Settings := (others => <>)) is
   begin
      Start (Self, Handle, null, Listeners, Options);
   end Start;

   procedure Start
     (Self      : in out Web_Server;
      Service   : not null Services.Service_Reference;
      Listeners : HTTP.Listeners.Listener_List;
      Options   : Settings := (others => <>)) is
   begin
      Start (Self, Services.Not_Here'Access, Service, Listeners, Options);
   end Start;

   procedure Stop (Self : in out Web_Server; Timeout : Duration := Forever) is
   begin
      if Self.Engine /= null then
         Ask_To_Stop (Self.Engine.all);
         Await_Workers (Self.Engine.all, Timeout);
         Close (Self.Engine);
      end if;
   end Stop;

   overriding procedure Finalize (Self : in out Web_Server) is
   begin
      Self.Stop;
   end Finalize;

   function Listener_Count (Self : Web_Server) return Positive is (Self.Engine.Listener_Count);

   function Port (Self : Web_Server; Listener : Positive := 1) return Port_Number is
     (HTTP.Listeners.Port (Self.Engine.Listeners (Listener)));

   function Loops (Self : Web_Server) return Positive is
     (Self.Engine.Loop_Count);

end Appserver.HTTP.Server;
