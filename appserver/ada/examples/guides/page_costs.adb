--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Monitors the time and CPU time of each page: page_costs PORT. Shows the metrics on a separate
--  port.

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Server;
with Shop_Pages;

procedure Page_Costs is

   use Ada.Text_IO;
   use Appserver;

   Web, Own : HTTP.Server.Web_Server;

   procedure Put_URL (Port : HTTP.Port_Number; Path : String) is
   begin
      Put_Line ("http://127.0.0.1:" & Port'Image (2 .. Port'Image'Last) & Path);
   end Put_URL;

begin
   Web.Start
     (Shop_Pages.Counted'Access, Port => HTTP.Port_Number'Value (Ada.Command_Line.Argument (1)));
   Own.Start (Shop_Pages.Metrics'Access, Port => 0, Options => (Workers => 1, others => <>));
   Put_URL (Web.Port, "");
   Put_URL (Own.Port, "/monitor");
   while not End_Of_File loop
      Skip_Line;
   end loop;
   Own.Stop;
   Web.Stop;
end Page_Costs;
