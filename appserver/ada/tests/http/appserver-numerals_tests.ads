--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests Appserver.Numerals, a private package.

with AUnit.Test_Suites;

package Appserver.Numerals_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Appserver.Numerals_Tests;
