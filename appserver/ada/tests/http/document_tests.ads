--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests a document in JSON and in XML, and content negotiation.

with AUnit.Test_Suites;

package Document_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Document_Tests;
