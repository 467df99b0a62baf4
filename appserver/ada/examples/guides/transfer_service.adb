--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Transfers that take effect exactly once: transfer_service PORT FILE

with Ada.Command_Line;
with Ada.Text_IO;
with Appserver.HTTP.Server;
with Accounts;

procedure Transfer_Service is

   use Ada.Text_IO;

   Web : Appserver.HTTP.Server.Web_Server;

begin
   Web.Start
     (Accounts.Respond'Access,
      Port => Appserver.HTTP.Port_Number'Value (Ada.Command_Line.Argument (1)));
   Put_Line ("http://127.0.0.1:" & Web.Port'Image (2 .. Web.Port'Image'Last));
   while not End_Of_File loop
      Skip_Line;
   end loop;
   Web.Stop;
end Transfer_Service;
