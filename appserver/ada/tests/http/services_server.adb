--  SPDX-License-Identifier: Apache-2.0
--
--  services_server PROFILE [ADDRESS]: servers for tests/http/test_services.py, until its input ends.
--  It prints their ports: of two of the profile "server", each with a service of its own, or of one
--  of the profile "embedded".

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

   procedure Serve is
      Service : constant array (1 .. 2) of HTTP.Services.Service_Reference :=
        [others => new Web_Services.Web_Service];
      Web     : array (Service'Range) of HTTP.Server.Web_Server;
   begin
      Web (1).Start (Service (1), Address);
      Web (2).Start (Service (2), Address);
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

   package Device is new HTTP.Embedded (Service => Web_Services.Only_One'Access);

   procedure Serve_On_Device is
   begin
      Device.Open (Address);
      Put_Line (Device.Port'Image);
      Flush;
      Device.Serve_Until_Input (0);
      Device.Close;
   end Serve_On_Device;

begin
   if Ada.Command_Line.Argument (1) = "embedded" then
      Serve_On_Device;
   else
      Serve;
   end if;
end Services_Server;
