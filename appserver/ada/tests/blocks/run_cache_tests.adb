--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs only the tests of the caches, for runs in which the kernel rejects membarrier(2). A
--  protected action that blocks raises Program_Error.

pragma Detect_Blocking;

with Cache_Tests;
with Run_Suite;

procedure Run_Cache_Tests is
   procedure Run is new Run_Suite (Cache_Tests.Suite);
begin
   Run;
end Run_Cache_Tests;
