--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  An example: a server with a monitor of its requests and queries, and its metrics on a separate
--  port. tests/http/test_monitor.py tests it.

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Server;
with Watched;

procedure Watched_Server is

   use Ada.Text_IO;
   use Appserver;

   Web, Metrics : HTTP.Server.Web_Server;

   function Port (Number : Positive) return HTTP.Port_Number is
     (HTTP.Port_Number'Value (Ada.Command_Line.Argument (Number)));

   procedure Put_URL (Port : HTTP.Port_Number; Path : String) is
   begin
      Put_Line ("http://127.0.0.1:" & Port'Image (2 .. Port'Image'Last) & Path);
   end Put_URL;

begin
   Web.Start (Watched.Counted'Access, Port => Port (1));
   Metrics.Start
     (Watched.Metrics'Access, Port => Port (2), Options => (Workers => 1, others => <>));
   Put_URL (Web.Port, "/");
   Put_URL (Metrics.Port, "/monitor");
   while not End_Of_File loop
      Skip_Line;
   end loop;
   Metrics.Stop;
   Web.Stop;
end Watched_Server;
