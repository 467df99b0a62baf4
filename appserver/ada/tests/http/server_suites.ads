--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The same tests for all profiles.

with Serving_Tests;
with Tested_Servers;

package Server_Suites is

   package On_Embedded is new Serving_Tests (Tested_Servers.Embedded);
   package On_One_Loop is new Serving_Tests (Tested_Servers.One_Loop);
   package On_Two_Loops is new Serving_Tests (Tested_Servers.Two_Loops);

end Server_Suites;
