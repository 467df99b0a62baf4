--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the parser with randomly damaged requests, from a constant seed. For any input, the parser
--  must not raise an exception, the outcome must not depend on how the input is split, and the
--  requests must be equal to the requests of the reference reader.

with AUnit.Test_Suites;

package Parser_Fuzz_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Parser_Fuzz_Tests;
