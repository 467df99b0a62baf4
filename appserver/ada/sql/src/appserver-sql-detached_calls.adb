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

   --  The second of the two, the thread with its result and the caller whose time is over, sees
   --  that the other one was there

   type Phase is (Under_Way, Finished, Abandoned) with Atomic, Size => 32;
   package Phase_Exchange is new System.Atomic_Operations.Exchange (Phase);

   type Thread_State is limited record
      Work, Drop : C_Procedure;
      Argument   : System.Address;
      Progress   : aliased Phase := Under_Way;
      Input      : int := -1;
      Output     : int := -1;
      --  A pipe, by which the thread ends the caller's wait
   end record;

   type State_Access is access all Thread_State;
   procedure Free is new Ada.Unchecked_Deallocation (Thread_State, State_Access);

   type Pipe_Ends is array (1 .. 2) of int with Convention => C;

   Close_On_Exec : constant := 8#2000000#;
   --  O_CLOEXEC, on Linux

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
         Ignored := write (Output, [1 => nul], 1);  --  the caller releases State from here on
      end if;
      return System.Null_Address;
   end Main;

   --  Whether the thread has written, until Stop; Waits: for as long as it takes

   function Has_Ended (State : State_Access; Stop : Time; Waits : Boolean) return Boolean is
      File  : Poll_Descriptor := (File => State.Input, Events => Poll_In, others => <>);
      Left  : Time_Span;
      Ready : int;
   begin
      loop
         Left  := Stop - Clock;
         Ready := poll
           (File, 1,
            (if Waits then -1
             elsif Left < Time_Span_Zero then 0
             else int (Left / Milliseconds (1)) + 1));
         if Ready > 0 then
            return True;
         elsif Ready = 0 and then Clock >= Stop then
            return False;
         end if;
      end loop;
   end Has_Ended;

   A_Day : constant Duration := 86_400.0;

   procedure Call
     (Work, Drop : not null C_Procedure;
      Argument   : System.Address;
      Timeout    : Duration;
      Is_Done    : out Boolean)
   is
      Stop    : constant Time :=
        Clock + To_Time_Span (Duration'Max (0.0, Duration'Min (Timeout, A_Day)));
      Ends    : Pipe_Ends;
      State   : State_Access;
      Thread  : unsigned_long;
      Ignored : int;
   begin
      if pipe2 (Ends, Close_On_Exec) /= 0 then
         Raise_Error ("53000", 0, "no pipe for a call with a time limit");
      end if;
      State := new Thread_State;
      State.Work     := Work;
      State.Drop     := Drop;
      State.Argument := Argument;
      State.Input    := Ends (1);
      State.Output   := Ends (2);
      if pthread_create (Thread, System.Null_Address, Main'Access, State) /= 0 then
         Release (State);
         Raise_Error ("53000", 0, "no thread for a call with a time limit");
      end if;
      Ignored := pthread_detach (Thread);
      Is_Done := Has_Ended (State, Stop, Waits => False);
      if not Is_Done then
         if Phase_Exchange.Atomic_Exchange (State.Progress, Abandoned) /= Finished then
            return;
         end if;
         Is_Done := Has_Ended (State, Stop, Waits => True);
      end if;
      Release (State);
   end Call;

end Appserver.SQL.Detached_Calls;
