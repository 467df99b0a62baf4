--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Unchecked_Deallocation;
with Appserver.SQL.Text_Values;
with Interfaces.C;
with System.Atomic_Operations.Modular_Arithmetic;

package body Appserver.SQL.Time_Limits is

   use Ada.Real_Time;
   use Interfaces.C;

   Duplicate_Close_On_Exec : constant := 1_030;
   Shut_Down_Both          : constant := 2;
   --  Arguments of fcntl(2) and shutdown(2) on Linux

   function fcntl (File, Command, Argument : int) return int
     with Import, Convention => C_Variadic_2, External_Name => "fcntl";
   function shutdown (Socket, How : int) return int
     with Import, Convention => C, External_Name => "shutdown";
   function close (File : int) return int
     with Import, Convention => C, External_Name => "close";

   Pause : constant Time_Span := Milliseconds (50);
   --  The watcher task checks at this interval while there is a limit, so that it can end with the
   --  program

   protected Limits is

      procedure Add (Limit : not null Limit_Access; Is_Early : out Boolean);
      --  Sets Is_Early to True if the watcher task would sleep beyond the deadline

      procedure Remove (Limit : not null Limit_Access);

      procedure Move (Limit : not null Limit_Access; Deadline : Time; Is_Early : out Boolean);

      procedure Cut_Off (Any_Left : out Boolean; Look_At : out Time);
      --  Shuts down the connections whose deadlines have passed. If any limits remain, sets Look_At
      --  to the time of the next check.

      function Is_Over (On : System.Address) return Boolean;
      --  Returns True if the connection at this address was shut down by a limit that is still in
      --  scope
   private
      First   : Limit_Access := null;
      Planned : Time := Time_Last;
   end Limits;

   protected body Limits is

      procedure Add (Limit : not null Limit_Access; Is_Early : out Boolean) is
      begin
         Limit.Next := First;
         First := Limit;
         Is_Early := Limit.Deadline < Planned;
      end Add;

      procedure Remove (Limit : not null Limit_Access) is
         Before : Limit_Access := First;
      begin
         if First = Limit then
            First := Limit.Next;
         else
            while Before.Next /= Limit loop
               Before := Before.Next;
            end loop;
            Before.Next := Limit.Next;
         end if;
      end Remove;

      procedure Move (Limit : not null Limit_Access; Deadline : Time; Is_Early : out Boolean) is
      begin
         Limit.Deadline := Deadline;
         Is_Early := Deadline < Planned;
      end Move;

      procedure Cut_Off (Any_Left : out Boolean; Look_At : out Time) is
         Now     : constant Time := Clock;
         Limit   : Limit_Access := First;
         Ignored : int;
      begin
         Look_At := Now + Pause;
         while Limit /= null loop
            if Limit.Deadline <= Now then
               Limit.Is_Over := True;
               Ignored := shutdown (int (Limit.Socket), Shut_Down_Both);
            else
               Look_At := (if Limit.Deadline < Look_At then Limit.Deadline else Look_At);
            end if;
            Limit := Limit.Next;
         end loop;
         Any_Left := First /= null;
         Planned := (if Any_Left then Look_At else Time_Last);
      end Cut_Off;

      function Is_Over (On : System.Address) return Boolean is
         use type System.Address;
         Limit : Limit_Access := First;
      begin
         while Limit /= null and then not (Limit.Is_Over and then Limit.On = On) loop
            Limit := Limit.Next;
         end loop;
         return Limit /= null;
      end Is_Over;

   end Limits;

   task Watcher is
      entry Look;
   end Watcher;

   task body Watcher is
      Any_Left : Boolean;
      Look_At  : Time;
   begin
      loop
         Limits.Cut_Off (Any_Left, Look_At);
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

   procedure Wake_Watcher is
   begin
      Watcher.Look;
   exception
      when Tasking_Error =>
         null;  --  the program is exiting: connections are closed without a limit
   end Wake_Watcher;

   procedure Try_To_Start
     (Self       : in out Time_Limit;
      On         : SQL.Connection'Class;
      Deadline   : Time;
      Has_Failed : out Boolean)
   is
      Socket   : constant Integer := On.Socket;
      Is_Early : Boolean;
   begin
      Has_Failed := False;
      if Socket < 0 or else Deadline = Time_Last then
         return;
      end if;
      pragma Assert (Self.Socket < 0);
      Self.Deadline := Deadline;
      Self.On := On'Address;
      Self.Socket := Integer (fcntl (int (Socket), Duplicate_Close_On_Exec, 0));
      Has_Failed := Self.Socket < 0;
      if not Has_Failed then
         Limits.Add (Self'Unchecked_Access, Is_Early);
         if Is_Early then
            Wake_Watcher;
         end if;
      end if;
   end Try_To_Start;

   procedure Refuse_Start with No_Return;
   procedure Refuse_Start is
   begin
      Raise_Error ("53000", 0, "no file descriptor is available for a timeout");
   end Refuse_Start;

   procedure Start
     (Self     : in out Time_Limit;
      On       : SQL.Connection'Class;
      Deadline : Time)
   is
      Has_Failed : Boolean;
   begin
      Try_To_Start (Self, On, Deadline, Has_Failed);
      if Has_Failed then
         Refuse_Start;
      end if;
   end Start;

   --  Shuts down the socket, so that the server ends the session, and the database's library
   --  detects that the connection is lost

   procedure Cut_Off (On : Connection'Class) is
      Socket  : constant Integer := On.Socket;
      Ignored : int;
   begin
      if Socket >= 0 then
         Ignored := shutdown (int (Socket), Shut_Down_Both);
      end if;
   end Cut_Off;

   procedure Start_Or_Cut_Off
     (Self     : in out Time_Limit;
      On       : SQL.Connection'Class;
      Deadline : Time)
   is
      Has_Failed : Boolean;
   begin
      Try_To_Start (Self, On, Deadline, Has_Failed);
      if Has_Failed then
         Cut_Off (On);
      end if;
   end Start_Or_Cut_Off;

   procedure Move (Self : in out Time_Limit; Deadline : Time) is
      Is_Early : Boolean;
   begin
      if Self.Socket >= 0 then
         Limits.Move (Self'Unchecked_Access, Deadline, Is_Early);
         if Is_Early then
            Wake_Watcher;
         end if;
      end if;
   end Move;

   overriding procedure Finalize (Self : in out Time_Limit) is
      Ignored : int;
   begin
      if Self.Socket >= 0 then
         Limits.Remove (Self'Unchecked_Access);
         Ignored := close (int (Self.Socket));
         Self.Socket := -1;
      end if;
   end Finalize;

   ----------------
   -- Operations --
   ----------------

   type Operation_Access is access all Operation;

   Current : Operation_Access := null with Thread_Local_Storage;
   --  The operation in progress in this task

   function Limit_Of (On : Connection'Class) return Duration is
      Min_Limit : constant := 0.001;
      Left      : Duration;
   begin
      if On.Call_Deadline = Time_Last then
         return On.Limit;
      end if;
      Left := Duration'Max (Min_Limit, To_Duration (On.Call_Deadline - Clock));
      return (if On.Limit > 0.0 then Duration'Min (On.Limit, Left) else Left);
   end Limit_Of;

   procedure Give_Up (On : Connection'Class) with No_Return;
   procedure Give_Up (On : Connection'Class) is
   begin
      On.Gate.Is_Lost := True;
      Raise_Error ("08006", 0, "the connection is lost: a Cancel is still in progress");
   end Give_Up;

   procedure Await_Cancels (On : Connection'Class; Deadline : Time) is
   begin
      while On.Gate.Cancels > 0 loop
         if Clock >= Deadline then
            Give_Up (On);
         end if;
         delay 0.001;
      end loop;
   end Await_Cancels;

   --  The flags are sequentially consistent. So if an operation and a Cancel begin at the same
   --  time, at least one of them sees the other one.

   procedure Begin_Operation (Self : in out Operation'Class; May_Fail : Boolean) is
      Gate       : Cancel_Gate renames Self.On.Gate.all;
      Has_Failed : Boolean;
   begin
      if Gate.Is_Under_Way then
         return;
      end if;
      Self.Length       := Limit_Of (Self.On.all);
      Self.Is_Outer     := True;
      Gate.Is_Under_Way := True;
      if Self.Length > 0.0 then
         Try_To_Start
           (Self.Limit, Self.On.all, Clock + To_Time_Span (Self.Length), Has_Failed);
         if Has_Failed and then May_Fail then
            Refuse_Start;
         end if;
         Current := Operation (Self)'Unchecked_Access;
      end if;
      while Gate.Cancels > 0 loop
         if Limits.Is_Over (Self.On.all'Address) then
            if May_Fail then
               Give_Up (Self.On.all);
            end if;
            Gate.Is_Lost := True;
            exit;
         end if;
         delay 0.001;
      end loop;
      if Gate.Is_Lost then
         Cut_Off (Self.On.all);
         if May_Fail then
            Raise_Error
              ("08006", 0, "the connection is lost: the outcome of a Cancel is unknown");
         end if;
      end if;
   exception
      when others =>
         Finalize (Self.Limit);
         Finalize (Operation (Self));
         raise;
   end Begin_Operation;

   overriding procedure Initialize (Self : in out Operation) is
   begin
      Begin_Operation (Self, May_Fail => True);
   end Initialize;

   overriding procedure Initialize (Self : in out Cleanup) is
   begin
      Begin_Operation (Self, May_Fail => False);
   end Initialize;

   overriding procedure Finalize (Self : in out Operation) is
   begin
      if Self.Is_Outer then
         Self.Is_Outer             := False;
         Self.On.Gate.Is_Under_Way := False;
         Current                   := null;
      end if;
   end Finalize;

   package Arithmetic is new System.Atomic_Operations.Modular_Arithmetic (Cancel_Count);

   procedure Free is new Ada.Unchecked_Deallocation (Cancel_Gate, Gate_Access);

   procedure Leave (Gate : in out Gate_Access) is
   begin
      if Arithmetic.Atomic_Fetch_And_Subtract (Gate.Holders, 1) = 1 then
         Free (Gate);
      else
         Gate := null;
      end if;
   end Leave;

   procedure End_Reading (Self : in out Cancellation) is
   begin
      if Self.Readers /= null then
         Arithmetic.Atomic_Subtract (Self.Readers.all, 1);
         Self.Readers := null;
      end if;
   end End_Reading;

   overriding procedure Initialize (Self : in out Cancellation) is
   begin
      Self.Readers := Self.On.Readers'Unrestricted_Access;
      Arithmetic.Atomic_Add (Self.Readers.all, 1);
      Self.Gate := Self.On.Gate;
      if Self.Gate = null then
         End_Reading (Self);
         raise Misuse_Error with "the connection is being finalized";
      end if;
      Arithmetic.Atomic_Add (Self.Gate.Holders, 1);
      Arithmetic.Atomic_Add (Self.Gate.Cancels, 1);
   end Initialize;

   --  A Cancel that begins after the replacement does not find the old gate. Waits for each Cancel
   --  that has found the old gate, since it may still read the connection.

   procedure Replace_Gate (On : in out Connection'Class; By : Gate_Access) is
      Old : Gate_Access := On.Gate;
   begin
      pragma Abort_Defer;
      On.Gate := By;
      while On.Readers > 0 loop
         delay 0.001;
      end loop;
      Leave (Old);
   end Replace_Gate;

   procedure Begin_Session (On : in out Connection'Class) is
   begin
      On.Gate.Is_Closed := False;
   end Begin_Session;

   procedure End_Session (On : in out Connection'Class) is
      Next : constant Gate_Access := new Cancel_Gate;
   begin
      if On.Gate.Is_Lost then
         Cut_Off (On);
      end if;
      Next.Is_Under_Way := On.Gate.Is_Under_Way;
      Replace_Gate (On, By => Next);
   end End_Session;

   procedure Leave_Gate (On : in out Connection'Class) is
   begin
      Replace_Gate (On, By => null);
   end Leave_Gate;

   procedure Begin_Request (Self : in out Cancellation) is
   begin
      Self.Is_Unfinished := True;
   end Begin_Request;

   procedure End_Request (Self : in out Cancellation) is
   begin
      Self.Is_Unfinished := False;
   end End_Request;

   overriding procedure Finalize (Self : in out Cancellation) is
   begin
      if Self.Is_Unfinished then
         Self.Gate.Is_Lost := True;
      end if;
      Arithmetic.Atomic_Subtract (Self.Gate.Cancels, 1);
      Leave (Self.Gate);
      End_Reading (Self);
   end Finalize;

   overriding procedure Initialize (Self : in out Suspension) is
   begin
      Move (Self.Of_Work.Limit, Time_Last);
   end Initialize;

   overriding procedure Finalize (Self : in out Suspension) is
      Work : Operation renames Self.Of_Work.all;
   begin
      if Work.Limit.Socket >= 0 then
         Work.Length := Limit_Of (Work.On.all);
         if Work.Length > 0.0 then
            Move (Work.Limit, Clock + To_Time_Span (Work.Length));
         end if;
      end if;
   end Finalize;

   function Overdue return String is
     (if Current = null or else not Current.Limit.Is_Over then ""
      else "no response within " & Text_Values.Image (Integer_64 (Current.Length * 1_000), 3)
        & " s: ");

end Appserver.SQL.Time_Limits;
