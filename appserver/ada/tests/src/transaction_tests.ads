--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the state after each way in which a transaction can end.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Transaction_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  Returns the tests that need a database server: tests of transactions that write concurrently

end Transaction_Tests;
