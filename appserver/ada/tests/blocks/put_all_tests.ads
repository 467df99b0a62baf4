--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Puts many entries with one copy of a copy-on-write cache.

with AUnit.Test_Suites;

package Put_All_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Put_All_Tests;
