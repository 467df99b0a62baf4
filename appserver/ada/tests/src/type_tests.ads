--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests blobs, Booleans, dates, times of day, UUIDs and generated keys.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Type_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Type_Tests;
