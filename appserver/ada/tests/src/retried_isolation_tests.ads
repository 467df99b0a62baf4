--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that transaction conflicts specific to one database are retried.

with AUnit.Test_Suites;

package Retried_Isolation_Tests is

   function SQLite_Suite return AUnit.Test_Suites.Access_Test_Suite;
   function PostgreSQL_Suite return AUnit.Test_Suites.Access_Test_Suite;
   function MariaDB_Suite return AUnit.Test_Suites.Access_Test_Suite;

end Retried_Isolation_Tests;
