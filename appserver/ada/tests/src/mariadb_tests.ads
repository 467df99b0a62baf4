--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests specific to MariaDB.

with AUnit.Test_Suites;

package MariaDB_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end MariaDB_Tests;
