--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the parser of requests against each rule of RFC 9112 and RFC 9110.

with AUnit.Test_Suites;

package Parser_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Parser_Tests;
