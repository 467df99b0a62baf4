--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Fault injection: a call with transactions inside of it, on the same connection and on another
--  one, fails at each of its points. tests/shared/retry_situations.txt has the outcomes, which
--  Java's DatabaseTest compares with its own.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);

   Schedules : Positive;
   --  How many random ones are run
package Retried_Fault_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Retried_Fault_Tests;
