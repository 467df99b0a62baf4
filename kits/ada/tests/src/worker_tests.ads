--  SPDX-License-Identifier: Apache-2.0
--
--  Operations that are done at once: who does which, and how long each one took.

with AUnit.Test_Suites;

package Worker_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Worker_Tests;
