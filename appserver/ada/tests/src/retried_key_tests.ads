--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that calls with the same key take effect once, even if they are concurrent, and that a key
--  costs one additional round trip.

with AUnit.Test_Suites;
with Test_Databases;

private with Recorded_Connections;

generic
   with package Database is new Test_Databases.Database (<>);
package Retried_Key_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

private

   package Recorded is new Recorded_Connections (Database.Connection);

end Retried_Key_Tests;
