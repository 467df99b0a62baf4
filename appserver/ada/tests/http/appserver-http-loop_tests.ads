--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Of Appserver.HTTP.Loops, which only Appserver's own packages see.

with AUnit.Test_Suites;

package Appserver.HTTP.Loop_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Appserver.HTTP.Loop_Tests;
