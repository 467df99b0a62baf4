--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Requests come to the routes that they are for, with parameters that are of their types.

with AUnit.Test_Suites;

package REST_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end REST_Tests;
