--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that retried calls take effect once, with faults that real databases cause.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Retried_Transaction_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  Returns the tests that need a database server: tests of sessions that end, and of row locks

end Retried_Transaction_Tests;
