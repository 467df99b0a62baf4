--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

with Appserver.HTTP.Blocks;
with Appserver.HTTP.Contexts;
with Appserver.HTTP.Linux;
with Appserver.HTTP.Loops;

package body Appserver.HTTP.Embedded is

   Backlog : constant := 1_024;
   --  The maximum number of connections that wait to be accepted. The system may have a lower
   --  limit.

   Few_Files : constant := 32;
   --  The number of file descriptors in addition to the descriptors of connections

   Builder : aliased Response_Builder (Response_Content);

   Context : Contexts.Context
     (Request_Capacity => Request_Header + Request_Content + Parsing.Slack,
      Output_Capacity  => Response_Content + Contexts.Max_Header_Length,
      Builder          => Builder'Access,
      Owner            => 0);

   The_Loop : Loops.Event_Loop
     (Slots   => Loops.Slot_Index (Connections),
      Waiting =>
        Blocks.Block_Count ((Waiting_Memory + Blocks.Block_Size - 1) / Blocks.Block_Size));

   procedure Open
     (Address : String      := "127.0.0.1";
      Port    : Port_Number := 0;
      Times   : Time_Limits := (others => <>)) is
   begin
      Linux.Ignore_Broken_Pipes;
      Linux.Allow_Files (Connections + Few_Files);
      Listener := Linux.Listening_Socket (Address, Port, Backlog);
      The_Loop.Open ([(Socket => Listener, others => <>)], Is_Shared => False, Handle => Handle,
                     Service => Service, Limits => Limits, Times => Times, Report => Report,
                     Log => Log, Writes => True);
   exception
      when others =>
         if Listener /= No_File then
            Linux.Close (Listener);
            Listener := No_File;
         end if;
         raise;
   end Open;

   function Port return Port_Number is (Linux.Port_Of (Listener));

   procedure Serve is
   begin
      Linux.Unmap_Code;
      The_Loop.Serve (Context);
   end Serve;

   procedure Serve_Until_Input (File : Descriptor) is
   begin
      The_Loop.Watch (File);
      Linux.Unmap_Code;
      The_Loop.Serve (Context);
   end Serve_Until_Input;

   procedure Ask_To_Stop is
   begin
      The_Loop.Ask_To_Stop;
   end Ask_To_Stop;

   procedure Close is
      use type Access_Logs.Log_Reference;
      Is_Empty : Boolean;
   begin
      The_Loop.Watch (No_File);
      The_Loop.Ask_To_Stop;
      The_Loop.Serve (Context);
      if Log /= null and then Log.Is_Open then
         Log.Write_Out (Is_Empty);
      end if;
      The_Loop.Close;
      Listener := No_File;
   end Close;

end Appserver.HTTP.Embedded;
