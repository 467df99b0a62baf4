--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Other programs: they are started, written to and read from at the same time, and waited for.
--
--     Result : constant Outcome := Run ("sort", ["-n"], Input => "10" & LF & "9" & LF);
--
--  or step by step, in a conversation:
--
--     Child : Process;
--     …
--     Child.Start ("bc", Options => (Input => Piped, others => <>));
--     Child.Write ("6 * 7" & LF);
--     Put_Line (Child.Get_Line);
--     Child.Close_Input;
--     Child.Wait (Status);
--
--  A started program has the streams that it is given and no other file of this process, no blocked
--  or ignored signals, and a process group of its own, with those that it starts. No shell is
--  between. A process object serves one task at a time. What a program writes while this process
--  writes or waits is kept in memory; so no amount of data makes the two wait for each other. A
--  task that is aborted while it waits ends within a second, and the program with it.
--
--  A String holds bytes here; Appserver.Processes.Text has text with an encoding.

pragma Ada_2022;

with Ada.Containers.Indefinite_Ordered_Maps;
with Ada.Containers.Indefinite_Vectors;
with Ada.Strings.Unbounded;

private with Ada.Finalization;

package Appserver.Processes is

   pragma Assertion_Policy (Pre => Check);

   use Ada.Strings.Unbounded;

   Start_Error   : exception;
   --  It cannot be started; the message has the program and the system's reason
   Timeout_Error : exception;
   Pipe_Error    : exception;
   --  The program does not read any more, or the system refuses to go on: the message says why
   End_Error     : exception;
   --  There are no more lines

   Forever : constant Duration := Duration'Last;

   package String_Lists is new Ada.Containers.Indefinite_Vectors (Positive, String);
   package String_Maps is new Ada.Containers.Indefinite_Ordered_Maps (String, String);

   subtype String_List is String_Lists.Vector;
   subtype String_Map is String_Maps.Map;

   type Stream_Use is (Inherited, Piped, Discarded, As_Output);
   subtype Plain_Use is Stream_Use range Inherited .. Discarded;

   type Settings is record
      Input               : Plain_Use  := Discarded;
      --  Discarded: empty
      Output              : Plain_Use  := Piped;
      Error               : Stream_Use := Inherited;
      --  As_Output: in one stream with the output
      Directory           : Unbounded_String;
      --  To run in; this process's if empty. A program named with "/" is looked for from there.
      Inherit_Environment : Boolean := True;
      Environment         : String_Map;
      --  Added to the environment of this process, or all of it. A program named without "/" is
      --  looked for in the PATH of this process.
   end record;

   -----------------
   -- Exit status --
   -----------------

   type Exit_Code is range 0 .. 255;
   type Signal_Number is range 1 .. 64;

   SIGINT  : constant Signal_Number := 2;
   SIGKILL : constant Signal_Number := 9;
   SIGTERM : constant Signal_Number := 15;

   type Exit_Kind is (Exited, Signaled);

   type Exit_Status (Kind : Exit_Kind := Exited) is record
      case Kind is
         when Exited =>
            Code : Exit_Code := 0;
         when Signaled =>
            Signal       : Signal_Number := SIGKILL;
            Is_Core_Kept : Boolean := False;
      end case;
   end record;

   function Is_Success (Status : Exit_Status) return Boolean is
     (Status.Kind = Exited and then Status.Code = 0);

   -------------
   -- Process --
   -------------

   type Process is tagged limited private;
   --  None at first. One that still runs when it leaves scope is killed, with its group. Nothing is
   --  left of it: no zombie, no open file.

   procedure Start
     (Self      : in out Process;
      Program   : String;
      Arguments : String_List := String_Lists.Empty_Vector;
      Options   : Settings := (others => <>))
     with Pre  => not Self.Is_Running,
          Post => Self.Is_Running;
   --  By posix_spawn: the cost does not depend on the size of this process. Start_Error if the
   --  program is not there, may not be executed, or the system has no room for it. The task cannot
   --  be aborted here.

   function Is_Running (Self : Process) return Boolean;
   --  Started and not waited for, though it may have exited

   function Process_Id (Self : Process) return Positive
     with Pre => Self.Is_Running;

   function Has_Input (Self : Process) return Boolean;
   --  There is a pipe to its input, which is not closed

   procedure Write (Self : in out Process; Bytes : String; Timeout : Duration := Forever)
     with Pre => Self.Has_Input;
   --  All of them. Timeout_Error if the program does not take them in time, in seconds; some may
   --  have been written.

   procedure Close_Input (Self : in out Process)
     with Post => not Self.Has_Input;
   --  The program sees an end, and may go on writing

   type Source is (Output, Error);

   procedure Read
     (Self    : in out Process;
      Into    : out String;
      Last    : out Natural;
      From    : Source := Output;
      Timeout : Duration := Forever)
     with Pre  => Into'Length > 0,
          Post => Last in Into'First - 1 .. Into'Last;
   --  Waits for at least one byte. Last is Into'First - 1 at the end, or if there is no pipe.

   function Read_All
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return String;
   --  Up to the end

   function Has_Line
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return Boolean;
   --  Waits for a line, or the end

   function Get_Line
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return String;
   --  Without its line feed. Bytes at the end without one are a line too. End_Error after the last.

   procedure Wait
     (Self : in out Process; Status : out Exit_Status; Timeout : Duration := Forever)
     with Pre  => Self.Is_Running and then not Status'Constrained,
          Post => not Self.Is_Running;
   --  For the program's exit. Its input is closed; what it wrote can still be read. Timeout_Error
   --  if it runs on; then it may be killed, or waited for again.

   procedure Kill (Self : in out Process; Signal : Signal_Number := SIGKILL)
     with Pre => Self.Is_Running;
   --  Sends the signal to its group: to it, and to those it started that did not leave the group

   ---------
   -- Run --
   ---------

   type Outcome is record
      Status : Exit_Status;
      Output : Unbounded_String;
      Error  : Unbounded_String;
   end record;

   function Run
     (Program   : String;
      Arguments : String_List := String_Lists.Empty_Vector;
      Input     : String := "";
      Options   : Settings := (Input => Piped, Output | Error => Piped, others => <>);
      Timeout   : Duration := Forever) return Outcome
     with Pre => Options.Input = Piped or else Input = "";
   --  Writes the input, reads up to the end of output and error, and waits for the exit. A program
   --  that does not read all its input is no error. After Timeout, its group is killed and
   --  Timeout_Error raised.

private

   type Descriptor is new Integer range -1 .. Integer'Last;
   None : constant Descriptor := -1;

   type String_Access is access String;

   --  Bytes that were read from a pipe and not yet taken

   type Buffer is limited record
      File  : Descriptor := None;
      --  None at the end
      Bytes : String_Access := null;
      First : Positive := 1;
      Last  : Natural := 0;
      Seen  : Natural := 0;
      --  There is no line feed up to here
   end record;

   type Buffer_List is array (Source) of Buffer;

   type Process is new Ada.Finalization.Limited_Controlled with record
      Id      : Natural := 0;
      Exits   : Descriptor := None;
      --  A pidfd: has input when the process has exited
      Input   : Descriptor := None;
      Buffers : Buffer_List;
   end record;

   overriding procedure Finalize (Self : in out Process);

   function Is_Running (Self : Process) return Boolean is (Self.Id > 0);
   function Process_Id (Self : Process) return Positive is (Self.Id);
   function Has_Input (Self : Process) return Boolean is (Self.Input /= None);

end Appserver.Processes;
