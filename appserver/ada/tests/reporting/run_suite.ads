--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs a suite, prints the failures, and ends with the line "ada: N passed, N failed". The exit
--  status is 0 only if tests ran and none failed.

with AUnit.Test_Suites;

generic
   with function Suite return AUnit.Test_Suites.Access_Test_Suite;
procedure Run_Suite;
