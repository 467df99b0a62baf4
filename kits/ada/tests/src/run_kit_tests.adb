--  SPDX-License-Identifier: Apache-2.0
--
--  Runs the tests of the kit.

with AUnit.Test_Suites;
with Protocol_Tests;
with Run_Suite;
with Session_Tests;
with Worker_Tests;

procedure Run_Kit_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Protocol_Tests.Suite);
      Result.Add_Test (Session_Tests.Suite);
      Result.Add_Test (Worker_Tests.Suite);
      return Result;
   end Suite;

   procedure Run is new Run_Suite (Suite);

begin
   Run;
end Run_Kit_Tests;
