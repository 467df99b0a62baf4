--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that the same situations have the same outcomes on every database: sessions with changed
--  settings, times, decimals, nulls, texts that are read as numbers, errors after results, notices,
--  and session state from one lease of a connection to the next.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Parity_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Parity_Tests;
