--  SPDX-License-Identifier: Apache-2.0

with Ada.Strings.Fixed;
with Ada.Strings.Maps;
with Ada.Text_IO;

package body Resident_Memory is

   use Ada.Text_IO;

   Blanks : constant Ada.Strings.Maps.Character_Set :=
     Ada.Strings.Maps.To_Set (" " & ASCII.HT);

   procedure Reset_Peak is
      File : File_Type;
   begin
      Open (File, Out_File, "/proc/self/clear_refs");
      Put_Line (File, "5");
      Close (File);
   end Reset_Peak;

   --  Parses a line such as "VmHWM:      1234 kB"

   function Peak return Byte_Count is
      Label : constant String := "VmHWM:";
      Unit  : constant String := " kB";
      File  : File_Type;
   begin
      Open (File, In_File, "/proc/self/status");
      loop
         declare
            Line : constant String := Get_Line (File);
         begin
            if Ada.Strings.Fixed.Head (Line, Label'Length) = Label then
               Close (File);
               return 1_024 * Byte_Count'Value (Ada.Strings.Fixed.Trim
                 (Line (Line'First + Label'Length .. Line'Last - Unit'Length), Blanks, Blanks));
            end if;
         end;
      end loop;
   end Peak;

end Resident_Memory;
