--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Calls with the same key have one effect, also at the same time, and cost one round trip more.

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
