--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  A program for benchmarks, not a test: a server with or without a monitor: overhead_server PORT
--  with, overhead_server PORT without

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Server;
with Overhead_Parts;

procedure Overhead_Server is

   use Ada.Command_Line;
   use Ada.Text_IO;
   use Appserver;

   Web  : HTTP.Server.Web_Server;
   Port : constant HTTP.Port_Number := HTTP.Port_Number'Value (Argument (1));

begin
   if Argument (2) = "with" then
      Web.Start (Overhead_Parts.Counted'Access, Port => Port);
   else
      Web.Start (Overhead_Parts.Handler'Access, Port => Port);
   end if;
   Put_Line ("http://127.0.0.1:" & Web.Port'Image (2 .. Web.Port'Image'Last));
   while not End_Of_File loop
      Skip_Line;
   end loop;
   Web.Stop;
end Overhead_Server;
