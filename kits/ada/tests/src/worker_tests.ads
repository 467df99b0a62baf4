--  SPDX-License-Identifier: Apache-2.0
--
--  Tests concurrent operations: their assignment to workers, and their latencies.

with AUnit.Test_Suites;

package Worker_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Worker_Tests;
