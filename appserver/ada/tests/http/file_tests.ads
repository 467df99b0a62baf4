--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Files: what is in the folder is served as RFC 9110 has it, what is not in it never is.

with AUnit.Test_Suites;

package File_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end File_Tests;
