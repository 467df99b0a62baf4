--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Any_Cache_Tests;
with Appserver.Caches.Copy_On_Write;
with Appserver.Caches.Locked;
with Appserver.Caches.Wait_Free;
with Cache_Limit_Tests;
with Item_Caches;
with Left_Reads_Tests;
with Put_All_Tests;

package body Cache_Tests is

   package Wait_Free is new Item_Caches.Caches.Wait_Free;
   package Copy_On_Write is new Item_Caches.Caches.Copy_On_Write;
   package Locked is new Item_Caches.Caches.Locked;

   package Wait_Free_Tests is new Any_Cache_Tests ("wait-free", Wait_Free.Cache, Has_Task => True);
   package Copy_Tests is new Any_Cache_Tests ("copy-on-write", Copy_On_Write.Cache);
   package Locked_Tests is new Any_Cache_Tests ("locked", Locked.Cache);

   package Wait_Free_Limits is new Cache_Limit_Tests
     ("wait-free", Wait_Free.Cache, Has_Task => True);
   package Copy_Limits is new Cache_Limit_Tests ("copy-on-write", Copy_On_Write.Cache);
   package Locked_Limits is new Cache_Limit_Tests ("locked", Locked.Cache);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Wait_Free_Tests.Suite);
      Result.Add_Test (Wait_Free_Limits.Suite);
      Result.Add_Test (Copy_Limits.Suite);
      Result.Add_Test (Locked_Limits.Suite);
      Result.Add_Test (Left_Reads_Tests.Suite);
      Result.Add_Test (Copy_Tests.Suite);
      Result.Add_Test (Locked_Tests.Suite);
      Result.Add_Test (Put_All_Tests.Suite);
      return Result;
   end Suite;

end Cache_Tests;
