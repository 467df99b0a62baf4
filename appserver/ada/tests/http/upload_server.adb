--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  An example: streamed uploads and responses, authentication, and gzip. tests/http/test_streams.py
--  tests it.

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Server;
with Guarded;

procedure Upload_Server is

   use Ada.Text_IO;
   use Appserver;

   Web : HTTP.Server.Web_Server;

begin
   Web.Start
     (Guarded.Service'Access,
      Port => HTTP.Port_Number'Value (Ada.Command_Line.Argument (1)));
   Put_Line ("http://127.0.0.1:" & Web.Port'Image (2 .. Web.Port'Image'Last));
   while not End_Of_File loop
      Skip_Line;
   end loop;
   Web.Stop;
end Upload_Server;
