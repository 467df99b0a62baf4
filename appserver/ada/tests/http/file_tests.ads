--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests that files in the directory are served according to RFC 9110, and that no other files are
--  served.

with AUnit.Test_Suites;

package File_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end File_Tests;
