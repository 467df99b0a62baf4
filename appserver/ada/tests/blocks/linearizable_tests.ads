--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Tests the contract of all counters that return the value before a change

with Appserver.Counters;
with AUnit.Test_Suites;

generic
   Name : String;
   type Counter is limited new Appserver.Counters.Linearizable_Counter with private;
package Linearizable_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite;

end Linearizable_Tests;
