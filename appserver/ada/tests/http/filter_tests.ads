--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that the server calls each filter once, before it reads content, and calls no further
--  filter after a filter has rejected the request

with AUnit.Test_Suites;

package Filter_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Filter_Tests;
