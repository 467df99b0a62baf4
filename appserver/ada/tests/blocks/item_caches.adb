--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Item_Caches is

   function Equal (Left, Right : Integer) return Boolean is
   begin
      if Left = No_Compare or else Right = No_Compare then
         raise Failed;
      elsif Left = Slow_Compare or else Right = Slow_Compare then
         delay 0.001;
      elsif Left = Blocked_Compare or else Right = Blocked_Compare then
         Is_Comparing := True;
         while not Goes_On loop
            delay 0.001;
         end loop;
      end if;
      return Left = Right;
   end Equal;

end Item_Caches;
