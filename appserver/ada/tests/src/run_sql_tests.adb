--  SPDX-License-Identifier: Apache-2.0
--
--  The tests of Appserver.SQL. Its argument is a directory to write databases to.

with AUnit.Test_Suites;
with Error_Tests;
with Misuse_Tests;
with Run_Suite;
with Transaction_Tests;
with Value_Tests;

procedure Run_SQL_Tests is

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Error_Tests.Suite);
      Result.Add_Test (Value_Tests.Suite);
      Result.Add_Test (Transaction_Tests.Suite);
      Result.Add_Test (Misuse_Tests.Suite);
      return Result;
   end Suite;

   procedure Run is new Run_Suite (Suite);

begin
   Run;
end Run_SQL_Tests;
