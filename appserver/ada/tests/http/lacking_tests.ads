--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the server when the system lacks resources, and tests the errors that the server reports.

with AUnit.Test_Suites;

package Lacking_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Lacking_Tests;
