--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  JSON is read as RFC 8259 has it and nothing else is, and what is written can be read.

with AUnit.Test_Suites;

package JSON_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end JSON_Tests;
