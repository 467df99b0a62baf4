--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

function Escaped (Text : String) return String is
   Result : String (1 .. Text'Length);
   Last   : Natural  := 0;
   Next   : Positive := Text'First;
begin
   while Next <= Text'Last loop
      Last := Last + 1;
      if Text (Next) = '\' then
         Next := Next + 1;
         Result (Last) :=
           (case Text (Next) is
               when 'r'    => ASCII.CR,
               when 'n'    => ASCII.LF,
               when 't'    => ASCII.HT,
               when '0'    => ASCII.NUL,
               when others => Text (Next));
      else
         Result (Last) := Text (Next);
      end if;
      Next := Next + 1;
   end loop;
   return Result (1 .. Last);
end Escaped;
