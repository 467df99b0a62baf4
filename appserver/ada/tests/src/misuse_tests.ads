--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that mistakes in a program raise an exception with a clear message, and that the lifetimes
--  of objects may end in any order.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Misuse_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Misuse_Tests;
