--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Rotation is

   protected body Hang_Up is
      procedure Reopen is
      begin
         if Log.Is_Open then
            Log.Reopen;
         end if;
      end Reopen;
   end Hang_Up;

end Rotation;
