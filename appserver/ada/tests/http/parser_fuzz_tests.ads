--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the parser with randomly damaged requests, with a constant seed. For any input, split in
--  any way, there must be no exception, the outcome must be the same, and the requests must be
--  those that the reference reads.

with AUnit.Test_Suites;

package Parser_Fuzz_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Parser_Fuzz_Tests;
