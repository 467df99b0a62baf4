--  SPDX-License-Identifier: Apache-2.0
--
--  A subject's replies to commands, in order and out of order.

with AUnit.Test_Suites;

package Session_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Session_Tests;
