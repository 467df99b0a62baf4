--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Ada.Characters.Latin_1;
with Ada.Environment_Variables;
with Ada.Exceptions;
with Ada.Real_Time;
with Ada.Strings.Fixed;
with Ada.Unchecked_Deallocation;
with Appserver.Processes.Linux;

package body Appserver.Processes is

   use Ada.Real_Time;

   procedure Free is new Ada.Unchecked_Deallocation (String, String_Access);

   --------------
   -- Deadline --
   --------------

   type Deadline (Is_Set : Boolean := False) is record
      case Is_Set is
         when True  => Time : Ada.Real_Time.Time;
         when False => null;
      end case;
   end record;

   Max_Wait : constant Duration := 365.0 * 86_400.0;
   --  Limits the timeout, so that its sum with the clock is a valid time

   function After (Timeout : Duration) return Deadline is
     (if Timeout = Forever then (Is_Set => False)
      else (Is_Set => True, Time => Clock + To_Time_Span (Duration'Min (Timeout, Max_Wait))));

   --  Returns at most one second, since a task cannot be aborted during poll(2)

   function Milliseconds (Limit : Deadline) return Natural is
     (if Limit.Is_Set
      then Natural
        (1_000 * Duration'Max (0.0, Duration'Min (1.0, To_Duration (Limit.Time - Clock))))
      else 1_000);

   function Is_Over (Limit : Deadline) return Boolean is
     (Limit.Is_Set and then Clock >= Limit.Time);

   procedure Raise_Timeout with No_Return;
   procedure Raise_Timeout is
   begin
      raise Timeout_Error with "the program did not read, write or exit within the timeout";
   end Raise_Timeout;

   ------------
   -- Buffer --
   ------------

   Chunk : constant := 65_536;
   --  In bytes, the default capacity of a pipe

   function Length (Self : Buffer) return Natural is (Self.Last - Self.First + 1);

   procedure Clear (Self : in out Buffer) is
   begin
      Linux.Close (Self.File);
      Free (Self.Bytes);
      Self.First := 1;
      Self.Last := 0;
      Self.Searched_To := 0;
   end Clear;

   --  Moves the bytes to the beginning of a longer string, or of the same string if half of it is
   --  free

   procedure Make_Room (Self : in out Buffer) is
      Count : constant Natural := Length (Self);
   begin
      if Self.Bytes = null then
         Self.Bytes := new String (1 .. Chunk);
      elsif Self.Bytes'Last - Self.Last < Chunk / 2 then
         declare
            Old : String_Access := Self.Bytes;
         begin
            if Self.First <= Old'Last / 2 then
               Self.Bytes := new String (1 .. 2 * Old'Last);
            end if;
            Self.Bytes (1 .. Count) := Old (Self.First .. Self.Last);
            if Self.Bytes /= Old then
               Free (Old);
            end if;
         end;
         Self.Searched_To := Natural'Max (0, Self.Searched_To - Self.First + 1);
         Self.First := 1;
         Self.Last := Count;
      end if;
   end Make_Room;

   procedure Raise_Output_Error (Self : Buffer) with No_Return;
   procedure Raise_Output_Error (Self : Buffer) is
   begin
      raise Output_Error
        with "the program wrote more than" & Self.Max_Length'Image & " bytes (Max_Output)";
   end Raise_Output_Error;

   procedure Fill (Self : in out Buffer) is
      Room  : constant Integer := Self.Max_Length - Length (Self);
      Last  : Positive;
      Count : Integer;
   begin
      if Room < 0 then
         Raise_Output_Error (Self);
      end if;
      Make_Room (Self);
      Last := Self.Last + 1 + Natural'Min (Room, Self.Bytes'Last - Self.Last - 1);
      --  Reads one byte more than allowed, to detect output that is too long
      Linux.Read (Self.File, Self.Bytes (Self.Last + 1 .. Last), Count);
      if Count = 0 then
         Linux.Close (Self.File);
      elsif Count > 0 then
         Self.Last := Self.Last + Count;
         if Length (Self) > Self.Max_Length then
            Raise_Output_Error (Self);
         end if;
      end if;
   end Fill;

   procedure Skip (Self : in out Buffer; Count : Natural) is
   begin
      Self.First := Self.First + Count;
      if Self.First > Self.Last then
         Self.First := 1;
         Self.Last := 0;
      end if;
      Self.Searched_To := Natural'Max (Self.Searched_To, Self.First - 1);
      if Self.Last = 0 then
         Self.Searched_To := 0;
      end if;
   end Skip;

   --  Copies the bytes on the secondary stack, since there may be many

   function Extracted (Self : in out Buffer; Count, Skipped : Natural) return String is
      subtype Result is String (1 .. Count);
      First : constant Positive := Self.First;
   begin
      Skip (Self, Count + Skipped);
      return (if Count = 0 then "" else Result (Self.Bytes (First .. First + Count - 1)));
   end Extracted;

   -------------
   -- Waiting --
   -------------

   --  Reads the available bytes. Waits until bytes can be read or written, the program exits, or a
   --  fraction of the time has passed.

   procedure Step
     (Self     : in out Process;
      Limit    : Deadline;
      Is_Ready : out Boolean;
      Awaits   : Linux.Poll_Kind)
   is
      Files : constant Linux.Poll_List :=
        [Linux.Input  => (if Linux."=" (Awaits, Linux.Input) then Self.Input else None),
         Linux.Output => Self.Buffers (Output).File,
         Linux.Error  => Self.Buffers (Error).File,
         Linux.Exits  => (if Linux."=" (Awaits, Linux.Exits) then Self.Exits else None)];
      Ready : Linux.Ready_List;
   begin
      Linux.Poll (Files, Milliseconds (Limit), Ready);
      if Ready (Linux.Output) then
         Fill (Self.Buffers (Output));
      end if;
      if Ready (Linux.Error) then
         Fill (Self.Buffers (Error));
      end if;
      Is_Ready := Ready (Awaits);
      delay 0.0;  --  an abort completion point
      if not Is_Ready and then Is_Over (Limit) then
         Raise_Timeout;
      end if;
   end Step;

   Max_Late_Reads : constant := 16;
   --  The maximum number of reads after the timeout, enough to read the 1 MiB that a pipe can hold.
   --  The number is limited because a program that never stops writing refills the pipe.

   procedure Await_Bytes
     (Self : in out Process; From : Source; Limit : Deadline; Late_Reads : in out Natural)
   is
      Ignored : Boolean;
   begin
      Step
        (Self, Limit, Ignored,
         Awaits => (case From is when Output => Linux.Output, when Error => Linux.Error));
      if Is_Over (Limit) then
         Late_Reads := Late_Reads + 1;
         if Late_Reads > Max_Late_Reads then
            Raise_Timeout;
         end if;
      end if;
   end Await_Bytes;

   procedure Await_Exit (Self : in out Process; Status : out Exit_Status; Limit : Deadline) is
      Has_Exited : Boolean := False;
   begin
      while not Has_Exited loop
         Step (Self, Limit, Has_Exited, Awaits => Linux.Exits);
      end loop;
      Status := Linux.Exit_Of (Self.Id);
      if Linux.Has_Group (Self.Id) then
         Self.Rest_Id := Self.Id;
      else
         Linux.Close (Self.Exits);
      end if;
      Self.Id := 0;
   end Await_Exit;

   procedure Write (Self : in out Process; Bytes : String; Limit : Deadline) is
      Next    : Positive := Bytes'First;
      Count   : Natural;
      Ignored : Boolean;
   begin
      while Next <= Bytes'Last loop
         Linux.Write (Self.Input, Bytes (Next .. Bytes'Last), Count);
         Next := Next + Count;
         if Count = 0 then
            Step (Self, Limit, Ignored, Awaits => Linux.Input);
            if Is_Over (Limit) then
               Raise_Timeout;
            end if;
         end if;
      end loop;
   end Write;

   --------------
   -- Starting --
   --------------

   --  Returns the environment of this process plus Options.Environment, or only Options.Environment

   function Variables (Options : Settings) return String_List is
      Variables : String_Map;

      procedure Add (Name, Value : String) is
      begin
         Variables.Include (Name, Value);
      end Add;
   begin
      if Options.Inherit_Environment then
         Ada.Environment_Variables.Iterate (Add'Access);
      end if;
      return Result : String_List do
         for Added in Options.Environment.Iterate loop
            Add (String_Maps.Key (Added), Options.Environment (Added));
         end loop;
         for Variable in Variables.Iterate loop
            Result.Append (String_Maps.Key (Variable) & "=" & Variables (Variable));
         end loop;
      end return;
   end Variables;

   procedure Never_Block (File : Descriptor) is
   begin
      if File /= None then
         Linux.Never_Block (File);
      end if;
   end Never_Block;

   procedure Open_Streams
     (Self : in out Process; Options : Settings; Streams : in out Linux.Stream_List) is
   begin
      case Options.Input is
         when Inherited => null;
         when Piped     => Linux.Open_Pipe (Reading => Streams (0), Writing => Self.Input);
         when Discarded => Streams (0) := Linux.Null_Device;
      end case;
      case Options.Output is
         when Inherited => null;
         when Piped     =>
            Linux.Open_Pipe (Reading => Self.Buffers (Output).File, Writing => Streams (1));
         when Discarded => Streams (1) := Linux.Null_Device;
      end case;
      case Options.Error is
         when Inherited => null;
         when Piped     =>
            Linux.Open_Pipe (Reading => Self.Buffers (Error).File, Writing => Streams (2));
         when Discarded => Streams (2) := Linux.Null_Device;
         when As_Output =>
            Streams (2) := (if Streams (1) = None then 1 else Streams (1));
      end case;
      for Each of Self.Buffers loop
         Each.Max_Length := Options.Max_Output;
      end loop;
      Never_Block (Self.Input);
      Never_Block (Self.Buffers (Output).File);
      Never_Block (Self.Buffers (Error).File);
   end Open_Streams;

   procedure Close_Streams (Streams : in out Linux.Stream_List; Options : Settings) is
   begin
      if Options.Error = As_Output then
         Streams (2) := None;
      end if;
      for File of Streams loop
         Linux.Close (File);
      end loop;
   end Close_Streams;

   --  In milliseconds; -1 for Forever

   function Start_Limit (Timeout : Duration) return Integer is
     (if Timeout = Forever then -1
      else Integer (1_000 * Duration'Max (0.0, Duration'Min (Timeout, 1_000_000.0))));

   procedure Start
     (Self      : in out Process;
      Program   : String;
      Arguments : String_List := String_Lists.Empty_Vector;
      Options   : Settings := (others => <>);
      Timeout   : Duration := Start_Timeout)
   is
      Is_Same : constant Boolean :=
        Options.Inherit_Environment and then Options.Environment.Is_Empty;
      Streams : Linux.Stream_List := [others => None];
   begin
      pragma Abort_Defer;
      Finalize (Self);
      begin
         Open_Streams (Self, Options, Streams);
         Linux.Spawn
           (Program     => Program,
            Arguments   => Arguments,
            Environment => (if Is_Same then Linux.Environment else Variables (Options)),
            Directory   => To_String (Options.Directory),
            Streams     => Streams,
            Limit       => Start_Limit (Timeout),
            Id          => Self.Id);
         Self.Exits := Linux.Exit_Events (Self.Id);
         Close_Streams (Streams, Options);
      exception
         when Timeout_Error =>
            Close_Streams (Streams, Options);
            Finalize (Self);
            raise;
         when Error : others =>
            Close_Streams (Streams, Options);
            Finalize (Self);
            raise Start_Error with Ada.Exceptions.Exception_Message (Error);
      end;
   end Start;

   Kill_Wait : constant := 1.0;
   --  The maximum time in seconds to wait for a killed program to exit

   function Has_Ended (Exits : Descriptor; Wait : Duration) return Boolean is
      Limit : constant Deadline := After (Wait);
      Ready : Linux.Ready_List;
   begin
      loop
         Linux.Poll ([Linux.Exits => Exits, others => None], Milliseconds (Limit), Ready);
         exit when Ready (Linux.Exits) or else Is_Over (Limit);
      end loop;
      return Ready (Linux.Exits);
   end Has_Ended;

   procedure End_Program (Self : in out Process) is
      Is_Sent : Boolean;
      Ignored : Exit_Status;
   begin
      Linux.Kill (Self.Id, SIGKILL, Is_Sent);
      if Has_Ended (Self.Exits, Wait => (if Is_Sent then Kill_Wait else 0.0)) then
         Ignored := Linux.Exit_Of (Self.Id);
      else
         Linux.Abandon (Self.Id);
      end if;
      Self.Id := 0;
   end End_Program;

   overriding procedure Finalize (Self : in out Process) is
   begin
      Linux.Close (Self.Input);
      if Self.Id > 0 then
         End_Program (Self);
      elsif Self.Rest_Id > 0 then
         Linux.Kill_Rest (Self.Rest_Id, Self.Exits);
         Self.Rest_Id := 0;
      end if;
      Linux.Close (Self.Exits);
      Linux.Reap_Abandoned;
      for Each of Self.Buffers loop
         Clear (Each);
      end loop;
   end Finalize;

   -------------
   -- Process --
   -------------

   procedure Write (Self : in out Process; Bytes : String; Timeout : Duration := Forever) is
   begin
      Write (Self, Bytes, After (Timeout));
   end Write;

   procedure Close_Input (Self : in out Process) is
   begin
      Linux.Close (Self.Input);
   end Close_Input;

   procedure Read
     (Self    : in out Process;
      Into    : out String;
      Last    : out Natural;
      From    : Source := Output;
      Timeout : Duration := Forever)
   is
      Limit : constant Deadline := After (Timeout);
      From_Buffer : Buffer renames Self.Buffers (From);
      Late_Reads  : Natural := 0;
   begin
      while Length (From_Buffer) = 0 and then From_Buffer.File /= None loop
         Await_Bytes (Self, From, Limit, Late_Reads);
      end loop;
      declare
         Count : constant Natural := Natural'Min (Into'Length, Length (From_Buffer));
      begin
         Last := Into'First + Count - 1;
         Into (Into'First .. Last) := Extracted (From_Buffer, Count, Skipped => 0);
      end;
   end Read;

   procedure Await_End (Self : in out Process; From : Source; Limit : Deadline) is
      Late_Reads : Natural := 0;
   begin
      while Self.Buffers (From).File /= None loop
         Await_Bytes (Self, From, Limit, Late_Reads);
      end loop;
   end Await_End;

   function Read_All
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return String is
   begin
      Await_End (Self, From, After (Timeout));
      return Extracted (Self.Buffers (From), Length (Self.Buffers (From)), Skipped => 0);
   end Read_All;

   function Line_Feed_In (Self : in out Buffer) return Natural is
      Result : constant Natural :=
        (if Self.Last <= Self.Searched_To then 0
         else Ada.Strings.Fixed.Index
           (Self.Bytes (1 .. Self.Last), [1 => Ada.Characters.Latin_1.LF],
            From => Natural'Max (Self.Searched_To + 1, Self.First)));
   begin
      Self.Searched_To := (if Result = 0 then Self.Last else Result - 1);
      return Result;
   end Line_Feed_In;

   function Has_Line
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return Boolean
   is
      Limit : constant Deadline := After (Timeout);
      From_Buffer : Buffer renames Self.Buffers (From);
      Late_Reads  : Natural := 0;
   begin
      while Line_Feed_In (From_Buffer) = 0 loop
         if From_Buffer.File = None then
            return Length (From_Buffer) > 0;
         end if;
         Await_Bytes (Self, From, Limit, Late_Reads);
      end loop;
      return True;
   end Has_Line;

   function Get_Line
     (Self    : in out Process;
      From    : Source := Output;
      Timeout : Duration := Forever) return String
   is
      From_Buffer : Buffer renames Self.Buffers (From);
   begin
      if not Self.Has_Line (From, Timeout) then
         raise End_Error with "no more lines";
      end if;
      declare
         Feed : constant Natural := Line_Feed_In (From_Buffer);
      begin
         return
           (if Feed = 0 then Extracted (From_Buffer, Length (From_Buffer), Skipped => 0)
            else Extracted (From_Buffer, Feed - From_Buffer.First, Skipped => 1));
      end;
   end Get_Line;

   procedure Wait
     (Self : in out Process; Status : out Exit_Status; Timeout : Duration := Forever) is
   begin
      Self.Close_Input;
      Await_Exit (Self, Status, After (Timeout));
   end Wait;

   procedure Kill (Self : in out Process; Signal : Signal_Number := SIGKILL) is
      Ignored : Boolean;
   begin
      Linux.Kill (Self.Id, Signal, Ignored);
   end Kill;

   ---------
   -- Run --
   ---------

   procedure Write_Input (Self : in out Process; Bytes : String; Limit : Deadline) is
   begin
      Write (Self, Bytes, Limit);
   exception
      when Pipe_Error =>
         null;
   end Write_Input;

   function Run
     (Program   : String;
      Arguments : String_List := String_Lists.Empty_Vector;
      Input     : String := "";
      Options   : Settings := (Input => Piped, Output | Error => Piped, others => <>);
      Timeout   : Duration := Forever) return Outcome
   is
      Limit : constant Deadline := After (Timeout);
      Child : Process;
      Status : Exit_Status;
   begin
      Child.Start (Program, Arguments, Options, Duration'Min (Timeout, Start_Timeout));
      begin
         Write_Input (Child, Input, Limit);
         Child.Close_Input;
         for From in Source loop
            Await_End (Child, From, Limit);
         end loop;
         Await_Exit (Child, Status, Limit);
      exception
         when Timeout_Error =>
            raise Timeout_Error with Program & " did not exit within the timeout";
      end;
      return
        (Status => Status,
         Output => To_Unbounded_String (Child.Read_All (Output)),
         Error  => To_Unbounded_String (Child.Read_All (Error)));
   end Run;

end Appserver.Processes;
