--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Text_IO;

package body Serving is

   use Ada.Command_Line;
   use Ada.Text_IO;

   function Port return Appserver.HTTP.Port_Number is
     (Appserver.HTTP.Port_Number'Value (Argument (1)));

   function Folder return String is (Argument (2));

   procedure Until_Input_Ends (Web : in out Appserver.HTTP.Server.Web_Server) is
   begin
      Put_Line ("http://127.0.0.1:" & Web.Port'Image (2 .. Web.Port'Image'Last));
      while not End_Of_File loop
         Skip_Line;
      end loop;
      Web.Stop;
   end Until_Input_Ends;

end Serving;
