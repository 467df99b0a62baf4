--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests specific to PostgreSQL.

with AUnit.Test_Suites;

package PostgreSQL_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end PostgreSQL_Tests;
