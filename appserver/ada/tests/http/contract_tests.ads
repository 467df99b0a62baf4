--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that preconditions are checked, regardless of the flags with which the program is
--  compiled.

with AUnit.Test_Suites;

package Contract_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Contract_Tests;
