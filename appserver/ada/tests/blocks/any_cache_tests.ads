--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the contract of all cache implementations

with AUnit.Test_Suites;
with Item_Caches;

generic
   Name : String;
   type Cache is limited new Item_Caches.Caches.Cache with private;
   Has_Task : Boolean := False;
   --  True if a task of the library also frees replaced elements
package Any_Cache_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Any_Cache_Tests;
