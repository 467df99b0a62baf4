--  SPDX-License-Identifier: Apache-2.0
--
--  The lines of the protocol: percent-coding, fields, the seeded sequence, lengths.

with AUnit.Test_Suites;

package Protocol_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Protocol_Tests;
