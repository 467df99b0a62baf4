--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What only SQLite does: its errors and the states they get, locks, and changes of the schema.

with AUnit.Test_Suites;

package SQLite_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end SQLite_Tests;
