--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with GNAT.Directory_Operations;

function Open_Files return Natural is

   use GNAT.Directory_Operations;

   Folder : Dir_Type;
   Name   : String (1 .. 20);
   Last   : Natural;
begin
   return Count : Natural := 0 do
      Open (Folder, "/proc/self/fd");
      loop
         Read (Folder, Name, Last);
         exit when Last = 0;
         Count := Count + 1;
      end loop;
      Close (Folder);
   end return;
end Open_Files;
