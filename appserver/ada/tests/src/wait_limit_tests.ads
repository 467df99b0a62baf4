--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that every operation that waits for an unresponsive server ends at the connection's limit.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Wait_Limit_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Wait_Limit_Tests;
