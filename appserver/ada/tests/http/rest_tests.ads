--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that requests are dispatched to the right routes, with parameters of the right types.

with AUnit.Test_Suites;

package REST_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end REST_Tests;
