--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Resilience.Time_Limits is

   procedure Run (Limit : Pause; Operation : not null access procedure) is
   begin
      select
         delay Limit;
         raise Time_Limit_Error with "the operation did not end within" & Limit'Image & " s";
      then abort
         Operation.all;
      end select;
   end Run;

end Appserver.Resilience.Time_Limits;
