--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the calls of filters: each filter is called once, before content is read, and never after
--  a filter that has rejected the request

with AUnit.Test_Suites;

package Filter_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Filter_Tests;
