--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests eviction, weights, expiry, refreshes, listeners and statistics of all caches

with AUnit.Test_Suites;
with Item_Caches;

generic
   Name : String;
   type Cache is limited new Item_Caches.Caches.Cache with private;
   Has_Task : Boolean := False;
   --  True if a task of the library also frees replaced elements
package Cache_Limit_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Cache_Limit_Tests;
