--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  An example: a server that stops gracefully on SIGTERM, and reopens its log on SIGHUP.
--  tests/http/test_termination.py tests it.

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Access_Logs;
with Appserver.HTTP.Server;
with Hello;
with Rotation;
with Termination;

procedure Graceful_Server is

   use Appserver;

   Web : HTTP.Server.Web_Server;

begin
   if Ada.Command_Line.Argument_Count > 1 then
      Rotation.Log.Open (Ada.Command_Line.Argument (2), HTTP.Access_Logs.Combined);
   end if;
   Web.Start
     (Hello.Respond'Access,
      Port    => HTTP.Port_Number'Value (Ada.Command_Line.Argument (1)),
      Options => (Log => Rotation.Log'Access, others => <>));
   Ada.Text_IO.Put_Line ("http://127.0.0.1:" & Web.Port'Image (2 .. Web.Port'Image'Last));
   Termination.Request.Wait;
   Web.Stop;
end Graceful_Server;
