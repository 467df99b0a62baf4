--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

package body Test_Databases is

   package body Database is
      procedure Open (DB : in out Connection) is
      begin
         Connect (DB);
         DB.Execute ("DROP TABLE IF EXISTS t");
         DB.Execute ("DROP TABLE IF EXISTS account");
      end Open;
   end Database;

end Test_Databases;
