--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  When filters are asked: each once, before content is read, and never past one that says no

with AUnit.Test_Suites;

package Filter_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Filter_Tests;
