--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.References;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Parallel;
with Stress_Time;
with Tracked;

package body Reference_Tests is

   use AUnit.Assertions;

   package Item_References is new Appserver.References (Tracked.Item);
   use Item_References;

   Live_Before : Integer;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   function Live return Integer is (Tracked.Live - Live_Before);

   overriding procedure Set_Up (T : in out Fixture);
   overriding procedure Tear_Down (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Live_Before := Tracked.Live;
   end Set_Up;

   overriding procedure Tear_Down (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Assert (Live = 0, "elements that were not freed:" & Live'Image);
      Assert
        (Tracked.Failures = 0, "freed twice, or used after it was freed:" & Tracked.Failures'Image);
   end Tear_Down;

   function New_Number (Number : Integer) return Reference is
     (New_Reference (new Tracked.Item'(Tracked.New_Item (Number))));

   function Number (Of_Reference : Reference) return Integer is
     (Tracked.Number (Of_Reference.Value));

   function Make_Three return not null Element_Access is
     (new Tracked.Item'(Tracked.New_Item (3)));

   function One_More (Old : Reference) return Element_Access is
     (new Tracked.Item'(Tracked.New_Item (Number (Old) + 1)));

   ----------------
   -- References --
   ----------------

   procedure Copies (T : in out Fixture) is
      pragma Unreferenced (T);
      First : Reference := New_Number (1);
      Other : Reference;
   begin
      Assert (Live = 1 and then Number (First) = 1 and then Other.Is_Null, "one element");
      Other := First;
      Assert (Other = First and then Live = 1, "the same element");
      First := Other;
      First := New_Number (2);
      Assert (Live = 2 and then Number (Other) = 1 and then First /= Other, "two elements");
      Other.Clear;
      Assert (Live = 1 and then Other.Is_Null, "freed with the last reference");
      Other.Create (Make_Three'Access);
      Assert (Live = 2 and then Number (Other) = 3, "created");
      Other := Null_Reference;
      Assert (Live = 1, "freed by an assignment");
   end Copies;

   procedure Exceptions (T : in out Fixture) is
      pragma Unreferenced (T);

      Outer : Reference := New_Number (1);

      function Fails return not null Element_Access is (raise Constraint_Error);

      procedure Fail (Copy : Reference) is
         Inner : constant Reference := Copy;
         Other : constant Reference := New_Number (2);
      begin
         Assert (Number (Inner) + Number (Other) = 3, "two elements");
         raise Constraint_Error;
      end Fail;
   begin
      begin
         Fail (Outer);
         Assert (False, "unreachable");
      exception
         when Constraint_Error =>
            Assert (Live = 1, "freed by the exception");
      end;
      begin
         Outer.Create (Fails'Access);
         Assert (False, "unreachable");
      exception
         when Constraint_Error =>
            Assert (Number (Outer) = 1, "the outer reference is unchanged");
      end;
   end Exceptions;

   -----------------------
   -- Atomic references --
   -----------------------

   procedure One_Task (T : in out Fixture) is
      pragma Unreferenced (T);

      Current  : Atomic_Reference;
      Obtained : Reference;
      Is_Set   : Boolean;

      function Nothing (Ignored_Old : Reference) return Element_Access is (null);
      function Fails (Ignored_Old : Reference) return Element_Access is (raise Constraint_Error);

   begin
      Assert (Current.Get.Is_Null, "the reference is initially null");
      Current.Set (New_Number (1));
      Assert (Number (Current.Get) = 1 and then Live = 1, "set");
      Current.Get (Into => Obtained);
      Current.Set (New_Number (2));
      Assert
        (Number (Obtained) = 1 and then Live = 2, "the old element exists as long as it is used");
      Current.Compare_And_Set (Expected => Obtained, To => New_Number (3), Is_Set => Is_Set);
      Assert
        (not Is_Set and then Number (Current.Get) = 2 and then Live = 2,
         "not set, since the element is not the expected one");
      Current.Get (Into => Obtained);
      Current.Compare_And_Set (Expected => Obtained, To => New_Number (3), Is_Set => Is_Set);
      Assert
        (Is_Set and then Number (Current.Get) = 3, "set, since the element is the expected one");
      Current.Update (One_More'Access);
      Assert (Number (Current.Get) = 4, "updated");
      Current.Update (Nothing'Access);
      Assert (Number (Current.Get) = 4, "left");
      begin
         Current.Update (Fails'Access);
         Assert (False, "unreachable");
      exception
         when Constraint_Error =>
            Assert (Number (Current.Get) = 4, "an exception does not change the element");
      end;
      Current.Set (Null_Reference);
      Obtained.Clear;
      Assert (Live = 0 and then Current.Get.Is_Null, "the reference is null again");
   end One_Task;

   --  More calls to Get than the state of an atomic reference can count

   procedure Many_Gets (T : in out Fixture) is
      pragma Unreferenced (T);
      Current : Atomic_Reference;
      Held    : array (1 .. 70_000) of Reference;
   begin
      for Turn in 1 .. 70_000 loop
         Assert (Current.Get.Is_Null, "null");
      end loop;
      Current.Set (New_Number (1));
      for Turn in 1 .. 5 loop
         for Each of Held loop
            Current.Get (Into => Each);
         end loop;
      end loop;
      Assert ((for all Each of Held => Number (Each) = 1), "held");
      Current.Set (New_Number (2));
      for Each of Held loop
         Assert (Number (Each) = 1, "a replaced element is still usable");
         Each.Clear;
      end loop;
      Assert (Live = 1, "freed");
   end Many_Gets;

   --  Concurrent updates are not lost while other tasks get, copy and set the reference

   procedure Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      Tasks : constant := 4;
      Turns : constant := 2_000;

      Current  : Atomic_Reference;
      Replaced : Atomic_Reference;

      procedure Work (Number : Positive) is
         Original, Copy : Reference;
         Is_Set         : Boolean;
      begin
         for Turn in 1 .. Turns loop
            if Number = 1 then
               Replaced.Set (New_Number (Turn));
            end if;
            if Number = 2 then
               Current.Get (Into => Original);
               Replaced.Compare_And_Set (Replaced.Get, Original, Is_Set);
            end if;
            Current.Update (One_More'Access);
            Copy := Replaced.Get;
            for Again in 1 .. 20 loop
               Replaced.Get (Into => Original);
               Assert (Tracked.Number (Original.Value) >= 0, "valid");
            end loop;
            Assert (Tracked.Number (Copy.Value) >= 0, "valid");
         end loop;
      end Work;

      procedure Round is
      begin
         Current.Set (New_Number (0));
         Replaced.Set (New_Number (0));
         Parallel.Run (Tasks, Work'Access);
         Assert (Number (Current.Get) = Tasks * Turns, "no update is lost");
      end Round;

   begin
      Stress_Time.Repeat (Round'Access);
   end Stress;

   --  Tasks are aborted at any point while they use references

   procedure Aborted (T : in out Fixture) is
      pragma Unreferenced (T);

      Current : Atomic_Reference;

      procedure Use_References is
         Original, Copy : Reference;
         Is_Set         : Boolean;
      begin
         loop
            Current.Get (Into => Original);
            Copy := Original;
            Current.Update (One_More'Access);
            Copy.Create (Make_Three'Access);
            Current.Compare_And_Set (Original, Copy, Is_Set);
            Assert (Number (Original) > 0 and then Number (Copy) > 0, "valid");
         end loop;
      end Use_References;

      procedure Round is
         task type Worker;

         task body Worker is
         begin
            Use_References;
         end Worker;
      begin
         for Turn in 1 .. 50 loop
            declare
               Workers : array (1 .. 2) of Worker;
            begin
               delay 0.000_05 * (Turn mod 10);
               for Each of Workers loop
                  abort Each;
               end loop;
            end;
         end loop;
      end Round;

   begin
      Current.Set (New_Number (1));
      Stress_Time.Repeat (Round'Access);
      Current.Set (Null_Reference);
      Assert (Live = 0, "elements that aborted tasks did not free:" & Live'Image);
   end Aborted;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("references: " & Text, Test));
      end Add;
   begin
      Add ("copies", Copies'Access);
      Add ("exceptions", Exceptions'Access);
      Add ("atomic, one task", One_Task'Access);
      Add ("atomic, more gets than the state can count", Many_Gets'Access);
      Add ("atomic, many tasks", Stress'Access);
      Add ("aborted tasks", Aborted'Access);
      return Result;
   end Suite;

end Reference_Tests;
