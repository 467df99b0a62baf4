--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Counters.Atomic;
with Appserver.Counters.Locked;
with Appserver.Counters.Striped;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Interfaces;
with Linearizable_Tests;
with Parallel;
with Stress_Time;
with System.Storage_Elements;

package body Counter_Tests is

   use AUnit.Assertions;
   use Appserver.Counters;
   use type Interfaces.Integer_64;

   package Atomic_Tests is new Linearizable_Tests ("atomic", Atomic.Counter);
   package Locked_Tests is new Linearizable_Tests ("locked", Locked.Counter);

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   procedure Striped_Alone (T : in out Fixture) is
      pragma Unreferenced (T);
      Count : Striped.Counter (4);
   begin
      Count.Add (Interfaces.Integer_64'Last);
      Count.Increment;
      Assert (Count.Value = Interfaces.Integer_64'First, "wraps");
      Count.Decrement;
      Count.Add (-Interfaces.Integer_64'Last);
      Assert (Count.Value = 0, "back at zero");
   end Striped_Alone;

   --  With fewer stripes than tasks, and with more. A reader must see only increasing values.

   procedure Striped_Loses_Nothing (T : in out Fixture) is
      pragma Unreferenced (T);

      Few      : Striped.Counter (2);
      Many     : Striped.Counter (64);
      Expected : Interfaces.Integer_64 := 0;
      Tasks    : constant := 5;
      Turns    : constant := 20_000;

      procedure Work (Number : Positive) is
         Last : Interfaces.Integer_64 := 0;
      begin
         for Turn in 1 .. Turns loop
            if Number < Tasks then
               Few.Increment;
               Many.Add (3);
            elsif Turn mod 100 = 0 then
               Assert (Many.Value >= Last, "the counter increases");
               Last := Many.Value;
            end if;
         end loop;
      end Work;

      procedure Round is
      begin
         Parallel.Run (Tasks, Work'Access);
         Expected := Expected + (Tasks - 1) * Turns;
         Assert (Few.Value = Expected and then Many.Value = 3 * Expected, "no update is lost");
      end Round;

   begin
      Stress_Time.Repeat (Round'Access);
   end Striped_Loses_Nothing;

   --  Tests class-wide code, which runs with any counter

   procedure Any_Counter (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Count_Three (Count : in out Counter'Class) is
      begin
         Count.Increment;
         Count.Add (2);
         Assert (Count.Value = 3, "counted");
      end Count_Three;

      A : Atomic.Counter;
      L : Locked.Counter;
      S : Striped.Counter;
   begin
      Count_Three (A);
      Count_Three (L);
      Count_Three (S);
   end Any_Counter;

   procedure Neighbors (T : in out Fixture) is
      pragma Unreferenced (T);
      use System.Storage_Elements;
      Pair : array (1 .. 2) of aliased Atomic.Counter;
   begin
      Assert
        (Pair (2)'Address - Pair (1)'Address >= 128, "no two counters share a pair of cache lines");
      Assert (To_Integer (Pair (1)'Address) mod 128 = 0, "aligned to cache lines");
   end Neighbors;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Text, Test));
      end Add;
   begin
      Result.Add_Test (Atomic_Tests.Suite);
      Result.Add_Test (Locked_Tests.Suite);
      Add ("striped counter: one task", Striped_Alone'Access);
      Add ("striped counter: many tasks lose no updates", Striped_Loses_Nothing'Access);
      Add ("counters: class-wide code", Any_Counter'Access);
      Add ("counters: padded", Neighbors'Access);
      return Result;
   end Suite;

end Counter_Tests;
