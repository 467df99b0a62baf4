--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  What a transaction leaves behind, however it ends.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Transaction_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite;
   --  What only servers have: transactions that write side by side

end Transaction_Tests;
