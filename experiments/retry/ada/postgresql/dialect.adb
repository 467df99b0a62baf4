--  SPDX-License-Identifier: Apache-2.0

package body Dialect is

   procedure Set_Up (DB : in out Database.Connection) is
   begin
      DB.Execute ("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED");
   end Set_Up;

end Dialect;
