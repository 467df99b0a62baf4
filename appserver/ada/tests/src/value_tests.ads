--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that a program reads back the values that it has written, and that a null is never treated
--  as a value.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Value_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Value_Tests;
