--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Caches.Copy_On_Write;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Item_Caches;
with Parallel;
with Tracked;

package body Put_All_Tests is

   use AUnit.Assertions;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   package Copies is new Item_Caches.Caches.Copy_On_Write;

   Refused : exception;

   function Found (Map : in out Copies.Cache; Key : Integer) return Integer is
      Item     : Tracked.Item;
      Is_Found : Boolean;
   begin
      Map.Get (Key, Item, Is_Found);
      return (if Is_Found then Tracked.Number (Item) else -1);
   end Found;

   --  Keys 1, 2 ... with values ten times as large

   procedure Tens (Number : Positive; Key : out Integer; Element : out Tracked.Item) is
   begin
      Key := Number;
      Tracked.Set_Number (Element, 10 * Number);
   end Tens;

   procedure Adds_And_Replaces (T : in out Fixture) is
      pragma Unreferenced (T);

      Map : Copies.Cache;
   begin
      Map.Put (7, Tracked.New_Item (1));
      Map.Put (1_000, Tracked.New_Item (2));
      Map.Put_All (500, Tens'Access);
      Map.Put_All (0, Tens'Access);
      Assert (Map.Length = 501, "length" & Map.Length'Image);
      Assert ((for all Key in 1 .. 500 => Found (Map, Key) = 10 * Key), "all keys are found");
      Assert (Found (Map, 1_000) = 2, "an entry that existed before");
   end Adds_And_Replaces;

   procedure Keeps_The_Capacity (T : in out Fixture) is
      pragma Unreferenced (T);

      Map : Copies.Cache (Capacity => 3, Time_To_Live => Item_Caches.Caches.Forever);
   begin
      Map.Put_All (10, Tens'Access);
      Assert (Map.Length = 3, "length" & Map.Length'Image);
      Assert ((for all Key in 1 .. 10 => Found (Map, Key) in -1 | 10 * Key), "elements");
      Assert (Found (Map, 10) = 100, "the last entry of a key wins");
   end Keeps_The_Capacity;

   --  No entry is put, and nothing leaks

   procedure Fails_As_A_Whole (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Refusing (Number : Positive; Key : out Integer; Element : out Tracked.Item) is
      begin
         if Number = 5 then
            raise Refused;
         end if;
         Tens (Number, Key, Element);
      end Refusing;

      Before : constant Integer := Tracked.Live;
   begin
      declare
         Map : Copies.Cache;
      begin
         Map.Put (1, Tracked.New_Item (1));
         Map.Put_All (10, Refusing'Access);
         Assert (False, "no exception");
      exception
         when Refused =>
            Assert (Map.Length = 1 and then Found (Map, 1) = 1, "the cache is unchanged");
      end;
      Assert (Tracked.Live = Before, "left:" & Integer'Image (Tracked.Live - Before));
      Assert (Tracked.Failures = 0, "used after it was freed:" & Tracked.Failures'Image);
   end Fails_As_A_Whole;

   --  Concurrent writers lose no entries

   procedure Among_Others (T : in out Fixture) is
      pragma Unreferenced (T);

      Writers : constant := 4;
      Each    : constant := 100;

      Map : Copies.Cache;

      procedure Write (Writer : Positive) is

         procedure Make (Number : Positive; Key : out Integer; Element : out Tracked.Item) is
         begin
            Key := 1_000 * Writer + Number;
            Tracked.Set_Number (Element, Key);
         end Make;

      begin
         Map.Put_All (Each, Make'Access);
         Map.Put (1_000 * Writer, Tracked.New_Item (Writer));
      end Write;

   begin
      Parallel.Run (Writers, Write'Access);
      Assert (Map.Length = Writers * (Each + 1), "length" & Map.Length'Image);
   end Among_Others;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;
   begin
      Result.Add_Test (Caller.Create ("put all: adds, replaces", Adds_And_Replaces'Access));
      Result.Add_Test (Caller.Create ("put all: capacity", Keeps_The_Capacity'Access));
      Result.Add_Test (Caller.Create ("put all: fails as a whole", Fails_As_A_Whole'Access));
      Result.Add_Test (Caller.Create ("put all: among other writers", Among_Others'Access));
      return Result;
   end Suite;

end Put_All_Tests;
