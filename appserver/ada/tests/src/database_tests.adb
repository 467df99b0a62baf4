--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Batch_Tests;
with Error_Tests;
with Misuse_Tests;
with Parity_Tests;
with Retried_Key_Tests;
with Retried_Transaction_Tests;
with Server_Tests;
with SQL_Pool_Tests;
with Stream_Tests;
with Transaction_Tests;
with Type_Tests;
with Value_Tests;
with Wait_Limit_Tests;

package body Database_Tests is

   package Batches is new Batch_Tests (Database);
   package Errors is new Error_Tests (Database);
   package Misuse is new Misuse_Tests (Database);
   package Parity is new Parity_Tests (Database);
   package Pools is new SQL_Pool_Tests (Database);
   package Retried_Keys is new Retried_Key_Tests (Database);
   package Retries is new Retried_Transaction_Tests (Database);
   package Transactions is new Transaction_Tests (Database);
   package Streams is new Stream_Tests (Database);
   package Types is new Type_Tests (Database);
   package Values is new Value_Tests (Database);
   package Servers is new Server_Tests (Database);
   package Wait_Limits is new Wait_Limit_Tests (Database);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Errors.Suite);
      Result.Add_Test (Values.Suite);
      Result.Add_Test (Types.Suite);
      Result.Add_Test (Streams.Suite);
      Result.Add_Test (Batches.Suite);
      Result.Add_Test (Transactions.Suite);
      Result.Add_Test (Misuse.Suite);
      Result.Add_Test (Parity.Suite);
      Result.Add_Test (Pools.Suite);
      Result.Add_Test (Retries.Suite);
      Result.Add_Test (Retried_Keys.Suite);
      Result.Add_Test (Faults.Suite);
      return Result;
   end Suite;

   function Server_Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Servers.Suite);
      Result.Add_Test (Wait_Limits.Suite);
      Result.Add_Test (Transactions.Server_Suite);
      Result.Add_Test (Streams.Server_Suite);
      Result.Add_Test (Batches.Server_Suite);
      Result.Add_Test (Pools.Server_Suite);
      Result.Add_Test (Retries.Server_Suite);
      return Result;
   end Server_Suite;

end Database_Tests;
