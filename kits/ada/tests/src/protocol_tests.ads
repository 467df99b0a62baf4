--  SPDX-License-Identifier: Apache-2.0
--
--  Tests the lines of the protocol: percent-encoding, fields, the seeded sequence, and lengths.

with AUnit.Test_Suites;

package Protocol_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Protocol_Tests;
