--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

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
   --  The watcher looks so often, as long as there is a limit: then it can end with the program

   protected Limits is

      procedure Add (Limit : not null Limit_Access; Is_Early : out Boolean);
      --  Is_Early: the watcher sleeps for longer

      procedure Remove (Limit : not null Limit_Access);

      procedure Cut_Off (Any_Left : out Boolean; Look_At : out Time);
      --  Those whose time is over. Look_At is when to look again, if any are left.
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

   procedure Start
     (Self     : in out Time_Limit;
      On       : SQL.Connection'Class;
      Deadline : Time)
   is
      Socket   : constant Integer := On.Socket;
      Is_Early : Boolean;
   begin
      if Socket < 0 or else Deadline = Time_Last then
         return;
      end if;
      pragma Assert (Self.Socket < 0);
      Self.Deadline := Deadline;
      Self.Socket := Integer (fcntl (int (Socket), Duplicate_Close_On_Exec, 0));
      if Self.Socket < 0 then
         Raise_Error ("53000", 0, "no file descriptor for a time limit");
      end if;
      Limits.Add (Self'Unchecked_Access, Is_Early);
      if Is_Early then
         Watcher.Look;
      end if;
   exception
      when Tasking_Error =>
         null;  --  the program ends, and what is closed now has no limit
   end Start;

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
   --  The one that is under way in this task

   procedure Begin_Limit (Self : in out Operation) is
   begin
      Self.Limit.Start (Self.On.all, Clock + To_Time_Span (Self.On.Limit));
   end Begin_Limit;

   --  Sequentially consistent: an operation that begins and sees no Cancel, and a Cancel that
   --  begins and sees no operation, cannot miss each other

   overriding procedure Initialize (Self : in out Operation) is
      Gate : Cancel_Gate renames Self.On.Gate;
   begin
      if Gate.Is_Under_Way then
         return;
      end if;
      Self.Is_Outer     := True;
      Gate.Is_Under_Way := True;
      while Gate.Cancels > 0 loop
         delay 0.001;
      end loop;
      if Self.On.Limit > 0.0 then
         Begin_Limit (Self);
         Current := Self'Unchecked_Access;
      end if;
   exception
      when others =>
         Finalize (Self);
         raise;
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

   overriding procedure Initialize (Self : in out Cancellation) is
   begin
      Self.Gate := Self.On.Gate'Unrestricted_Access;
      Arithmetic.Atomic_Add (Self.Gate.Cancels, 1);
   end Initialize;

   overriding procedure Finalize (Self : in out Cancellation) is
   begin
      Arithmetic.Atomic_Subtract (Self.Gate.Cancels, 1);
   end Finalize;

   procedure Restart (Self : in out Operation) is
   begin
      if Self.Is_Outer and then Self.On.Limit > 0.0 then
         Finalize (Self.Limit);
         Begin_Limit (Self);
      end if;
   end Restart;

   function Overdue return String is
     (if Current = null or else not Current.Limit.Is_Over then ""
      else "no answer within " & Text_Values.Image (Integer_64 (Current.On.Limit * 1_000), 3)
        & " s: ");

end Appserver.SQL.Time_Limits;
