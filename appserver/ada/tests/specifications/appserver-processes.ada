with Ada.Characters.Latin_1;
with Ada.Text_IO;
with Appserver.Processes;

procedure Calculations is

   use Ada.Characters.Latin_1;
   use Ada.Text_IO;
   use Appserver.Processes;

   @1

   @2

   Status : Exit_Status;
begin
   @3
end Calculations;
