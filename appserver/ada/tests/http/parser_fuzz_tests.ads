--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the parser with randomly damaged requests, with a constant seed. For any input, split in
--  any way, the parser must raise no exception, its outcome must be the same, and its requests must
--  be equal to those of the reference reader.

with AUnit.Test_Suites;

package Parser_Fuzz_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Parser_Fuzz_Tests;
