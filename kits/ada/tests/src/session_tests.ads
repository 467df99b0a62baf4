--  SPDX-License-Identifier: Apache-2.0
--
--  Tests a subject's replies to commands, in valid and invalid order.

with AUnit.Test_Suites;

package Session_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Session_Tests;
