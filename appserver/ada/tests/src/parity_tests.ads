--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The same situations have the same outcomes on every database: sessions with other settings,
--  times, decimals, nulls, texts that are read as numbers, errors behind results, notices, and what
--  one lease of a connection leaves for the next.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Parity_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Parity_Tests;
