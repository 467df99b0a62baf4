--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests of database servers: the number of connections, connections that are rejected, canceled
--  or lost, and prepared statements on the server.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Server_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Server_Tests;
