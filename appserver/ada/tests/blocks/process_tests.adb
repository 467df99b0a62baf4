--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Directories;
with Ada.Exceptions;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Strings.Unbounded;
with Ada.Text_IO;
with Appserver.Processes.Text;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Interfaces.C;
with Parallel;
with Stress_Time;

package body Process_Tests is

   use Ada.Strings.Unbounded;
   use Appserver.Processes;
   use AUnit.Assertions;
   use type Interfaces.C.int;

   LF : constant String := [1 => Character'Val (10)];

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   function Shell (Script : String) return String_List is (["-c", Script]);

   function Output_Of (Script : String; Options : Settings := (others => <>)) return String is
     (To_String (Run ("sh", Shell (Script), Options => Options).Output));

   procedure Expect_Start_Error (Program, Words : String; Options : Settings := (others => <>)) is
      Child : Process;
   begin
      Child.Start (Program, Options => Options);
      Assert (False, "started: " & Program);
   exception
      when Error : Start_Error =>
         Assert
           (Ada.Strings.Fixed.Index (Ada.Exceptions.Exception_Message (Error), Words) > 0,
            Ada.Exceptions.Exception_Message (Error) & " has " & Words);
         Assert (not Child.Is_Running, "not running");
   end Expect_Start_Error;

   --------------
   -- Leftover --
   --------------

   function Open_Files return Natural is
      use Interfaces.C;

      F_GETFD : constant := 1;

      function C_Fcntl (File, Command, Ignored : int) return int
        with Import, Convention => C_Variadic_2, External_Name => "fcntl";
      Result : Natural := 0;
   begin
      for File in int range 0 .. 1_023 loop
         Result := Result + Boolean'Pos (C_Fcntl (File, F_GETFD, 0) >= 0);
      end loop;
      return Result;
   end Open_Files;

   --  Returns True if there is a child, even one that has exited. Does not reap it.

   function Has_Children return Boolean is
      use Interfaces.C;

      function C_Wait_Id (Kind, Id : int; Info : access long; Options : int) return int
        with Import, Convention => C, External_Name => "waitid";

      P_ALL    : constant := 0;
      Anything : constant := 16#0100_0005#;
      --  WNOHANG, WEXITED and WNOWAIT
      Info     : aliased array (1 .. 16) of aliased long := [others => 0];
   begin
      return C_Wait_Id (P_ALL, 0, Info (1)'Access, Anything) = 0;
   end Has_Children;

   --  On a busy machine, a program may exit more than a second after it was killed. The
   --  finalization of a later process reaps it.

   procedure Expect_No_Children (Text : String) is
   begin
      for Wait in 1 .. 60_000 loop
         exit when not Has_Children;
         declare
            Later : Process with Unreferenced;
         begin
            delay 0.001;
         end;
      end loop;
      Assert (not Has_Children, Text);
   end Expect_No_Children;

   --  Returns False for a zombie, since a process that has exited may remain a zombie of the
   --  system's first process for a while

   function Is_Alive (Id : String) return Boolean is
      use Ada.Text_IO;
      File : File_Type;
   begin
      Open (File, In_File, "/proc/" & Id & "/stat");
      declare
         Line     : constant String := Get_Line (File);
         Name_End : constant Natural := Ada.Strings.Fixed.Index (Line, ") ");
      begin
         Close (File);
         return Line (Name_End + 2) /= 'Z';
      end;
   exception
      when Name_Error | Ada.Text_IO.End_Error | Device_Error =>
         return False;
   end Is_Alive;

   procedure Await_Death (Id : String) is
   begin
      for Turn in 1 .. 60_000 loop
         exit when not Is_Alive (Id);
         delay 0.001;
      end loop;
      Assert (not Is_Alive (Id), "killed: " & Id);
   end Await_Death;

   --------------
   -- Starting --
   --------------

   procedure Statuses (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert (Is_Success (Run ("true").Status), "success");
      Assert (Run ("sh", Shell ("exit 7")).Status = (Exited, 7), "a code");
      Assert (Run ("sh", Shell ("exit 255")).Status = (Exited, 255), "the maximum exit code");
      Assert (Run ("sh", Shell ("kill -KILL $$")).Status = (Signaled, SIGKILL, False), "killed");
      Assert (Run ("sh", Shell ("kill -TERM $$")).Status = (Signaled, SIGTERM, False), "a signal");
   end Statuses;

   procedure Cannot_Start (T : in out Fixture) is
      pragma Unreferenced (T);

      Name    : constant String := Ada.Command_Line.Argument (1) & "/no_program";
      File    : Ada.Text_IO.File_Type;
      Files   : constant Natural := Open_Files;
      Piped_3 : constant Settings := (Input | Output | Error => Piped, others => <>);
   begin
      Expect_Start_Error ("no-such-program", "no-such-program: No such file", Piped_3);
      Expect_Start_Error ("/no/such/program", "No such file", Piped_3);
      Expect_Start_Error ("/etc/passwd", "Permission denied", Piped_3);
      Expect_Start_Error
        ("true", "in /no/such/directory: No such file",
         (Directory => To_Unbounded_String ("/no/such/directory"), others => <>));
      Expect_Start_Error ("tr" & Character'Val (0) & "ue", "NUL");
      Ada.Text_IO.Create (File, Ada.Text_IO.Out_File, Name);
      Ada.Text_IO.Put_Line (File, "no program");
      Ada.Text_IO.Close (File);
      Assert (Is_Success (Run ("chmod", ["+x", Name]).Status), "executable");
      Expect_Start_Error (Name, "Exec format error", Piped_3);
      Expect_No_Children ("a child process remains");
      Assert (Open_Files = Files, "open files remain");
   end Cannot_Start;

   procedure Arguments (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert
        (To_String (Run ("printf", ["%s|", "a b", "", "'$HOME'", "*", """", LF]).Output),
         "a b||'$HOME'|*|""|" & LF & "|", "the arguments are passed unchanged");
   end Arguments;

   procedure Surroundings (T : in out Fixture) is
      pragma Unreferenced (T);
      Options : Settings :=
        (Directory => To_Unbounded_String ("/usr/bin"), Environment => ["NEW" => "1 2"],
         others => <>);
   begin
      Assert (Output_Of ("pwd; echo $NEW", Options), "/usr/bin" & LF & "1 2" & LF, "both");
      Assert (Output_Of ("test -n ""$PATH"" && echo set", Options), "set" & LF, "added");
      Options.Inherit_Environment := False;
      Assert
        (To_String (Run ("env", Options => Options).Output), "NEW=1 2" & LF,
         "the program has no other variables");
   end Surroundings;

   --  A program inherits no open files, and no blocked or ignored signals

   procedure Inherits_Nothing (T : in out Fixture) is
      pragma Unreferenced (T);
      use Interfaces.C;
      function C_Dup (File : int) return int
        with Import, Convention => C, External_Name => "dup";
      function C_Close (File : int) return int
        with Import, Convention => C, External_Name => "close";
      Copy    : constant int := C_Dup (0);
      Same    : Process;
      Options : Settings := (others => <>);
   begin
      Same.Start ("cat", Options => (Input => Piped, others => <>));
      Assert
        (To_String (Run ("ls", ["/proc/self/fd"]).Output),
         "0" & LF & "1" & LF & "2" & LF & "3" & LF, "three files, and the file that ls reads");
      Assert (C_Close (Copy) = 0, "closed");
      Assert
        (Output_Of ("grep SigBlk /proc/self/status | cut -f 2 | tr -d 0"), LF,
"no signal is blocked");
      Assert
        (Output_Of ("trap - PIPE; kill -PIPE $$; echo ignored"), "", "no signal is ignored");
      Options.Error := As_Output;
      Assert
        (Output_Of ("echo a; echo b >&2; echo c", Options), "a" & LF & "b" & LF & "c" & LF, "one");
      Options.Output := Discarded;
      Assert (Output_Of ("echo a; echo b >&2", Options), "", "discarded");
   end Inherits_Nothing;

   -------------
   -- Callers --
   -------------

   --  Attributes that Linux has for each thread

   package Linux_Threads is

      use Interfaces.C;

      procedure Raise_Nice (By : int);
      procedure Set_Batch_Policy;
      procedure Set_Timer_Slack (Nanoseconds : unsigned_long);
      procedure Forbid_New_Privileges;
      --  Applies to the calling thread, as does Pin

      procedure Pin (To_Last : Boolean);
      --  Pins the thread to the first or the last processor on which it may run

      function Attributes (Status, Stat, Timer_Slack : String) return String;
      --  Returns the attributes from the contents of these files of a thread

      function Own_Attributes return String;
      function Own_Id return String;
   end Linux_Threads;

   package body Linux_Threads is

      procedure Check (Code : int) is
      begin
         Assert (Code = 0, "a system call for the test fails");
      end Check;

      procedure Raise_Nice (By : int) is
         function C_Get_Priority (Which : int; Id : unsigned) return int
           with Import, Convention => C, External_Name => "getpriority";
         function C_Set_Priority (Which : int; Id : unsigned; Value : int) return int
           with Import, Convention => C, External_Name => "setpriority";
      begin
         Check (C_Set_Priority (0, 0, C_Get_Priority (0, 0) + By));
      end Raise_Nice;

      procedure Set_Batch_Policy is
         function C_Set_Scheduler (Id, Policy : int; Priority : in out int) return int
           with Import, Convention => C, External_Name => "sched_setscheduler";

         SCHED_BATCH : constant := 3;
         Priority    : int := 0;
      begin
         Check (C_Set_Scheduler (0, SCHED_BATCH, Priority));
      end Set_Batch_Policy;

      function C_Control (Option : int; First, Second, Third, Fourth : unsigned_long) return int
        with Import, Convention => C_Variadic_1, External_Name => "prctl";

      procedure Set_Timer_Slack (Nanoseconds : unsigned_long) is
         PR_SET_TIMERSLACK : constant := 29;
      begin
         Check (C_Control (PR_SET_TIMERSLACK, Nanoseconds, 0, 0, 0));
      end Set_Timer_Slack;

      procedure Forbid_New_Privileges is
         PR_SET_NO_NEW_PRIVS : constant := 38;
      begin
         Check (C_Control (PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
      end Forbid_New_Privileges;

      type Processors is array (0 .. 1_023) of Boolean with Pack;

      procedure Pin (To_Last : Boolean) is
         function C_Get (Id : int; Size : size_t; Set : out Processors) return int
           with Import, Convention => C, External_Name => "sched_getaffinity";
         function C_Set (Id : int; Size : size_t; Set : Processors) return int
           with Import, Convention => C, External_Name => "sched_setaffinity";

         Bytes  : constant := Processors'Length / 8;
         Usable : Processors := [others => False];
         Only   : Processors := [others => False];
         First  : Integer := Usable'First;
      begin
         Check (C_Get (0, Bytes, Usable));
         while not Usable (First) loop
            First := First + 1;
         end loop;
         for Number in First + 1 .. (if To_Last then Usable'Last else First) loop
            First := (if Usable (Number) then Number else First);
         end loop;
         Only (First) := True;
         Check (C_Set (0, Bytes, Only));
      end Pin;

      function Line (Text, Name : String) return String is
         First : constant Positive := Ada.Strings.Fixed.Index (Text, Name);
      begin
         return Text (First .. Ada.Strings.Fixed.Index (Text, LF, From => First));
      end Line;

      --  Fields are numbered as in proc(5). Field 2 is the name of the program.

      function Field (Stat : String; Number : Positive) return String is
         First : Positive := Ada.Strings.Fixed.Index (Stat, ") ", Ada.Strings.Backward) + 2;
      begin
         for Skipped in 3 .. Number - 1 loop
            First := Ada.Strings.Fixed.Index (Stat, " ", From => First) + 1;
         end loop;
         return Stat (First .. Ada.Strings.Fixed.Index (Stat, " ", From => First) - 1);
      end Field;

      function Attributes (Status, Stat, Timer_Slack : String) return String is
        (Line (Status, "NoNewPrivs:") & Line (Status, "Cpus_allowed_list:")
         & "nice " & Field (Stat, 19) & ", policy " & Field (Stat, 41)
         & ", timer slack " & Timer_Slack);

      function Text_Of (Path : String) return String is
         use Ada.Text_IO;
         File : File_Type;
         Text : Unbounded_String;
      begin
         Open (File, In_File, Path);
         while not End_Of_File (File) loop
            Append (Text, Get_Line (File) & LF);
         end loop;
         Close (File);
         return To_String (Text);
      end Text_Of;

      function Own_Id return String is
         Stat : constant String := Text_Of ("/proc/thread-self/stat");
      begin
         return Stat (1 .. Ada.Strings.Fixed.Index (Stat, " ") - 1);
      end Own_Id;

      function Own_Attributes return String is
        (Attributes
           (Status      => Text_Of ("/proc/thread-self/status"),
            Stat        => Text_Of ("/proc/thread-self/stat"),
            Timer_Slack => Text_Of ("/proc/" & Own_Id & "/timerslack_ns")));

   end Linux_Threads;

   function Thread_Count return Natural is
      Result : Natural := 0;

      procedure Count (Thread : Ada.Directories.Directory_Entry_Type) is
         pragma Unreferenced (Thread);
      begin
         Result := Result + 1;
      end Count;
   begin
      Ada.Directories.Search ("/proc/self/task", "[0-9]*", Process => Count'Access);
      return Result;
   end Thread_Count;

   procedure Expect_Threads (Count : Natural) is
   begin
      for Wait in 1 .. 60_000 loop
         exit when Thread_Count <= Count;
         delay 0.001;
      end loop;
      Assert (Thread_Count <= Count, "threads:" & Thread_Count'Image & ", before:" & Count'Image);
   end Expect_Threads;

   --  Different callers start the same program in turn: a program does not inherit attributes of an
   --  earlier caller

   procedure Inherits_From_Caller (T : in out Fixture) is
      pragma Unreferenced (T);
      use Linux_Threads;

      Before : constant Natural := Thread_Count;

      function Content (Name : String) return String is
        (To_String (Run ("cat", ["/proc/self/" & Name]).Output));

      procedure Expect_Own (Caller : String) is
      begin
         Assert
           (Attributes (Content ("status"), Content ("stat"), Content ("timerslack_ns")),
            Own_Attributes, Caller);
      end Expect_Own;

      procedure First (Number : Positive) is
         pragma Unreferenced (Number);
      begin
         Pin (To_Last => False);
         Raise_Nice (By => 7);
         Set_Timer_Slack (70_000);
         Forbid_New_Privileges;
         Expect_Own ("the first task");
      end First;

      procedure Second (Number : Positive) is
         pragma Unreferenced (Number);
      begin
         Pin (To_Last => True);
         Raise_Nice (By => 3);
         Set_Batch_Policy;
         Set_Timer_Slack (30_000);
         Expect_Own ("the second task");
      end Second;

   begin
      for Turn in 1 .. 2 loop
         Parallel.Run (1, First'Access);
         Parallel.Run (1, Second'Access);
         Expect_Own ("the main task");
      end loop;
      Expect_Threads (Before);
   end Inherits_From_Caller;

   --  A program that requests a signal at its parent's end stays alive when the task that started
   --  it has ended

   procedure Outlives_Task (T : in out Fixture) is
      pragma Unreferenced (T);
      Script : constant String :=
        "import ctypes, signal" & LF
        & "ctypes.CDLL(None).prctl(1, signal.SIGKILL)" & LF
        & "while True: print('>' + input(), flush=True)";
      Before : constant Natural := Thread_Count;
      Child  : Process;
      Caller : Unbounded_String;
      Status : Exit_Status;

      procedure Start (Number : Positive) is
         pragma Unreferenced (Number);
      begin
         Caller := To_Unbounded_String (Linux_Threads.Own_Id);
         Child.Start
           ("python3", ["-c", Script], (Input => Piped, Error => Discarded, others => <>));
         Child.Write ("asked" & LF);
         Assert (Child.Get_Line (Timeout => 60.0), ">asked", "the program has set its signal");
      end Start;
   begin
      Parallel.Run (1, Start'Access);
      for Wait in 1 .. 60_000 loop
         exit when not Ada.Directories.Exists ("/proc/self/task/" & To_String (Caller));
         delay 0.001;
      end loop;
      Assert
        (not Ada.Directories.Exists ("/proc/self/task/" & To_String (Caller)), "the task's thread");
      delay 0.05;
      Child.Write ("task has ended" & LF);
      Assert (Child.Get_Line (Timeout => 60.0), ">task has ended", "the program outlives the task");
      Child.Wait (Status, Timeout => 60.0);
      Expect_Threads (Before);
   end Outlives_Task;

   -------------
   -- Streams --
   -------------

   function Pattern (Length : Positive) return Unbounded_String is
      Line   : constant String := "0123456789abcdefghijklmnopqrstuvwxyz" & LF;
      Result : Unbounded_String;
   begin
      while Ada.Strings.Unbounded.Length (Result) < Length loop
         Append (Result, Line);
      end loop;
      return Head (Result, Length);
   end Pattern;

   procedure Any_Size (T : in out Fixture) is
      pragma Unreferenced (T);
      Large  : constant Unbounded_String := Pattern (10_000_000);
      Result : constant Outcome :=
        Run ("sh", Shell ("head -c 3000000 /dev/zero >&2; cat; head -c 3000000 /dev/zero >&2"),
             Input => To_String (Large), Timeout => 60.0);
      Child  : Process;
      Status : Exit_Status;

      --  The stack of a task is smaller than this

      procedure In_A_Task (Number : Positive) is
         pragma Unreferenced (Number);
      begin
         Assert (Run ("cat", Input => To_String (Large)).Output = Large, "a task runs the program");
      end In_A_Task;

   begin
      Parallel.Run (1, In_A_Task'Access);
      Assert (Result.Output = Large, "the output equals the input");
      Assert (Length (Result.Error) = 6_000_000, "the error output is complete");
      Child.Start ("cat", Options => (Input => Piped, others => <>));
      Child.Write (To_String (Large), Timeout => 60.0);
      Child.Close_Input;
      Child.Wait (Status, Timeout => 60.0);
      Assert (Is_Success (Status), "the program writes its whole output before any of it is read");
      Assert (Child.Read_All = To_String (Large), "the output can be read after the exit");
      Assert (Child.Read_All, "", "there is no more output");
   end Any_Size;

   procedure Conversation (T : in out Fixture) is
      pragma Unreferenced (T);
      Child  : Process;
      Status : Exit_Status;
      Bytes  : String (1 .. 4);
      Last   : Natural;
   begin
      Child.Start ("cat", Options => (Input => Piped, others => <>));
      for Turn in 1 .. 100 loop
         Child.Write ("line" & Turn'Image & LF);
         Assert (Child.Get_Line, "line" & Turn'Image, "echoed");
      end loop;
      begin
         Assert (Child.Get_Line (Timeout => 0.01), "", "unreachable");
      exception
         when Timeout_Error =>
            Child.Write ("abcdef" & LF & LF & "end");
      end;
      Child.Read (Bytes, Last, Timeout => 60.0);
      Assert (Bytes (1 .. Last), "abcd", "bytes");
      Assert (Child.Get_Line, "ef", "the rest of the line");
      Child.Close_Input;
      Assert
        (not Child.Has_Input and then Child.Has_Line,
         "the input is closed, and the output is open");
      Assert (Child.Get_Line, "", "an empty line");
      Assert (Child.Get_Line, "end", "a last line without a line feed");
      Assert (not Child.Has_Line, "there are no more lines");
      begin
         Assert (Child.Get_Line, "", "unreachable");
      exception
         when Appserver.Processes.End_Error =>
            null;
      end;
      Child.Read (Bytes, Last);
      Assert (Last = 0, "the end of the output");
      Child.Wait (Status);
      Assert (Is_Success (Status), "ended");
      Child.Start ("true");
      Child.Wait (Status);
   end Conversation;

   procedure Does_Not_Read (T : in out Fixture) is
      pragma Unreferenced (T);
      Child : Process;
   begin
      Assert
        (Is_Success (Run ("true", Input => To_String (Pattern (1_000_000))).Status),
"no error if the program does not read its input");
      Child.Start ("sleep", ["1000"], (Input => Piped, others => <>));
      begin
         Child.Write (To_String (Pattern (1_000_000)), Timeout => 0.05);
         Assert (False, "unreachable");
      exception
         when Timeout_Error =>
            Child.Kill;
      end;
      begin
         loop
            Child.Write (To_String (Pattern (1_000_000)), Timeout => 60.0);
         end loop;
      exception
         when Pipe_Error =>
            null;
      end;
   end Does_Not_Read;

   procedure Texts (T : in out Fixture) is
      pragma Unreferenced (T);
      use Appserver.Processes.Text;

      Child : Process;
      Text  : constant Wide_Wide_String :=
        "Gr" & Wide_Wide_Character'Val (16#FC#) & Wide_Wide_Character'Val (16#1F600#);
   begin
      Child.Start ("cat", Options => (Input => Piped, others => <>));
      Put_Line (Child, Text);
      Assert (Get_Line (Child) = Text, "UTF-8");
      Put_Line (Child, Text (1 .. 3), As => Latin_1);
      Assert (Get_Line (Child, As => Latin_1) = Text (1 .. 3), "Latin-1");
      begin
         Put (Child, Text, As => Latin_1);
         Assert (False, "unreachable");
      exception
         when Encoding_Error =>
            null;
      end;
      Child.Write ("a" & Character'Val (16#FC#) & "b" & LF & "next" & LF);
      begin
         Assert (Wide_Wide_String'(Get_Line (Child))'Length = 0, "unreachable");
      exception
         when Encoding_Error =>
            null;
      end;
      Assert (Get_Line (Child) = Wide_Wide_String'("next"), "the next line can be read");
   end Texts;

   procedure Iterated (T : in out Fixture) is
      pragma Unreferenced (T);
      use Appserver.Processes.Text;
      Child : Process;
      All_Lines : Unbounded_String;
   begin
      Child.Start ("sh", Shell ("printf 'a\n\nb c\nd'; seq 5 >&2"), (Error => Piped, others => <>));
      for Line of Lines (Child) loop
         Append (All_Lines, Line & ";");
      end loop;
      for Line of Lines (Child, Error) loop
         Append (All_Lines, Line);
         exit when Line = "3";
      end loop;
      Assert (To_String (All_Lines), "a;;b c;d;123", "the lines are in order");
      Assert (Child.Get_Line (Error), "4", "the other lines can still be read");
   end Iterated;

   --------------------
   -- Process groups --
   --------------------

   procedure Timeouts (T : in out Fixture) is
      pragma Unreferenced (T);
      Child  : Process;
      Status : Exit_Status;
   begin
      Child.Start ("sh", Shell ("sleep 1000 & echo $!; wait"));
      declare
         Grandchild : constant String := Child.Get_Line;
      begin
         Assert (Is_Alive (Grandchild), "the grandchild is running");
         begin
            Child.Wait (Status, Timeout => 0.05);
            Assert (False, "unreachable");
         exception
            when Timeout_Error =>
               Assert (Child.Is_Running, "the program is still running");
         end;
         Child.Kill;
         Child.Wait (Status);
         Assert (Status = (Signaled, SIGKILL, False), "killed");
         Await_Death (Grandchild);
      end;
      begin
         Assert (Is_Success (Run ("sleep", ["1000"], Timeout => 0.05).Status), "unreachable");
      exception
         when Error : Timeout_Error =>
            Assert
              (Ada.Exceptions.Exception_Message (Error) = "sleep did not exit within the timeout",
               "message");
            Expect_No_Children ("no process remains");
      end;
   end Timeouts;

   procedure Left_Running (T : in out Fixture) is
      pragma Unreferenced (T);
      Id : Unbounded_String;
   begin
      declare
         Child : Process;
      begin
         Child.Start ("sh", Shell ("sleep 1000 & echo $!; wait"));
         Id := To_Unbounded_String (Child.Get_Line);
         raise Constraint_Error;
      end;
   exception
      when Constraint_Error =>
         Await_Death (To_String (Id));
         Expect_No_Children ("no zombie remains");
   end Left_Running;

   --  Processes that a program started and left running are in its group

   procedure Left_By_Program (T : in out Fixture) is
      pragma Unreferenced (T);
      Id     : Unbounded_String;
      Status : Exit_Status;
      Quiet  : constant Settings := (Output => Piped, Error => Discarded, others => <>);
      Leave  : constant String := "sleep 1000 >/dev/null & echo $!";
   begin
      declare
         Child : Process;
      begin
         Child.Start ("sh", Shell (Leave), Quiet);
         Id := To_Unbounded_String (Child.Get_Line);
         Child.Wait (Status, Timeout => 60.0);
         Assert (Is_Success (Status), "the program has exited");
         Assert
           (Is_Alive (To_String (Id)),
            "a process that the program started runs until the scope ends");
      end;
      Await_Death (To_String (Id));
      Id := Run ("sh", Shell (Leave), Options => Quiet, Timeout => 60.0).Output;
      Await_Death (Slice (Id, 1, Length (Id) - 1));
   end Left_By_Program;

   --  A program that has moved to its parent's group is signaled by its process ID

   procedure Changed_Group (T : in out Fixture) is
      pragma Unreferenced (T);
      Changes : constant String :=
        "import os, time; os.setpgid(0, os.getpgid(os.getppid())); time.sleep(1000)";
   begin
      Assert (Is_Success (Run ("python3", ["-c", Changes], Timeout => 1.0).Status), "unreachable");
   exception
      when Timeout_Error =>
         Expect_No_Children ("no process remains");
   end Changed_Group;

   --  Finalization does not wait for a process that cannot be killed, such as another user's. The
   --  replacement of the library's kill reads Unkillable.

   Unkillable : Boolean := False with Volatile;

   function Kill (Id, Signal : Interfaces.C.int) return Interfaces.C.int
     with Export, Convention => C, External_Name => "__wrap_kill";
   function Real_Kill (Id, Signal : Interfaces.C.int) return Interfaces.C.int
     with Import, Convention => C, External_Name => "__real_kill";

   function Kill (Id, Signal : Interfaces.C.int) return Interfaces.C.int is
     (if Unkillable then -1 else Real_Kill (Id, Signal));

   procedure Cannot_Be_Killed (T : in out Fixture) is
      pragma Unreferenced (T);
      use Ada.Real_Time;

      Start : constant Time := Clock;
      Id    : Interfaces.C.int := 0;
   begin
      Unkillable := True;
      declare
         Child  : Process;
         Status : Exit_Status;
      begin
         Child.Start ("sleep", ["1000"]);
         Id := Interfaces.C.int (Child.Process_Id);
         Child.Wait (Status, Timeout => 0.1);
      exception
         when Timeout_Error =>
            null;
      end;
      Unkillable := False;
      Assert (Clock - Start < Seconds (600), "the finalization stopped waiting");
      Assert
        (Is_Alive (Ada.Strings.Fixed.Trim (Id'Image, Ada.Strings.Left)),
         "the program is still running");
      Assert (Real_Kill (Id, 9) = 0, "the program is killed later");
      Await_Death (Ada.Strings.Fixed.Trim (Id'Image, Ada.Strings.Left));
      Assert (Is_Success (Run ("true").Status), "another program can be run");
      Assert (not Has_Children, "its zombie was reaped, too");
   end Cannot_Be_Killed;

   --  A program that never stops writing does not fill the memory, and is killed in time

   procedure Never_Ends (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Expect_Output_Error (Max : Positive; Options : Settings) is
      begin
         Assert (Is_Success (Run ("yes", Options => Options).Status), "unreachable");
      exception
         when Error : Output_Error =>
            Assert
              (Ada.Strings.Fixed.Index
                 (Ada.Exceptions.Exception_Message (Error), Max'Image & " bytes") > 0,
               Ada.Exceptions.Exception_Message (Error));
            Expect_No_Children ("the program was killed");
      end Expect_Output_Error;

      Child : Process;
   begin
      Expect_Output_Error (100_000, (Max_Output => 100_000, others => <>));
      Expect_Output_Error (67_108_864, (others => <>));
      Assert
        (Length (Run ("head", ["-c", "100000", "/dev/zero"],
                      Options => (Max_Output => 100_000, others => <>)).Output) = 100_000,
         "the maximum output is allowed");
      begin
         Assert
           (Is_Success
              (Run ("yes", Options => (Max_Output => Positive'Last, others => <>),
                    Timeout => 0.1).Status),
            "unreachable");
      exception
         when Timeout_Error =>
            Expect_No_Children ("the program was killed in time");
      end;
      Child.Start ("yes", Options => (Max_Output => 200_000, others => <>));
      declare
         Status : Exit_Status;
      begin
         Child.Wait (Status, Timeout => 60.0);
         Assert (False, "unreachable");
      exception
         when Output_Error =>
            Assert
              (Child.Is_Running and then Child.Get_Line = "y",
               "output within the limit can be read");
      end;
   end Never_Ends;

   --  Runs a separate program, since its system calls are held

   procedure Start_Hangs (T : in out Fixture) is
      pragma Unreferenced (T);

      Hanging_Starts : constant String :=
        Ada.Directories.Compose
          (Ada.Directories.Containing_Directory (Ada.Command_Line.Command_Name),
           "hanging_starts");
      Result         : constant Outcome := Run (Hanging_Starts, Timeout => 600.0);
   begin
      Assert (Is_Success (Result.Status), To_String (Result.Output & Result.Error));
   end Start_Hangs;

   --  Enough concurrent starts to create additional threads for them

   procedure Cannot_Start_At_Once (T : in out Fixture) is
      pragma Unreferenced (T);

      Files : constant Natural := Open_Files;

      procedure Work (Number : Positive) is
         pragma Unreferenced (Number);
      begin
         Expect_Start_Error ("/no/such/program", "No such file");
      end Work;
   begin
      Parallel.Run (100, Work'Access);
      Expect_No_Children ("a child process remains");
      Assert (Open_Files = Files, "open files remain");
   end Cannot_Start_At_Once;

   --  Many tasks start programs, and are aborted; nothing leaks

   procedure Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      Files : constant Natural := Open_Files;

      procedure Work (Number : Positive) is
         Name : constant String := Number'Image;
      begin
         for Turn in 1 .. 10 loop
            Assert
              (To_String (Run ("cat", Input => Name).Output), Name,
               "each program returns its own output");
            Expect_Start_Error ("/no/such/program", "No such file");
         end loop;
      end Work;

      procedure Abort_Some is
         task type Worker;

         task body Worker is
            Child : Process;
         begin
            loop
               Child.Start ("cat", Options => (Input | Error => Piped, others => <>));
               Child.Write ("a" & LF);
               exit when Child.Get_Line /= "a";
               Child.Close_Input;
            end loop;
         exception
            when others =>
               null;
         end Worker;

         Workers : array (1 .. 2) of Worker;
      begin
         delay 0.01;
         for Each of Workers loop
            abort Each;
         end loop;
      end Abort_Some;

      procedure Start_Again (Child : in out Process) is
         Status : Exit_Status;
      begin
         Child.Start ("true");
         Child.Wait (Status);
      end Start_Again;

      procedure Round is
         Child : Process;
      begin
         Parallel.Run (3, Work'Access);
         for Turn in 1 .. 5 loop
            Abort_Some;
            Start_Again (Child);
         end loop;
      end Round;

   begin
      Stress_Time.Repeat (Round'Access);
      Assert (Open_Files = Files, "open files:" & Open_Files'Image & ", before:" & Files'Image);
      Expect_No_Children ("no zombie remains");
   end Stress;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("processes: " & Text, Test));
      end Add;
   begin
      Add ("exit statuses", Statuses'Access);
      Add ("programs that cannot be started", Cannot_Start'Access);
      Add ("arguments", Arguments'Access);
      Add ("environment and directory", Surroundings'Access);
      Add ("no other files and no signals are inherited", Inherits_Nothing'Access);
      Add ("programs started by different tasks", Inherits_From_Caller'Access);
      Add ("a program that outlives the task that starts it", Outlives_Task'Access);
      Add ("streams of any size", Any_Size'Access);
      Add ("a dialog", Conversation'Access);
      Add ("a program that does not read", Does_Not_Read'Access);
      Add ("texts", Texts'Access);
      Add ("lines", Iterated'Access);
      Add ("timeouts", Timeouts'Access);
      Add ("a program that is running at the end of the scope", Left_Running'Access);
      Add ("processes left by a program that has exited", Left_By_Program'Access);
      Add ("a program that has changed its group", Changed_Group'Access);
      Add ("a program that cannot be killed", Cannot_Be_Killed'Access);
      Add ("a program that never stops writing", Never_Ends'Access);
      Add ("a start that hangs", Start_Hangs'Access);
      Add ("many programs that cannot be started", Cannot_Start_At_Once'Access);
      Add ("many tasks", Stress'Access);
      return Result;
   end Suite;

end Process_Tests;
