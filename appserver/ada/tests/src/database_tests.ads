--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The tests of one database.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Database_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  What all databases share

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  What only servers have

end Database_Tests;
