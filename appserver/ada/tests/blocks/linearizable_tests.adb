--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Interfaces;
with Parallel;
with Stress_Time;

package body Linearizable_Tests is

   use AUnit.Assertions;
   use Interfaces;

   Tasks : constant := 4;
   Turns : constant := 20_000;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with record
      Count : Counter;
   end record;

   overriding procedure Set_Up (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
   begin
      T.Count.Set (0);
   end Set_Up;

   procedure Alone (T : in out Fixture) is
      Fresh  : Counter;
      Is_Set : Boolean;
   begin
      Assert (Fresh.Value = 0, "zero at first");
      T.Count.Increment;
      T.Count.Add (41);
      Assert (T.Count.Value = 42, "added");
      T.Count.Add (-40);
      T.Count.Decrement;
      Assert (T.Count.Fetch_And_Add (10) = 1, "the value before the addition");
      T.Count.Compare_And_Set (10, 5, Is_Set);
      Assert (not Is_Set and then T.Count.Value = 11, "not set, since the value is not 10");
      T.Count.Compare_And_Set (11, 2, Is_Set);
      Assert (Is_Set and then T.Count.Value = 2, "set, since the value was 11");
      Assert (not T.Count.Decrement_And_Test_Zero, "the count is 1, not 0");
      Assert (T.Count.Decrement_And_Test_Zero, "the count is 0");
      Assert (not T.Count.Decrement_And_Test_Zero, "a count below 0 is not 0");
      T.Count.Set (-7);
      Assert (T.Count.Value = -7, "set");
   end Alone;

   procedure Range_Ends (T : in out Fixture) is
      First : constant Integer_64 := Integer_64'First;
      Last  : constant Integer_64 := Integer_64'Last;
   begin
      T.Count.Set (Last);
      Assert (T.Count.Value = Last, "the maximum value");
      T.Count.Increment;
      Assert (T.Count.Value = First, "wraps at the maximum");
      T.Count.Decrement;
      Assert (T.Count.Value = Last, "wraps at the minimum");
      Assert
        (T.Count.Fetch_And_Add (Last) = Last and then T.Count.Value = -2,
         "wraps when adding the maximum");
      T.Count.Add (First);
      Assert (T.Count.Value = Last - 1, "wraps when adding the minimum");
   end Range_Ends;

   procedure Nothing_Is_Lost (T : in out Fixture) is

      procedure Work (Number : Positive) is
      begin
         for Turn in 1 .. Turns loop
            case Turn mod 3 is
               when 0 => T.Count.Increment;
               when 1 => T.Count.Add (Integer_64 (Number));
               when others => T.Count.Decrement;
            end case;
         end loop;
      end Work;

      Before   : Integer_64;
      Expected : Integer_64 := 0;

      procedure Round is
      begin
         Before := T.Count.Value;
         Parallel.Run (Tasks, Work'Access);
         Assert (T.Count.Value = Before + Expected, "no update is lost");
      end Round;

   begin
      for Number in 1 .. Tasks loop
         for Turn in 1 .. Turns loop
            Expected := Expected +
              (case Turn mod 3 is when 0 => 1, when 1 => Integer_64 (Number), when others => -1);
         end loop;
      end loop;
      Stress_Time.Repeat (Round'Access);
   end Nothing_Is_Lost;

   --  Each previous value is returned exactly once

   procedure Tickets (T : in out Fixture) is

      type Flags is array (0 .. Tasks * Turns - 1) of Boolean with Atomic_Components;
      type Flags_Access is access Flags;
      Used : constant Flags_Access := new Flags'(others => False);

      procedure Work (Number : Positive) is
         pragma Unreferenced (Number);
      begin
         for Turn in 1 .. Turns loop
            declare
               Ticket : constant Natural := Natural (T.Count.Fetch_And_Add (1));
            begin
               Assert (not Used (Ticket), "no two tasks got the same ticket");
               Used (Ticket) := True;
            end;
         end loop;
      end Work;

   begin
      Parallel.Run (Tasks, Work'Access);
      Assert ((for all Is_Used of Used.all => Is_Used), "all tickets are taken");
   end Tickets;

   procedure Compared (T : in out Fixture) is

      procedure Work (Number : Positive) is
         pragma Unreferenced (Number);
         Is_Set : Boolean;
      begin
         for Turn in 1 .. Turns / 10 loop
            loop
               declare
                  Observed : constant Integer_64 := T.Count.Value;
               begin
                  T.Count.Compare_And_Set (Observed, Observed + 3, Is_Set);
               end;
               exit when Is_Set;
            end loop;
         end loop;
      end Work;

   begin
      Parallel.Run (Tasks, Work'Access);
      Assert (T.Count.Value = 3 * Tasks * (Turns / 10), "every successful change is counted");
   end Compared;

   procedure Zero_Once (T : in out Fixture) is

      Zeros : Counter;

      procedure Work (Number : Positive) is
         pragma Unreferenced (Number);
      begin
         for Turn in 1 .. Turns loop
            if T.Count.Decrement_And_Test_Zero then
               Zeros.Increment;
            end if;
         end loop;
      end Work;

   begin
      T.Count.Set (Tasks * Turns);
      Parallel.Run (Tasks, Work'Access);
      Assert
        (T.Count.Value = 0 and then Zeros.Value = 1, "exactly one task changed the count to 0");
   end Zero_Once;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Name & " counter: " & Text, Test));
      end Add;
   begin
      Add ("one task", Alone'Access);
      Add ("the limits of the range", Range_Ends'Access);
      Add ("many tasks lose no updates", Nothing_Is_Lost'Access);
      Add ("previous values are unique", Tickets'Access);
      Add ("compare and set", Compared'Access);
      Add ("zero is reported once", Zero_Once'Access);
      return Result;
   end Suite;

end Linearizable_Tests;
