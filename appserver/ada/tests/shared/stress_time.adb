--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Command_Line;
with Ada.Real_Time;

package body Stress_Time is

   use Ada.Command_Line;
   use Ada.Real_Time;

   procedure Repeat (Round : not null access procedure) is
      Seconds : constant Natural :=
        (if Argument_Count < 2 then 1 else Natural'Value (Argument (2)));
      Finish  : constant Time := Clock + Ada.Real_Time.Seconds (Seconds);
   begin
      loop
         Round.all;
         exit when Clock >= Finish;
      end loop;
   end Repeat;

end Stress_Time;
