--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Ada.Containers;
with Ada.Execution_Time;
with Ada.Finalization;
with Ada.Real_Time;
with Appserver.Caches;
with Appserver.Caches.Wait_Free;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Item_Caches;
with Parallel;
with Tracked;

package body Left_Reads_Tests is

   use AUnit.Assertions;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   overriding procedure Set_Up (T : in out Fixture);

   Failed : exception;

   Failing : constant := 1;
   Endless : constant := 2;
   Nested  : constant := 3;
   Stuck   : constant := 4;
   --  Keys for which Hash has a special effect

   package Inner_Caches is new Item_Caches.Caches.Wait_Free;

   Inner : Inner_Caches.Cache;

   Is_Reading : Boolean := False with Atomic;

   overriding procedure Set_Up (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Is_Reading := False;
   end Set_Up;

   function Hash (Key : Integer) return Ada.Containers.Hash_Type;

   package Caches is new Appserver.Caches (Integer, Tracked.Item, Hash);
   package Wait_Free is new Caches.Wait_Free;

   procedure Put (Self : in out Wait_Free.Cache; Key, Number : Integer) is
      Item : Tracked.Item;
   begin
      Tracked.Set_Number (Item, Number);
      Self.Put (Key, Item);
   end Put;

   function Found (Self : in out Wait_Free.Cache; Key : Integer) return Boolean is
      Item     : Tracked.Item;
      Is_Found : Boolean;
   begin
      Self.Get (Key, Item, Is_Found);
      return Is_Found and then Tracked.Number (Item) = Key;
   end Found;

   Second : Wait_Free.Cache;

   function Hash (Key : Integer) return Ada.Containers.Hash_Type is
      Item     : Tracked.Item;
      Is_Found : Boolean;
   begin
      case Key is
         when Failing =>
            raise Failed;
         when Endless =>
            Is_Reading := True;
            loop
               delay 0.001;
            end loop;
         when Nested =>
            Inner.Get (Key, Item, Is_Found);
         when Stuck =>
            Second.Get (Endless, Item, Is_Found);
         when others =>
            null;
      end case;
      return Ada.Containers.Hash_Type'Mod (Key);
   end Hash;

   --  Most of 1,000 replaced elements must be freed while the cache exists

   procedure Expect_Freed (Map : in out Wait_Free.Cache; After : String) is
      Before : constant Integer := Tracked.Live;
   begin
      for Turn in 1 .. 1_000 loop
         Put (Map, 10, 10);
      end loop;
      Tracked.Await_Live (Before + 299);
      Assert
        (Tracked.Live - Before < 300,
         After & ", left:" & Integer'Image (Tracked.Live - Before));
      Assert (Found (Map, 10), After & ", found");
      Assert (Tracked.Failures = 0, After & ", used after it was freed:" & Tracked.Failures'Image);
   end Expect_Freed;

   procedure Read_Fails (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Wait_Free.Cache;
   begin
      Put (Map, 10, 10);
      for Turn in 1 .. 2 loop
         begin
            Assert (Found (Map, Failing), "unreachable");
         exception
            when Failed => null;
         end;
         Expect_Freed (Map, "an exception");
      end loop;
   end Read_Fails;

   procedure Read_Is_Aborted (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Wait_Free.Cache;

      task type Reader;

      task body Reader is
      begin
         Assert (Found (Map, 10), "the first read");
         Assert (Found (Map, Endless), "unreachable");
      end Reader;
   begin
      Put (Map, 10, 10);
      for Turn in 1 .. 20 loop
         Is_Reading := False;
         declare
            Aborted : Reader;
         begin
            while not Is_Reading loop
               delay 0.000_1;
            end loop;
            abort Aborted;
         end;
      end loop;
      Expect_Freed (Map, "aborts of tasks");
   end Read_Is_Aborted;

   --  The task continues, and still has its slot

   procedure Read_Is_Left (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Wait_Free.Cache;
   begin
      Put (Map, 10, 10);
      for Turn in 1 .. 3 loop
         select
            delay 0.005;
         then abort
            Assert (Found (Map, Endless), "unreachable");
         end select;
         Expect_Freed (Map, "a transfer of control");
      end loop;
   end Read_Is_Left;

   procedure Read_In_Read (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Wait_Free.Cache;
   begin
      Put (Map, 10, 10);
      Put (Map, Nested, Nested);
      Assert (Found (Map, 10) and then Found (Map, Nested), "a read in a read");
      Expect_Freed (Map, "a read in a read");
   end Read_In_Read;

   --  Starts a read of Key in Map that does not end, and writes to Other in the meantime

   procedure Write_While_Read
     (Map, Other : in out Wait_Free.Cache; Key : Integer; Is_Kept : Boolean; Text : String)
   is
      task type Reader;

      task body Reader is
      begin
         Assert (Found (Map, Key), "unreachable");
      end Reader;

      Before, Left : Integer;
   begin
      Put (Map, 10, 10);
      Put (Other, 10, 10);
      declare
         Aborted : Reader;
      begin
         while not Is_Reading loop
            delay 0.000_1;
         end loop;
         Before := Tracked.Live;
         for Turn in 1 .. 1_000 loop
            Put (Other, 10, 10);
         end loop;
         if not Is_Kept then
            Tracked.Await_Live (Before + 299);
         end if;
         Left := Tracked.Live - Before;
         abort Aborted;
      end;
      if Is_Kept then
         --  A few elements that were replaced before the read began may be freed during the read
         Assert (Left >= 990, Text & ": nodes were freed that the reader may see:" & Left'Image);
      else
         Assert (Left < 300, Text & ": nodes that were not freed:" & Left'Image);
      end if;
      Other.Remove_Expired;
      Tracked.Await_Live (Before);
      Assert (Tracked.Live <= Before, Text & ": all nodes are freed when the reader has left");
   end Write_While_Read;

   procedure Reader_Stays (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Wait_Free.Cache;
   begin
      Write_While_Read (Map, Map, Endless, True, "its own cache");
   end Reader_Stays;

   procedure Reader_Of_Another (T : in out Fixture) is
      pragma Unreferenced (T);
      Map, Other : Wait_Free.Cache;
   begin
      Write_While_Read (Map, Other, Endless, False, "another cache");
   end Reader_Of_Another;

   --  A read of the second cache is nested in a read of the first

   procedure Nested_Reader_Stays (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Wait_Free.Cache;
   begin
      Write_While_Read (Map, Second, Stuck, True, "the inner cache");
      Is_Reading := False;
      Write_While_Read (Map, Map, Stuck, True, "the outer cache");
      Second.Clear;
   end Nested_Reader_Stays;

   --  The table still grows: the time of a search does not increase with the number of entries

   function CPU_Time_Of_Filling (Map : in out Wait_Free.Cache) return Duration is
      use Ada.Execution_Time;

      Start : constant CPU_Time := Clock;
   begin
      for Key in 101 .. 100_000 loop
         Put (Map, Key, Key);
      end loop;
      return Ada.Real_Time.To_Duration (Clock - Start);
   end CPU_Time_Of_Filling;

   procedure Grows_While_Reader_Stays (T : in out Fixture) is
      pragma Unreferenced (T);

      Before : constant Integer := Tracked.Live;
      Map    : Wait_Free.Cache;
      Usual  : Duration;

      procedure Expect_Entries (Text : String) is
      begin
         Assert (Map.Length = 99_900 - 99, Text & ", length:" & Map.Length'Image);
         Assert
           ((for all Key in 101 .. 100_000 => Found (Map, Key) = (Key mod 1_000 /= 7)), Text);
      end Expect_Entries;

      procedure Fill_While_Read is
         task Reader;

         task body Reader is
         begin
            Assert (Found (Map, Endless), "unreachable");
         end Reader;

         Slow : Duration;
      begin
         while not Is_Reading loop
            delay 0.000_1;
         end loop;
         Slow := CPU_Time_Of_Filling (Map);
         for Key in 101 .. 100_000 loop
            if Key mod 1_000 = 7 then
               Map.Remove (Key);
            elsif Key mod 2 = 0 then
               Put (Map, Key, Key);
            end if;
         end loop;
         Expect_Entries ("while the reader stays");
         abort Reader;
         Assert (Slow < 20 * Usual, "CPU time:" & Slow'Image & ", without a reader:" & Usual'Image);
      exception
         when others =>
            abort Reader;
            raise;
      end Fill_While_Read;
   begin
      declare
         Other : Wait_Free.Cache;
      begin
         Usual := CPU_Time_Of_Filling (Other);
      end;
      Fill_While_Read;
      Expect_Entries ("after the reader has left");
      for Turn in 1 .. 200 loop
         Put (Map, 200 + Turn, 200 + Turn);
         Put (Map, 200_000, 200_000);
         Map.Remove (200_000);
      end loop;
      Expect_Entries ("after later writes");
      Map.Clear;
      Map.Remove_Expired;
      Tracked.Await_Live (Before);
      Assert (Tracked.Live = Before, "left:" & Integer'Image (Tracked.Live - Before));
      Assert (Tracked.Failures = 0, "used after it was freed:" & Tracked.Failures'Image);
   end Grows_While_Reader_Stays;

   --  Other readers miss no entries while a reader stays, and when it leaves

   procedure Read_While_Reader_Stays (T : in out Fixture) is
      pragma Unreferenced (T);

      Size  : constant := 4_000;
      Map   : Wait_Free.Cache;
      Count : Natural := 0 with Atomic;

      procedure Fill (From, To : Positive) is
      begin
         for Next in From .. To loop
            Put (Map, 100 + Next, 100 + Next);
            Count := Next;
         end loop;
      end Fill;

      procedure Fill_While_Read (From, To : Positive) is
         task Reader;

         task body Reader is
         begin
            Assert (Found (Map, Endless), "unreachable");
         end Reader;
      begin
         while not Is_Reading loop
            delay 0.000_1;
         end loop;
         Fill (From, To);
         abort Reader;
      end Fill_While_Read;

      procedure Work (Number : Positive) is
         Key : Positive := 1;
      begin
         if Number = 1 then
            Fill (1, Size / 8);
            Fill_While_Read (Size / 8 + 1, Size / 2);
            Fill (Size / 2 + 1, Size);
         else
            while Count < Size loop
               if Count > 0 then
                  Key := 1 + (7 * Key + Number) mod Count;
                  Assert (Found (Map, 100 + Key), "the key is found:" & Key'Image);
               end if;
            end loop;
         end if;
      end Work;
   begin
      for Turn in 1 .. 5 loop
         Is_Reading := False;
         Count := 0;
         Parallel.Run (3, Work'Access);
         Assert
           (Map.Length = Size and then (for all Key in 101 .. 100 + Size => Found (Map, Key)),
            "all keys are found");
         Map.Clear;
      end loop;
      Assert (Tracked.Failures = 0, "used after it was freed:" & Tracked.Failures'Image);
   end Read_While_Reader_Stays;

   --  Memory is freed by time alone, without a later write or request

   procedure Freed_By_Time (T : in out Fixture) is
      pragma Unreferenced (T);
      Map    : Wait_Free.Cache;
      Before : Integer;
   begin
      Put (Map, 10, 10);
      Before := Tracked.Live;
      for Turn in 1 .. 3 loop
         for Number in 1 .. 50 loop
            Put (Map, 10, 10);
         end loop;
         Tracked.Await_Live (Before);
         Assert (Tracked.Live = Before, "left:" & Integer'Image (Tracked.Live - Before));
      end loop;
   end Freed_By_Time;

   --  The finalization of a cache waits until the background task has finalized the elements that
   --  it has taken from this cache, but does not wait for the elements of another cache

   Blocks       : Boolean := False with Atomic;
   Is_Blocked   : Boolean := False with Atomic;
   Is_Finalized : Boolean := False with Atomic;

   package Slow_Items is
      type Item is new Ada.Finalization.Controlled with record
         Is_Slow : Boolean := False;
      end record;

      overriding procedure Finalize (Self : in out Item);
   end Slow_Items;

   package body Slow_Items is
      overriding procedure Finalize (Self : in out Item) is
      begin
         if Self.Is_Slow and then Blocks then
            Is_Blocked := True;
            while Blocks loop
               delay 0.001;
            end loop;
            Is_Finalized := True;
         end if;
      end Finalize;
   end Slow_Items;

   package Slow_Caches is new Appserver.Caches (Integer, Slow_Items.Item, Item_Caches.Hash);
   package Slow_Wait_Free is new Slow_Caches.Wait_Free;

   procedure Finalization_Blocks (T : in out Fixture) is
      pragma Unreferenced (T);

      Has_Ended : Boolean := False with Atomic;

      procedure Use_Other_Cache is
         Other : Slow_Wait_Free.Cache;
      begin
         for Turn in 1 .. 2 loop
            Other.Put (1, (Ada.Finalization.Controlled with Is_Slow => False));
         end loop;
      end Use_Other_Cache;

      task Owner;

      task body Owner is
      begin
         declare
            Map : Slow_Wait_Free.Cache;
         begin
            Map.Put (1, (Ada.Finalization.Controlled with Is_Slow => True));
            Blocks := True;
            Map.Put (1, (Ada.Finalization.Controlled with Is_Slow => False));
            while Blocks and then not Is_Blocked loop
               delay 0.001;
            end loop;
         end;
         Assert (Is_Finalized, "the element is finalized first");
         Has_Ended := True;
      end Owner;
   begin
      for Wait in 1 .. 60_000 loop
         exit when Is_Blocked;
         delay 0.001;
      end loop;
      Use_Other_Cache;
      Assert (not Has_Ended, "the finalization of the cache waits");
      Blocks := False;
      for Wait in 1 .. 60_000 loop
         exit when Has_Ended;
         delay 0.001;
      end loop;
      Assert (Has_Ended, "the finalization of the cache has ended");
   end Finalization_Blocks;

   --  Clear does not wait for the library's task, which may still be finalizing elements that were
   --  replaced before

   procedure Clear_While_Finalizing (T : in out Fixture) is
      pragma Unreferenced (T);
      Map : Slow_Wait_Free.Cache;
   begin
      Is_Blocked := False;
      Is_Finalized := False;
      Map.Put (1, (Ada.Finalization.Controlled with Is_Slow => True));
      Blocks := True;
      Map.Put (1, (Ada.Finalization.Controlled with Is_Slow => False));
      for Wait in 1 .. 60_000 loop
         exit when Is_Blocked;
         delay 0.001;
      end loop;
      Assert (Is_Blocked, "the task finalizes the replaced element");
      Map.Clear;
      Assert (Map.Length = 0 and then not Is_Finalized, "Clear does not wait");
      Blocks := False;
      for Wait in 1 .. 60_000 loop
         exit when Is_Finalized;
         delay 0.001;
      end loop;
      Assert (Is_Finalized, "the element is finalized at last");
   exception
      when others =>
         Blocks := False;
         raise;
   end Clear_While_Finalizing;

   procedure Freed_On_Request (T : in out Fixture) is
      pragma Unreferenced (T);
      Map    : Wait_Free.Cache;
      Before : Integer;
   begin
      Put (Map, 10, 10);
      Before := Tracked.Live;
      for Turn in 1 .. 50 loop
         Put (Map, 10, 10);
      end loop;
      Map.Remove_Expired;
      Tracked.Await_Live (Before);
      Assert (Tracked.Live = Before, "left:" & Integer'Image (Tracked.Live - Before));
   end Freed_On_Request;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create ("wait-free cache: " & Text, Test));
      end Add;
   begin
      Add ("a read raises an exception", Read_Fails'Access);
      Add ("tasks aborted during a read", Read_Is_Aborted'Access);
      Add ("a transfer of control ends a read", Read_Is_Left'Access);
      Add ("nested reads", Read_In_Read'Access);
      Add ("a reader stays", Reader_Stays'Access);
      Add ("growing while a reader stays", Grows_While_Reader_Stays'Access);
      Add ("other reads while a reader stays", Read_While_Reader_Stays'Access);
      Add ("a reader of another cache stays", Reader_Of_Another'Access);
      Add ("a reader stays in a nested read", Nested_Reader_Stays'Access);
      Add ("replaced entries are freed when writes stop", Freed_By_Time'Access);
      Add ("replaced entries are freed on request", Freed_On_Request'Access);
      Add ("a blocking finalization", Finalization_Blocks'Access);
      Add ("Clear during the finalization of an element", Clear_While_Finalizing'Access);
      return Result;
   end Suite;

end Left_Reads_Tests;
