--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests reads of the wait-free cache that end with an exception, an abort, or the end of their
--  task, and nested reads. Replaced elements must still be freed, but not too early.

with AUnit.Test_Suites;

package Left_Reads_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Left_Reads_Tests;
