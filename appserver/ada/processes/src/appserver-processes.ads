--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Starts other programs, writes to them and reads from them concurrently, and waits for them to
--  exit.
--
--     Result : constant Outcome := Run ("sort", ["-n"], Input => "10" & LF & "9" & LF);
--
--  Or step by step, as a dialog:
--
--     Child : Process;
--     …
--     Child.Start ("bc", Options => (Input => Piped, others => <>));
--     Child.Write ("6 * 7" & LF);
--     Put_Line (Child.Get_Line);
--     Child.Close_Input;
--     Child.Wait (Status);
--
--  A started program has three standard streams, and inherits no other open file of this process.
--  It has no blocked or ignored signals. It runs in a new process group, which its own child
--  processes join. It inherits CPU affinity, scheduling policy, nice value, credentials, namespaces
--  and cgroup from the task that starts it. It does not run in a shell.
--
--  Only one task at a time may use a process object. While this process writes to the program or
--  waits for it, this package also reads the program's output into memory, so the two processes
--  cannot deadlock. If a task is aborted while it waits, both the task and the program end within a
--  second.
--
--  Strings in this package contain bytes. For text with an encoding, see Appserver.Processes.Text.

pragma Ada_2022;

with Ada.Containers.Indefinite_Ordered_Maps;
with Ada.Containers.Indefinite_Vectors;
with Ada.Strings.Unbounded;

private with Ada.Finalization;

package Appserver.Processes is

   pragma Assertion_Policy (Pre => Check);

   use Ada.Strings.Unbounded;

   Start_Error   : exception;
   --  The program cannot be started. The exception's message contains the program's name and the
   --  system's reason.
   Timeout_Error : exception;
   Output_Error  : exception;
   --  The program wrote more than Max_Output bytes to a stream
   Pipe_Error    : exception;
   --  The program has closed its input, or a system call failed. The exception's message contains
   --  the reason.
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
      --  The input of the program. Discarded means that the input is empty.
      Output              : Plain_Use  := Piped;
      Error               : Stream_Use := Inherited;
      --  The error output of the program. As_Output merges the error output into the output.
      Directory           : Unbounded_String;
      --  The working directory. If empty, the program starts in this process's working directory. A
      --  program name that contains "/" but does not begin with "/" is relative to this directory.
      Inherit_Environment : Boolean := True;
      Environment         : String_Map;
      --  Variables of the program's environment, in addition to the environment of this process. If
      --  Inherit_Environment is False, these variables are the whole environment. A program name
      --  without "/" is always searched for in the PATH of this process.
      Max_Output          : Positive := 67_108_864;
      --  The maximum number of bytes of each stream that are buffered in memory until the caller
      --  reads them, or that Run returns. If a stream exceeds this maximum, Output_Error is raised.
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
   --  @param Status the exit status
   --  @return True if the program exited with code 0

   -------------
   -- Process --
   -------------

   type Process is tagged limited private;
   --  A program that this process runs. Initially, no program has been started. At the end of the
   --  object's scope, the program is killed if it is still running. Other programs in its process
   --  group are also killed, even if the program itself has exited. Neither a zombie process nor an
   --  open file remains. If a program cannot be killed, for example because it runs as another
   --  user, finalization stops waiting for it after at most one second. A later call to a
   --  subprogram of this package reaps that program.

   procedure Start
     (Self      : in out Process;
      Program   : String;
      Arguments : String_List := String_Lists.Empty_Vector;
      Options   : Settings := (others => <>);
      Timeout   : Duration := Start_Timeout)
     with Pre  => not Self.Is_Running
                  or else raise Misuse_Error with "the process is already running",
          Post => Self.Is_Running;
   --  Starts a program. The memory of this process is not copied, so the cost does not depend on
   --  the size of this process. An abort of the task takes effect after the call.
   --  @param Self the process
   --  @param Program a path, or a name to search for in PATH
   --  @param Arguments the arguments after the program's name
   --  @param Options the settings
   --  @param Timeout the maximum time in seconds until the program is loaded
   --  @exception Start_Error the program does not exist or is not executable, or the system lacks
   --  resources to start it
   --  @exception Timeout_Error the program was not loaded within Timeout, for example because its
   --  file system hangs. Start then kills the program, which takes at most one more second.

   function Is_Running (Self : Process) return Boolean;
   --  @param Self the process
   --  @return True if the program was started and Wait has not returned its exit status yet. The
   --  program itself may already have exited.

   function Process_Id (Self : Process) return Positive
     with Pre => Self.Is_Running or else raise Misuse_Error with "the process is not running";
   --  @param Self the process
   --  @return the process ID

   function Has_Input (Self : Process) return Boolean;
   --  @param Self the process
   --  @return True if the program's input is a pipe that is still open

   procedure Write (Self : in out Process; Bytes : String; Timeout : Duration := Forever)
     with Pre => Self.Has_Input
                 or else raise Misuse_Error with "the input is not a pipe, or is closed";
   --  Writes bytes to the input of the program.
   --  @param Self the process
   --  @param Bytes the bytes
   --  @param Timeout the maximum time in seconds
   --  @exception Timeout_Error the program did not read all bytes within Timeout; some may have
   --  been written
   --  @exception Pipe_Error the program has closed its input
   --  @exception Output_Error during the call, the program wrote more than Max_Output bytes to a
   --  stream

   procedure Close_Input (Self : in out Process)
     with Post => not Self.Has_Input;
   --  Closes the program's input. The program sees the end of the input, and may continue to write.
   --  @param Self the process

   type Source is (Output, Error);

   procedure Read
     (Self    : in out Process;
      Into    : out String;
      Last    : out Natural;
      From    : Source := Output;
      Timeout : Duration := Forever)
     with Pre  => Into'Length > 0 or else raise Misuse_Error with "the buffer is empty",
          Post => Last in Into'First - 1 .. Into'Last;
   --  Waits for at least one byte, and reads the bytes that are available.
   --  @param Self the process
   --  @param Into receives the bytes
   --  @param Last set to the index of the last byte read, or to Into'First - 1 at the end of the
   --  stream or if the stream is not a pipe
   --  @param From the stream
   --  @param Timeout the maximum time in seconds
   --  @exception Timeout_Error no byte arrived within Timeout

   function Read_All
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return String;
   --  Reads all bytes up to the end of a stream.
   --  @param Self the process
   --  @param From the stream
   --  @param Timeout the maximum time in seconds
   --  @return the bytes
   --  @exception Timeout_Error the stream did not end within Timeout

   function Has_Line
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return Boolean;
   --  Waits for a line or the end of a stream.
   --  @param Self the process
   --  @param From the stream
   --  @param Timeout the maximum time in seconds
   --  @return True if there is a line, False at the end of the stream
   --  @exception Timeout_Error neither a line nor the end arrived within Timeout

   function Get_Line
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return String;
   --  Reads the next line.
   --  @param Self the process
   --  @param From the stream
   --  @param Timeout the maximum time in seconds
   --  @return the line without its line feed, which the last line may lack
   --  @exception End_Error there are no more lines
   --  @exception Timeout_Error no line arrived within Timeout

   procedure Wait
     (Self : in out Process; Status : out Exit_Status; Timeout : Duration := Forever)
     with Pre  => (Self.Is_Running and then not Status'Constrained)
                  or else raise Misuse_Error with
                    "the process is not running, or the status is constrained",
          Post => not Self.Is_Running;
   --  Closes the program's input and waits for the program to exit. Afterwards, the output of the
   --  program can still be read.
   --  @param Self the process
   --  @param Status the exit status
   --  @param Timeout the maximum time in seconds
   --  @exception Timeout_Error the program is still running. Call Kill, or Wait again.

   procedure Kill (Self : in out Process; Signal : Signal_Number := SIGKILL)
     with Pre => Self.Is_Running or else raise Misuse_Error with "the process is not running";
   --  Sends a signal to the program and to the other members of its process group.
   --  @param Self the process
   --  @param Signal the signal

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
     with Pre => Options.Input = Piped or else Input = ""
                 or else raise Misuse_Error with "the input is not a pipe";
   --  Starts a program, writes its input, reads its output and error output to the end, and waits
   --  for the program to exit. Then kills any processes that the program left running in its
   --  process group.
   --  @param Program a path, or a name to search for in PATH
   --  @param Arguments the arguments after the program's name
   --  @param Input the input. The program may exit without reading all of the input.
   --  @param Options the settings
   --  @param Timeout the maximum time in seconds
   --  @return the exit status, the output and the error output
   --  @exception Start_Error the program cannot be started
   --  @exception Timeout_Error the whole call took longer than Timeout, or the start took longer
   --  than Start_Timeout. The program and its process group were killed.
   --  @exception Output_Error the program wrote more than Max_Output bytes to a stream

private

   type Descriptor is new Integer range -1 .. Integer'Last;
   None : constant Descriptor := -1;

   type String_Access is access String;

   --  The bytes that this package has read from a pipe, and that the caller has not read yet

   type Buffer is limited record
      Max_Length  : Positive := Positive'Last;
      File        : Descriptor := None;
      --  The end of the pipe to read from; None after the end of the stream
      Bytes       : String_Access := null;
      First       : Positive := 1;
      Last        : Natural := 0;
      Searched_To : Natural := 0;
      --  The index up to which Bytes contains no line feed
   end record;

   type Buffer_List is array (Source) of Buffer;

   type Process is new Ada.Finalization.Limited_Controlled with record
      Id      : Natural := 0;
      Rest_Id : Natural := 0;
      --  The process ID of a program that has exited while other members of its process group are
      --  still running; 0 if there is no such program
      Exits   : Descriptor := None;
      --  A pidfd, which becomes readable when the process exits. Open while Id or Rest_Id is set.
      Input   : Descriptor := None;
      Buffers : Buffer_List;
   end record;

   overriding procedure Finalize (Self : in out Process);

   function Is_Running (Self : Process) return Boolean is (Self.Id > 0);
   function Process_Id (Self : Process) return Positive is (Self.Id);
   function Has_Input (Self : Process) return Boolean is (Self.Input /= None);

end Appserver.Processes;
