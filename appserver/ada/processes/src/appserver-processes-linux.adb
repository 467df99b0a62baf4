--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Containers.Vectors;
with Ada.Finalization;
with Appserver.Processes.Linux_Values;
with GNAT.OS_Lib;
with Interfaces.C.Strings;
with System;

package body Appserver.Processes.Linux is

   use Interfaces;
   use Interfaces.C;
   use Interfaces.C.Strings;
   use Linux_Values;

   package Id_Vectors is new Ada.Containers.Vectors (Positive, Positive);

   function Errno return int is (int (GNAT.OS_Lib.Errno));
   function Message (Code : int) return String is (GNAT.OS_Lib.Errno_Message (Integer (Code)));

   procedure Fail (Action : String) with No_Return;

   procedure Fail (Action : String) is
   begin
      raise Pipe_Error with Action & ": " & Message (Errno);
   end Fail;

   -----------
   -- Files --
   -----------

   type Pair is array (1 .. 2) of int with Convention => C;

   function C_Pipe2 (Files : out Pair; Flags : int) return int
     with Import, Convention => C, External_Name => "pipe2";
   function C_Close (File : int) return int
     with Import, Convention => C, External_Name => "close";
   function C_Open (Path : char_array; Flags : int) return int
     with Import, Convention => C_Variadic_2, External_Name => "open";
   function C_Fcntl (File, Command, Argument : int) return int
     with Import, Convention => C_Variadic_2, External_Name => "fcntl";
   function C_Read (File : int; Into : System.Address; Count : size_t) return ptrdiff_t
     with Import, Convention => C, External_Name => "read";
   function C_Write (File : int; From : System.Address; Count : size_t) return ptrdiff_t
     with Import, Convention => C, External_Name => "write";

   procedure Close (File : in out Descriptor) is
      Ignored : int;
   begin
      if File /= None then
         Ignored := C_Close (int (File));
         File := None;
      end if;
   end Close;

   --  Above the standard streams, which a process may have been started without

   procedure Raise_Above_Streams (File : in out Descriptor) is
      Low : Descriptor := File;
   begin
      if File in 0 .. 2 then
         File := Descriptor (C_Fcntl (int (Low), F_DUPFD_CLOEXEC, 3));
         Close (Low);
         if File = None then
            Fail ("fcntl");
         end if;
      end if;
   end Raise_Above_Streams;

   procedure Open_Pipe (Reading, Writing : out Descriptor) is
      Files : Pair;
   begin
      if C_Pipe2 (Files, O_CLOEXEC) /= 0 then
         Fail ("pipe");
      end if;
      Reading := Descriptor (Files (1));
      Writing := Descriptor (Files (2));
      Raise_Above_Streams (Reading);
      Raise_Above_Streams (Writing);
   end Open_Pipe;

   function Null_Device return Descriptor is
      Result : Descriptor := Descriptor (C_Open (To_C ("/dev/null"), O_RDWR + O_CLOEXEC));
   begin
      if Result = None then
         Fail ("/dev/null");
      end if;
      Raise_Above_Streams (Result);
      return Result;
   end Null_Device;

   procedure Never_Block (File : Descriptor) is
   begin
      if C_Fcntl (int (File), F_SETFL, O_NONBLOCK) /= 0 then
         Fail ("fcntl");
      end if;
   end Never_Block;

   procedure Read (File : Descriptor; Into : out String; Count : out Integer) is
   begin
      Count := Integer (C_Read (int (File), Into'Address, Into'Length));
      if Count < 0 and then Errno not in EAGAIN | EINTR then
         Fail ("read");
      end if;
   end Read;

   -------------
   -- Signals --
   -------------

   type Signal_Set is array (1 .. 16) of Unsigned_64 with Convention => C;

   procedure C_Empty_Set (Set : out Signal_Set)
     with Import, Convention => C, External_Name => "sigemptyset";
   procedure C_Fill_Set (Set : out Signal_Set)
     with Import, Convention => C, External_Name => "sigfillset";
   procedure C_Add (Set : in out Signal_Set; Signal : int)
     with Import, Convention => C, External_Name => "sigaddset";
   function C_Is_Member (Set : in out Signal_Set; Signal : int) return int
     with Import, Convention => C, External_Name => "sigismember";
   procedure C_Pending (Set : out Signal_Set)
     with Import, Convention => C, External_Name => "sigpending";
   procedure C_Mask (Operation : int; Set : in out Signal_Set; Old : access Signal_Set)
     with Import, Convention => C, External_Name => "pthread_sigmask";

   type Time_Span is record
      Seconds, Nanoseconds : long := 0;
   end record with Convention => C;

   function C_Wait_For
     (Set : in out Signal_Set; Info : System.Address; Span : in out Time_Span) return int
     with Import, Convention => C, External_Name => "sigtimedwait";

   --  SIGPIPE is blocked in this thread, and taken if the write raised it. Ignoring it would be a
   --  change to the whole process.

   procedure Write (File : Descriptor; Bytes : String; Count : out Integer) is
      Pipe, Before, Old : aliased Signal_Set;
      No_Wait : Time_Span;
      Code    : int;
      Ignored : int;
   begin
      pragma Abort_Defer;
      C_Empty_Set (Pipe);
      C_Add (Pipe, SIGPIPE);
      C_Mask (SIG_BLOCK, Pipe, Old'Access);
      C_Pending (Before);
      Count := Integer (C_Write (int (File), Bytes'Address, Bytes'Length));
      Code := Errno;
      if Count < 0 and then Code = EPIPE and then C_Is_Member (Before, SIGPIPE) = 0 then
         Ignored := C_Wait_For (Pipe, System.Null_Address, No_Wait);
      end if;
      C_Mask (SIG_SETMASK, Old, null);
      if Count < 0 then
         if Code in EAGAIN | EINTR then
            Count := 0;
         elsif Code = EPIPE then
            raise Pipe_Error with "the program does not read any more";
         else
            raise Pipe_Error with "write: " & Message (Code);
         end if;
      end if;
   end Write;

   function C_Kill (Id, Signal : int) return int
     with Import, Convention => C, External_Name => "kill";

   function C_Group_Of (Id : int) return int
     with Import, Convention => C, External_Name => "getpgid";
   function C_Signal_Group (Call, Process, Signal : long; Info : System.Address; Flags : long)
     return long
     with Import, Convention => C_Variadic_1, External_Name => "syscall";

   procedure Kill (Id : Positive; Signal : Signal_Number; Is_Sent : out Boolean) is
      Ignored : int;
   begin
      Ignored := C_Kill (-int (Id), int (Signal));
      if C_Group_Of (int (Id)) /= int (Id) then
         Ignored := C_Kill (int (Id), int (Signal));
      end if;
      Is_Sent := C_Kill (int (Id), 0) = 0;
   end Kill;

   function Has_Group (Id : Positive) return Boolean is (C_Kill (-int (Id), 0) = 0);

   Process_Group : constant := 4;
   --  PIDFD_SIGNAL_PROCESS_GROUP

   --  As long as the group has members, its number is no other process's. Linux before 6.9 sends a
   --  signal to a group by that number alone.

   procedure Kill_Rest (Id : Positive; Exits : Descriptor) is
      Ignored : int;
   begin
      if C_Signal_Group
          (SYS_pidfd_send_signal, long (Exits), long (SIGKILL), System.Null_Address,
           Process_Group) /= 0
        and then Errno = EINVAL
        and then C_Kill (int (Id), 0) /= 0
      then
         Ignored := C_Kill (-int (Id), int (SIGKILL));
      end if;
   end Kill_Rest;

   --------------
   -- Spawning --
   --------------

   --  A list of C's strings with null at its end, freed with its scope

   type Pointer_Array is array (Positive range <>) of aliased chars_ptr with Convention => C;

   type C_List (Size : Positive) is new Ada.Finalization.Limited_Controlled with record
      Pointers : Pointer_Array (1 .. Size) := [others => Null_Ptr];
   end record;

   overriding procedure Finalize (Self : in out C_List);

   overriding procedure Finalize (Self : in out C_List) is
   begin
      for Pointer of Self.Pointers loop
         Free (Pointer);
      end loop;
   end Finalize;

   procedure Put (Self : in out C_List; Index : Positive; Text : String) is
   begin
      if (for some Letter of Text => Letter = Character'Val (0)) then
         raise Start_Error with "a string with NUL cannot be passed to a program";
      end if;
      Self.Pointers (Index) := New_String (Text);
   end Put;

   --  Room for what glibc keeps in them: 80 and 336 bytes

   type Opaque is array (1 .. 64) of Unsigned_64 with Convention => C;

   subtype Result_Code is int;

   function C_Init_Actions (Actions : out Opaque) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawn_file_actions_init";
   function C_Destroy_Actions (Actions : in out Opaque) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawn_file_actions_destroy";
   function C_Add_Dup2 (Actions : in out Opaque; File, Onto : int) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawn_file_actions_adddup2";
   function C_Add_Chdir (Actions : in out Opaque; Path : char_array) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawn_file_actions_addchdir_np";
   function C_Add_Close_From (Actions : in out Opaque; First : int) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawn_file_actions_addclosefrom_np";
   function C_Init_Attributes (Attributes : out Opaque) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawnattr_init";
   function C_Destroy_Attributes (Attributes : in out Opaque) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawnattr_destroy";
   function C_Set_Flags (Attributes : in out Opaque; Flags : short) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawnattr_setflags";
   function C_Set_Group (Attributes : in out Opaque; Group : int) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawnattr_setpgroup";
   function C_Set_Mask (Attributes : in out Opaque; Set : in out Signal_Set) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawnattr_setsigmask";
   function C_Set_Default (Attributes : in out Opaque; Set : in out Signal_Set) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawnattr_setsigdefault";
   function C_Spawn
     (Id          : out int;
      Program     : char_array;
      Actions     : in out Opaque;
      Attributes  : in out Opaque;
      Arguments   : System.Address;
      Environment : System.Address) return Result_Code
     with Import, Convention => C, External_Name => "posix_spawnp";

   C_Environment : System.Address
     with Import, Convention => C, External_Name => "environ";

   procedure Check (Code : Result_Code; Action : String) is
   begin
      if Code /= 0 then
         raise Start_Error with Action & ": " & Message (Code);
      end if;
   end Check;

   type Spawn_Plan is new Ada.Finalization.Limited_Controlled with record
      Actions, Attributes : Opaque := [others => 0];
   end record;

   overriding procedure Initialize (Self : in out Spawn_Plan);
   overriding procedure Finalize (Self : in out Spawn_Plan);

   overriding procedure Initialize (Self : in out Spawn_Plan) is
   begin
      Check (C_Init_Actions (Self.Actions), "posix_spawn_file_actions_init");
      Check (C_Init_Attributes (Self.Attributes), "posix_spawnattr_init");
   end Initialize;

   overriding procedure Finalize (Self : in out Spawn_Plan) is
      Ignored : Result_Code;
   begin
      Ignored := C_Destroy_Actions (Self.Actions);
      Ignored := C_Destroy_Attributes (Self.Attributes);
   end Finalize;

   --  A new group, no signal blocked, all with their default action

   procedure Set_Attributes (Plan : in out Spawn_Plan) is
      None_Blocked, All_Signals : Signal_Set;
   begin
      C_Empty_Set (None_Blocked);
      C_Fill_Set (All_Signals);
      Check
        (C_Set_Flags
           (Plan.Attributes,
            POSIX_SPAWN_SETPGROUP + POSIX_SPAWN_SETSIGDEF + POSIX_SPAWN_SETSIGMASK),
         "posix_spawnattr_setflags");
      Check (C_Set_Group (Plan.Attributes, 0), "posix_spawnattr_setpgroup");
      Check (C_Set_Mask (Plan.Attributes, None_Blocked), "posix_spawnattr_setsigmask");
      Check (C_Set_Default (Plan.Attributes, All_Signals), "posix_spawnattr_setsigdefault");
   end Set_Attributes;

   procedure Set_Files (Plan : in out Spawn_Plan; Directory : String; Streams : Stream_List) is
   begin
      if Directory /= "" then
         Check (C_Add_Chdir (Plan.Actions, To_C (Directory)), Directory);
      end if;
      for Stream in Streams'Range loop
         if Streams (Stream) /= None then
            Check (C_Add_Dup2 (Plan.Actions, int (Streams (Stream)), int (Stream)), "dup2");
         end if;
      end loop;
      Check (C_Add_Close_From (Plan.Actions, 3), "closefrom");
   end Set_Files;

   procedure Spawn
     (Program     : String;
      Arguments   : String_List;
      Environment : String_List;
      Inherits    : Boolean;
      Directory   : String;
      Streams     : Stream_List;
      Id          : out Natural)
   is
      Plan       : Spawn_Plan;
      Words      : C_List (Natural (Arguments.Length) + 2);
      Variables  : C_List (Natural (Environment.Length) + 1);
      Started_Id : int := 0;
      Location   : constant String := (if Directory = "" then "" else " in " & Directory);
   begin
      Set_Attributes (Plan);
      Set_Files (Plan, Directory, Streams);
      Put (Words, 1, Program);
      for Index in 1 .. Natural (Arguments.Length) loop
         Put (Words, Index + 1, Arguments (Index));
      end loop;
      for Index in 1 .. Natural (Environment.Length) loop
         Put (Variables, Index, Environment (Index));
      end loop;
      Check
        (C_Spawn
           (Started_Id, To_C (Program), Plan.Actions, Plan.Attributes,
            Words.Pointers'Address,
            (if Inherits then C_Environment else Variables.Pointers'Address)),
         Program & Location);
      Id := Natural (Started_Id);
   end Spawn;

   -------------
   -- Exiting --
   -------------

   function C_Pidfd_Open (Call : long; Id, Flags : long) return long
     with Import, Convention => C_Variadic_1, External_Name => "syscall";
   function C_Wait_Pid (Id : int; Status : out Unsigned_32; Options : int) return int
     with Import, Convention => C, External_Name => "waitpid";

   function Exit_Events (Id : Positive) return Descriptor is
      Result : Descriptor := Descriptor (C_Pidfd_Open (SYS_pidfd_open, long (Id), 0));
   begin
      if Result = None then
         Fail ("pidfd_open");
      end if;
      Raise_Above_Streams (Result);
      return Result;
   end Exit_Events;

   --  The parts of the status are those of the macros WIFEXITED, WEXITSTATUS, WTERMSIG, WCOREDUMP

   function Exit_Of (Id : Positive) return Exit_Status is
      Status : Unsigned_32;
   begin
      while C_Wait_Pid (int (Id), Status, 0) < 0 loop
         if Errno /= EINTR then
            Fail ("waitpid");
         end if;
      end loop;
      if (Status and 16#7F#) = 0 then
         return (Kind => Exited, Code => Exit_Code (Shift_Right (Status, 8) and 16#FF#));
      else
         return
           (Kind         => Signaled,
            Signal       => Signal_Number (Status and 16#7F#),
            Is_Core_Kept => (Status and 16#80#) /= 0);
      end if;
   end Exit_Of;

   protected Abandoned is
      procedure Add (Id : Positive);
      procedure Reap;
   private
      Ids : Id_Vectors.Vector;
   end Abandoned;

   protected body Abandoned is

      procedure Add (Id : Positive) is
      begin
         Ids.Append (Id);
      end Add;

      procedure Reap is
         Ignored : Unsigned_32;
      begin
         for Index in reverse 1 .. Ids.Last_Index loop
            if C_Wait_Pid (int (Positive'(Ids (Index))), Ignored, WNOHANG) /= 0 then
               Ids.Delete (Index);
            end if;
         end loop;
      end Reap;

   end Abandoned;

   procedure Abandon (Id : Positive) is
   begin
      Abandoned.Add (Id);
   end Abandon;

   procedure Reap_Abandoned is
   begin
      Abandoned.Reap;
   end Reap_Abandoned;

   -------------
   -- Polling --
   -------------

   type Poll_Entry is record
      File      : int := -1;
      Requested : short := 0;
      Returned  : short := 0;
   end record with Convention => C;

   type Poll_Array is array (Poll_Kind) of Poll_Entry with Convention => C;

   function C_Poll
     (Files : in out Poll_Array; Count : unsigned_long; Milliseconds : int) return int
     with Import, Convention => C, External_Name => "poll";

   procedure Poll (Files : Poll_List; Milliseconds : Natural; Ready : out Ready_List) is
      Entries : Poll_Array;
      Found   : int;
   begin
      for Kind in Poll_Kind loop
         Entries (Kind) :=
           (File      => int (Files (Kind)),
            Requested => (if Kind = Input then POLLOUT else POLLIN),
            Returned  => 0);
      end loop;
      Found := C_Poll (Entries, Entries'Length, int (Milliseconds));
      if Found < 0 and then Errno /= EINTR then
         Fail ("poll");
      end if;
      for Kind in Poll_Kind loop
         Ready (Kind) := Found > 0 and then Entries (Kind).Returned /= 0;
      end loop;
   end Poll;

end Appserver.Processes.Linux;
