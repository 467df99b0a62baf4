--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests pools of connections, and their statement caches.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package SQL_Pool_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  Tests that need a database server: prepared statements on the server, and sessions that end

end SQL_Pool_Tests;
