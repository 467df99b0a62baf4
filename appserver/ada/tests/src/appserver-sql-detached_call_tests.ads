--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with AUnit.Test_Suites;

package Appserver.SQL.Detached_Call_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Appserver.SQL.Detached_Call_Tests;
