--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors
--
--  Runs the tests of Appserver.SQL, and of retries on databases. The arguments are a directory to
--  write databases to, and the path of retry_situations.txt.

with Ada.Environment_Variables;
with Ada.Text_IO;
with Appserver.SQL.Detached_Call_Tests;
with AUnit.Test_Suites;
with MariaDB_Client_Tests;
with MariaDB_Tests;
with PostgreSQL_Tests;
with Retried_Isolation_Tests;
with Run_Suite;
with SQLite_Tests;
with SQL_Suites;
with Tested_Databases;

procedure Run_SQL_Tests is

   function Is_Configured (Variable, Example : String) return Boolean is
      Found : constant Boolean := Ada.Environment_Variables.Exists (Variable);
   begin
      if not Found then
         Ada.Text_IO.Put_Line
           ("skipped: " & Variable & "=" & Example & " make -C appserver/ada test runs more");
      end if;
      return Found;
   end Is_Configured;

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (SQLite_Tests.Suite);
      Result.Add_Test (SQL_Suites.On_SQLite.Suite);
      Result.Add_Test (Retried_Isolation_Tests.SQLite_Suite);
      Result.Add_Test (MariaDB_Client_Tests.Suite);
      Result.Add_Test (Appserver.SQL.Detached_Call_Tests.Suite);
      if Is_Configured
        (Tested_Databases.PostgreSQL_Variable, "postgresql://USER:PASSWORD@HOST/DATABASE")
      then
         Result.Add_Test (SQL_Suites.On_PostgreSQL.Suite);
         Result.Add_Test (SQL_Suites.On_PostgreSQL.Server_Suite);
         Result.Add_Test (PostgreSQL_Tests.Suite);
         Result.Add_Test (Retried_Isolation_Tests.PostgreSQL_Suite);
      end if;
      if Is_Configured
        (Tested_Databases.MariaDB_Variable, "mariadb://USER:PASSWORD@HOST/DATABASE")
      then
         Result.Add_Test (SQL_Suites.On_MariaDB.Suite);
         Result.Add_Test (SQL_Suites.On_MariaDB.Server_Suite);
         Result.Add_Test (MariaDB_Tests.Suite);
         Result.Add_Test (Retried_Isolation_Tests.MariaDB_Suite);
      end if;
      return Result;
   end Suite;

   procedure Run is new Run_Suite (Suite);

begin
   Run;
end Run_SQL_Tests;
