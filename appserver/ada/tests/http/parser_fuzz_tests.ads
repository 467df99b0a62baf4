--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The parser on requests that were damaged at random, from a seed that is always the same:
--  whatever comes, and however it is cut, no exception, the same outcome, and never another request
--  than the reference reads.

with AUnit.Test_Suites;

package Parser_Fuzz_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Parser_Fuzz_Tests;
