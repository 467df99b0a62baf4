--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Real_Time;
with Ada.Unchecked_Deallocation;
with Interfaces.C;
with System.Atomic_Operations.Exchange;

package body Appserver.SQL.Detached_Calls is

   use Ada.Real_Time;
   use Interfaces.C;
   use type System.Address;

   --  The thread finishes, or the caller abandons it after a timeout. The atomic exchange shows
   --  which of the two happened first.

   type Phase is (Under_Way, Finished, Abandoned) with Atomic, Size => 32;
   package Phase_Exchange is new System.Atomic_Operations.Exchange (Phase);

   type Thread_State is limited record
      Work, Drop : C_Procedure;
      Argument   : System.Address;
      Progress   : aliased Phase := Under_Way;
      Input      : int := -1;
      Output     : int := -1;
      --  The pipe with which the thread ends the caller's wait
   end record;

   procedure Free is new Ada.Unchecked_Deallocation (Thread_State, State_Access);

   type Pipe_Ends is array (1 .. 2) of int with Convention => C;

   Close_On_Exec : constant := 8#2000000#;
   --  O_CLOEXEC on Linux

   function pipe2 (Ends : out Pipe_Ends; Flags : int) return int
     with Import, Convention => C, External_Name => "pipe2";
   function write (File : int; Bytes : char_array; Length : size_t) return long
     with Import, Convention => C, External_Name => "write";
   function close (File : int) return int
     with Import, Convention => C, External_Name => "close";

   type Poll_Descriptor is record
      File     : int;
      Events   : short;
      Returned : short := 0;
   end record with Convention => C;

   Poll_In : constant := 1;

   function poll
     (Files : in out Poll_Descriptor; Count : unsigned_long; Milliseconds : int) return int
     with Import, Convention => C, External_Name => "poll";

   type Thread_Main is access function (State : State_Access) return System.Address
     with Convention => C;

   function pthread_create
     (Thread     : out unsigned_long;
      Attributes : System.Address;
      Main       : Thread_Main;
      Argument   : State_Access) return int
     with Import, Convention => C, External_Name => "pthread_create";
   function pthread_detach (Thread : unsigned_long) return int
     with Import, Convention => C, External_Name => "pthread_detach";

   procedure Release (State : in out State_Access) is
      Ignored : int;
   begin
      Ignored := close (State.Input);
      Ignored := close (State.Output);
      Free (State);
   end Release;

   function Main (State : State_Access) return System.Address with Convention => C;
   function Main (State : State_Access) return System.Address is
      Output  : constant int := State.Output;
      Own     : State_Access := State;
      Ignored : long;
   begin
      State.Work (State.Argument);
      if Phase_Exchange.Atomic_Exchange (State.Progress, Finished) = Abandoned then
         State.Drop (State.Argument);
         Release (Own);
      else
         Ignored := write (Output, [1 => nul], 1);  --  from here on, the caller may release State
      end if;
      return System.Null_Address;
   end Main;

   Slice : constant Time_Span := Milliseconds (50);
   --  The interval at which aborts are checked, since an abort does not interrupt poll(2)

   --  Waits until Stop; returns True if the thread has written to the pipe

   function Has_Ended (State : State_Access; Stop : Time) return Boolean is
      File  : Poll_Descriptor := (File => State.Input, Events => Poll_In, others => <>);
      Now   : Time;
      Ready : int;
   begin
      loop
         Now   := Clock;
         Ready := poll
           (File, 1,
            (if Now >= Stop then 0
             elsif Stop - Now > Slice then int (Slice / Milliseconds (1))
             else int ((Stop - Now) / Milliseconds (1)) + 1));
         if Ready > 0 then
            return True;
         elsif Ready = 0 and then Clock >= Stop then
            return False;
         end if;
         delay 0.0;
      end loop;
   end Has_Ended;

   --  Sets Has_Finished to True if the thread has finished, so that it no longer owns Argument

   procedure Stop_Waiting (Self : in out Detached_Call; Has_Finished : out Boolean) is
   begin
      pragma Abort_Defer;
      Has_Finished :=
        Phase_Exchange.Atomic_Exchange (Self.Thread.Progress, Abandoned) = Finished;
      if Has_Finished then
         Has_Finished := Has_Ended (Self.Thread, Time_Last);
         Release (Self.Thread);
      else
         Self.Thread   := null;
         Self.Argument := System.Null_Address;
      end if;
   end Stop_Waiting;

   procedure Own (Self : in out Detached_Call; Argument : System.Address) is
   begin
      Self.Argument := Argument;
   end Own;

   procedure Start (Self : in out Detached_Call) is
      Ends    : Pipe_Ends;
      Thread  : unsigned_long;
      Ignored : int;
   begin
      pragma Abort_Defer;
      if pipe2 (Ends, Close_On_Exec) /= 0 then
         Raise_Error ("53000", 0, "cannot create a pipe for a call with a timeout");
      end if;
      Self.Thread := new Thread_State'
        (Work     => Self.Work,
         Drop     => Self.Drop,
         Argument => Self.Argument,
         Progress => Under_Way,
         Input    => Ends (1),
         Output   => Ends (2));
      if pthread_create (Thread, System.Null_Address, Main'Access, Self.Thread) /= 0 then
         Release (Self.Thread);
         Raise_Error ("53000", 0, "cannot create a thread for a call with a timeout");
      end if;
      Ignored := pthread_detach (Thread);
   end Start;

   Max_Timeout : constant Duration := 100.0 * 365.0 * 86_400.0;

   procedure Run (Self : in out Detached_Call; Timeout : Duration; Is_Done : out Boolean) is
      Stop : constant Time :=
        (if Timeout > Max_Timeout then Time_Last
         else Clock + To_Time_Span (Duration'Max (0.0, Timeout)));
   begin
      Start (Self);
      Is_Done := Has_Ended (Self.Thread, Stop);
      if Is_Done then
         Release (Self.Thread);
      else
         Stop_Waiting (Self, Has_Finished => Is_Done);
      end if;
   end Run;

   overriding procedure Finalize (Self : in out Detached_Call) is
      Ignored : Boolean;
   begin
      if Self.Thread /= null then
         Stop_Waiting (Self, Has_Finished => Ignored);
      end if;
      if Self.Argument /= System.Null_Address then
         Self.Drop (Self.Argument);
         Self.Argument := System.Null_Address;
      end if;
   end Finalize;

end Appserver.SQL.Detached_Calls;
