--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs the tests of the building blocks. The arguments are a directory to write to, the duration
--  of each stress test in seconds, and the path of faults.txt.

with AUnit.Test_Suites;
with Cache_Tests;
with Counter_Tests;
with Pool_Tests;
with Process_Tests;
with Reference_Tests;
with Resilience_Tests;
with Retry_Tests;
with Run_Suite;

procedure Run_Blocks_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Counter_Tests.Suite);
      Result.Add_Test (Reference_Tests.Suite);
      Result.Add_Test (Pool_Tests.Suite);
      Result.Add_Test (Process_Tests.Suite);
      Result.Add_Test (Cache_Tests.Suite);
      Result.Add_Test (Resilience_Tests.Suite);
      Result.Add_Test (Retry_Tests.Suite);
      return Result;
   end Suite;

   procedure Run is new Run_Suite (Suite);

begin
   Run;
end Run_Blocks_Tests;
