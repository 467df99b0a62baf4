--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Strings.Fixed;

package body Response_Texts is

   use Ada.Strings.Fixed;

   function Field (Response, Name : String) return String is
      Header : constant String :=
        Response (Response'First .. Index (Response, New_Line & New_Line) + 1);
      First  : constant Natural := Index (Header, New_Line & Name & ": ");
      Begins : constant Natural := First + Name'Length + 4;
   begin
      return
        (if First = 0 then "-"
         else Header (Begins .. Index (Header, New_Line, Begins) - 1));
   end Field;

   function Content (Response : String) return String is
     (Response (Index (Response, New_Line & New_Line) + 4 .. Response'Last));

end Response_Texts;
