--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests errors that every database reports, with the SQLSTATE on which programs rely.

with AUnit.Test_Suites;
with Test_Databases;

generic
   with package Database is new Test_Databases.Database (<>);
package Error_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Error_Tests;
