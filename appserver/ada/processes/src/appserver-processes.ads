--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Starts other programs, writes to them and reads from them at the same time, and waits for their
--  exit.
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
--  A started program has its three streams and no other open file of this process, no blocked or
--  ignored signals, and a process group of its own, which its children join. It inherits CPU
--  affinity, scheduling policy, nice value, credentials, namespaces and cgroup from the task that
--  starts it. No shell is involved.
--
--  Only one task at a time may use a process object. While this process writes or waits, it reads
--  the program's output into memory, so the two never wait for each other. A task that is aborted
--  while it waits ends within a second, and so does the program.
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
   --  The program cannot be started. The message has its name and the system's reason.
   Timeout_Error : exception;
   Output_Error  : exception;
   --  The program wrote more than Max_Output
   Pipe_Error    : exception;
   --  The program has closed its input, or a system call failed. The message has the reason.
   End_Error     : exception;
   --  The stream has no more lines

   Forever : constant Duration := Duration'Last;

   Start_Timeout : constant Duration := 60.0;
   --  The default timeout of Start, in seconds

   package String_Lists is new Ada.Containers.Indefinite_Vectors (Positive, String);
   package String_Maps is new Ada.Containers.Indefinite_Ordered_Maps (String, String);

   subtype String_List is String_Lists.Vector;
   subtype String_Map is String_Maps.Map;

   type Stream_Use is (Inherited, Piped, Discarded, As_Output);
   subtype Plain_Use is Stream_Use range Inherited .. Discarded;

   type Settings is record
      Input               : Plain_Use  := Discarded;
      --  Discarded: the input is empty
      Output              : Plain_Use  := Piped;
      Error               : Stream_Use := Inherited;
      --  As_Output: in one stream with the output
      Directory           : Unbounded_String;
      --  The working directory; this process's if empty. The path of a program with "/" is relative
      --  to it.
      Inherit_Environment : Boolean := True;
      Environment         : String_Map;
      --  Added to the environment of this process; without Inherit_Environment, all of the
      --  environment. A program without "/" is searched for in the PATH of this process.
      Max_Output          : Positive := 67_108_864;
      --  The maximum number of bytes of each stream that are kept in memory until they are read, or
      --  that Run returns. More raises Output_Error.
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
   --  Initially not started. At the end of the object's scope, a program that still runs is killed.
   --  So are the programs that it started and that are still in its process group, even if it has
   --  exited itself. No zombie and no open file remain. A program that cannot be killed, such as
   --  one that runs as another user, is left running after at most a second. A later call to this
   --  package removes its zombie.

   procedure Start
     (Self      : in out Process;
      Program   : String;
      Arguments : String_List := String_Lists.Empty_Vector;
      Options   : Settings := (others => <>);
      Timeout   : Duration := Start_Timeout)
     with Pre  => not Self.Is_Running,
          Post => Self.Is_Running;
   --  Does not copy the memory of this process, so the cost does not depend on its size. Raises
   --  Start_Error if the program does not exist, may not be executed, or needs more resources than
   --  the system has. Raises Timeout_Error if the program has not been loaded within Timeout
   --  seconds, for example because its file system or that of its directory hangs. Start then kills
   --  it, and waits for that for at most another second. An abort takes effect after the call.

   function Is_Running (Self : Process) return Boolean;
   --  True if it was started and has not been waited for yet; it may have exited

   function Process_Id (Self : Process) return Positive
     with Pre => Self.Is_Running;

   function Has_Input (Self : Process) return Boolean;
   --  True if its input is a pipe that is still open

   procedure Write (Self : in out Process; Bytes : String; Timeout : Duration := Forever)
     with Pre => Self.Has_Input;
   --  Writes all of Bytes. Raises Timeout_Error if the program does not read them within Timeout
   --  seconds; some may have been written.

   procedure Close_Input (Self : in out Process)
     with Post => not Self.Has_Input;
   --  The program sees the end of its input. It may go on writing.

   type Source is (Output, Error);

   procedure Read
     (Self    : in out Process;
      Into    : out String;
      Last    : out Natural;
      From    : Source := Output;
      Timeout : Duration := Forever)
     with Pre  => Into'Length > 0,
          Post => Last in Into'First - 1 .. Into'Last;
   --  Waits for at least one byte. Last is Into'First - 1 at the end of the stream, or if it is not
   --  a pipe.

   function Read_All
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return String;
   --  Everything up to the end of the stream

   function Has_Line
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return Boolean;
   --  Waits for a line or the end of the stream. False at the end.

   function Get_Line
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return String;
   --  The next line, without its line feed. The last line may lack one. Raises End_Error after the
   --  last line.

   procedure Wait
     (Self : in out Process; Status : out Exit_Status; Timeout : Duration := Forever)
     with Pre  => Self.Is_Running and then not Status'Constrained,
          Post => not Self.Is_Running;
   --  Closes the program's input and waits for its exit. Its output can still be read. Raises
   --  Timeout_Error if it still runs; it can then be killed, or waited for again.

   procedure Kill (Self : in out Process; Signal : Signal_Number := SIGKILL)
     with Pre => Self.Is_Running;
   --  Sends the signal to the program, and to its children that did not leave its process group

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
   --  Starts the program, writes the input, reads up to the end of output and error, and waits for
   --  the exit. A program that does not read all its input is no error. If all of this takes longer
   --  than Timeout, or the start longer than Start_Timeout, the program is killed with its group,
   --  and Timeout_Error is raised. What the program has left running is killed at the end.

private

   type Descriptor is new Integer range -1 .. Integer'Last;
   None : constant Descriptor := -1;

   type String_Access is access String;

   --  Bytes that were read from a pipe and not yet by the caller

   type Buffer is limited record
      Max_Length  : Positive := Positive'Last;
      File        : Descriptor := None;
      --  None at the end
      Bytes       : String_Access := null;
      First       : Positive := 1;
      Last        : Natural := 0;
      Searched_To : Natural := 0;
      --  There is no line feed up to here
   end record;

   type Buffer_List is array (Source) of Buffer;

   type Process is new Ada.Finalization.Limited_Controlled with record
      Id      : Natural := 0;
      Rest_Id : Natural := 0;
      --  The Id of a program that exited before other members of its group
      Exits   : Descriptor := None;
      --  A pidfd, which is readable when the process has exited. Open while Id or Rest_Id is set.
      Input   : Descriptor := None;
      Buffers : Buffer_List;
   end record;

   overriding procedure Finalize (Self : in out Process);

   function Is_Running (Self : Process) return Boolean is (Self.Id > 0);
   function Process_Id (Self : Process) return Positive is (Self.Id);
   function Has_Input (Self : Process) return Boolean is (Self.Input /= None);

end Appserver.Processes;
