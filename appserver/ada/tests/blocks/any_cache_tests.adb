--  SPDX-License-Identifier: Apache-2.0
--  Copyright 2026 The benchlab authors

with Appserver.Counters.Atomic;
with AUnit.Assertions;
with AUnit.Test_Caller;
with AUnit.Test_Fixtures;
with Interfaces;
with Parallel;
with Stress_Time;
with Tracked;

package body Any_Cache_Tests is

   use Appserver.Counters;
   use AUnit.Assertions;
   use type Interfaces.Integer_64;

   Failed : exception;

   type Fixture is new AUnit.Test_Fixtures.Test_Fixture with null record;

   Live_Before : Integer;

   overriding procedure Set_Up (T : in out Fixture);

   overriding procedure Set_Up (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      Live_Before := Tracked.Live;
   end Set_Up;

   procedure Expect_Nothing_Left is
   begin
      if Has_Task then
         Tracked.Await_Live (Live_Before);
      end if;
      Assert (Tracked.Live = Live_Before, "left:" & Integer'Image (Tracked.Live - Live_Before));
      Assert (Tracked.Failures = 0, "used after it was freed:" & Tracked.Failures'Image);
   end Expect_Nothing_Left;

   Missing : constant := -1;

   function Found (Self : in out Cache'Class; Key : Integer) return Integer is
      Item     : Tracked.Item;
      Is_Found : Boolean;
   begin
      Self.Get (Key, Item, Is_Found);
      return (if Is_Found then Tracked.Number (Item) else Missing);
   end Found;

   --  Avoids a function result, which an abort may leave unfinalized

   procedure Put (Self : in out Cache'Class; Key, Number : Integer) is
      Item : Tracked.Item;
   begin
      Tracked.Set_Number (Item, Number);
      Self.Put (Key, Item);
   end Put;

   --------------
   -- One task --
   --------------

   procedure Alone (T : in out Fixture) is
      pragma Unreferenced (T);
   begin
      declare
         Map  : Cache;
         Size : constant := 300;
      begin
         Assert (Map.Length = 0 and then Found (Map, 1) = Missing, "empty");
         Map.Remove (1);
         for Key in 1 .. Size loop
            Put (Map, Key, Key);
         end loop;
         Assert ((for all Key in 1 .. Size => Found (Map, Key) = Key), "all keys are found");
         for Key in 1 .. Size loop
            if Key mod 3 = 0 then
               Map.Remove (Key);
            elsif Key mod 3 = 1 then
               Put (Map, Key, 1_000 + Key);
            end if;
         end loop;
         Assert
           ((for all Key in 1 .. Size =>
               Found (Map, Key) =
                 (case Key mod 3 is
                     when 0 => Missing, when 1 => 1_000 + Key, when others => Key)),
            "removed, replaced and remaining elements");
         Assert (Map.Length = Size - Size / 3, "length");
         Map.Clear;
         Assert (Map.Length = 0 and then Found (Map, 2) = Missing, "cleared");
         Put (Map, 2, 5);
         Assert (Found (Map, 2) = 5, "the key is found after it was put again");
      end;
      Expect_Nothing_Left;
   end Alone;

   procedure Bounded (T : in out Fixture) is
      pragma Unreferenced (T);

      procedure Use_Cache (Capacity : Positive) is
         Map : Cache (Capacity => Capacity, Time_To_Live => Item_Caches.Caches.Forever);
      begin
         for Turn in 1 .. 1_000 loop
            Put (Map, Turn mod (2 * Capacity + 1), Turn);
            Assert (Found (Map, Turn mod (2 * Capacity + 1)) = Turn, "the newest key is found");
            Assert (Map.Length <= Capacity, "bounded");
         end loop;
         Assert (Map.Length = Capacity, "full");
      end Use_Cache;
   begin
      for Capacity in 1 .. 12 loop
         Use_Cache (Capacity);
      end loop;
      Expect_Nothing_Left;
   end Bounded;

   procedure Expires (T : in out Fixture) is
      pragma Unreferenced (T);
      Brief : Cache (Capacity => 10, Time_To_Live => 10);
      Long  : Cache (Capacity => 10, Time_To_Live => 1_000_000);
   begin
      Put (Brief, 1, 1);
      Put (Long, 1, 1);
      delay 0.02;
      Assert (Found (Brief, 1) = Missing, "the entry has expired");
      Assert (Found (Long, 1) = 1, "the entry has not expired");
   end Expires;

   --  If the capacity is unlimited, only expiry frees memory

   procedure Frees_Expired (T : in out Fixture) is
      pragma Unreferenced (T);
      Brief : Cache (Capacity => Item_Caches.Caches.Unlimited, Time_To_Live => 10);
   begin
      for Key in 1 .. 500 loop
         Put (Brief, Key, Key);
      end loop;
      delay 0.05;
      Put (Brief, 501, 501);
      Assert (Brief.Length = 1, "a put removes expired entries:" & Brief.Length'Image);
      delay 0.05;
      Brief.Remove_Expired;
      Assert (Brief.Length = 0, "Remove_Expired removes expired entries:" & Brief.Length'Image);
      Expect_Nothing_Left;
   end Frees_Expired;

   --------------
   -- Failures --
   --------------

   --  If Hash, "=", or copying raises an exception, nothing changes, and nothing leaks

   procedure Write_Fails (T : in out Fixture) is
      pragma Unreferenced (T);

      Map  : Cache;
      Size : constant := 100;

      procedure Expect_Failure (Key, Number : Integer) is
         Live : constant Integer := Tracked.Live;
      begin
         for Turn in 1 .. 10 loop
            begin
               Put (Map, Key, Number);
               Assert (False, "no exception for key" & Key'Image);
            exception
               when Item_Caches.Failed | Constraint_Error | Program_Error => null;
            end;
         end loop;
         Assert
           (Tracked.Live <= Live,
            "left for key" & Key'Image & ":" & Integer'Image (Tracked.Live - Live));
      end Expect_Failure;

      procedure Expect_No_Removal (Key : Integer) is
      begin
         Map.Remove (Key);
         Assert (False, "no exception for key" & Key'Image);
      exception
         when Item_Caches.Failed => null;
      end Expect_No_Removal;

      use Item_Caches;
   begin
      for Key in 1 .. Size loop
         Put (Map, Key, Key);
      end loop;
      Put (Map, No_Compare - 1, 7);
      Expect_Failure (No_Hash, 1);
      Expect_Failure (No_Compare, 1);
      Expect_Failure (5, Tracked.Uncopyable);
      Expect_Failure (Size + 1, Tracked.Uncopyable);
      Expect_No_Removal (No_Hash);
      Expect_No_Removal (No_Compare);
      Assert (Map.Length = Size + 1, "length" & Map.Length'Image);
      Assert ((for all Key in 1 .. Size => Found (Map, Key) = Key), "the entries are unchanged");
      Put (Map, 5, 50);
      Assert (Found (Map, 5) = 50, "the cache is usable after an exception");
      Map.Clear;
      Expect_Nothing_Left;
   end Write_Fails;

   -------------
   -- Loading --
   -------------

   --  The data that a load has read may be older than a change of its key during the load

   procedure Changed_While_Loading
     (Map      : in out Cache;
      Change   : not null access procedure;
      Reloaded : Integer;
      Left     : Integer;
      Text     : String)
   is
      Has_Read : Boolean := False with Atomic;
      Goes_On  : Boolean := False with Atomic;
      Got      : Integer := 0 with Atomic;

      function Load_Old (Key : Integer) return Tracked.Item is
         pragma Unreferenced (Key);
      begin
         Has_Read := True;
         while not Goes_On loop
            delay 0.001;
         end loop;
         return Tracked.New_Item (1);
      end Load_Old;

      function Load_New (Key : Integer) return Tracked.Item is
         pragma Unreferenced (Key);
      begin
         return Tracked.New_Item (2);
      end Load_New;

      task type Loader;

      task body Loader is
      begin
         Got := Tracked.Number (Map.Get_Or_Load (7, Load_Old'Access));
      exception
         when others => Got := Missing;
      end Loader;
   begin
      declare
         First : Loader with Unreferenced;
         Again : Integer := Missing;
      begin
         while not Has_Read loop
            delay 0.001;
         end loop;
         Change.all;
         if Reloaded /= Missing then
            begin
               Again := Tracked.Number
                 (Map.Get_Or_Load (7, Load_New'Access, Timeout => 60.0));
            exception
               when Item_Caches.Caches.Load_Timeout => null;
            end;
         end if;
         Goes_On := True;
         Assert (Again = Reloaded, Text & ": the next call gets" & Again'Image);
      end;
      Assert (Got in 1 .. 3, Text & ": the loading task gets" & Got'Image);
      Assert (Found (Map, 7) = Left, Text & ": the cache has" & Integer'Image (Found (Map, 7)));
   end Changed_While_Loading;

   procedure Stale_Load (T : in out Fixture) is
      pragma Unreferenced (T);

      Map   : Cache;
      Small : Cache (Capacity => 1, Time_To_Live => Item_Caches.Caches.Forever);

      procedure Remove is
      begin
         Map.Remove (7);
      end Remove;

      procedure Clear is
      begin
         Map.Clear;
      end Clear;

      procedure Replace is
      begin
         Put (Map, 7, 3);
      end Replace;

      procedure Replace_And_Remove is
      begin
         Put (Map, 7, 3);
         Map.Remove (7);
      end Replace_And_Remove;

      procedure Push_Out is
      begin
         Put (Small, 7, 3);
         Put (Small, 8, 8);
      end Push_Out;

      procedure Change_Another is
      begin
         Map.Remove (6);
         Put (Map, 5, 5);
      end Change_Another;
   begin
      Changed_While_Loading (Map, Remove'Access, Missing, Missing, "removed");
      Changed_While_Loading (Map, Remove'Access, 2, 2, "removed, and loaded again");
      Map.Clear;
      Changed_While_Loading (Map, Clear'Access, Missing, Missing, "cleared");
      Changed_While_Loading (Map, Clear'Access, 2, 2, "cleared, and loaded again");
      Map.Clear;
      Changed_While_Loading (Map, Replace'Access, 3, 3, "put");
      Map.Clear;
      Changed_While_Loading (Map, Replace_And_Remove'Access, Missing, Missing, "put, removed");
      Changed_While_Loading (Small, Push_Out'Access, Missing, Missing, "put, evicted");
      Map.Clear;
      Changed_While_Loading (Map, Change_Another'Access, Missing, 1, "another key");
   end Stale_Load;

   --  Concurrent removals and loads: a load that began before the last removal leaves no entry

   procedure Removed_By_Many (T : in out Fixture) is
      pragma Unreferenced (T);

      Version : Integer := 0 with Atomic;
      Map     : Cache;

      function Load (Key : Integer) return Tracked.Item is
         Read : constant Integer := Version;
      begin
         if Key mod 2 = 0 then
            delay 0.0;
         end if;
         return Tracked.New_Item (Read);
      end Load;

      procedure Work (Number : Positive) is
      begin
         for Turn in 1 .. 500 loop
            if Number = 1 then
               Version := Version + 1;
               Map.Remove (1);
               Map.Remove (2);
               for Key in 1 .. 2 loop
                  Assert
                    (Tracked.Number (Map.Get_Or_Load (Key, Load'Access)) = Version,
                     "an old value after its removal");
               end loop;
            else
               Assert (Tracked.Number (Map.Get_Or_Load (1, Load'Access)) >= 0, "a value");
               Assert (Tracked.Number (Map.Get_Or_Load (2, Load'Access)) >= 0, "a value");
            end if;
         end loop;
      end Work;

   begin
      Parallel.Run (4, Work'Access);
   end Removed_By_Many;

   procedure Load_Is_Silent (T : in out Fixture) is
      pragma Unreferenced (T);

      Map     : Cache;
      Started : Boolean := False with Atomic;
      Goes_On : Boolean := False with Atomic;

      function Load (Key : Integer) return Tracked.Item is
      begin
         Started := True;
         while not Goes_On loop
            delay 0.001;
         end loop;
         return Tracked.New_Item (Key);
      end Load;

      task type Loader;

      task body Loader is
         Ignored : Tracked.Item;
      begin
         Ignored := Map.Get_Or_Load (1, Load'Access);
      end Loader;
   begin
      declare
         First : Loader with Unreferenced;
      begin
         while not Started loop
            delay 0.001;
         end loop;
         begin
            Assert
              (Tracked.Number (Map.Get_Or_Load (1, Load'Access, Timeout => 0.02)) = 1,
               "unreachable");
         exception
            when Item_Caches.Caches.Load_Timeout => Started := False;
         end;
         Goes_On := True;
         Assert (not Started, "it waited for a load that does not end");
      end;
      Assert (Found (Map, 1) = 1, "the load continued");
   end Load_Is_Silent;

   procedure Loaded_Once (T : in out Fixture) is
      pragma Unreferenced (T);

      Map   : Cache;
      Loads : Atomic.Counter;

      function Load (Key : Integer) return Tracked.Item is
      begin
         Loads.Increment;
         delay 0.005;
         return Tracked.New_Item (2 * Key);
      end Load;

      procedure Work (Number : Positive) is
         pragma Unreferenced (Number);
      begin
         for Key in 1 .. 10 loop
            Assert
              (Tracked.Number (Map.Get_Or_Load (Key, Load'Access)) = 2 * Key, "the loaded element");
         end loop;
      end Work;

   begin
      Parallel.Run (5, Work'Access);
      Assert (Loads.Value = 10, "each key is loaded once:" & Loads.Value'Image);
   end Loaded_Once;

   procedure Load_Fails (T : in out Fixture) is
      pragma Unreferenced (T);

      Tasks    : constant := 4;
      Map      : Cache;
      Failures : Atomic.Counter;

      function Fail (Key : Integer) return Tracked.Item is
      begin
         delay 0.01;
         if Key > 0 then
            raise Failed with "key" & Key'Image;
         end if;
         return Tracked.New_Item (0);
      end Fail;

      function Load (Key : Integer) return Tracked.Item is (Tracked.New_Item (Key));

      function Load_Other (Key : Integer) return Tracked.Item is
        (Map.Get_Or_Load (Key + 1, Load'Access));

      function Load_Itself (Key : Integer) return Tracked.Item is
        (Map.Get_Or_Load (Key, Load'Access));

      procedure Work (Number : Positive) is
      begin
         if Number = Tasks then
            Assert
              (Tracked.Number (Map.Get_Or_Load (50, Load'Access)) = 50,
               "loads of other keys continue");
         else
            Assert (Tracked.Number (Map.Get_Or_Load (1, Fail'Access)) = 1, "unreachable");
         end if;
      exception
         when Failed =>
            Failures.Increment;
      end Work;

   begin
      Parallel.Run (Tasks, Work'Access);
      Assert (Failures.Value = Tasks - 1, "all waiting tasks get the exception");
      Assert (Found (Map, 1) = Missing, "nothing is put");
      Assert (Tracked.Number (Map.Get_Or_Load (1, Load'Access)) = 1, "the next call loads again");
      Assert
        (Tracked.Number (Map.Get_Or_Load (7, Load_Other'Access)) = 8,
         "a load that requests another key");
      begin
         Assert (Tracked.Number (Map.Get_Or_Load (20, Load_Itself'Access)) = 20, "unreachable");
      exception
         when Program_Error =>
            Assert (Found (Map, 20) = Missing, "a load that requests its own key");
      end;
   end Load_Fails;

   --  Each of three tasks loads a key that the next task needs, in two caches: no task hangs

   procedure Loads_In_A_Circle (T : in out Fixture) is
      pragma Unreferenced (T);

      Tasks   : constant := 3;
      Maps    : array (0 .. 1) of Cache;
      Started : Atomic.Counter;
      Caught  : Atomic.Counter;

      function Load (Key : Integer) return Tracked.Item is (Tracked.New_Item (Key));

      function Load_Next (Key : Integer) return Tracked.Item is
         Next : constant Integer := (Key + 1) mod Tasks;
      begin
         Started.Increment;
         while Started.Value < Tasks loop
            delay 0.001;
         end loop;
         return Maps (Next mod 2).Get_Or_Load (Next, Load'Access);
      end Load_Next;

      procedure Work (Number : Positive) is
         Key  : constant Integer := Number mod Tasks;
         Item : Tracked.Item;
      begin
         Item := Maps (Key mod 2).Get_Or_Load (Key, Load_Next'Access);
         Assert (Tracked.Number (Item) = -1, "unreachable");
      exception
         when Program_Error =>
            Caught.Increment;
      end Work;
   begin
      Parallel.Run (Tasks, Work'Access);
      Assert (Caught.Value = Tasks, "all calls fail:" & Caught.Value'Image);
      Assert (Maps (0).Length = 0 and then Maps (1).Length = 0, "nothing is put");
      Assert
        (Tracked.Number (Maps (0).Get_Or_Load (0, Load'Access)) = 0,
         "the cache is usable after an exception");
   end Loads_In_A_Circle;

   --  Tasks fill a bounded cache, which has to remember more and more evicted keys

   procedure Grows (T : in out Fixture) is
      pragma Unreferenced (T);

      Tasks : constant := 4;
      Keys  : constant := 3_000;  --  of each task

      procedure Round is
         Map : Cache (Capacity => 2 * Tasks * Keys, Time_To_Live => Item_Caches.Caches.Forever);

         procedure Work (Number : Positive) is
         begin
            for Key in Keys * (Number - 1) + 1 .. Keys * Number loop
               Put (Map, Key, Key);
            end loop;
         end Work;
      begin
         Parallel.Run (Tasks, Work'Access);
         Assert (Map.Length = Tasks * Keys, "all keys are put");
         Assert ((for all Key in 1 .. Tasks * Keys => Found (Map, Key) = Key), "elements");
      end Round;
   begin
      Stress_Time.Repeat (Round'Access);
      Expect_Nothing_Left;
   end Grows;

   procedure Load_Aborted (T : in out Fixture) is
      pragma Unreferenced (T);

      Map     : Cache;
      Started : Boolean := False with Atomic;

      function Never_Ends (Key : Integer) return Tracked.Item is
      begin
         Started := True;
         delay 1_000.0;
         return Tracked.New_Item (Key);
      end Never_Ends;

      function Load (Key : Integer) return Tracked.Item is (Tracked.New_Item (2 * Key));

      task type Loader;

      task body Loader is
         Ignored : Tracked.Item;
      begin
         Ignored := Map.Get_Or_Load (1, Never_Ends'Access);
      end Loader;

      task type Second;

      task body Second is
         Item : Tracked.Item;
      begin
         Item := Map.Get_Or_Load (1, Load'Access);
         Assert (Tracked.Number (Item) = 2, "loaded by a task that waited");
      end Second;

   begin
      declare
         First : Loader;
      begin
         while not Started loop
            delay 0.001;
         end loop;
         declare
            Waits : Second;
         begin
            delay 0.005;
            Assert (not Waits'Terminated, "the task waits");
            abort First;
         end;
      end;
      Assert (Found (Map, 1) = 2, "put");
   end Load_Aborted;

   -----------------
   -- Comparisons --
   -----------------

   --  If "=" does not return in one task, the others continue

   procedure Comparison_Blocks (T : in out Fixture) is
      pragma Unreferenced (T);
      use Item_Caches;

      Map : Cache;

      function Load (Key : Integer) return Tracked.Item is (Tracked.New_Item (Key));

      Is_Loading : Boolean := False with Atomic;

      function Load_Long (Key : Integer) return Tracked.Item is
      begin
         Is_Loading := True;
         while not Goes_On loop
            delay 0.001;
         end loop;
         return Tracked.New_Item (Key);
      end Load_Long;

      procedure Put_Blocked is
      begin
         Put (Map, Blocked_Compare, 1);
      end Put_Blocked;

      procedure Get_Blocked is
      begin
         Assert (Found (Map, Blocked_Compare) = Missing, "the key is not in the cache");
      end Get_Blocked;

      procedure Remove_Blocked is
      begin
         Map.Remove (Blocked_Compare);
      end Remove_Blocked;

      procedure Load_Blocked is
      begin
         Assert
           (Tracked.Number (Map.Get_Or_Load (Blocked_Compare, Load'Access)) = Blocked_Compare,
            "loaded");
      end Load_Blocked;

      procedure Others_Go_On is
      begin
         for Key in 1 .. 100 loop
            Put (Map, Key, Key);
            Assert (Found (Map, Key) = Key, "found");
            Map.Remove (Key);
            Assert (Tracked.Number (Map.Get_Or_Load (Key, Load'Access)) = Key, "loaded");
         end loop;
         Put (Map, Blocked_Compare - 1, 7);
         Assert (Found (Map, Blocked_Compare - 1) = 7, "a key with the same hash");
         Map.Remove_Expired;
      end Others_Go_On;

      procedure Block (Operation : not null access procedure; Text : String) is
         Is_Done : Boolean := False with Atomic;
         Failure : Boolean := False with Atomic;

         task type Blocked;
         task type Other;

         task body Blocked is
         begin
            Operation.all;
         exception
            when others => Failure := True;
         end Blocked;

         task body Other is
         begin
            Others_Go_On;
            Is_Done := True;
         exception
            when others => Failure := True;
         end Other;
      begin
         Is_Comparing := False;
         Goes_On := False;
         declare
            First : Blocked with Unreferenced;
         begin
            while not (Is_Comparing or else Failure) loop
               delay 0.001;
            end loop;
            declare
               Second : Other with Unreferenced;
            begin
               for Wait in 1 .. 60_000 loop
                  exit when Is_Done or else Failure;
                  delay 0.001;
               end loop;
               Assert (Is_Done, Text & ": another task waits for it, or fails");
               Goes_On := True;
            exception
               when others =>
                  Goes_On := True;
                  raise;
            end;
         end;
         Assert (not Failure, Text & ": it fails");
      end Block;

      --  Calls Operation during a load of the key below

      procedure Block_Beside_Load (Operation : not null access procedure; Text : String) is
         task type Loader;

         task body Loader is
            Ignored : Tracked.Item;
         begin
            Ignored := Map.Get_Or_Load (Blocked_Compare - 2, Load_Long'Access);
         exception
            when others => Is_Loading := True;
         end Loader;
      begin
         Map.Clear;
         Is_Loading := False;
         Goes_On := False;
         declare
            First : Loader with Unreferenced;
         begin
            while not Is_Loading loop
               delay 0.001;
            end loop;
            Block (Operation, Text);
         end;
      end Block_Beside_Load;
   begin
      Put (Map, Blocked_Compare - 1, 7);
      Block (Get_Blocked'Access, "a read");
      Block (Remove_Blocked'Access, "a removal");
      Block (Load_Blocked'Access, "a load");
      Assert (Found (Map, Blocked_Compare) = Blocked_Compare, "loaded");
      Map.Clear;
      Put (Map, Blocked_Compare - 1, 7);
      Block (Put_Blocked'Access, "a put");
      Assert (Found (Map, Blocked_Compare) = 1, "put");
      Block_Beside_Load (Put_Blocked'Access, "a put during a load");
      Block_Beside_Load (Load_Blocked'Access, "two loads");
      Map.Clear;
      Expect_Nothing_Left;
   end Comparison_Blocks;

   --  Many tasks put and remove keys with the same hash, whose comparison is slow or fails: at the
   --  end, each key has one entry, with its element

   procedure Comparisons_Fail (T : in out Fixture) is
      pragma Unreferenced (T);
      use Item_Caches;

      Map   : Cache;
      Turns : constant := 50;
      Last  : constant := 3;

      --  Each task has its own key with the hash of Slow_Compare, which all tasks put, or with that
      --  of No_Compare

      procedure Use_Slow (Number : Positive) is
         Own : constant Integer := Slow_Compare - Number;
      begin
         for Turn in 1 .. Turns loop
            Put (Map, Own, Turn);
            Assert (Found (Map, Own) = Turn, "the task's own element");
            Put (Map, Slow_Compare, 1);
            Map.Remove (Own);
            Assert (Found (Map, Own) = Missing, "removed");
            Assert (Found (Map, Slow_Compare) = 1, "everybody's");
         end loop;
         Put (Map, Own, Number);
      end Use_Slow;

      procedure Use_Failing (Number : Positive) is
         Own      : constant Integer := No_Compare - Number;
         Failures : Natural := 0;
      begin
         Put (Map, Own, Number);
         for Turn in 1 .. Turns loop
            begin
               case Turn mod 3 is
                  when 0      => Put (Map, No_Compare, 1);
                  when 1      => Map.Remove (No_Compare);
                  when others => Assert (Found (Map, No_Compare) = Missing, "unreachable");
               end case;
            exception
               when Item_Caches.Failed => Failures := Failures + 1;
            end;
            Put (Map, Own, Number);
            Assert (Found (Map, Own) = Number, "the task's own element");
         end loop;
         Assert (Failures = Turns, "each call fails");
      end Use_Failing;

      procedure Work (Number : Positive) is
      begin
         if Number <= Last then
            Use_Slow (Number);
         else
            Use_Failing (Number - Last);
         end if;
      end Work;
   begin
      Parallel.Run (2 * Last, Work'Access);
      Assert (Map.Length = 2 * Last + 1, "length:" & Map.Length'Image);
      for Number in 1 .. Last loop
         Assert (Found (Map, Slow_Compare - Number) = Number, "a key with a slow comparison");
         Assert
           (Found (Map, No_Compare - Number) = Number,
            "a key in the same bucket as a key whose comparison fails");
      end loop;
      Map.Clear;
      Expect_Nothing_Left;
   end Comparisons_Fail;

   --  No existing entry is missed while the table grows

   procedure Grows_While_Read (T : in out Fixture) is
      pragma Unreferenced (T);

      --  A table grows only for a small fraction of the time, so many tables are filled

      procedure Round is
         Size  : constant := 1_000;
         Map   : Cache;
         Count : Natural := 0 with Atomic;

         procedure Work (Number : Positive) is
            Key : Positive := 1;
         begin
            if Number = 1 then
               for Next in 1 .. Size loop
                  Put (Map, Next, Next);
                  Count := Next;
               end loop;
            else
               while Count < Size loop
                  if Count > 0 then
                     Key := 1 + (7 * Key + Number) mod Count;
                     Assert (Found (Map, Key) = Key, "the key is found:" & Key'Image);
                  end if;
               end loop;
            end if;
         end Work;
      begin
         Parallel.Run (3, Work'Access);
         Assert ((for all Key in 1 .. Size => Found (Map, Key) = Key), "all keys are found");
      end Round;
   begin
      Stress_Time.Repeat (Round'Access);
      Expect_Nothing_Left;
   end Grows_While_Read;

   ------------
   -- Stress --
   ------------

   procedure No_Put_Is_Lost (T : in out Fixture) is
      pragma Unreferenced (T);

      Tasks : constant := 4;
      Each  : constant := 50;

      procedure Round is
         Map : Cache;

         procedure Work (Number : Positive) is
         begin
            for Turn in 0 .. Each - 1 loop
               Put (Map, Turn * Tasks + Number, Number);
            end loop;
         end Work;
      begin
         Parallel.Run (Tasks, Work'Access);
         Assert (Map.Length = Tasks * Each, "all entries are in the cache:" & Map.Length'Image);
         Assert
           ((for all Key in 1 .. Tasks * Each =>
               Found (Map, Key) = (Key - 1) mod Tasks + 1), "each key has its element");
      end Round;

   begin
      for Turn in 1 .. 10 loop
         Round;
      end loop;
      Expect_Nothing_Left;
   end No_Put_Is_Lost;

   --  Elements are always twice their key, while tasks put, remove, clear, and are aborted

   procedure Stress (T : in out Fixture) is
      pragma Unreferenced (T);

      Keys : constant := 100;

      procedure Use_Map (Map : in out Cache; Number, Turns : Positive) is
         Key  : Integer;
         Item : Integer;
      begin
         for Turn in 1 .. Turns loop
            Key := 1 + (Turn * (2 * Number + 1)) mod Keys;
            if Number <= 2 then
               case (Turn + Number) mod 16 is
                  when 0      => Map.Remove (Key);
                  when 1      => Map.Remove (Key + 1);
                  when others => Put (Map, Key, 2 * Key);
               end case;
            else
               Item := Found (Map, Key);
               Assert (Item in Missing | 2 * Key, "the element of the key");
            end if;
         end loop;
      end Use_Map;

      procedure Round is
         Map     : Cache;
         Bounded : Cache (Capacity => 20, Time_To_Live => 5);

         procedure Work (Number : Positive) is
         begin
            Use_Map (Map, Number, 400);
            Use_Map (Bounded, Number, 400);
         end Work;

         task type Worker (Number : Positive := 1);

         task body Worker is
         begin
            Use_Map (Map, Number, Positive'Last);
         end Worker;
      begin
         Parallel.Run (5, Work'Access);
         for Turn in 1 .. 5 loop
            declare
               Writer : Worker (1);
               Reader : Worker (3);
            begin
               delay 0.000_3;
               abort Writer, Reader;
            end;
         end loop;
         --  Memory that could not be freed because of a reader is freed by later writes to the same
         --  cache

         for Turn in 1 .. 300 loop
            Put (Map, 1 + Turn mod 2, 2 * (1 + Turn mod 2));
            Put (Bounded, 1 + Turn mod 2, 2 * (1 + Turn mod 2));
         end loop;
         if Has_Task then
            Tracked.Await_Live (Live_Before + Keys + 20 + 500);
         end if;
         Assert
           (Tracked.Live - Live_Before <= Keys + 20 + 500,
            "freed while the cache is used:" & Integer'Image (Tracked.Live - Live_Before));
      end Round;

   begin
      Stress_Time.Repeat (Round'Access);
      Expect_Nothing_Left;
   end Stress;

   package Caller is new AUnit.Test_Caller (Fixture);

   function Suite return AUnit.Test_Suites.Access_Test_Suite is
      Result : constant AUnit.Test_Suites.Access_Test_Suite := AUnit.Test_Suites.New_Suite;

      procedure Add (Text : String; Test : Caller.Test_Method) is
      begin
         Result.Add_Test (Caller.Create (Name & " cache: " & Text, Test));
      end Add;
   begin
      Add ("one task", Alone'Access);
      Add ("a bounded cache that grows", Grows'Access);
      Add ("bounded", Bounded'Access);
      Add ("time to live", Expires'Access);
      Add ("expired entries are freed", Frees_Expired'Access);
      Add ("a write that fails", Write_Fails'Access);
      Add ("a change during a load", Stale_Load'Access);
      Add ("concurrent removals and loads", Removed_By_Many'Access);
      Add ("a load that does not end", Load_Is_Silent'Access);
      Add ("loaded once", Loaded_Once'Access);
      Add ("a failing load", Load_Fails'Access);
      Add ("loads that wait in a cycle", Loads_In_A_Circle'Access);
      Add ("an aborted load", Load_Aborted'Access);
      Add ("a blocking comparison", Comparison_Blocks'Access);
      Add ("failing and slow comparisons", Comparisons_Fail'Access);
      Add ("growing while reading", Grows_While_Read'Access);
      Add ("no entry is lost", No_Put_Is_Lost'Access);
      Add ("many tasks", Stress'Access);
      return Result;
   end Suite;

end Any_Cache_Tests;
