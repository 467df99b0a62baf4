--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  services_server PROFILE [ADDRESS [LOG FORMAT [DIRECTORY]]]: a server for test_services.py and
--  other tests in tests/http, which runs until its input ends. It prints the ports of two servers
--  with the profile "server", each with its own service, or of one server with the profile
--  "embedded". If it has a log, it prints the number of dropped lines at the end.

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Embedded;
with Appserver.HTTP.Server;
with Appserver.HTTP.Services;
with Web_Services;

procedure Services_Server is

   use Ada.Text_IO;
   use Appserver;

   Address : constant String :=
     (if Ada.Command_Line.Argument_Count > 1 then Ada.Command_Line.Argument (2) else "0.0.0.0");

   Has_Log : constant Boolean := Ada.Command_Line.Argument_Count > 2;

   procedure Serve is
      Options : constant HTTP.Server.Settings :=
        (Log    => (if Has_Log then Web_Services.Log'Access else null),
         others => <>);
      Service : constant array (1 .. 2) of HTTP.Services.Service_Reference :=
        [others => new Web_Services.Web_Service];
      Web     : array (Service'Range) of HTTP.Server.Web_Server;
   begin
      Web (1).Start (Service (1), Address, Options => Options);
      Web (2).Start (Service (2), Address, Options => Options);
      Put_Line (Web (1).Port'Image);
      Put_Line (Web (2).Port'Image);
      Flush;
      while not End_Of_File loop
         Skip_Line;
      end loop;
      for Each of Web loop
         Each.Stop;
      end loop;
   end Serve;

   package Device is new HTTP.Embedded
     (Service => Web_Services.Shared_Service'Access, Log => Web_Services.Log'Access);

   procedure Serve_On_Device is
   begin
      Device.Open (Address);
      Put_Line (Device.Port'Image);
      Flush;
      Device.Serve_Until_Input (0);
      Device.Close;
   end Serve_On_Device;

begin
   if Ada.Command_Line.Argument_Count > 4 then
      Web_Services.Open_Site (Ada.Command_Line.Argument (5));
   end if;
   if Has_Log then
      Web_Services.Open_Log (Ada.Command_Line.Argument (3), Ada.Command_Line.Argument (4));
   end if;
   if Ada.Command_Line.Argument (1) = "embedded" then
      Serve_On_Device;
   else
      Serve;
   end if;
   if Has_Log then
      Web_Services.Log.Close;
      Put_Line (Web_Services.Log.Dropped_Lines'Image);
   end if;
end Services_Server;
