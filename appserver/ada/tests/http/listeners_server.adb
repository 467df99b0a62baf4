--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  listeners_server [OPTION…] LISTENER…: a server for test_listeners.py in tests/http, which runs
--  until its input ends. LISTENER is tcp, unix=PATH, unix=PATH,MODE in octal, passed=INDEX, or
--  named=NAME. log=PATH writes an access log, and twice starts the server again after it has
--  stopped. The program prints the port of each listener, or the reason why the server cannot
--  start.

with Ada.Command_Line;
with Ada.Exceptions;
with Ada.Strings.Fixed;
with Ada.Text_IO;
with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Listeners;
with Appserver.HTTP.Server;
with Connection_Service;

procedure Listeners_Server is

   use Ada.Strings.Fixed;
   use Ada.Text_IO;
   use Appserver;

   Log : aliased HTTP.Access_Logs.Access_Log (Lines => 32);

   function After (Text, Prefix : String) return String is
     (Text (Text'First + Prefix'Length .. Text'Last));

   function Starts_With (Text, Prefix : String) return Boolean is
     (Head (Text, Prefix'Length) = Prefix);

   function Unix_Listener (Text : String) return HTTP.Listeners.Listener is
      Comma : constant Natural := Index (Text, ",");
   begin
      return
        (if Comma = 0 then HTTP.Listeners.Unix_Listener (Text)
         else HTTP.Listeners.Unix_Listener
           (Text (Text'First .. Comma - 1),
            HTTP.Listeners.File_Mode'Value ("8#" & Text (Comma + 1 .. Text'Last) & "#")));
   end Unix_Listener;

   Twice : Boolean := False;

   function Listener (Text : String) return HTTP.Listeners.Listener is
     (if Text = "tcp" then HTTP.Listeners.TCP_Listener
      elsif Starts_With (Text, "unix=") then Unix_Listener (After (Text, "unix="))
      elsif Starts_With (Text, "passed=")
      then HTTP.Listeners.Passed_Listener (Positive'Value (After (Text, "passed=")))
      else HTTP.Listeners.Passed_Listener (After (Text, "named=")));

   function Listeners return HTTP.Listeners.Listener_List is
      Result : HTTP.Listeners.Listener_List (1 .. Ada.Command_Line.Argument_Count);
      Count  : Natural := 0;
   begin
      for K in Result'Range loop
         declare
            Text : constant String := Ada.Command_Line.Argument (K);
         begin
            if Text = "twice" then
               Twice := True;
            elsif Starts_With (Text, "log=") then
               Log.Open (After (Text, "log="), HTTP.Access_Logs.Common);
            else
               Count := Count + 1;
               Result (Count) := Listener (Text);
            end if;
         end;
      end loop;
      return Result (1 .. Count);
   end Listeners;

   Web : HTTP.Server.Web_Server;

   procedure Start (On : HTTP.Listeners.Listener_List) is
   begin
      Web.Start
        (Connection_Service.Shared'Access, On,
         Options => (Log => Log'Unchecked_Access, others => <>));
   end Start;

   On : constant HTTP.Listeners.Listener_List := Listeners;
begin
   Start (On);
   if Twice then
      Web.Stop;
      Start (On);
   end if;
   for K in 1 .. Web.Listener_Count loop
      Put_Line (Web.Port (K)'Image);
   end loop;
   Flush;
   while not End_Of_File loop
      Skip_Line;
   end loop;
   Web.Stop;
   Log.Close;
exception
   when Error : HTTP.Network_Error =>
      Put_Line (Ada.Exceptions.Exception_Message (Error));
      Ada.Command_Line.Set_Exit_Status (Ada.Command_Line.Failure);
end Listeners_Server;
