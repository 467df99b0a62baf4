--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Preconditions, as a program that breaks them meets them. They are in force whatever flags the
--  program is compiled with.

with AUnit.Test_Suites;

package Contract_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Contract_Tests;
