--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The tests for one database.

with AUnit.Test_Suites;
with Retried_Fault_Tests;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Database_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  Returns the tests for all databases

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  Returns the tests that need a database server

private

   --  This package is declared in the specification and not in the body, because it derives a type
   --  from the database's type

   package Faults is new Retried_Fault_Tests
     (Database, Schedules => (if Database.Dialect.Name.all = "SQLite" then 10_000 else 3_000));

end Database_Tests;
