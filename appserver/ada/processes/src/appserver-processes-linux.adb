--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Containers.Vectors;
with Ada.Environment_Variables;
with Ada.Finalization;
with Ada.Strings.Fixed;
with Ada.Unchecked_Deallocation;
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

   --  Moves a descriptor above the standard streams, which may be closed if this process was
   --  started without them

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

   --  Blocks SIGPIPE in this thread, and consumes the signal if the write raised it. Ignoring
   --  SIGPIPE would affect the whole process.

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
            raise Pipe_Error with "the program has closed its input";
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

   --  As long as the group has members, its ID cannot be reused for another process. Linux before
   --  6.9 can signal a group only by its ID.

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
   -- Starting --
   --------------

   --  A null-terminated list of C strings, which is freed at the end of its scope

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
         raise Start_Error with "a string that contains a NUL cannot be passed to a program";
      end if;
      Self.Pointers (Index) := New_String (Text);
   end Put;

   --  Corresponds to struct request in appserver_processes_starters.c

   type C_Streams is array (0 .. 2) of int with Convention => C;

   type Request is record
      Paths, Arguments, Environment : System.Address := System.Null_Address;
      Directory    : chars_ptr := Null_Ptr;
      Streams      : C_Streams := [others => -1];
      Code         : int := 0;
      Id           : int := 0;
      Is_Abandoned : int := 0;
      Has_Ended    : int := 0;
   end record with Convention => C;

   Start_Ended  : constant := 0;
   Start_Killed : constant := 1;

   Kill_Wait : constant := 1_000;
   --  The maximum time in milliseconds to wait for a killed child to exit

   function C_Start (Self : in out Request; Milliseconds, Kill_Milliseconds : long) return int
     with Import, Convention => C, External_Name => "appserver_processes_start";
   function C_Has_Ended (Self : in out Request) return int
     with Import, Convention => C, External_Name => "appserver_processes_has_ended";

   type Variable_List is array (Positive) of chars_ptr with Convention => C;
   --  Terminated with null

   C_Environment : access constant Variable_List
     with Import, Convention => C, External_Name => "environ";

   function Environment return String_List is
   begin
      return Result : String_List do
         if C_Environment /= null then
            for Variable of C_Environment.all loop
               exit when Variable = Null_Ptr;
               Result.Append (Value (Variable));
            end loop;
         end if;
      end return;
   end Environment;

   --  A request with its strings. Must exist until the start ends, even if the start hangs and is
   --  abandoned.

   type Start_Plan;
   type Plan_Access is access Start_Plan;

   type Start_Plan (Path_Count, Word_Count, Variable_Count : Positive) is limited record
      Request   : Linux.Request;
      Paths     : C_List (Path_Count);
      Words     : C_List (Word_Count);
      Variables : C_List (Variable_Count);
      Directory : C_List (1);
      Next      : Plan_Access := null;
   end record;

   procedure Free is new Ada.Unchecked_Deallocation (Start_Plan, Plan_Access);

   protected Hanging_Starts is
      procedure Add (Plan : not null Plan_Access);
      procedure Take_Ended (Plan : out Plan_Access);
      --  Sets Plan to null if no start has ended
   private
      First : Plan_Access := null;
   end Hanging_Starts;

   protected body Hanging_Starts is

      procedure Add (Plan : not null Plan_Access) is
      begin
         Plan.Next := First;
         First := Plan;
      end Add;

      procedure Take_Ended (Plan : out Plan_Access) is
         Before : Plan_Access := null;
      begin
         Plan := First;
         while Plan /= null and then C_Has_Ended (Plan.Request) = 0 loop
            Before := Plan;
            Plan := Plan.Next;
         end loop;
         if Plan = null then
            return;
         elsif Before = null then
            First := Plan.Next;
         else
            Before.Next := Plan.Next;
         end if;
      end Take_Ended;

   end Hanging_Starts;

   procedure Put_All (Self : in out C_List; First : Positive; Texts : String_List) is
   begin
      for Index in 1 .. Natural (Texts.Length) loop
         Put (Self, First + Index - 1, Texts (Index));
      end loop;
   end Put_All;

   --  Like execvp(3), treats an empty entry of PATH as the working directory

   function Paths_Of (Program : String) return String_List is
      Path  : constant String := Ada.Environment_Variables.Value ("PATH", "/bin:/usr/bin");
      First : Positive := Path'First;
      Colon : Natural;
   begin
      if Program = "" or else Ada.Strings.Fixed.Index (Program, "/") > 0 then
         return [Program];
      end if;
      return Result : String_List do
         while First <= Path'Last + 1 loop
            Colon := Ada.Strings.Fixed.Index (Path (First .. Path'Last), ":");
            if Colon = 0 then
               Colon := Path'Last + 1;
            end if;
            Result.Append
              (if Colon = First then Program else Path (First .. Colon - 1) & "/" & Program);
            First := Colon + 1;
         end loop;
      end return;
   end Paths_Of;

   function New_Plan
     (Program     : String;
      Arguments   : String_List;
      Environment : String_List;
      Directory   : String;
      Streams     : Stream_List) return not null Plan_Access
   is
      Paths : constant String_List := Paths_Of (Program);
      Plan  : Plan_Access := new Start_Plan
        (Path_Count     => Natural (Paths.Length) + 1,
         Word_Count     => Natural (Arguments.Length) + 2,
         Variable_Count => Natural (Environment.Length) + 1);
   begin
      Put_All (Plan.Paths, 1, Paths);
      Put (Plan.Words, 1, Program);
      Put_All (Plan.Words, 2, Arguments);
      Put_All (Plan.Variables, 1, Environment);
      if Directory /= "" then
         Put (Plan.Directory, 1, Directory);
      end if;
      Plan.Request :=
        (Paths       => Plan.Paths.Pointers'Address,
         Arguments   => Plan.Words.Pointers'Address,
         Environment => Plan.Variables.Pointers'Address,
         Directory   => Plan.Directory.Pointers (1),
         Streams     => [for Stream in Streams'Range => int (Streams (Stream))],
         others      => <>);
      return Plan;
   exception
      when others =>
         Free (Plan);
         raise;
   end New_Plan;

   procedure Spawn
     (Program     : String;
      Arguments   : String_List;
      Environment : String_List;
      Directory   : String;
      Streams     : Stream_List;
      Limit       : Integer;
      Id          : out Natural)
   is
      Location : constant String := (if Directory = "" then "" else " in " & Directory);
      Plan     : Plan_Access :=
        New_Plan (Program, Arguments, Environment, Directory, Streams);
      Outcome  : constant int := C_Start (Plan.Request, long (Limit), Kill_Wait);
      Code     : constant int := (if Outcome = Start_Ended then Plan.Request.Code else 0);
   begin
      Id := (if Outcome = Start_Ended then Natural (Plan.Request.Id) else 0);
      if Outcome in Start_Ended | Start_Killed then
         Free (Plan);
      else
         Hanging_Starts.Add (Plan);
      end if;
      if Outcome /= Start_Ended then
         raise Timeout_Error with
           Program & Location & ": the program did not start before the timeout";
      elsif Code /= 0 then
         raise Start_Error with Program & Location & ": " & Message (Code);
      end if;
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

   --  Decodes the status like the macros WIFEXITED, WEXITSTATUS, WTERMSIG and WCOREDUMP

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
      Plan : Plan_Access;
   begin
      Abandoned.Reap;
      loop
         Hanging_Starts.Take_Ended (Plan);
         exit when Plan = null;
         Free (Plan);
      end loop;
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
