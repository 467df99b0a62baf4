--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Reads of the wait-free cache that are ended by an exception, by an abort, or by the end of their
--  task, and nested reads: replaced elements are still freed, but not too early.

with AUnit.Test_Suites;

package Left_Reads_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Left_Reads_Tests;
