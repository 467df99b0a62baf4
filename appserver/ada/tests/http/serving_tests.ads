--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests a server with well-behaved, misbehaving, slow, and large numbers of clients.

with AUnit.Test_Suites;
with Tested_Servers;

generic
   with package Tested is new Tested_Servers.Tested_Server (<>);
package Serving_Tests is

   function Suite (Folder : String) return AUnit.Test_Suites.Access_Test_Suite;
   --  Returns the tests, which write files to the directory Folder

end Serving_Tests;
