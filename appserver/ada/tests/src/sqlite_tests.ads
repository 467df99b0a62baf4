--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests specific to SQLite: errors and their states, locks, and schema changes.

with AUnit.Test_Suites;

package SQLite_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end SQLite_Tests;
