--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that exactly the JSON of RFC 8259 is accepted, and that written JSON can be read.

with AUnit.Test_Suites;

package JSON_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end JSON_Tests;
