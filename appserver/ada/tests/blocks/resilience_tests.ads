--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with AUnit.Test_Suites;

package Resilience_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Resilience_Tests;
