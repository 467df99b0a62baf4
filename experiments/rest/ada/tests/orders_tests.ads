--  SPDX-License-Identifier: Apache-2.0
--
--  Tests that orders are returned as they were sent, and that invalid orders are rejected without
--  exceptions.

with AUnit.Test_Suites;

package Orders_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Orders_Tests;
