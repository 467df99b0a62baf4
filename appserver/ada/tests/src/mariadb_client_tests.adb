--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.SQL.MariaDB;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Checks;
with MariaDB_Client_Calls;

package body MariaDB_Client_Tests is

   use Appserver.SQL;
   use AUnit.Assertions;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Tear_Down (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      MariaDB_Client_Calls.Start (Fail_Init => False);
   end Tear_Down;

   Nobody_Listens : constant String := "mariadb://nobody@127.0.0.1:1/none";
   --  Port 1 is reserved (tcpmux), and listening on it requires privileges

   procedure Without_Memory (T : in out Fixture) is
      pragma Unreferenced (T);
      DB : MariaDB.Connection;
   begin
      MariaDB_Client_Calls.Start (Fail_Init => True);
      begin
         DB.Open (Nobody_Listens);
         Assert (False, "the connection was opened");
      exception
         when Storage_Error => null;
      end;
      Assert (not DB.Is_Open, "the connection is not open");
      DB.Close;
      Assert (MariaDB_Client_Calls.Null_Closed = 0, "no null handle was closed");
   end Without_Memory;

   procedure Refused (T : in out Fixture) is
      pragma Unreferenced (T);
      DB : MariaDB.Connection;

      procedure Open is
      begin
         DB.Open (Nobody_Listens);
      end Open;
   begin
      MariaDB_Client_Calls.Start (Fail_Init => False);
      for Time in 1 .. 3 loop
         Checks.Is_Refused (Open'Access, "08001");
         Assert (not DB.Is_Open, "the connection is not open");
         DB.Close;
         Assert (MariaDB_Client_Calls.Initialized = Time, "each handle is initialized once");
         Assert (MariaDB_Client_Calls.Closed = Time, "each handle is closed once");
      end loop;
      Assert (MariaDB_Client_Calls.Null_Closed = 0, "no null handle was closed");
   end Refused;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test
        (Caller.Create ("MariaDB client: no memory to connect", Without_Memory'Access));
      Result.Add_Test (Caller.Create ("MariaDB client: no server listens", Refused'Access));
      return Result;
   end Suite;

end MariaDB_Client_Tests;
