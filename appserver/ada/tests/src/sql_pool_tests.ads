--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Connections that tasks share, and the statements that they keep.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package SQL_Pool_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  What only servers have: statements that they keep, and sessions that end

end SQL_Pool_Tests;
