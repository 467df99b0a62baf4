--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the monitor, its filter for HTTP servers, its wrapper for databases, and its output.

with AUnit.Test_Suites;

package Monitor_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Monitor_Tests;
