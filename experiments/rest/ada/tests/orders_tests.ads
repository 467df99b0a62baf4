--  SPDX-License-Identifier: Apache-2.0
--
--  Orders come back as they were sent; what is none is refused, and nothing raises.

with AUnit.Test_Suites;

package Orders_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Orders_Tests;
