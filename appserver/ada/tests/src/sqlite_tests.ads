--  SPDX-License-Identifier: Apache-2.0
--
--  What the database refuses: each with the SQLSTATE that programs go by.

with AUnit.Test_Suites;

package SQLite_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end SQLite_Tests;
