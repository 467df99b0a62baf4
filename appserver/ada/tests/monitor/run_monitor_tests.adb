--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs the tests of the monitor. The arguments are the table of percentiles, and the duration of
--  each stress test in seconds.

with Monitor_Tests;
with Run_Suite;

procedure Run_Monitor_Tests is

   procedure Run is new Run_Suite (Monitor_Tests.Suite);

begin
   Run;
end Run_Monitor_Tests;
