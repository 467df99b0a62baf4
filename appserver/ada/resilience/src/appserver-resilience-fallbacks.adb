--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

pragma Ada_2022;

package body Appserver.Resilience.Fallbacks is

   procedure Run
     (Operation   : not null access procedure;
      Replacement : not null access procedure
        (Error : Ada.Exceptions.Exception_Occurrence)) is
   begin
      Operation.all;
   exception
      when Error : others => Replacement (Error);
   end Run;

end Appserver.Resilience.Fallbacks;
