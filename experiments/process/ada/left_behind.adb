--  SPDX-License-Identifier: Apache-2.0

with Ada.Text_IO;
with GNAT.Directory_Operations;

package body Left_Behind is

   use GNAT.Directory_Operations;

   procedure For_Each_Entry
     (Path : String; Process : not null access procedure (Name : String))
   is
      Folder : Dir_Type;
      Name   : String (1 .. 255);
      Last   : Natural;
   begin
      Open (Folder, Path);
      loop
         Read (Folder, Name, Last);
         exit when Last = 0;
         if Name (1) /= '.' then
            Process (Name (1 .. Last));
         end if;
      end loop;
      Close (Folder);
   end For_Each_Entry;

   function Descriptors return Natural is
      Count : Natural := 0;

      procedure Add (Unused_Name : String) is
      begin
         Count := Count + 1;
      end Add;
   begin
      For_Each_Entry ("/proc/self/fd", Add'Access);
      return Count - 1;  --  without the descriptor of the directory itself
   end Descriptors;

   function Children return Natural is
      Count : Natural := 0;

      --  Counts a thread's children, from a list in which a space follows each process ID

      procedure Add (Thread : String) is
         List : Ada.Text_IO.File_Type;
      begin
         Ada.Text_IO.Open (List, Ada.Text_IO.In_File, "/proc/self/task/" & Thread & "/children");
         if not Ada.Text_IO.End_Of_File (List) then
            for Letter of Ada.Text_IO.Get_Line (List) loop
               Count := Count + Boolean'Pos (Letter = ' ');
            end loop;
         end if;
         Ada.Text_IO.Close (List);
      exception
         when Ada.Text_IO.Name_Error =>
            null;  --  the thread has exited in the meantime
      end Add;
   begin
      For_Each_Entry ("/proc/self/task", Add'Access);
      return Count;
   end Children;

end Left_Behind;
