--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
with Ada.Environment_Variables;
with Ada.Real_Time;
with Ada.Strings.Unbounded;
with Appserver.Processes;
with Interfaces.C;

package body Held_Starts is

   use Ada.Real_Time;
   use Ada.Strings.Unbounded;
   use Appserver.Processes;
   use Interfaces.C;

   type Call_Id is mod 2 ** 64;

   function Hold_Calls return int
     with Import, Convention => C, External_Name => "tests_hold_calls";
   function Next_Call (Listener : int) return Call_Id
     with Import, Convention => C, External_Name => "tests_next_call";
   procedure Continue_Call (Listener : int; Id : Call_Id)
     with Import, Convention => C, External_Name => "tests_continue_call";

   --  Returns True if a call is held, so that Next_Call would not wait

   function Has_Call (Listener : int) return Boolean is
      type Poll_Entry is record
         File             : int;
         Events, Returned : short;
      end record
        with Convention => C;

      function C_Poll (Entries : in out Poll_Entry; Count : unsigned_long; Wait : int) return int
        with Import, Convention => C, External_Name => "poll";

      Input : constant := 1;
      Call  : Poll_Entry := (Listener, Events => Input, Returned => 0);
   begin
      return C_Poll (Call, 1, 0) = 1 and then Call.Returned = Input;
   end Has_Call;

   Listener : constant int := Hold_Calls;
   Program  : constant String := "/bin/true";
   --  A path, so that each start calls execve only once, without searching PATH
   Silent   : constant Settings := (Input | Output | Error => Piped, others => <>);

   procedure Expect (Condition : Boolean; Text : String) is
   begin
      if not Condition then
         raise Unexpected with Text;
      end if;
   end Expect;

   --------------
   -- Leftover --
   --------------

   function Open_Files return Natural is
      function C_Fcntl (File, Command, Ignored : int) return int
        with Import, Convention => C_Variadic_2, External_Name => "fcntl";

      F_GETFD : constant := 1;
      Result  : Natural := 0;
   begin
      for File in int range 0 .. 1_023 loop
         Result := Result + Boolean'Pos (C_Fcntl (File, F_GETFD, 0) >= 0);
      end loop;
      return Result;
   end Open_Files;

   function Has_Children return Boolean is
      function C_Wait_Id (Kind, Id : int; Info : access long; Options : int) return int
        with Import, Convention => C, External_Name => "waitid";

      P_ALL    : constant := 0;
      Anything : constant := 16#0100_0005#;
      --  WNOHANG, WEXITED and WNOWAIT
      Info     : aliased array (1 .. 16) of aliased long := [others => 0];
   begin
      return C_Wait_Id (P_ALL, 0, Info (1)'Access, Anything) = 0;
   end Has_Children;

   Files : constant Natural := Open_Files;

   --  On a busy machine, a child may exit more than a second after it was killed

   procedure Await_No_Children is
   begin
      for Wait in 1 .. 60_000 loop
         exit when not Has_Children;
         delay 0.001;
      end loop;
   end Await_No_Children;

   procedure Expect_Nothing_Left (Text : String) is
   begin
      Await_No_Children;
      Expect (not Has_Children, Text & ": a child is left");
      Expect (Open_Files = Files, Text & ": open files" & Open_Files'Image);
   end Expect_Nothing_Left;

   -----------
   -- Tests --
   -----------

   Limit   : constant Duration := 0.2;
   Latest  : constant Duration := 120.0;
   --  Long enough for a busy machine, including the second for a killed child to exit. Without its
   --  timeout, a start would hang forever.

   type Duration_List is array (Positive range <>) of Duration;

   procedure Expect_In_Time (Text : String; Start : Time; Timeout : Duration := Limit) is
      Elapsed : constant Duration := To_Duration (Clock - Start);
   begin
      Expect (Elapsed >= Timeout, Text & ": ended early, after" & Elapsed'Image);
      Expect (Elapsed < Latest, Text & ": ended late, after" & Elapsed'Image);
   end Expect_In_Time;

   procedure Expect_Timeout (Text : String; Options : Settings; Timeout : Duration := Limit) is
      Start : constant Time := Clock;
      Child : Process;
   begin
      Child.Start (Program, Options => Options, Timeout => Timeout);
      raise Unexpected with Text & ": the program started";
   exception
      when Timeout_Error =>
         Expect_In_Time (Text, Start, Timeout);
         Expect (not Child.Is_Running, Text & ": the program is running");
   end Expect_Timeout;

   procedure Hangs_In_Exec is
   begin
      for Turn in 1 .. 3 loop
         Expect_Timeout ("exec", Silent);
         Expect_Nothing_Left ("exec");
      end loop;
   end Hangs_In_Exec;

   procedure Hangs_In_Directory is
      Options : Settings := Silent;
   begin
      Options.Directory := To_Unbounded_String ("/");
      Expect_Timeout ("chdir", Options);
      Expect_Nothing_Left ("chdir");
   end Hangs_In_Directory;

   procedure Run_Hangs is
      Start : constant Time := Clock;
   begin
      Expect (Is_Success (Run (Program, Timeout => Limit).Status), "unreachable");
      raise Unexpected with "Run: the program ended";
   exception
      when Timeout_Error =>
         Expect_In_Time ("Run", Start);
         Expect_Nothing_Left ("Run");
   end Run_Hangs;

   --  Simulates a process that hangs in a file system so that even SIGKILL has no effect. The
   --  replacement of the library's kill reads this flag.

   Unkillable : Boolean := False with Volatile;

   function Kill (Id, Signal : int) return int
     with Export, Convention => C, External_Name => "__wrap_kill";
   function Real_Kill (Id, Signal : int) return int
     with Import, Convention => C, External_Name => "__real_kill";

   function Kill (Id, Signal : int) return int is
     (if Unkillable then -1 else Real_Kill (Id, Signal));

   --  On a busy machine, a short timeout may pass before there is a child

   procedure Expect_Hanging_Child (Text : String; Options : Settings) is
   begin
      Unkillable := True;
      for Timeout of Duration_List'(Limit, 10 * Limit, 100 * Limit) loop
         Expect_Timeout (Text, Options, Timeout);
         exit when Has_Call (Listener);
      end loop;
      Expect (Has_Call (Listener), Text & ": no child hangs");
   end Expect_Hanging_Child;

   procedure Cannot_Be_Killed is
   begin
      Expect_Hanging_Child ("unkillable", Silent);
      Expect (Has_Children, "unkillable: the process still exists");
      Expect (Open_Files = Files, "unkillable: open files");
      Unkillable := False;
   end Cannot_Be_Killed;

   --  A start that hangs in its directory does not keep another program's input open: the other
   --  program sees the end of its input

   procedure Holds_No_Input is
      Hanging : Settings := Silent;
      Reader  : Process;
      Status  : Exit_Status;

      task Answerer;

      task body Answerer is
      begin
         Continue_Call (Listener, Next_Call (Listener));
      end Answerer;
   begin
      Reader.Start ("/bin/cat", Options => Silent);
      Hanging.Directory := To_Unbounded_String ("/");
      Expect_Hanging_Child ("input", Hanging);
      Unkillable := False;
      begin
         Reader.Wait (Status, Timeout => 60.0);
      exception
         when Timeout_Error =>
            raise Unexpected with "input: the pipe of another child is held";
      end;
      Expect (Is_Success (Status), "input: the reader");
      Expect (Has_Children, "input: the child hangs");
      for Call in 1 .. 2 loop
         Continue_Call (Listener, Next_Call (Listener));
      end loop;
      Await_No_Children;
   end Holds_No_Input;

   --  Another program starts while the first start hangs

   procedure Hangs_Beside_Others is
      Is_Started : Boolean := False with Atomic;

      task Answerer;
      task Hanging;

      task body Hanging is
         Child  : Process;
         Status : Exit_Status;
      begin
         Child.Start (Program, Options => Silent, Timeout => 1_000.0);
         Is_Started := True;
         Child.Wait (Status);
      end Hanging;

      First : Call_Id := 0 with Atomic;

      task body Answerer is
      begin
         First := Next_Call (Listener);
         for Call in 1 .. 10 loop
            Continue_Call (Listener, Next_Call (Listener));
         end loop;
      end Answerer;
   begin
      while First = 0 loop
         delay 0.001;
      end loop;
      for Turn in 1 .. 10 loop
         Expect (Is_Success (Run (Program, Timeout => 60.0).Status), "another program can be run");
      end loop;
      Expect (not Is_Started, "the child hangs until the call returns");
      Continue_Call (Listener, First);
   end Hangs_Beside_Others;

   --  A change to this process's environment during a start does not affect the program

   procedure Keeps_Environment is

      package Variables renames Ada.Environment_Variables;

      Name : constant String := "HELD_START";

      task Changer;

      task body Changer is
         Held : Call_Id;
      begin
         Held := Next_Call (Listener);
         Variables.Set (Name, "changed");
         Continue_Call (Listener, Held);
      end Changer;

      Result : Outcome;
   begin
      Variables.Set (Name, "initial");
      Result := Run ("/usr/bin/printenv", [Name], Timeout => 60.0);
      Expect
        (To_String (Result.Output) = "initial" & Character'Val (10),
         "environment: " & To_String (Result.Output));
      Variables.Clear (Name);
   end Keeps_Environment;

   procedure Test is
   begin
      Expect (Listener >= 0, "this kernel cannot hold system calls");
      Hangs_In_Exec;
      Hangs_In_Directory;
      Run_Hangs;
      Hangs_Beside_Others;
      Expect_Nothing_Left ("others");
      Cannot_Be_Killed;
      Continue_Call (Listener, Next_Call (Listener));
      Await_No_Children;
      Expect_Nothing_Left ("after the process could be killed");
      Holds_No_Input;
      Keeps_Environment;
      Expect_Nothing_Left ("input");
   end Test;

end Held_Starts;
