--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Reads of the wait-free cache that end by an exception, by an abort, or with their task, and
--  reads within reads: what was replaced is freed all the same, and not before.

with AUnit.Test_Suites;

package Left_Reads_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Left_Reads_Tests;
