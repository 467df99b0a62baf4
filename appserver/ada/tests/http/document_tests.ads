--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  The same document as JSON and as XML, and which of them a client gets.

with AUnit.Test_Suites;

package Document_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Document_Tests;
