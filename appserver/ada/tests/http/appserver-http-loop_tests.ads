--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests Appserver.HTTP.Loops, a private package.

with AUnit.Test_Suites;

package Appserver.HTTP.Loop_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Appserver.HTTP.Loop_Tests;
