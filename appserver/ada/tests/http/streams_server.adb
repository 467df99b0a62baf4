--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  streams_server PROFILE SECONDS: a server for test_streams.py and other tests in tests/http,
--  which runs until its input ends. SECONDS is the time limit for clients to send content and to
--  read responses. Text is compressed. The program prints its port.

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Embedded;
with Appserver.HTTP.Server;
with Web_Services;

procedure Streams_Server is

   use Ada.Text_IO;
   use Appserver;

   Limit : constant Duration := Duration'Value (Ada.Command_Line.Argument (2));
   Times : constant HTTP.Time_Limits := (Content => Limit, Sending => Limit, others => <>);

   Web : HTTP.Server.Web_Server;

   package Device is new HTTP.Embedded
     (Service => Web_Services.Compressed'Access, Report => null);

begin
   if Ada.Command_Line.Argument (1) = "embedded" then
      Device.Open (Times => Times);
      Put_Line (Device.Port'Image);
      Flush;
      Device.Serve_Until_Input (0);
      Device.Close;
   else
      Web.Start
        (Web_Services.Compressed'Access,
         Options => (Workers => 4, Times => Times, Report => null, others => <>));
      Put_Line (Web.Port'Image);
      Flush;
      while not End_Of_File loop
         Skip_Line;
      end loop;
      Web.Stop;
   end if;
end Streams_Server;
