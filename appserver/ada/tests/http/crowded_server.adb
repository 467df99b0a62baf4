--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  crowded_server PROFILE FILE: a server for test_crowds.py in tests/http, which runs until its
--  input ends. It has room for 64 connections, and time limits that no client reaches; all
--  other settings are the defaults. It creates FILE with 8 MiB, serves sections of it, and prints
--  its port.

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Embedded;
with Appserver.HTTP.Server;
with Test_Service;

procedure Crowded_Server is

   use Ada.Text_IO;
   use Appserver;

   Connections : constant := 64;

   Times : constant HTTP.Time_Limits :=
     (Idle | Header | Content | Sending => 3_600.0, others => <>);

   package Device is new HTTP.Embedded
     (Handle => Test_Service.Respond'Access, Connections => Connections);

   Web : HTTP.Server.Web_Server;

begin
   Test_Service.Make_File (Ada.Command_Line.Argument (2), Size => 2 ** 23);
   if Ada.Command_Line.Argument (1) = "embedded" then
      Device.Open (Times => Times);
      Put_Line (Device.Port'Image);
      Flush;
      Device.Serve_Until_Input (0);
      Device.Close;
   else
      Web.Start
        (Test_Service.Respond'Access,
         Options => (Connections => Connections, Times => Times, others => <>));
      Put_Line (Web.Port'Image);
      Flush;
      while not End_Of_File loop
         Skip_Line;
      end loop;
      Web.Stop;
   end if;
end Crowded_Server;
